package history

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Limits is how much time things may take.
type Limits struct {
	// Session is the time-out of sessions. The death of a process may stay unknown for so long.
	Session time.Duration
	// Margin is how much longer than that the store and a busy machine may take.
	Margin time.Duration
	// Skew is how far the clocks of two processes were apart.
	Skew time.Duration
	// Silence is how long an item may stay without a run that is due while no scheduler
	// reports a fault. It has to be more than Session and Margin; 0 means without end.
	Silence time.Duration
}

// Report is what a history shows.
type Report struct {
	// Fires counts the ticks of jobs for which at least one item ran, and Items all
	// executions. Of these, Failovers and MakeUps count those with that source, Triggers those
	// that somebody asked for, and Stopped those whose context ended.
	Fires, Items, Failovers, MakeUps, Triggers, Stopped int
	// Kills, Pauses, Requests and Pins count what an operator did, and Killed the executions
	// that have ended because of it.
	Kills, Pauses, Requests, Pins, Killed int
	// Calls counts those of once-listeners, and Repeated those of them that were made again.
	Calls, Repeated int
	// Shares counts the ticks of broadcast jobs that some process had to run.
	Shares int
	// Faults is how often something was done to a process or the store.
	Faults int
	// Slow is how long the machine or the store was slow although nothing was done to it.
	// That time does not count when something is late.
	Slow time.Duration
	// Refused is how many writes the fenced resource refused.
	Refused int
	// LongestGap is the longest time that an item waited for a run that was due. It counts
	// from when nothing delayed the run any more: no fault, join, leave, or run of the item.
	LongestGap time.Duration
	// LongestSilence is the longest time that an item waited for a run that was due while
	// no scheduler reported a fault.
	LongestSilence time.Duration
	// TakeOvers are the times from the end of an instance's session in the store to the
	// start of the runs that it had left unfinished, in ascending order.
	TakeOvers []time.Duration
	// Violations are in the order of time.
	Violations []Violation
}

// Check looks for pieces of a history, which is in the order of time, that break a promise.
func Check(events []Event, limits Limits) Report {
	c := &checker{
		limits:   limits,
		timeline: newTimeline(events),
		runs:     executions(events),
		busy:     map[subject][]span{},
		alone:    map[string][]span{},
		astray:   map[subject][]span{},
		regimes:  map[string][]regime{},
		breaks:   map[string][]span{},
		held:     map[string][]span{},
		kills:    map[subject][]*Event{},
	}
	c.lapses = slices.DeleteFunc(slices.Clone(c.timeline.pauses), func(p span) bool {
		return p.event.Kind != Stall || time.Duration(p.to-p.from) < limits.Session/2
	})
	for s, list := range c.runs {
		c.breaks[s.job] = c.timeline.breaks(s.job)
		for _, x := range list {
			c.busy[s] = append(c.busy[s], span{from: x.began(), to: x.returned(), event: x.events()[0]})
		}
		if c.regimes[s.job] == nil {
			c.regimes[s.job] = c.timeline.regimes(s.job)
		}
	}
	for i := range events {
		if e := &events[i]; e.Kind == Killing {
			s := subject{e.Job, e.Item}
			c.kills[s] = append(c.kills[s], e)
		}
		if e := &events[i]; e.Kind == Configure && c.alone[e.Job] == nil {
			c.alone[e.Job] = c.timeline.alone(e.Job)
			c.regimes[e.Job] = c.timeline.regimes(e.Job)
			c.breaks[e.Job] = c.timeline.breaks(e.Job)
			c.held[e.Job] = c.timeline.held(e.Job)
		}
	}
	for _, s := range c.subjects() {
		c.astray[s] = c.timeline.astray(s)
		c.owners(s)
		c.ticks(s)
		c.coverage(s)
		c.silence(s)
		c.disabled(s)
		c.moved(s)
		c.stream(s)
		c.paused(s)
		c.killed(s)
		c.turns(s)
		c.cancelled(s)
		c.repeated(s)
		c.skipped(s)
		c.pinned(s)
		c.leftOut(s)
		c.jitter(s)
		c.removals(s)
		c.expired(s)
	}
	for job := range c.regimes {
		c.once(job)
		c.broadcast(job)
	}
	c.room()
	c.told()
	c.requests()
	c.fence()
	c.ends()
	c.count()
	slices.SortStableFunc(c.report.Violations, func(a, b Violation) int {
		return cmp.Compare(a.Events[0].Mono, b.Events[0].Mono)
	})
	slices.Sort(c.report.TakeOvers)
	return c.report
}

type checker struct {
	limits   Limits
	timeline *timeline
	runs     map[subject][]*execution
	busy     map[subject][]span // when an item ran
	alone    map[string][]span  // when nobody could run a job
	astray   map[subject][]span // when nobody could run an item at the address to which it is strictly pinned
	regimes  map[string][]regime
	breaks   map[string][]span
	held     map[string][]span // when a job was paused, or may have been
	lapses   []span            // when the machine gave a process so little time that it may have lost its session
	kills    map[subject][]*Event
	report   Report
}

func (c *checker) violate(promise int, what string, events ...*Event) {
	c.report.Violations = append(c.report.Violations, Violation{Promise: promise, What: what, Events: events})
}

// subjects are the items that ran, and those that ought to have.
func (c *checker) subjects() []subject {
	all := map[subject]bool{}
	for s := range c.runs {
		all[s] = true
	}
	for job, regimes := range c.regimes {
		for _, r := range regimes {
			for i := range r.Total {
				all[subject{job, i}] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b subject) int {
		return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.item, b.item))
	})
}

// idle is how long an item did not run between two moments although it could have run.
// known counts from when all that was done to the processes and the store was over and every
// process could know it, which takes a session time-out. raw counts from when it was over.
// by is what ended last.
func (c *checker) idle(s subject, from, to int64) (known, raw time.Duration, by *Event) {
	return c.idleBut(s.job, c.busy[s], from, to, c.astray[s])
}

// idleBut is idle for what is busy at some times, and cannot run at others.
func (c *checker) idleBut(job string, busy []span, from, to int64, cannot ...[]span) (known, raw time.Duration, by *Event) {
	knownAt, rawAt := from, from
	for _, spans := range append(cannot, c.timeline.changes, c.lapses, c.alone[job], c.held[job]) {
		for _, p := range spans {
			end := min(p.to, to)
			heard := min(end+int64(c.limits.Session), to)
			if p.from >= to || heard < from {
				continue
			}
			if heard > knownAt {
				knownAt, by = heard, p.event
			}
			rawAt = max(rawAt, end)
		}
	}
	return c.spare(busy, knownAt, to), c.spare(busy, rawAt, to), by
}

// spare is how much of a stretch of time nothing ran while neither the machine nor the store
// was slow. It leaves the slow time out twice: as much again is for catching up.
func (c *checker) spare(busy []span, from, to int64) time.Duration {
	slow := clip(c.timeline.slow, from, to)
	spare := max(0, to-from) - total(union(slices.Concat(slow, clip(busy, from, to)))) - total(slow)
	return time.Duration(max(0, spare))
}

// within reports whether a span holds a moment, give or take the skew of the clocks.
func (c *checker) within(spans []span, mono int64) bool {
	return slices.ContainsFunc(spans, func(p span) bool {
		return p.from <= mono+int64(c.limits.Skew) && mono-int64(c.limits.Skew) <= p.to
	})
}

func (c *checker) count() {
	type fire struct {
		job  string
		tick int64
	}
	fires := map[fire]bool{}
	for s, list := range c.runs {
		for _, x := range list {
			if x.start == nil {
				continue
			}
			c.report.Items++
			if x.cut != nil {
				c.report.Stopped++
			}
			switch x.source {
			case failover:
				c.report.Failovers++
			case manual, retry, backfill:
				c.report.Triggers++
			case misfire:
				c.report.MakeUps++
				fallthrough
			case normal:
				fires[fire{s.job, x.tick.UnixMilli()}] = true
			}
		}
	}
	c.report.Fires = len(fires)
	for _, s := range c.timeline.troubles {
		if s.event.Kind != Stall {
			c.report.Faults++
		}
	}
	for _, s := range c.timeline.slow {
		c.report.Slow += time.Duration(s.to - s.from)
	}
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		switch {
		case e.Kind == Write && !e.Accepted && e.Err == "":
			c.report.Refused++
		case e.Kind == Killing:
			c.report.Kills++
		case e.Kind == Hold:
			c.report.Pauses++
		case e.Kind == Asked:
			c.report.Requests++
		case e.Kind == Pin:
			c.report.Pins++
		case e.Kind == Called:
			c.report.Calls++
			if e.Again {
				c.report.Repeated++
			}
		case e.Kind == Cut && isKilled(e):
			c.report.Killed++
		}
	}
}
