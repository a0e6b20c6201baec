package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// PutInForce records, as leader, since when the schedule has been in force. Ticks before
// that are nobody's to make up, neither those of the old one nor those that the new one
// would have had. A record from the future, which a wrong clock or a hand has written,
// would keep every tick until then from running, so it is written again.
func (w *World) PutInForce() (*Change, error) {
	if w.IsInForce() && !w.fromFuture(w.Schedule.Since) {
		return nil, nil
	}
	want := w.wantedSchedule()
	want.Since = w.time()
	document, err := jobtree.EncodeSchedule(want)
	if err != nil {
		return nil, err
	}
	// Only over what was seen. From a view that is late it would be put once more, and
	// ticks that came between would be taken for older than the schedule.
	put := coord.Create(w.Job.Schedule(), document)
	if w.Schedule != nil {
		put = coord.SetAt(w.Job.Schedule(), document, w.Schedule.Version)
	}
	return &Change{Step: "put in force", Ops: append(w.ifLeading(), put)}, nil
}

func (w *World) wantedSchedule() jobtree.ScheduleDocument {
	return jobtree.ScheduleDocument{
		Cron:        w.Rules.Cron,
		TimeZone:    w.Rules.TimeZone,
		Misfire:     w.Rules.Misfire,
		Unmonitored: !w.Rules.Monitor,
	}
}

// IsInForce reports whether the recorded schedule is the one of the rules. Until it is, no
// tick of it is due.
func (w *World) IsInForce() bool { return w.Schedule != nil && w.Schedule.Same(w.wantedSchedule()) }
