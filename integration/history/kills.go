package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// isKilled reports whether the context of an execution ended because an operator had killed it.
func isKilled(e *Event) bool { return strings.Contains(e.Cause, "execution killed") }

// killOf returns the event in which an operator killed an execution, also if its answer was
// lost; nil if nobody did.
func (c *checker) killOf(x *execution) *Event {
	for _, e := range c.kills[x.subject] {
		if e.Token == x.token {
			return e
		}
	}
	for _, e := range c.kills[subject{x.job, -1}] { // of all items, and its answer was lost
		if e.Call <= c.recorded(x) {
			return e
		}
	}
	return nil
}

// recorded is until when the registry may have the record of an execution, which can be killed as
// long: its process may have ended it, and not been able to say so.
func (c *checker) recorded(x *execution) int64 {
	if x.finish != nil {
		return x.finish.Mono
	}
	runs := c.runs[x.subject]
	for _, next := range runs[slices.Index(runs, x)+1:] {
		if next.began() > x.until() {
			return next.began()
		}
	}
	return never
}

// forgone reports whether an execution that was cut short need not be run again: it was killed
// for good, or while its item waited to be run again.
func (c *checker) forgone(x *execution) bool {
	if kill := c.killOf(x); kill != nil && (!kill.Again || kill.Err != "") {
		return true
	}
	return slices.ContainsFunc(c.kills[x.subject], func(e *Event) bool {
		return e.Token == 0 && e.Mono > x.began() && e.Tick.Truncate(time.Millisecond).Equal(x.tick)
	})
}

// killed checks that a run that was killed for good is not run again for its tick, and that a
// context ends soon after the kill. That no other context does is checked in moved.
func (c *checker) killed(s subject) {
	for _, e := range c.kills[s] {
		at := slices.IndexFunc(c.runs[s], func(x *execution) bool { return x.token == e.Token })
		if at < 0 || e.Err != "" || e.Token == 0 {
			continue
		}
		x := c.runs[s][at]
		c.obeyed(15, x, e, "killed")
		if e.Again || slices.ContainsFunc(c.kills[s], func(last *Event) bool { return last.Token == e.Token && last.Again && last.Mono > e.Call }) {
			continue // of two kills, the last one says
		}
		for _, y := range c.runs[s][at+1:] {
			if y.start != nil && y.tick.Equal(x.tick) && y.request == x.request && len(overlapping(c.breaks[s.job], x.began(), y.began())) == 0 && !c.removedBetween(x, y) {
				c.violate(15, fmt.Sprintf("%s/%d: run again although it was killed", s.job, s.item), append(append(x.events(), y.events()...), e)...)
				break
			}
		}
	}
}

func (c *checker) removedBetween(x, y *execution) bool {
	return c.happened(Remove, "", x.job, x.claimed(), y.began()) != nil
}

// obeyed checks that the context of an execution ends as soon as its process can know of an event.
func (c *checker) obeyed(promise int, x *execution, by *Event, what string) {
	until := min(x.until(), c.timeline.quiet)
	if x.start == nil || until <= by.Mono || len(overlapping(c.breaks[x.job], cmp.Or(by.Call, by.Mono), until)) > 0 {
		return
	}
	var excused []span
	for _, p := range c.timeline.troubles {
		if p.about(x.process) {
			p.to = min(p.to, until) + int64(c.limits.Session)
			excused = append(excused, p)
		}
	}
	excused = append(excused, c.timeline.slow...)
	late := time.Duration(until - by.Mono - total(union(clip(excused, by.Mono, until))))
	if late > c.limits.Session+c.limits.Margin {
		c.violate(promise, fmt.Sprintf("%s/%d: its context did not end for %s after it was %s", x.job, x.item, late.Round(time.Millisecond), what), append(x.events(), by)...)
	}
}

// told checks what the registry is told of the end of an execution: whether it was successful
// or not, and KILLED only of what an operator has killed.
func (c *checker) told() {
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind != Commit || e.Err != "" {
			continue
		}
		for _, t := range e.Told {
			s := subject{e.Job, t.Item}
			at := slices.IndexFunc(c.runs[s], func(x *execution) bool { return x.token == t.Token })
			if t.Token == 0 || at < 0 || len(c.breaks[e.Job]) > 0 { // tokens may come again
				continue
			}
			if x := c.runs[s][at]; !c.mayTell(x, e, t.Outcome) {
				c.violate(15, fmt.Sprintf("%s/%d: an execution is said to be %s", s.job, s.item, t.Outcome), append(x.events(), e)...)
			}
		}
	}
}

// mayTell reports whether an outcome is what a commit may tell of an execution. A process that has lost
// its session knows no more of it than others do.
func (c *checker) mayTell(x *execution, by *Event, outcome string) bool {
	switch {
	case outcome == "KILLED" && c.killOf(x) == nil:
		return false
	case by.Process != x.process || by.Instance != x.instance() && outcome == "KILLED" || x.end == nil:
		return outcome == "KILLED" || x.end == nil // others can only tell that it was killed
	case x.end.Outcome == Done:
		return outcome == "OK"
	case x.cut != nil && isKilled(x.cut):
		return outcome == "KILLED"
	}
	return outcome != "OK"
}
