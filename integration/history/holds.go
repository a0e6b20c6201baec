package history

import (
	"cmp"
	"fmt"
	"time"
)

// hold is a pause of a job that the registry has confirmed.
type hold struct {
	begin *Event
	// end is what has ended it: a Release, or the removal of the job. It is nil if nothing has,
	// or if it may have been lost because the store was put back.
	end   *Event
	until int64 // when somebody began to end it
}

// holds lists the pauses of a job in the order of time.
func (c *checker) holds(job string) []hold {
	var list []hold
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Job != job && e.Kind != Restore {
			continue
		}
		n := len(list)
		isOpen := n > 0 && list[n-1].until == c.timeline.quiet
		switch {
		case e.Kind == Hold && e.Err == "" && !isOpen:
			list = append(list, hold{begin: e, until: c.timeline.quiet})
		case !isOpen:
		case e.Kind == Release || e.Kind == Remove:
			list[n-1].end, list[n-1].until = e, cmp.Or(e.Call, e.Mono)
		case e.Kind == Restore || e.Kind == Tamper:
			list[n-1].until = cmp.Or(e.Call, e.Mono)
		}
	}
	return list
}

// held lists when a job was paused, or may have been: an answer was lost, or the store was put
// back to a time at which it may have been.
func (t *timeline) held(job string) []span {
	var list []span
	ever, open := false, false
	for i := range t.events {
		e := &t.events[i]
		if e.Job != job && e.Kind != Restore {
			continue
		}
		switch {
		case e.Kind == Hold, e.Kind == Restore && ever:
			ever = true
			if !open {
				list = append(list, span{from: cmp.Or(e.Call, e.Mono), to: never, event: e})
			}
			open = true
		case open && (e.Kind == Release || e.Kind == Remove):
			open = false
			list[len(list)-1].to, list[len(list)-1].event = e.Mono, e
		}
	}
	return list
}

// edge is how near to the beginning or the end of a pause a tick is not judged: the pause has
// the time of another clock.
const edge = 100 * time.Millisecond

// paused checks that no tick of a paused job begins, and that the ticks of the pause are made up
// once after it, or not, as the pause says.
func (c *checker) paused(s subject) {
	for _, h := range c.holds(s.job) {
		first, last := c.timeline.wall(h.begin.Mono).Add(edge+c.limits.Skew), c.timeline.wall(h.until).Add(-edge-c.limits.Skew)
		var made []*execution
		for _, x := range c.runs[s] {
			if x.asked() || x.source == failover || x.start == nil || h.precedes(x) {
				continue
			}
			if h.contains(x) {
				c.violate(14, fmt.Sprintf("%s/%d: a tick began although the job was paused", s.job, s.item), append(x.events(), h.begin)...)
				continue
			}
			if x.tick.After(first) && x.tick.Before(last) {
				made = append(made, x)
			}
		}
		if h.end == nil || h.end.Kind != Release || h.end.Err != "" || len(overlapping(c.breaks[s.job], h.begin.Call, h.end.Mono)) > 0 {
			continue
		}
		most := 0
		if h.begin.Again {
			most = 1
			c.madeUp(s, h, last)
		}
		if len(made) > most {
			events := []*Event{h.begin, h.end}
			for _, x := range made {
				events = append(events, x.events()...)
			}
			c.violate(14, fmt.Sprintf("%s/%d: %d executions for ticks of a pause, %d are allowed", s.job, s.item, len(made), most), events...)
		}
	}
}

// precedes reports whether an execution was claimed before the pause, as far as that is known.
// The numbers of the commits tell, unless an answer was lost.
func (h hold) precedes(x *execution) bool {
	if h.begin.Token != 0 && x.began() >= h.begin.Call {
		return x.token < h.begin.Token
	}
	return x.claim == nil || x.decided() <= h.begin.Mono
}

// contains reports whether an execution that does not precede the pause was claimed before its
// end.
func (h hold) contains(x *execution) bool {
	if h.end != nil && h.end.Token != 0 && x.began() <= h.end.Mono {
		return x.token < h.end.Token
	}
	return x.decided() < h.until
}

// madeUp checks that a run begins after a pause for its last tick or a later one.
func (c *checker) madeUp(s subject, h hold, last time.Time) {
	r := at(c.regimes[s.job], h.begin.Call)
	if r.Every <= 0 || r.Narrow || r.Skip || r.Broadcast || r.Jitter > 0 || len(r.Out) > 0 || s.item >= r.Total || c.reconfigured(s.job, h.begin.Call, h.end.Mono) {
		return
	}
	tick := last.Truncate(r.Every)
	if !tick.After(c.timeline.wall(h.begin.Mono).Add(edge + c.limits.Skew)) {
		return // none came in the pause
	}
	until := c.timeline.quiet
	for _, spans := range [][]span{c.held[s.job], c.breaks[s.job], c.timeline.switchedOff(s)} {
		for _, p := range spans {
			if p.from > h.begin.Mono && p.to > h.begin.Mono {
				until = min(until, p.from) // nobody has to make up from there on
			}
		}
	}
	if e := c.happened(Configure, "", s.job, h.end.Mono, until); e != nil {
		until = cmp.Or(e.Call, e.Mono)
	}
	if removed := c.happened(Remove, "", s.job, h.end.Mono, until); removed != nil {
		until = cmp.Or(removed.Call, removed.Mono)
	}
	var runs []*execution
	for _, x := range c.runs[s] {
		if c.regular(x) {
			runs = append(runs, x)
		}
	}
	events := []*Event{h.begin, h.end}
	if next := soonest(runs)(tick); next != nil {
		until = min(until, next.began())
		events = append(events, next.events()...)
	}
	if idle, _, by := c.idle(s, h.end.Mono, until); idle > c.limits.Margin+c.limits.Skew {
		c.violate(14, fmt.Sprintf("%s/%d: the ticks of a pause were not made up for %s", s.job, s.item, idle.Round(time.Millisecond)), with(events, by)...)
	}
}

// reconfigured reports whether a job got other rules in a stretch of time.
func (c *checker) reconfigured(job string, from, to int64) bool {
	for _, r := range c.regimes[job] {
		if r.from >= from && r.from <= to {
			return true
		}
	}
	return false
}

// wall is the wall time of a monotonic time.
func (t *timeline) wall(mono int64) time.Time { return time.Unix(0, mono-t.offset) }
