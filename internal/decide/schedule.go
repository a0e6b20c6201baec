package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Former is a schedule that is recorded, as this process understands it.
type Former struct {
	// Ticks are those of the schedule, up to its end.
	Ticks Ticks
	// SameExpressions is whether its expressions mean the same as those of the rules. SameTicks is whether its
	// calendars leave out the same, too.
	SameExpressions, SameTicks bool
	// Unsure is whether this process does not know all calendars of the schedule: Ticks are more then.
	Unsure bool
}

// PutInForce records, as leader, or as the coordinator if a JVM leads, the schedule and since when it is in force. If
// it means what is recorded, in other words, it stays in force since then. Otherwise it counts from now on,
// and the last tick of the schedule before is recorded with it: items that have not begun that tick make it up,
// or pass it over, as any tick that they have missed. Earlier ticks of the new schedule, also those that other
// calendars would have left, were never due. A record from the future, by a wrong clock or an external writer, would keep
// every tick until then from running; so it is written again.
func (w *World) PutInForce() (*Change, error) {
	if !w.steers() {
		return nil, nil
	}
	put, err := w.putSchedule()
	if len(put) == 0 {
		return nil, err
	}
	return &Change{Step: "put in force", Urgency: coord.Sooner, Ops: append(w.ifSteering(), put...)}, nil
}

// putSchedule returns the operation that records the schedule; none if it is recorded.
func (w *World) putSchedule() ([]coord.Op, error) {
	if w.IsInForce() && !w.fromFuture(w.Schedule.Since) {
		return nil, nil
	}
	asSeen, ok := w.ifCalendars()
	if !ok {
		return nil, nil // it stays as it is recorded
	}
	want := w.wantedSchedule()
	want.Since = w.time()
	if s := w.Schedule; s != nil {
		want.Pause, want.MakeUpTo = s.Pause, s.MakeUpTo
		if w.Former != nil && w.Former.SameTicks && s.SameBeside(want) && !w.fromFuture(s.Since) {
			want.Since, want.LastBefore, want.Forgone = s.Since, s.LastBefore, s.Forgone
		} else {
			want.LastBefore, want.Forgone = w.lastBefore(want.Since)
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

// lastBefore returns the last tick, up to a time, of the schedule that is recorded, and whether it is not to be
// made up. It is zero if the items' records tell nothing of such ticks: they have begun anew, or did not keep any.
func (w *World) lastBefore(since time.Time) (tick time.Time, forgone bool) {
	s := w.Schedule
	if s.Err != nil || s.Unmonitored == w.Rules.Monitor || s.Broadcast != w.Rules.Broadcast {
		return time.Time{}, false
	}
	if s.IsPaused() && !s.MakeUp && s.Paused.Before(since) {
		since = s.Paused
	}
	forgone = !s.Misfire
	if w.Former != nil && w.Former.Ticks != nil {
		tick, forgone = w.Former.Ticks.Prev(since), forgone || w.Former.Unsure
	}
	if !tick.After(s.Since) {
		if tick = s.LastBefore; tick.After(since) {
			return time.Time{}, false
		}
		forgone = !s.Misfire || s.Forgone
	}
	return tick, forgone && !tick.IsZero()
}

// wantedSchedule returns the record of the schedule in the rules, without since when and until
// when.
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

// IsInForce reports whether the recorded schedule is the one of the rules. Until then no tick
// is due. It is not if this process does not know a calendar that the rules name.
func (w *World) IsInForce() bool {
	return w.isRecorded() && w.Rules.KnowsCalendars() && w.Schedule.Calendars == w.Rules.NamedCalendars()
}

// isRecorded is IsInForce without regard to calendars.
func (w *World) isRecorded() bool {
	if w.Schedule == nil {
		return false
	}
	want := w.wantedSchedule()
	want.Calendars = w.Schedule.Calendars
	return w.Schedule.Same(want)
}

// isCurrent reports whether the rules are those that the job goes by. A schedule may wait to be
// recorded for as long as nobody knows its calendars.
func (w *World) isCurrent() bool {
	return w.Config != nil && (w.isRecorded() || w.Accepted == w.Config.Modified)
}

// IsPaused reports whether no tick may begin.
func (w *World) IsPaused() bool { return w.Schedule != nil && w.Schedule.IsPaused() }

// ifScheduled is the condition that the schedule, and the pause in it, is still the one of the
// snapshot. The snapshot must have one.
func (w *World) ifScheduled() coord.Op {
	return coord.AtVersion(w.Job.Schedule(), w.Schedule.Version)
}

// isForgone reports whether a tick, if it was missed, is not made up: it was due by an earlier schedule.
func (w *World) isForgone(tick time.Time) bool {
	return w.Schedule != nil && w.Schedule.Forgone && !tick.After(w.Schedule.LastBefore) && !w.isOwed(tick)
}

// isOwed reports whether a tick is to be made up whatever the rules say: it came during a
// pause, and whoever ended that wanted it so.
func (w *World) isOwed(tick time.Time) bool {
	return w.Schedule != nil && !tick.After(w.Schedule.MakeUpTo)
}
