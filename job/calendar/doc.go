// Package calendar has the days and hours that jobs leave out. It knows no store: package job
// follows the calendars of a namespace, and package ops writes them.
//
//	timeZone: Europe/Berlin
//	dates:
//	  - 2026-12-24..2026-12-31 # both days are left out, and those between them
//	  - 05-01                  # every year
//	weekly:
//	  - SAT,SUN
//	  - MON-FRI 18:00-08:00    # from 18:00 until 08:00 of the next day
//	icalendar: |
//	  BEGIN:VCALENDAR
//	  …
//
// All of it names times that are left out. A time is left out if one of the entries has it.
// What a calendar says holds for the years 1970 to 2099, which are those of package cronexpr.
//
// # The document
//
// Keys that are not named here are refused. A document has up to 512 KiB.
//
//	timeZone   the zone of all local times: a name as cronexpr.LoadLocation takes it. It has to
//	           be there: without it each process would leave out other times
//	dates      days, 2026-12-25 or 12-25 for every year; or ranges of them, first..last.
//	           12-24..01-02 goes over the end of the year. Up to 10,000
//	weekly     windows: days, hours, or both: SAT,SUN; 12:00-13:00; MON-FRI 18:00-08:00. Names
//	           of days are English, and FRI-MON goes over the end of the week. A window whose
//	           end is not after its begin ends on the next day. Its day is that of its begin.
//	           Hours go up to 24:00, and a window ends when its last hour begins. Up to 100
//	only       windows as in weekly: every other time is left out. Up to 100
//	icalendar  the text of an iCalendar file (RFC 5545); its events are left out
//
// Entries of dates, weekly and only are about what the local clock shows. If it is put
// back, the hour that comes twice is left out twice; what it skips does not exist.
//
// # iCalendar
//
// Of each VEVENT count DTSTART, DTEND, DURATION, RRULE, RDATE, EXDATE and RECURRENCE-ID. Other
// properties and components are passed over; so it does not matter whether an event shows as
// free or busy. An event with STATUS:CANCELLED leaves out nothing, and neither does one
// without a duration, unless it has a date for its begin: that is the whole day.
//
// A time with a Z is in UTC, one with a TZID in that zone, and any other in the zone of the
// calendar. A TZID has to be a name that timeZone could have; VTIMEZONE is not read. An event
// begins and ends at instants: if it begins while the clock skips, that is taken for the time
// as it was counted before.
//
// Refused, because they would be something else than they say: rules that repeat within a
// day (FREQ of HOURLY, MINUTELY and SECONDLY), RANGE=THISANDFUTURE, RDATE with periods, EXRULE,
// years before 1900, and more than 10 positions in BYSETPOS. A file has up to 10,000 events with
// up to 300 rules. All entries of a calendar together come true up to 500,000 times; a window of
// every day does so 47,000 times.
package calendar
