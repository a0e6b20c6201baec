package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// clockFault returns what is wrong with the local clock, or with times in the tree; nil if
// nothing is.
func (c *controller) clockFault(w *decide.World) error {
	now := c.now() // not w.Now: the pass may have taken long
	ahead := clockAt(c.reg.Clock(), now).Ahead
	difference := func() string {
		if ahead < 0 {
			return fmt.Sprintf("%v behind it", -ahead.Round(time.Second))
		}
		return fmt.Sprintf("%v ahead of it", ahead.Round(time.Second))
	}
	switch clockErr := c.reg.Clock().Err(); {
	case w.ClockOff():
		return fmt.Errorf("job %s: %w: %s, at most %v are allowed; this instance runs nothing, and others have its items", c.job, ErrClock, difference(), c.settings.MaxTimeDiff)
	case w.ClockStops():
		return fmt.Errorf("job %s: %w: %s; this instance runs nothing, and others, whose clocks are right, have its items", c.job, ErrClock, difference())
	case ahead.Abs() > decide.ClockTolerance:
		return fmt.Errorf("job %s: %w: %s", c.job, ErrClock, difference())
	case c.settings.MaxTimeDiff > 0 && !w.Clock.Known && clockErr != nil:
		return fmt.Errorf("job %s: the store's clock cannot be compared with this host's, though MaxTimeDiff is set: %w", c.job, clockErr)
	}
	return c.timesFault(w)
}

// timesFault returns which times of the tree have not come yet. Items do not run until they
// have. It also tells when the leader has taken back ticks that this instance has begun.
func (c *controller) timesFault(w *decide.World) error {
	future := w.FutureTimes(c.work)
	var what string
	switch {
	case len(future.Items) > 0:
		what = "the last ticks of items " + brief.Items(future.Items) + " are"
	case future.Schedule:
		what = "the time since which the schedule is in force is"
	case len(future.TakenBack) > 0:
		return fmt.Errorf("job %s: %w, as it seems: the leader has taken back ticks of items %s that this instance has begun; %w", c.job, ErrClock, brief.Items(future.TakenBack), c.unknownClock())
	default:
		return nil
	}
	if w.Clock.Known {
		return fmt.Errorf("job %s: %s from the future, as a clock that is ahead leaves them; the leader corrects them", c.job, what)
	}
	return fmt.Errorf("job %s: %s later than this host's clock, and items do not run until then; nobody can tell whose clock is wrong: %w", c.job, what, c.unknownClock())
}

// unknownClock returns why the store's clock is not known.
func (c *controller) unknownClock() error {
	if err := c.reg.Clock().Err(); err != nil {
		return fmt.Errorf("the store's cannot be read: %w", err)
	}
	return errors.New("the store's is not known yet")
}
