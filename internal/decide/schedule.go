package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// PutInForce records, as leader, or as the clerk if a JVM leads, the schedule and since when it is in force. Earlier ticks
// are not made up: neither those of the old schedule nor those that the new one would have
// had, also by other calendars. A record from the future, by a wrong clock or a stranger, would keep every tick until
// then from running; so it is written again.
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
	if w.Schedule != nil {
		want.Pause = w.Schedule.Pause
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

// wantedSchedule returns the record of the schedule in the rules, without since when and until
// when.
func (w *World) wantedSchedule() jobtree.ScheduleDocument {
	return jobtree.ScheduleDocument{
		Cron:        w.Rules.Cron,
		TimeZone:    w.Rules.TimeZone,
		Misfire:     w.Rules.Misfire,
		Unmonitored: !w.Rules.Monitor,
		Broadcast:   w.Rules.Broadcast,
		Calendars:   w.Rules.LeftOut(),
		ExpiresAt:   w.Rules.ExpiresAt,
		ExpiryTicks: w.Rules.ExpiryTicks,
	}
}

// IsInForce reports whether the recorded schedule is the one of the rules. Until then no tick
// is due. It is not if this process does not know a calendar that the rules name.
func (w *World) IsInForce() bool {
	return w.isRecorded() && w.Rules.KnowsCalendars() && w.Schedule.Calendars == w.Rules.LeftOut()
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

// isOwed reports whether a tick is to be made up whatever the rules say: it came during a
// pause, and whoever ended that wanted it so.
func (w *World) isOwed(tick time.Time) bool {
	return w.Schedule != nil && !tick.After(w.Schedule.MakeUpTo)
}
