package history

import (
	"fmt"
	"slices"
	"time"
)

// silence checks that no item stays longer than a bound without a run that is due and without
// a fault that says why. What was done to the processes and the store is no excuse: a process
// that cannot go on has to report that.
func (c *checker) silence(s subject) {
	if c.limits.Silence == 0 {
		return
	}
	var runs []*execution
	for _, x := range c.runs[s] {
		if x.start != nil && c.regular(x) {
			runs = append(runs, x)
		}
	}
	sooner := soonest(runs)
	covered := c.covered(s)
	for _, r := range c.regimes[s.job] {
		if s.item >= r.Total || r.Every <= 0 || r.Broadcast {
			continue
		}
		bound := c.limits.Silence + c.limits.Skew
		if !r.Misfire {
			bound += r.Every // one tick may be skipped
		}
		end := min(r.to, c.timeline.quiet)
		begin := time.Unix(0, c.newSince(s, r)-c.timeline.offset)
		for tick := begin.Truncate(r.Every).Add(r.Every); c.timeline.mono(tick) < end; tick = tick.Add(r.Every) {
			if c.isPast(s.job, r, tick) {
				break
			}
			if isOut(r.Out, tick) {
				continue
			}
			due, until := c.timeline.mono(tick)+int64(r.Jitter), end
			next := sooner(tick)
			if next != nil {
				until = min(until, next.start.Mono)
			}
			from, silent := longest(covered, due, until)
			if next != nil {
				c.report.LongestSilence = max(c.report.LongestSilence, silent)
			}
			if silent > bound {
				c.tooSilent(s, tick, from, silent, next)
				break // the ticks after it would show the same silence
			}
		}
	}
}

// regular reports whether an execution counts as a run for its tick and those before it. One
// that somebody asked for does not, nor one that a clock far ahead has begun.
func (c *checker) regular(x *execution) bool {
	const far = time.Minute
	return !x.asked() && c.timeline.mono(x.tick) <= x.began()+int64(c.limits.Skew+far)
}

// soonest returns a function that finds, for a tick, which run for it or for a later tick
// began first. It changes the order of the runs.
func soonest(runs []*execution) func(tick time.Time) *execution {
	slices.SortFunc(runs, func(a, b *execution) int { return a.tick.Compare(b.tick) })
	first := make([]*execution, len(runs)+1) // first[i] is the one of runs[i:] that began first
	for i := len(runs) - 1; i >= 0; i-- {
		first[i] = runs[i]
		if later := first[i+1]; later != nil && later.began() < runs[i].began() {
			first[i] = later
		}
	}
	return func(tick time.Time) *execution {
		i, _ := slices.BinarySearchFunc(runs, tick, func(x *execution, tick time.Time) int { return x.tick.Compare(tick) })
		return first[i]
	}
}

// covered lists when an item may be silent: it runs, no enabled process takes part, a process
// reports a fault, an operator has disabled it or paused its job, or the machine or the store is slow, which
// counts twice to allow for catching up.
func (c *checker) covered(s subject) []span {
	var list []span
	for _, x := range c.runs[s] {
		if x.start != nil {
			list = append(list, span{from: x.start.Mono, to: x.until()})
		}
	}
	list = append(list, c.timeline.explained(s.job)...)
	list = append(list, c.timeline.switchedOff(s)...)
	list = append(list, c.held[s.job]...)
	for _, p := range c.timeline.slow {
		list = append(list, span{from: p.from, to: p.to + (p.to - p.from)})
	}
	return union(list)
}

// newSince is the time from which the ticks of a regime are due: its beginning, or the time
// since which its schedule is in force if that is soon after. A schedule that is in force only
// from a time far ahead is no excuse.
func (c *checker) newSince(s subject, r regime) int64 {
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind == Scheduled && e.Job == s.job && e.Mono >= r.from && e.Mono <= min(r.to, r.from+int64(c.limits.Silence)) {
			return max(r.from, min(c.timeline.mono(e.Tick), e.Mono+int64(c.limits.Skew)))
		}
	}
	return r.from
}

// longest is the longest part of a stretch of time that no span covers. The spans are in
// order and do not overlap.
func longest(covered []span, from, to int64) (begin int64, length time.Duration) {
	at, _ := slices.BinarySearchFunc(covered, from, func(s span, from int64) int {
		if s.to < from {
			return -1
		}
		return 1
	})
	for _, s := range covered[at:] {
		if s.from >= to {
			break
		}
		if d := time.Duration(s.from - from); d > length {
			begin, length = from, d
		}
		from = max(from, s.to)
	}
	if d := time.Duration(to - from); to > from && d > length {
		begin, length = from, d
	}
	return begin, length
}

// tooSilent reports a silence, with the last run before it, what was done last, and what
// ended it.
func (c *checker) tooSilent(s subject, tick time.Time, from int64, silent time.Duration, next *execution) {
	var events []*Event
	for _, x := range c.runs[s] {
		if x.began() < from {
			events = x.events()
		}
	}
	for _, p := range c.timeline.troubles {
		if p.event.Kind != Stall && p.from <= from+int64(silent) && p.to >= from-int64(c.limits.Silence) {
			events = with(events, p.event)
		}
	}
	if next != nil {
		events = append(events, next.start)
	} else {
		events = append(events, c.quiet())
	}
	c.violate(12, fmt.Sprintf("%s/%d: nothing ran for tick %s or a later one, and no fault said why, for %s", s.job, s.item,
		tick.UTC().Format("15:04:05"), silent.Round(time.Millisecond)), events...)
}
