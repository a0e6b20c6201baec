package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Former is the schedule that is recorded, as this process understands it, while the rules have another one.
type Former struct {
	// Ticks are those of the schedule, up to its end.
	Ticks Ticks
	// SameExpressions is set if its expressions mean the same as those of the rules, SameTicks if its
	// calendars leave out the same, too.
	SameExpressions, SameTicks bool
	// CalendarsUnknown is set if this process does not know all calendars of the schedule: then Ticks are more
	// than it had.
	CalendarsUnknown bool
}

// RecordSchedule records, as the acting leader, the schedule and since when it is effective. If it means
// the same as what is recorded, in other words, that time stays. Otherwise it counts from now on, and the
// last tick of the schedule before is recorded with it: items that have not begun that tick make it up or
// skip it like any other missed tick. Earlier ticks of the new schedule were never due.
//
// A recorded time that has not come, of a wrong clock or an external writer, would keep every tick until
// then from running: it is written again.
func (w *World) RecordSchedule() (*Change, error) {
	if !w.isActingLeader() {
		return nil, nil
	}
	put, err := w.scheduleOps()
	if len(put) == 0 {
		return nil, err
	}
	return &Change{Step: "record schedule", Urgency: urgency.Sooner, Ops: append(w.ifActingLeader(), put...)}, nil
}

// scheduleOps returns the operation that records the schedule; none if it is recorded.
func (w *World) scheduleOps() ([]coord.Op, error) {
	if w.IsScheduleEffective() && !w.isFuture(w.Schedule.Since) {
		return nil, nil
	}
	asSeen, ok := w.ifSameCalendars()
	if !ok {
		return nil, nil // it stays as it is recorded
	}
	want := w.wantedSchedule()
	want.Since = w.correctedTime()
	if s := w.Schedule; s != nil {
		want.Pause, want.MakeUpTo = s.Pause, s.MakeUpTo
		if w.Former != nil && w.Former.SameTicks && s.SameBeside(want) && !w.isFuture(s.Since) {
			want.Since, want.LastBefore, want.Forgone = s.Since, s.LastBefore, s.Forgone
		} else {
			want.LastBefore, want.Forgone = w.lastTickBefore(want.Since)
		}
	}
	w.recordEnd(&want)
	document, err := jobtree.EncodeSchedule(want)
	if err != nil {
		return nil, err
	}
	// Only over the version that was seen. By a late view the leader would write the record
	// once more, with a later time, and ticks that came between would not run.
	if w.Schedule != nil {
		return append(asSeen, coord.SetAt(w.Job.Schedule(), document, w.Schedule.Version)), nil
	}
	return append(asSeen, coord.Create(w.Job.Schedule(), document)), nil
}

// lastTickBefore returns the last tick of the recorded schedule up to a time, and whether it is not to be made up
// (forgone). It is zero if the items' records tell nothing of such ticks: they were reset, or the job kept none.
func (w *World) lastTickBefore(since time.Time) (tick time.Time, forgone bool) {
	s := w.Schedule
	if s.Err != nil || s.Unmonitored == w.Rules.Monitor || s.Broadcast != w.Rules.Broadcast {
		return time.Time{}, false
	}
	if s.IsPaused() && !s.MakeUp && s.Paused.Before(since) {
		since = s.Paused
	}
	forgone = !s.Misfire
	if w.Former != nil && w.Former.Ticks != nil {
		tick, forgone = w.Former.Ticks.Prev(since), forgone || w.Former.CalendarsUnknown
	}
	if !tick.After(s.Since) {
		if tick = s.LastBefore; tick.After(since) {
			return time.Time{}, false
		}
		forgone = !s.Misfire || s.Forgone
	}
	return tick, forgone && !tick.IsZero()
}

// wantedSchedule returns the record of the schedule in the rules, without since when and until when.
func (w *World) wantedSchedule() jobtree.ScheduleDocument {
	return jobtree.ScheduleDocument{
		Cron:        w.Rules.Cron,
		TimeZone:    w.Rules.TimeZone,
		Misfire:     w.Rules.Misfire,
		Unmonitored: !w.Rules.Monitor,
		Broadcast:   w.Rules.Broadcast,
		Calendars:   w.Rules.NamedCalendars(),
		LeftOut:     w.Rules.LeftOut,
		ExpiresAt:   w.Rules.ExpiresAt,
		ExpiryTicks: w.Rules.ExpiryTicks,
	}
}

// IsScheduleEffective reports whether the schedule of the rules is recorded. Until then no tick is due. It
// is false if this process does not know a calendar that the rules name.
func (w *World) IsScheduleEffective() bool {
	return w.isScheduleRecorded() && w.Rules.KnowsCalendars() && w.Schedule.Calendars == w.Rules.NamedCalendars()
}

// isScheduleRecorded is IsScheduleEffective without regard to calendars.
func (w *World) isScheduleRecorded() bool {
	if w.Schedule == nil {
		return false
	}
	want := w.wantedSchedule()
	want.Calendars = w.Schedule.Calendars
	return w.Schedule.Same(want)
}

// hasCurrentRules reports whether the rules are those of the newest configuration. Their schedule may wait
// to be recorded for as long as nobody knows its calendars.
func (w *World) hasCurrentRules() bool {
	return w.Config != nil && (w.isScheduleRecorded() || w.Accepted == w.Config.Modified)
}

// IsPaused reports whether no tick may begin.
func (w *World) IsPaused() bool { return w.Schedule != nil && w.Schedule.IsPaused() }

// ifSameSchedule is the condition that the schedule, and the pause in it, is still the one of the
// snapshot, which must have one.
func (w *World) ifSameSchedule() coord.Op {
	return coord.AtVersion(w.Job.Schedule(), w.Schedule.Version)
}

// isFromDroppedSchedule reports whether a tick was due by an earlier schedule whose missed ticks are not made up.
func (w *World) isFromDroppedSchedule(tick time.Time) bool {
	return w.Schedule != nil && w.Schedule.Forgone && !tick.After(w.Schedule.LastBefore) && !w.isFromPauseToMakeUp(tick)
}

// isFromPauseToMakeUp reports whether a tick came during a pause, and whoever ended the pause wanted such
// ticks made up, whatever the rules say.
func (w *World) isFromPauseToMakeUp(tick time.Time) bool {
	return w.Schedule != nil && !tick.After(w.Schedule.MakeUpTo)
}
