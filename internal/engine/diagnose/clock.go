package diagnose

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// ErrClock is the error that package job describes under this name.
var ErrClock = errors.New("job: clock too far from the store's")

// clockFault returns what is wrong with the local clock, or with times in the tree; nil if nothing is.
func (d *Diagnosis) clockFault(p Pass) error {
	w, clock := p.World, d.config.Registry.Clock()
	ahead := clock.Ahead(d.config.Now()) // not w.Now: the pass may have taken long
	difference := func() string {
		if ahead < 0 {
			return fmt.Sprintf("%v behind it", -ahead.Round(time.Second))
		}
		return fmt.Sprintf("%v ahead of it", ahead.Round(time.Second))
	}
	switch clockErr := clock.Err(); {
	case w.ClockOff():
		return fmt.Errorf("job %s: %w: %s, at most %v are allowed; this instance runs nothing, and others have its items", w.Job, ErrClock, difference(), w.Rules.MaxTimeDiff)
	case w.ClockStops():
		return fmt.Errorf("job %s: %w: %s; this instance runs nothing, and others, whose clocks are right, have its items", w.Job, ErrClock, difference())
	case ahead.Abs() > decide.ClockTolerance:
		return fmt.Errorf("job %s: %w: %s", w.Job, ErrClock, difference())
	case w.Rules.MaxTimeDiff > 0 && !w.Clock.Known && clockErr != nil:
		return fmt.Errorf("job %s: the store's clock cannot be compared with this host's, though MaxTimeDiff is set: %w", w.Job, clockErr)
	}
	return d.timesFault(w, p.Work)
}

// timesFault returns which times of the tree have not come yet. Items do not run until they
// have. It also tells when the leader has taken back ticks that this instance has begun.
func (d *Diagnosis) timesFault(w *decide.World, work *decide.Work) error {
	future := w.FutureTimes(work)
	var what string
	switch {
	case len(future.Items) > 0:
		what = "the last ticks of items " + brief.Items(future.Items) + " are"
	case future.Schedule:
		what = "the time since which the schedule is in force is"
	case len(future.TakenBack) > 0:
		return fmt.Errorf("job %s: %w, as it seems: the leader has taken back ticks of items %s that this instance has begun; %w", w.Job, ErrClock, brief.Items(future.TakenBack), d.unknownClock())
	default:
		return nil
	}
	if w.Clock.Known {
		return fmt.Errorf("job %s: %s from the future, as a clock that is ahead leaves them; the leader corrects them", w.Job, what)
	}
	return fmt.Errorf("job %s: %s later than this host's clock, and items do not run until then; nobody can tell whose clock is wrong: %w", w.Job, what, d.unknownClock())
}

// unknownClock returns why the store's clock is not known.
func (d *Diagnosis) unknownClock() error {
	if err := d.config.Registry.Clock().Err(); err != nil {
		return fmt.Errorf("the store's cannot be read: %w", err)
	}
	return errors.New("the store's is not known yet")
}
