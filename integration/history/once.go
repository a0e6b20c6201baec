package history

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// call is one call of a once-listener.
type call struct {
	begin *Event
	end   *Event // nil if it has not returned
	until int64  // when it has returned, or its process was killed
}

// events are those of the call.
func (k *call) events() []*Event { return with([]*Event{k.begin}, k.end) }

// told is what once-listeners were told of a tick, in the order of time.
type told struct {
	tick               time.Time
	started, completed []*call
}

// calls lists what once-listeners of a job were told, by ticks.
func (t *timeline) calls(job string) []*told {
	byTick := map[int64]*told{}
	byIdentity := map[string]*call{}
	var open []*call
	for i := range t.events {
		e := &t.events[i]
		identity := fmt.Sprint(e.Instance, e.Tick.UnixMilli(), e.Name)
		switch {
		case e.Kind == Called && e.Job == job:
			k := &call{begin: e, until: never}
			byIdentity[identity], open = k, append(open, k)
			of := byTick[e.Tick.UnixMilli()]
			if of == nil {
				of = &told{tick: e.Tick}
				byTick[e.Tick.UnixMilli()] = of
			}
			if e.Name == "Started" {
				of.started = append(of.started, k)
			} else {
				of.completed = append(of.completed, k)
			}
		case e.Kind == Returned && e.Job == job:
			if k := byIdentity[identity]; k != nil && k.until == never {
				k.end, k.until = e, e.Mono
			}
		case e.Kind == Kill:
			for _, k := range open {
				if k.begin.Process == e.Process {
					k.until = min(k.until, max(e.Mono, k.begin.Mono))
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(byTick), func(a, b *told) int { return a.tick.Compare(b.tick) })
}

// once checks what once-listeners of a job are told: of each tick once, and once more only if
// the caller has ended; Started before any member begins, Completed when all have ended.
func (c *checker) once(job string) {
	ticks := c.timeline.calls(job)
	for _, t := range ticks {
		if len(c.breaks[job]) > 0 { // ticks may come again
			return
		}
		if len(t.started) > 0 && c.early(t.tick, t.started[0].begin.Mono) {
			continue // it may come once more
		}
		c.calledAgain(job, t.started)
		c.calledAgain(job, t.completed)
		for _, k := range t.completed {
			c.completed(job, t, k)
		}
		c.incomplete(job, t)
	}
	c.untold(job, ticks)
}

// calledAgain checks that a call is made again only if its caller may have ended.
func (c *checker) calledAgain(job string, calls []*call) {
	for i := 1; i < len(calls); i++ {
		first, second := calls[i-1], calls[i]
		since := first.begin.Mono - int64(2*c.limits.Session+c.limits.Margin)
		slow := time.Duration(total(clip(c.timeline.slow, since, second.begin.Mono)))
		switch {
		case first.begin.Again && c.overslept(second, first.begin.Mono):
			// it was about to call, and could not know
		case !second.begin.Again:
			c.violate(20, fmt.Sprintf("%s: %s is called a second time, and not told so", job, first.begin.Name), append(first.events(), second.events()...)...)
		case len(c.timeline.troubled(first.begin.Process, since, second.begin.Mono)) == 0 && slow <= c.limits.Session/4 && !c.left(first.begin.Process, job, second.begin.Mono):
			c.violate(20, fmt.Sprintf("%s: %s is called again although its caller has not ended", job, first.begin.Name), append(first.events(), second.events()...)...)
		}
	}
}

// overslept reports whether a call began, soon after a stop by a signal, in a process that could
// not know what had happened meanwhile.
func (c *checker) overslept(k *call, since int64) bool {
	return slices.ContainsFunc(c.timeline.pauses, func(p span) bool {
		return p.process == k.begin.Process && p.from <= since && since <= p.to && p.to <= k.begin.Mono && k.begin.Mono <= p.to+int64(wakeTime)
	})
}

// isOpen reports whether a call was under way at a time, and its process not stopped by a signal.
func (c *checker) isOpen(k *call, at int64) bool {
	if k.begin.Mono > at || k.until <= at {
		return false
	}
	return !slices.ContainsFunc(c.timeline.pauses, func(p span) bool {
		return p.process == k.begin.Process && p.from <= at && (p.to == never || k.until <= p.to+int64(wakeTime))
	})
}

// ofTick lists the runs of an item for a tick of the schedule.
func (c *checker) ofTick(s subject, tick time.Time) []*execution {
	return slices.DeleteFunc(slices.Clone(c.runs[s]), func(x *execution) bool { return x.start == nil || x.asked() || !x.tick.Equal(tick) })
}

// completed checks what Completed is told, and that all members have ended before.
func (c *checker) completed(job string, t *told, k *call) {
	at := k.begin.Mono
	broken := func(what string, events ...*Event) {
		c.violate(20, fmt.Sprintf("%s: Completed of tick %s %s", job, t.tick.UTC().Format("15:04:05"), what), append(k.events(), events...)...)
	}
	started := slices.IndexFunc(t.started, func(s *call) bool { return s.begin.Mono <= at })
	if started < 0 {
		broken("is called without Started")
		return
	}
	for _, s := range t.started {
		if c.isOpen(s, at) {
			broken("is called before Started has returned", s.events()...)
		}
	}
	begun := t.started[started].begin
	if !slices.Equal(begun.Items, k.begin.Items) {
		broken("has other members", begun)
	}
	results := map[int]string{}
	for _, r := range k.begin.Results {
		results[r.Item] = r.Outcome
	}
	for _, item := range k.begin.Items {
		s := subject{job, item}
		runs := c.ofTick(s, t.tick)
		for _, x := range runs {
			if x.until() > at && !c.asleep(x, at) && !c.timeline.wronglyDropped(x, at) {
				broken(fmt.Sprintf("is called before item %d has ended", item), x.events()...)
			}
		}
		if what := c.wrongOutcome(s, results[item], runs); what != "" {
			var events []*Event
			for _, x := range runs {
				events = append(events, x.events()...)
			}
			broken(fmt.Sprintf("says %q of item %d, %s", results[item], item, what), events...)
		}
	}
}

// wrongOutcome says why the outcome of a member cannot be right; "" if it can.
func (c *checker) wrongOutcome(s subject, outcome string, runs []*execution) string {
	ended := func(as Outcome) bool {
		return slices.ContainsFunc(runs, func(x *execution) bool { return x.end != nil && x.end.Outcome == as })
	}
	switch outcome {
	case "OK":
		if !ended(Done) {
			return "but no run was successful"
		}
	case "FAILED":
		if !ended(Failed) {
			return "but no run has failed"
		}
	case "KILLED":
		if !slices.ContainsFunc(runs, func(x *execution) bool { return c.killOf(x) != nil }) && len(c.kills[s]) == 0 {
			return "but nobody has killed it"
		}
	case "SKIPPED":
		if len(runs) > 0 {
			return "but it has run"
		}
	case "CUT":
		steered := len(c.held[s.job])+len(c.timeline.switchedOff(s))+len(c.kills[s]) > 0 || c.removed(s.job, 0)
		if regimes := c.regimes[s.job]; len(regimes) == 1 && regimes[0].Failover && !steered {
			return "but what is cut short is run again"
		}
	default:
		return "which is no outcome"
	}
	return ""
}

// incomplete checks that Completed is called soon after the end of all members.
func (c *checker) incomplete(job string, t *told) {
	due, until := int64(0), c.timeline.quiet
	var events []*Event
	for _, k := range t.started {
		due = max(due, k.until)
		events = append(events, k.events()...)
	}
	if len(t.completed) > 0 {
		until = min(until, t.completed[0].begin.Mono)
		events = append(events, t.completed[0].begin)
	}
	for _, item := range members(t) {
		s := subject{job, item}
		runs := c.ofTick(s, t.tick)
		if len(runs) == 0 {
			due = max(due, c.overtaken(s, t.tick))
			continue
		}
		for _, x := range runs {
			due = max(due, x.until())
		}
		events = append(events, runs[len(runs)-1].events()...)
	}
	if due >= until || c.removed(job, due) {
		return
	}
	if late, _, by := c.idleBut(job, nil, due, until); late > c.limits.Session+c.limits.Margin {
		c.violate(20, fmt.Sprintf("%s: Completed of tick %s was not called for %s", job, t.tick.UTC().Format("15:04:05"), late.Round(time.Millisecond)), with(events, by)...)
	}
}

func members(t *told) []int {
	if len(t.started) > 0 {
		return t.started[0].begin.Items
	}
	return t.completed[0].begin.Items
}

// overtaken is when an item that has not run for a tick begins a later one; never if it does not.
func (c *checker) overtaken(s subject, tick time.Time) int64 {
	for _, x := range c.runs[s] {
		if x.start != nil && !x.asked() && x.tick.After(tick) {
			return x.start.Mono
		}
	}
	return never
}

// isStranger reports whether a run is that of an item that is no member: it ran when they were
// fixed. It does not wait for Started.
func (c *checker) isStranger(x *execution, first *call) bool {
	between, _, _ := c.idleBut(x.job, nil, x.start.Mono, first.begin.Mono)
	return !slices.Contains(first.begin.Items, x.item) && between <= c.limits.Margin
}

// untold checks that no run for a tick begins before Started of that tick, or of a later one,
// and no member while Started is being called.
func (c *checker) untold(job string, ticks []*told) {
	for s, runs := range c.runs {
		if s.job != job {
			continue
		}
		for _, x := range runs {
			if x.start == nil || x.asked() || x.source == failover || !at(c.regimes[job], x.began()).Once {
				continue
			}
			first, own := (*call)(nil), (*call)(nil) // of all, and of its own tick, which may come later: again
			for _, t := range ticks {
				if t.tick.Before(x.tick) || len(t.started) == 0 {
					continue
				}
				if first == nil || t.started[0].begin.Mono < first.begin.Mono {
					first = t.started[0]
				}
				if t.tick.Equal(x.tick) {
					own = t.started[0]
				}
				if !t.tick.Equal(x.tick) || !slices.Contains(members(t), s.item) {
					continue
				}
				for _, k := range t.started {
					if c.isOpen(k, x.start.Mono) {
						c.violate(20, fmt.Sprintf("%s/%d: begun before Started had returned", job, s.item), append(x.events(), k.events()...)...)
					}
				}
			}
			if own == nil {
				own = first
			}
			if first == nil || first.begin.Mono > x.start.Mono && !c.isStranger(x, own) {
				events := x.events()
				if first != nil {
					events = append(append(events, first.events()...), own.events()...)
				}
				c.violate(20, fmt.Sprintf("%s/%d: begun, and nobody was told of the tick", job, s.item), events...)
			}
		}
	}
}
