package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// schedule records, as leader, since when the schedule has been in force: ticks
// before that are nobody's to make up, neither those of the old one nor those that
// the new one would have had. A record from the future, which a wrong clock or hand has
// written, would keep every tick until then from running, so it is written again.
func (w *world) schedule() (*commit, error) {
	if w.inForce() && !w.fromFuture(w.Schedule.Since) {
		return nil, nil
	}
	want := w.wantedSchedule()
	want.Since = w.time()
	document, err := jobtree.EncodeSchedule(want)
	if err != nil {
		return nil, err
	}
	// Only over what was seen: from a view that is late it would be put once more, and
	// ticks that came between would be taken for older than the schedule.
	put := coord.Create(w.job.Schedule(), document)
	if w.Schedule != nil {
		put = coord.SetAt(w.job.Schedule(), document, w.Schedule.Version)
	}
	return &commit{step: "schedule", ops: append(w.asLeader(), put)}, nil
}

func (w *world) wantedSchedule() jobtree.ScheduleDocument {
	return jobtree.ScheduleDocument{
		Cron:        w.settings.Cron,
		TimeZone:    w.settings.TimeZone,
		Misfire:     w.settings.misfire,
		Unmonitored: !w.settings.monitor,
	}
}

// inForce reports whether the recorded schedule is the one of the settings. Until it
// is, no tick of it is due.
func (w *world) inForce() bool { return w.Schedule != nil && w.Schedule.Same(w.wantedSchedule()) }
