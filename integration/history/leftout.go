package history

import (
	"fmt"
	"slices"
	"time"
)

// leftOut checks that no run begins for a tick that is left out by the schedule which was in force when it
// came: the newest one of which the commit of the run may know, and which was in force before the tick. What had
// come by an earlier schedule is owed, whatever a newer one says.
func (c *checker) leftOut(s subject) {
	for _, x := range c.runs[s] {
		if x.start == nil || x.asked() || x.source == failover || len(c.breaks[s.job]) > 0 {
			continue
		}
		var by *Event
		for i := range c.timeline.events {
			if e := &c.timeline.events[i]; e.Kind == Scheduled && e.Job == s.job && e.Token < x.token && e.Tick.Before(x.tick) && (by == nil || e.Token >= by.Token) {
				by = e
			}
		}
		if by != nil && isOut(by.Out, x.tick) {
			c.violate(22, fmt.Sprintf("%s/%d: a tick began that its calendar leaves out", s.job, s.item), append(x.events(), by)...)
		}
	}
}

// jitter checks that an item starts as long after its ticks wherever it runs, and never before
// them. Runs that are late for another reason show nothing, so the soonest of each process count.
func (c *checker) jitter(s subject) {
	const fewest = 2
	byProcess := map[string][]*execution{}
	delay := func(x *execution) time.Duration { return x.start.Wall.Sub(x.tick) }
	var first *execution
	for _, x := range c.runs[s] {
		if x.start == nil || x.source != normal || at(c.regimes[s.job], x.began()).Jitter == 0 {
			continue
		}
		if delay(x) < -c.limits.Skew {
			c.violate(23, fmt.Sprintf("%s/%d: begun before its tick", s.job, s.item), x.events()...)
		}
		byProcess[x.process] = append(byProcess[x.process], x)
		if first == nil || delay(x) < delay(first) {
			first = x
		}
	}
	for process, runs := range byProcess {
		late := func(x *execution) time.Duration {
			return c.spare(nil, c.timeline.mono(x.tick.Add(delay(first))), x.start.Mono)
		}
		soonest := slices.MinFunc(runs, func(a, b *execution) int { return int(late(a) - late(b)) })
		if len(runs) >= fewest && late(soonest) > c.limits.Margin/4+c.limits.Skew {
			c.violate(23, fmt.Sprintf("%s/%d: begins later on %s, by %s", s.job, s.item, process, late(soonest).Round(time.Millisecond)), append(first.events(), soonest.events()...)...)
		}
	}
}

// room checks that no process runs more items of all jobs at a time than it may have. Pins go
// before that.
func (c *checker) room() {
	if slices.ContainsFunc(c.timeline.events, func(e Event) bool { return e.Kind == Pin }) {
		return
	}
	byProcess := map[string][]*execution{}
	for _, runs := range c.runs {
		for _, x := range runs {
			if x.start != nil {
				byProcess[x.process] = append(byProcess[x.process], x)
			}
		}
	}
	for i := range c.timeline.events {
		up := &c.timeline.events[i]
		if up.Kind != Up || up.Room == 0 {
			continue
		}
		for _, x := range byProcess[up.Process] {
			events, n := []*Event{up}, 0
			for _, y := range byProcess[up.Process] {
				if y.start.Mono <= x.start.Mono && x.start.Mono < y.until() || y == x {
					events, n = append(events, y.start), n+1
				}
			}
			if n > up.Room {
				c.violate(24, fmt.Sprintf("%s runs %d items at a time and has room for %d", up.Process, n, up.Room), events...)
				break
			}
		}
	}
}
