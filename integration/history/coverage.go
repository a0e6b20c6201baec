package history

import (
	"fmt"
	"time"
)

// coverage: no item stays without a run for a tick that was due, or for a later one, as
// long as misfire is on and somebody is there.
func (c *checker) coverage(s subject) {
	var runs []*execution
	for _, x := range c.runs[s] {
		if c.regular(x) {
			runs = append(runs, x)
		}
	}
	sooner := soonest(runs)
	off := c.timeline.switchedOff(s)
	for _, r := range c.regimes[s.job] {
		if !r.Misfire || r.Narrow || r.Broadcast || s.item >= r.Total || r.Every <= 0 {
			continue
		}
		end := min(r.to, c.timeline.quiet)
		begin := time.Unix(0, c.inForce(s, r)-c.timeline.offset)
		for tick := begin.Truncate(r.Every).Add(r.Every); c.timeline.mono(tick) < end; tick = tick.Add(r.Every) {
			due := c.timeline.mono(tick) + int64(r.Jitter)
			if c.isPast(s.job, r, tick) {
				break
			}
			if isOut(r.Out, tick) {
				continue
			}
			if c.within(off, due) || c.within(c.held[s.job], due) {
				continue // nothing is due while an operator has disabled the item, or paused the job
			}
			next := sooner(tick)
			until := end
			if next != nil {
				until = min(until, next.began())
			}
			if len(overlapping(c.breaks[s.job], due, until)) > 0 {
				continue // the run may have begun and have been forgotten
			}
			if c.gap(s, tick, due, until, next) {
				break // the ticks after it would show the same gap
			}
		}
	}
}

// inForce is the time from which the ticks of a regime are due: its beginning, or, if it has
// a new schedule, the time since which the first leader declared that schedule in force. A
// leader that takes too long for that does not delay what is due.
func (c *checker) inForce(s subject, r regime) int64 {
	from := r.from
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind != Scheduled || e.Job != s.job || e.Mono < r.from || e.Mono > r.to {
			continue
		}
		if late, _, _ := c.idle(s, r.from, e.Mono); late > c.limits.Session+c.limits.Margin {
			break
		}
		from = max(from, c.timeline.mono(e.Tick))
	}
	return from
}

// gap judges the time from a tick until a run that stands for it began, and reports
// whether it was too long.
func (c *checker) gap(s subject, tick time.Time, due, until int64, next *execution) bool {
	most := c.limits.Margin + c.limits.Skew
	if time.Duration(until-due) <= min(most, c.report.LongestGap) {
		return false
	}
	idle, raw, by := c.idle(s, due, until)
	if by != nil && next != nil {
		c.report.LongestGap = max(c.report.LongestGap, raw)
	}
	if idle <= most {
		return false
	}
	var events []*Event
	for _, x := range c.runs[s] {
		if x.began() < due {
			events = x.events() // of the last execution before the tick
		}
	}
	what := "and none has come until the end"
	if next != nil {
		events = append(events, next.events()...)
		what = "until " + next.events()[0].Wall.UTC().Format("15:04:05.000")
	}
	c.violate(3, fmt.Sprintf("%s/%d: nothing ran for tick %s, %s: %s too long", s.job, s.item,
		tick.UTC().Format("15:04:05"), what, idle.Round(time.Millisecond)), with(append(events, c.quiet()), by)...)
	return true
}

// quiet returns the event that ended the observation, or the last event if none did.
func (c *checker) quiet() *Event {
	events := c.timeline.events
	for i := range events {
		if events[i].Kind == Quiet {
			return &events[i]
		}
	}
	return &events[len(events)-1]
}
