package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// ClockTolerance is how far the local clock may be from the store's before that is a fault.
	ClockTolerance = 5 * time.Second
	// farTolerance is how far the clock of an instance may be off before its items go to
	// instances whose clocks are right.
	farTolerance = 2 * ClockTolerance
	// FutureTolerance is how far ahead of the store's clock a recorded tick may be before it
	// is corrected. An instance that has items may begin a tick early by farTolerance, and the
	// comparison of the clocks is not exact.
	FutureTolerance = 3 * ClockTolerance
)

// Clock compares the local clock with the store's, at the moment of a [World].
type Clock struct {
	Known bool          // they could be compared
	Store time.Time     // what the store's showed
	Ahead time.Duration // how far the local one is certainly ahead; negative if it is behind
}

// correctedTime returns the local time without what the local clock is certainly ahead of the store's, or
// behind it. It is written where others read it, whose clocks are right.
func (w *World) correctedTime() time.Time { return w.Now.Add(-w.Clock.Ahead) }

// wallAt returns what the local wall clock would have shown at a moment, if it had not been set since.
func (w *World) wallAt(m clocks.Moment) time.Time { return w.Now.Add(-w.Moment.Sub(m)) }

// ClockOff reports whether the local clock is farther from the store's than the configuration allows.
func (w *World) ClockOff() bool {
	return w.Rules.MaxTimeDiff > 0 && w.Clock.Ahead.Abs() > w.Rules.MaxTimeDiff
}

// isOwnClockFar reports whether the local clock is far from the store's: one of the two is certainly wrong.
func (w *World) isOwnClockFar() bool { return w.Clock.Ahead.Abs() > farTolerance }

// ClockStops reports whether the local clock keeps this instance from running anything. A
// clock that is far off does, while another instance's clock is right: this instance would
// begin ticks that have not come, and the leader would take them back. If all clocks are far
// off, the store's clock is the wrong one, and the instances go on by their own.
func (w *World) ClockStops() bool {
	return w.ClockOff() || w.isOwnClockFar() && w.anyClockRight()
}

// isClockFar reports whether the clock of an instance is far off. A JVM member does not say that its clock is.
func (w *World) isClockFar(id string) bool {
	if id == w.Self.ID {
		return w.isOwnClockFar()
	}
	return w.Session(id).ClockFar
}

// slowestClockLag returns how far the clock of an instance that begins ticks may be behind the store's: as
// far as one may be and keep its items, or, if all are far off, as far as the instances say. The
// comparison of the clocks is not exact.
func (w *World) slowestClockLag() time.Duration {
	most := farTolerance
	if !w.anyClockRight() {
		most = max(most, -w.Clock.Ahead)
		for _, s := range w.Sessions {
			if !s.ClockOff {
				most = max(most, -time.Duration(s.Ahead)*time.Second)
			}
		}
	}
	return most + ClockTolerance
}

// anyClockRight reports whether the clock of any ready instance is not far off.
func (w *World) anyClockRight() bool {
	for id, in := range w.Instances {
		if !w.isClockFar(id) && w.isReady(in) {
			return true
		}
	}
	return false
}

// isFuture reports whether a recorded time has certainly not come yet: the store's clock says so, and the
// local clock is not far from it.
func (w *World) isFuture(recorded time.Time) bool {
	return w.Clock.Known && !w.isOwnClockFar() && recorded.After(w.Clock.Store.Add(FutureTolerance))
}

// Rewind rewrites, as leader, fired records whose tick has not come yet. An instance whose
// clock was far ahead, or an external writer, has written them, and the items would not run until
// then. Nobody knows what these items have missed meanwhile, so they make up nothing. Nor is it
// known which of these ticks were begun: all begin when they come.
func (w *World) Rewind() []Change {
	c := changes{w: w, step: "rewind", isRepair: true, head: (*World).ifLeading}
	now := w.correctedTime()
	for i := range w.itemsToLookAt(w.itemCount()) {
		item := &w.Items[i]
		if item.Fired == nil || item.Running != nil || !w.isFuture(item.Fired.Tick) {
			continue
		}
		c.add(i, coord.Absent(w.Job.Running(i)), coord.SetAt(w.Job.Fired(i), jobtree.EncodeFired(now), item.Fired.Version))
	}
	return c.list
}

// FutureTimes are times of the tree that have not come yet. Items do not run until then.
type FutureTimes struct {
	Items     []int // the last tick of these items has not come yet
	Schedule  bool  // the time since which the schedule is in force has not come yet
	TakenBack []int // the leader has taken back the last tick of these items of this instance
}

// FutureTimes finds the times that have not come yet. The leader corrects them if the store's clock is known. If
// it is not, the local clock may be the wrong one, and nothing is corrected.
func (w *World) FutureTimes(k *Work) FutureTimes {
	var f FutureTimes
	if w.Rules.Ticks == nil {
		return f
	}
	isFuture := func(time.Time) bool { return false } // if the clocks are far apart
	if limit := w.Now; !w.Clock.Known || !w.isOwnClockFar() {
		if w.Clock.Known {
			limit = w.Clock.Store
		}
		limit = limit.Add(FutureTolerance) // once: there may be many items
		isFuture = func(recorded time.Time) bool { return recorded.After(limit) }
	}
	f.Schedule = w.IsScheduleEffective() && isFuture(w.Schedule.Since)
	if !w.Rules.Monitor {
		return f
	}
	for i := range w.itemCount() {
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
// instance has begun last, because by the store's clock that tick had not come.
func (w *World) isTakenBack(k *Work, i int) bool {
	item := &w.Items[i]
	begun, ok := k.Begun[i]
	return ok && k.Runs[i] == nil && item.Running == nil && w.owns(item) &&
		item.Fired.Modified > k.Ended[i] && !item.Fired.Tick.IsZero() && begun.Sub(item.Fired.Tick) > farTolerance
}
