package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// ClockTolerance is how far the local clock may be from the store's without being at
	// fault.
	ClockTolerance = 5 * time.Second
	// farTolerance is how far the clock of an instance may be off that has items.
	farTolerance = 2 * ClockTolerance
	// FutureTolerance is how far ahead of the store's clock a record may be: an instance
	// that has items begins a tick as early as farTolerance, and the clocks are not compared
	// to the second.
	FutureTolerance = 3 * ClockTolerance
)

// Clock is how the local clock stood to the store's at the moment of a [World].
type Clock struct {
	Known bool          // they were compared
	Store time.Time     // what the store's showed
	Ahead time.Duration // how far the local one is certainly ahead; negative if behind
}

// time is the local time, less what the local clock is certainly ahead of the store's. It
// is for what is written for others, whose clocks are right.
func (w *World) time() time.Time { return w.Now.Add(-w.Clock.Ahead) }

// ClockOff reports whether the local clock is farther from the store's than the
// configuration allows.
func (w *World) ClockOff() bool {
	return w.Rules.MaxTimeDiff > 0 && w.Clock.Ahead.Abs() > w.Rules.MaxTimeDiff
}

// clockFar reports whether the local clock is certainly wrong, or the store's is.
func (w *World) clockFar() bool { return w.Clock.Ahead.Abs() > farTolerance }

// ClockStops reports whether the local clock keeps this instance from running anything.
// One that is far off does so as long as somebody's is right: it would begin ticks that
// have not come, and the leader would take them back. Where nobody's is right, it is the
// store's that is wrong, and all go on by their own.
func (w *World) ClockStops() bool {
	return w.ClockOff() || w.clockFar() && w.anyClockRight()
}

// isFar reports whether the clock of an instance is far off. A JVM member says nothing.
func (w *World) isFar(id string) bool {
	if id == w.Self.ID {
		return w.clockFar()
	}
	return w.Sessions[id].ClockFar
}

// anyClockRight reports whether the clock of somebody who may have items is not far off.
func (w *World) anyClockRight() bool {
	for id, in := range w.Instances {
		if !w.isFar(id) && w.follows(in) {
			return true
		}
	}
	return false
}

// fromFuture reports whether a recorded time has certainly not come yet: the store's clock
// says so, and the local one does not contradict it.
func (w *World) fromFuture(recorded time.Time) bool {
	return w.Clock.Known && !w.clockFar() && recorded.After(w.Clock.Store.Add(FutureTolerance))
}

// Rewind rewrites, as leader, records of ticks that have not come yet. An instance whose
// clock was far ahead, or a hand, has written them, and the item would not run until then.
// What it missed meanwhile nobody can tell, so it makes up for nothing.
func (w *World) Rewind() []Change {
	c := changes{step: "rewind", heals: true, head: w.ifLeading()}
	now := w.time()
	for i := range w.items() {
		item := &w.Items[i]
		if item.Fired == nil || item.Running != nil || !w.fromFuture(item.Fired.Tick) {
			continue
		}
		c.add(i, coord.Absent(w.Job.Running(i)), coord.SetAt(w.Job.Fired(i), jobtree.EncodeFired(now), item.Fired.Version))
	}
	return c.list
}

// FutureTimes are times of the tree that have not come yet. They keep items from running.
type FutureTimes struct {
	Items     []int // whose last ticks are from the future
	Schedule  bool  // the time since which the schedule is in force is
	TakenBack []int // items of this instance whose ticks the leader has taken back
}

// FutureTimes finds the times that have not come yet. The leader corrects them if the
// store's clock tells. If it does not, the local one may as well be behind, and nothing is
// corrected.
func (w *World) FutureTimes(k *Work) FutureTimes {
	var f FutureTimes
	if w.Rules.Ticks == nil {
		return f
	}
	isFuture := func(recorded time.Time) bool {
		return w.fromFuture(recorded) || !w.Clock.Known && recorded.After(w.Now.Add(FutureTolerance))
	}
	f.Schedule = w.IsInForce() && isFuture(w.Schedule.Since)
	if !w.Rules.Monitor {
		return f
	}
	for i := range w.items() {
		switch item := &w.Items[i]; {
		case item.Fired == nil:
		case isFuture(item.Fired.Tick):
			f.Items = append(f.Items, i)
		case !w.Clock.Known && w.isTakenBack(k, i):
			f.TakenBack = append(f.TakenBack, i)
		}
	}
	return f
}

// isTakenBack reports whether the leader has taken back the tick that an item of this
// instance has begun last, because it had not come yet.
func (w *World) isTakenBack(k *Work, i int) bool {
	item := &w.Items[i]
	begun, ok := k.Begun[i]
	return ok && k.Runs[i] == nil && item.Running == nil && w.owns(item) &&
		item.Fired.Modified > k.Ended[i] && !item.Fired.Tick.IsZero() && begun.Sub(item.Fired.Tick) > farTolerance
}
