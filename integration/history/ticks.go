package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// ticks checks that a tick of an item starts once, and again only as the failover of a run
// that was not finished. If the job has failover, a run that was cut short must be repeated.
func (c *checker) ticks(s subject) {
	for _, e := range c.timeline.epochs(c.breaks[s.job], c.runs[s]) {
		c.ticksOf(e)
	}
}

func (c *checker) ticksOf(e epoch) {
	type turn struct {
		tick    int64
		request string // a tick that somebody asks for is not that of the schedule
	}
	var order []turn
	byTick := map[turn][]*execution{}
	for _, x := range e.runs {
		tick := turn{x.tick.UnixMilli(), x.request}
		if byTick[tick] == nil {
			order = append(order, tick)
		}
		byTick[tick] = append(byTick[tick], x)
	}
	for _, tick := range order {
		runs := byTick[tick]
		if runs[0].source == failover && e.first {
			c.unbegun(runs[0])
		}
		for i, again := range runs[1:] {
			c.again(runs[i], again)
		}
		c.owed(runs[len(runs)-1], e.end)
	}
}

// again judges two executions of one tick, one after the other.
func (c *checker) again(first, second *execution) {
	name := fmt.Sprintf("%s/%d, tick %s", first.job, first.item, first.tick.UTC().Format("15:04:05.999"))
	events := append(first.events(), second.events()...)
	regimes := c.regimes[first.job]
	switch {
	case second.start == nil:
	case second.source != failover:
		// A job that was removed and created again does not know what had begun before. A
		// tick that a fast clock had begun just before that begins once more.
		forgotten := c.happened(Remove, "", first.job, first.claimed(), second.began()) != nil
		if first.start != nil && !forgotten && !c.early(first.tick, first.began()) {
			c.violate(1, name+": started a second time, and not as a failover", events...)
		}
	case !at(regimes, first.began()).Failover && !at(regimes, second.began()).Failover:
		c.violate(4, name+": run again although the job has no failover", events...)
	case first.settled() && c.putUp(second):
	case first.isGivenBack():
		c.unbegun(second)
	case first.settled():
		promise := 4
		if c.left(first.process, first.job, second.began()) {
			promise = 5
		}
		c.violate(promise, name+": run again although its end was recorded", events...)
	default:
		c.late(first, second)
	}
}

// early reports whether a tick was so far away at a time that what a wrong clock has begun for it
// then does not count: it begins once more when the tick comes.
func (c *checker) early(tick time.Time, at int64) bool {
	const far = 15 * time.Second
	return c.timeline.mono(tick) > at+int64(far-c.limits.Skew)
}

// putUp reports whether an execution is the first failover since somebody, who is no
// instance, has put its item up to be run again. It may come long after that, because the run
// that was under way, and its make-up, come first.
func (c *checker) putUp(second *execution) bool {
	by := int64(never)
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind == Tamper && e.Name == WaitingItem && e.Job == second.job && e.Item == second.item && e.Mono <= second.began() {
			by = cmp.Or(e.Call, e.Mono)
		}
	}
	return by != never && !slices.ContainsFunc(c.runs[second.subject], func(x *execution) bool {
		return x.source == failover && x.began() >= by && x.began() < second.began()
	})
}

// late checks that a failover begins as soon as the death can be known, unless something
// delays it.
func (c *checker) late(first, second *execution) {
	from := first.returned()
	if first.finish != nil {
		from = first.finish.Mono
	}
	from, to := min(from, second.began()), second.began()
	late, _, by := c.idle(first.subject, from, to)
	if late > c.limits.Session+c.limits.Margin && !at(c.regimes[first.job], to).Narrow {
		c.violate(4, fmt.Sprintf("%s/%d: run again only after %s", first.job, first.item, late.Round(time.Millisecond)),
			with(append(first.events(), second.events()...), by)...)
	}
	if first.killed == never || first.start == nil {
		return
	}
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind == Gone && e.Instance == first.start.Instance && e.Job == first.job {
			c.report.TakeOvers = append(c.report.TakeOvers, time.Duration(to-e.Mono))
		}
	}
}

// unbegun reports a failover of a run that had not begun.
func (c *checker) unbegun(x *execution) {
	if !c.mayBeUnseen(x.job, x.began()) {
		c.violate(1, fmt.Sprintf("%s/%d: a failover of what nobody had begun", x.job, x.item), x.events()...)
	}
}

// mayBeUnseen reports whether a run of a job may have begun without a line in the history: a
// process was killed or stopped before, or the answer to a commit was lost.
func (c *checker) mayBeUnseen(job string, before int64) bool {
	return slices.ContainsFunc(c.timeline.events, func(e Event) bool {
		return e.Mono <= before && (e.Kind == Kill || e.Kind == Pause || e.Kind == Commit && e.Err != "" && e.Job == job)
	})
}

// owed checks the last execution of a tick before the end of an epoch: if the job has
// failover, it must not have been cut short.
func (c *checker) owed(x *execution, end int64) {
	if x.complete() || x.settled() || x.returned() >= end {
		return
	}
	ended := x.returned()
	for _, r := range c.regimes[x.job] {
		if r.to > ended && r.from < end && (!r.Failover || r.Narrow || x.item >= r.Total) {
			return
		}
	}
	if c.removed(x.job, x.claimed()) || c.forgone(x) || c.merged(x) || c.within(c.timeline.switchedOff(x.subject), end) {
		return
	}
	if late, _, by := c.idle(x.subject, ended, end); late > c.limits.Session+c.limits.Margin {
		c.violate(4, fmt.Sprintf("%s/%d: cut short, and not run again for %s", x.job, x.item, late.Round(time.Millisecond)),
			with(append(x.events(), c.timeline.faults(x.process, x.began(), end)...), by)...)
	}
}

// left reports whether a process had been asked to leave a job.
func (c *checker) left(process, job string, before int64) bool {
	return c.happened(Leave, process, job, 0, before) != nil
}

// removed reports whether a job was removed after a moment.
func (c *checker) removed(job string, after int64) bool {
	return c.happened(Remove, "", job, after, never) != nil
}

// happened finds something that was done to a process, or to any if process is empty, and
// that did not begin after a stretch of time or end before it.
func (c *checker) happened(kind Kind, process, job string, after, before int64) *Event {
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind == kind && (e.Process == process || process == "") && (e.Job == job || e.Job == "") && e.Mono >= after && cmp.Or(e.Call, e.Mono) <= before {
			return e
		}
	}
	return nil
}

func with(events []*Event, more *Event) []*Event {
	if more == nil {
		return events
	}
	return append(events, more)
}
