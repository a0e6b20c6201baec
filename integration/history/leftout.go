package history

import (
	"fmt"
	"slices"
	"time"
)

// leftOut checks that no run begins for a tick that calendars leave out: by the newest schedule of which its
// commit may know, and by the one that was in force when the tick came. What that had is owed, whatever a newer
// one says.
func (c *checker) leftOut(s subject) {
	for _, x := range c.runs[s] {
		if x.start == nil || x.asked() || x.source == failover || len(c.breaks[s.job]) > 0 {
			continue
		}
		var newest, before *Event
		for i := range c.timeline.events {
			e := &c.timeline.events[i]
			if e.Kind != Scheduled || e.Job != s.job || e.Token >= x.token {
				continue
			}
			if newest == nil || e.Token >= newest.Token {
				newest = e
			}
			if e.Tick.Before(x.tick) && (before == nil || e.Token >= before.Token) {
				before = e
			}
		}
		if newest != nil && isOut(newest.Out, x.tick) && (before == nil || isOut(before.Out, x.tick)) {
			c.violate(22, fmt.Sprintf("%s/%d: a tick began that its calendar leaves out", s.job, s.item), append(x.events(), newest)...)
		}
	}
}

// jitter checks that an item starts as long after its ticks wherever it runs, and never before
// them. Runs that are late for another reason show nothing, so the soonest of each process count, and those of an item
// that a process has just got do not.
func (c *checker) jitter(s subject) {
	const fewest = 2
	byProcess := map[string][]*execution{}
	delay := func(x *execution) time.Duration { return x.start.Wall.Sub(x.tick) }
	var first *execution
	owner := ""
	for _, x := range c.runs[s] {
		if x.start == nil {
			continue
		}
		got := x.process != owner
		owner = x.process
		if x.source != normal || at(c.regimes[s.job], x.began()).Jitter == 0 {
			continue
		}
		if delay(x) < -c.limits.Skew {
			c.violate(23, fmt.Sprintf("%s/%d: begun before its tick", s.job, s.item), x.events()...)
		}
		if !got {
			byProcess[x.process] = append(byProcess[x.process], x)
		}
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

// room checks that no instance runs more items at a time than it may have. Pins go before that.
func (c *checker) room() {
	if slices.ContainsFunc(c.timeline.events, func(e Event) bool { return e.Kind == Pin }) {
		return
	}
	type instance struct{ job, process string }
	started := map[instance][]*execution{}
	for _, runs := range c.runs {
		for _, x := range runs {
			if x.start != nil {
				of := instance{x.job, x.process}
				started[of] = append(started[of], x)
			}
		}
	}
	for of, runs := range started {
		for _, x := range runs {
			most := at(c.regimes[of.job], x.start.Mono).MaxItems
			if most == 0 {
				continue
			}
			var events []*Event
			for _, y := range runs {
				if y.start.Mono <= x.start.Mono && x.start.Mono < y.until() || y == x {
					events = append(events, y.start)
				}
			}
			if len(events) > most {
				c.violate(24, fmt.Sprintf("%s: %s runs %d items at a time and may have %d", of.job, of.process, len(events), most), events...)
				break
			}
		}
	}
}
