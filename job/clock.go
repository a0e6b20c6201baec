package job

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// clockTolerance is how far the local clock may be from the store's without being at
	// fault.
	clockTolerance = 5 * time.Second
	// farTolerance is how far the clock of an instance may be off that has items.
	farTolerance = 2 * clockTolerance
	// futureTolerance is how far ahead of the store's clock a record may be: an instance
	// that has items begins a tick as early as farTolerance, and the clocks are not
	// compared to the second.
	futureTolerance = 3 * clockTolerance
)

// compareClocks reports whether the local clock is farther from the store's than the
// configuration allows, and whether it is far off. 0 allows everything.
func (w *world) compareClocks(allowed time.Duration) (off, far bool) {
	diff := w.clock.Ahead(w.now).Abs()
	return allowed > 0 && diff > allowed, diff > farTolerance
}

// clockStops reports whether the local clock keeps this instance from running anything.
// One that is far off does so as long as somebody's is right: it would begin ticks that
// have not come, and the leader would take them back. Where nobody's is right, it is the
// store's that is wrong, and all go on by their own.
func (w *world) clockStops() bool {
	return w.clockOff || w.clockFar && w.anyClockRight()
}

// isFar reports whether the clock of an instance is far off. A JVM member says nothing.
func (w *world) isFar(id string) bool {
	if id == w.self.id {
		return w.clockFar
	}
	return w.Sessions[id].ClockFar
}

// anyClockRight reports whether the clock of somebody who may have items is not far off.
func (w *world) anyClockRight() bool {
	for id, in := range w.Instances {
		if !w.isFar(id) && w.follows(in) {
			return true
		}
	}
	return false
}

// fromFuture reports whether a recorded time has certainly not come yet: the store's clock
// says so, and the local one does not contradict it.
func (w *world) fromFuture(recorded time.Time) bool {
	return w.clock.Known() && !w.clockFar && recorded.After(w.clock.Now().Add(futureTolerance))
}

// rewind rewrites, as leader, records of ticks that have not come yet. An instance whose
// clock was far ahead, or a hand, has written them, and the item would not run until
// then. What it missed meanwhile nobody can tell, so it makes up for nothing.
func (w *world) rewind() []commit {
	c := chunk{step: "rewind", heals: true, head: w.asLeader()}
	now := w.time()
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		item := &w.Items[i]
		if item.Fired == nil || item.Running != nil || !w.fromFuture(item.Fired.Tick) {
			continue
		}
		c.add(i, coord.Absent(w.job.Running(i)), coord.SetAt(w.job.Fired(i), jobtree.EncodeFired(now), item.Fired.Version))
	}
	return c.commits
}

// timesFault says which times of the tree have not come yet: they keep items from running.
// The leader corrects them if the store's clock tells. If it does not, the local one may as
// well be behind, and nothing is corrected.
func (w *world) timesFault() error {
	if w.settings.schedule == nil {
		return nil
	}
	known := w.clock.Known()
	future := func(recorded time.Time) bool {
		return w.fromFuture(recorded) || !known && recorded.After(w.now.Add(futureTolerance))
	}
	var what string
	var ahead, takenBack []int
	if w.settings.monitor {
		for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
			switch item := &w.Items[i]; {
			case item.Fired == nil:
			case future(item.Fired.Tick):
				ahead = append(ahead, i)
			case !known && w.takenBack(i, item):
				takenBack = append(takenBack, i)
			}
		}
	}
	switch {
	case len(ahead) > 0:
		what = "the last ticks of items " + listItems(ahead) + " are"
	case w.inForce() && future(w.Schedule.Since):
		what = "the time since which the schedule is in force is"
	case len(takenBack) > 0:
		return fmt.Errorf("job %s: %w, as it seems: the leader has taken back ticks of items %s that this instance has begun; %w", w.job, ErrClock, listItems(takenBack), w.unknownClock())
	default:
		return nil
	}
	if known {
		return fmt.Errorf("job %s: %s from the future, as a clock that is ahead leaves them; the leader corrects them", w.job, what)
	}
	return fmt.Errorf("job %s: %s later than this host's clock, and items do not run until then; nobody can tell whose clock is wrong: %w", w.job, what, w.unknownClock())
}

// unknownClock says why the store's clock is not known.
func (w *world) unknownClock() error {
	if err := w.clock.Err(); err != nil {
		return fmt.Errorf("the store's cannot be read: %w", err)
	}
	return errors.New("the store's is not known yet")
}

// takenBack reports whether the leader has taken back the tick that an item of this
// instance has begun last, because it had not come yet.
func (w *world) takenBack(i int, item *jobtree.Item) bool {
	begun, ok := w.begun[i]
	return ok && w.runs[i] == nil && item.Running == nil && item.Owner.Is(w.self.id) &&
		item.Fired.Modified > w.ended[i] && !item.Fired.Tick.IsZero() && begun.Sub(item.Fired.Tick) > farTolerance
}
