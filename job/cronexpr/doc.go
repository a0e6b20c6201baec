// Package cronexpr reads cron expressions as the Quartz scheduler of Java does,
// because that is what ElasticJob's schedules are written in, and the five fields of Unix cron as
// Go programs write them for github.com/robfig/cron/v3. A Schedule is a cron.Schedule of that package
// that can also look back.
//
//	s, err := cronexpr.Parse("0 15 10 ? * 6L", shanghai) // 10:15 on the last Friday of each month
//	next := s.Next(time.Now())
//	last := s.Prev(time.Now())
//
// [Schedule.Explain] says in words what an expression means, and [Convert] makes one for Quartz of a line
// of Unix cron.
//
// # Expressions
//
// There are six fields, or seven, with blanks between them; for five, see below:
//
//	second        0-59
//	minute        0-59
//	hour          0-23
//	day-of-month  1-31, or L, L-n, nW, LW, L-nW
//	month         1-12 or JAN-DEC
//	day-of-week   1-7 or SUN-SAT, where 1 is Sunday; or L, nL, n#k
//	year          1970-2099; all, if it is left out
//
// One of day-of-month and day-of-week must be ?, which says that the other one
// decides. Otherwise a field is a list of entries with commas between them, in
// upper or lower case:
//
//	a      the value, by number or by name
//	a-b    the values from a to b, through the end of the field if b is the
//	       lesser: FRI-MON, 22-2; not for years
//	a/n    a and every n-th value after it in the field
//	a-b/n  every n-th value of the range
//	*      every value
//	*/n    every n-th value from the field's least on; also written /n
//	L      day-of-month: the last day; day-of-week: Saturday
//	L-n    the n-th day before the last; nothing in a month that is too short
//	nW     the day from Monday to Friday that is nearest to day n in the same
//	       month; nothing in a month without a day n
//	LW     the last day from Monday to Friday; L-nW in the same way
//	nL     the last weekday n of the month: 6L or FRIL
//	n#k    the k-th weekday n of the month: 6#3 or FRI#3; nothing if there is none
//
// The descriptors of robfig/cron stand for an expression: @yearly or @annually,
// @monthly, @weekly (Sunday), @daily or @midnight, @hourly. "@every 1m30s"
// ticks whenever a whole number of such intervals has passed since
// 1970-01-01T00:00:00Z, so all processes agree on the ticks, whenever they were
// started; robfig/cron counts from the start of the process. The interval is in
// whole seconds, and the time zone does not matter to it: "@every 24h" ticks at
// midnight in UTC.
//
// # Five fields
//
// An expression of five fields is one of Unix cron: minute, hour, day-of-month, month and day-of-week
// (0-6 or SUN-SAT, where 0 is Sunday). It is read by the rules of [Convert] and by cron.ParseStandard of
// robfig/cron, and accepted if both mean the same:
//
//	*/5 * * * *    every five minutes
//	0 9 * * 1-5    at 09:00 from Monday to Friday
//	30 4 1,15 * 5  at 04:30 on the 1st, on the 15th, and on Fridays
//
// Otherwise the error shows what each of them reads, in a form that both read so. They differ in:
//
//   - 7 for Sunday, which only Unix cron reads. Write 0 or SUN.
//   - ?, a step after a single value (5/10) and empty entries, which only robfig/cron reads. Write *, or
//     5-59/10.
//   - */2 in a day field when the other one is not *: Unix cron runs on days that are in both fields,
//     robfig/cron on those of either. Write 1-31/2 for either; nothing says both.
//   - * beside other entries (5,*) in a day field when the other one is not *.
//
// A time zone before the expression (TZ=, CRON_TZ=) is an error: a job has it in Config.TimeZone. Quartz
// does not read five fields, so neither do JVM members of a job; what Convert returns is for them.
//
// # Time zones
//
// An expression is read by the clocks of one zone. Where clocks are put forward, a
// time that they skip does not fire: a job for 02:30 does not run on that day.
// Where they are put back, a time that they show twice fires once, the second
// time that it is shown. Quartz does the same. So even an expression for every
// minute pauses for the first of the two hours. This also holds for five fields, and
// for descriptors but @every, where robfig/cron fires both times.
//
// # Differences from Quartz
//
// The package is tested against Quartz 2.3.2. The differences listed here are on
// purpose. Times that differ, mostly because Quartz is at fault:
//
//   - In 1,15W Quartz moves the first day of the list and drops all others; in
//     MON#1,FRI it drops FRI. Here each entry of a list counts. (Newer
//     Quartz reads W in lists so, too.)
//   - Where a month is one day too short for 29W, 30W or 31W, Quartz fires on its
//     last day if that is a Friday. Here nothing fires in such a month, as with
//     29, 30 and 31.
//   - L-nW makes Quartz search without end in a month that is too short for it.
//     Here nothing fires in that month.
//   - After clocks were put forward by less than an hour, Quartz may step over
//     the first times: on Lord Howe Island, "0 29,31 * * * ?" loses the 02:31.
//   - Asked for the next time within an hour that will be repeated, Quartz leaves
//     out the part of the repetition before the same minute. Here Next always
//     returns the first time after the one given.
//   - In Quartz the last year is a hundred years after the start of the process.
//     Here it is 2099.
//
// Expressions that only this package reads, because their meaning is plain:
// L and LW in lists, more than one # or nL, ranges from a number to a name,
// five fields, and the descriptors.
//
// Expressions that only Quartz reads. Here they are errors, because they mean
// something else there than they seem to mean, or nothing at all:
//
//   - A step after a name: MON-FRI/2 is MON-FRI in Quartz, JAN/3 is JAN. Write
//     2-6/2 and 1/3.
//   - A longer word after a name: MONDAY-FRIDAY is MON in Quartz.
//   - Anything else after an entry: 5x is 5, 1-5-9 is 1-5, *5 is *; an eighth field.
//   - A step of 0: the first value in Quartz, or all after *; and a step longer
//     than the field after a range, 0-30/61: the first value.
//   - Empty entries: 1,,2.
//   - ? in a list, L in a field without days, 0W, 0#1, 8#1, years before 1970 or
//     after 2099.
//   - An expression that never fires, such as one for 30 February. Quartz takes
//     it, and the job never runs.
//
// # Not promised
//
// The zone files of the machine, or of the program if it imports time/tzdata,
// decide when clocks change; processes with different zone files may disagree.
// A Schedule does not learn of new zone files, nor of a change of time.Local.
// The wording of errors, and of Explain, may change.
package cronexpr
