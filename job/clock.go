package job

import (
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
	c := chunk{step: "rewind", head: w.asLeader()}
	now := w.time()
	for i, item := range w.Items {
		if item.Fired == nil || item.Running != nil || !w.fromFuture(item.Fired.Tick) {
			continue
		}
		c.add(i, coord.Absent(w.job.Running(i)), coord.SetAt(w.job.Fired(i), jobtree.EncodeFired(now), item.Fired.Version))
	}
	return c.commits
}
