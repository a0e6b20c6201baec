package history

import (
	"fmt"
	"slices"
	"time"
)

// requests checks that nothing is lost that somebody has asked for: each item of a request ends
// with an outcome, which he is told, and which is what has happened.
func (c *checker) requests() {
	answers := map[string]*Event{}
	for i := range c.timeline.events {
		if e := &c.timeline.events[i]; e.Kind == Answered {
			answers[e.Request] = e
		}
	}
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind != Asked || e.Err != "" {
			continue
		}
		until, answer := c.timeline.quiet, answers[e.Request]
		if answer != nil {
			until = answer.Mono
		}
		if len(overlapping(c.breaks[e.Job], e.Call, until)) > 0 || c.happened(Remove, "", e.Job, e.Call, until) != nil {
			continue // it may be lost with the tree
		}
		switch {
		case answer == nil:
			c.violate(16, fmt.Sprintf("%s: request %s was not answered", e.Job, e.Request), e, c.quiet())
		case answer.Err != "":
			c.violate(16, fmt.Sprintf("%s: request %s was lost", e.Job, e.Request), e, answer)
		default:
			c.answered(e, answer)
		}
	}
}

// answered judges an answer.
func (c *checker) answered(asked, answer *Event) {
	if !slices.EqualFunc(asked.Items, answer.Results, func(item int, r Result) bool { return item == r.Item }) {
		c.violate(16, fmt.Sprintf("%s: request %s has other items in its answer", asked.Job, asked.Request), asked, answer)
		return
	}
	for _, r := range answer.Results {
		s := subject{asked.Job, r.Item}
		events := []*Event{asked, answer}
		var runs []*execution
		for _, x := range c.runs[s] {
			if x.request == asked.Request {
				runs = append(runs, x)
				events = append(events, x.events()...)
			}
		}
		if wrong := c.wrong(asked, answer, r, runs); wrong != "" {
			c.violate(16, fmt.Sprintf("%s/%d: request %s: %s, %s", s.job, s.item, asked.Request, r.Outcome, wrong), events...)
		}
	}
}

// wrong says why the answer for an item cannot be right; "" if it can.
func (c *checker) wrong(asked, answer *Event, r Result, runs []*execution) string {
	happened := func(kind Kind) bool { return c.happened(kind, "", asked.Job, 0, answer.Mono) != nil }
	cancelled := slices.ContainsFunc(c.timeline.events, func(e Event) bool { return e.Kind == Cancel && e.Request == asked.Request })
	changed := c.reconfigured(asked.Job, asked.Call-int64(c.limits.Session), answer.Mono)
	failed := slices.ContainsFunc(runs, func(x *execution) bool { return x.end == nil || x.end.Outcome != Done })
	if r.Token != 0 && !slices.ContainsFunc(runs, func(x *execution) bool { return x.token == r.Token }) {
		return "and its last execution is not known"
	}
	switch r.Outcome {
	case "OK":
		ticks := map[time.Time]bool{}
		for _, x := range runs {
			// The process may have been killed before it wrote down how its handler had returned.
			if x.end == nil && x.finish == nil || x.end != nil && x.end.Outcome != Done {
				continue
			}
			ticks[x.tick] = true
		}
		if n := max(1, len(asked.Ticks)); len(ticks) < n && !c.isMerged(runs) {
			return fmt.Sprintf("and %d of %d runs were successful", len(ticks), n)
		}
	case "FAILED", "PANIC", "TIMEOUT":
		if !failed {
			return "and nothing has failed"
		}
	case "KILLED":
		if !slices.ContainsFunc(runs, func(x *execution) bool { return c.killOf(x) != nil }) && len(c.kills[subject{asked.Job, r.Item}]) == 0 {
			return "and nobody has killed it"
		}
	case "CUT":
		// A process that was asleep when its session ended may have finished when it woke, and one that
		// was killed may have finished before it could record that.
		cut := slices.ContainsFunc(runs, func(x *execution) bool { return x.cut != nil || !x.settled() })
		off := slices.ContainsFunc(c.regimes[asked.Job], func(g regime) bool {
			return !g.Failover && g.from <= answer.Mono && g.to >= asked.Call
		})
		// A handler that is asked to make room for another instance may return before it is through.
		isLeft := slices.ContainsFunc(runs, func(x *execution) bool {
			return x.cut == nil && x.end != nil && x.end.Outcome == Stopped && x.settled()
		})
		switch {
		case r.Error == "":
			return "and nothing says why"
		case isLeft:
		case !cut && (len(runs) > 0 || !c.mayBeUnseen(asked.Job, answer.Mono)):
			return "and nothing was cut short"
		case !off && !changed && len(c.kills[subject{asked.Job, r.Item}]) == 0:
			return "although the job has failover"
		}
	case "SKIPPED":
		if !cancelled && !changed && !happened(Disable) {
			return "and it was neither disabled nor cancelled"
		}
	default:
		return "which is no outcome"
	}
	return ""
}

// isMerged reports whether one of the runs is a failover for another tick: an item that waited
// to be run again was run again once, for the later tick.
func (c *checker) isMerged(runs []*execution) bool {
	return slices.ContainsFunc(runs, func(x *execution) bool { return x.source == failover })
}

// merged reports whether an execution that was cut short was run again together with another one
// that was cut short while its item waited: once, for the later tick.
func (c *checker) merged(x *execution) bool {
	runs := c.runs[x.subject]
	return slices.ContainsFunc(runs, func(z *execution) bool {
		return z.token > x.token && !z.settled() && slices.ContainsFunc(runs, func(y *execution) bool {
			return y.token > z.token && y.source == failover && y.tick.Equal(z.tick)
		})
	})
}

// cancelled checks that nothing begins for a request after it was cancelled.
func (c *checker) cancelled(s subject) {
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind != Cancel || e.Job != s.job || e.Err != "" {
			continue
		}
		for _, x := range c.runs[s] {
			if x.request == e.Request && x.claim != nil && x.claim.Call > e.Mono && len(overlapping(c.breaks[s.job], e.Call, x.claim.Mono)) == 0 {
				c.violate(16, fmt.Sprintf("%s/%d: begun for request %s, which was cancelled", s.job, s.item, e.Request), append(x.events(), e)...)
			}
		}
	}
}

// repeated checks that what was cut short for a request is run again for that request, or not at all.
func (c *checker) repeated(s subject) {
	runs := c.runs[s]
	for _, y := range runs {
		if y.source != failover || y.request != "" || y.claim == nil {
			continue
		}
		before := func(of func(*execution) bool) bool {
			return slices.ContainsFunc(runs, func(x *execution) bool { return x.token < y.token && x.tick.Equal(y.tick) && of(x) })
		}
		isAsked := before(func(x *execution) bool { return x.source == manual })
		if isAsked && !before(func(x *execution) bool { return x.request == "" && x.source != manual }) {
			c.violate(16, fmt.Sprintf("%s/%d: what was cut short for a request is run again for none", s.job, s.item), y.events()...)
		}
	}
}

// turns checks the order in which an item runs for requests: a request comes after those that
// were made before it, the ticks of a backfill come one after the other, and a tick of the
// schedule that has come meanwhile begins before the next one of a backfill.
func (c *checker) turns(s subject) {
	asked := map[string]*Event{}
	for i := range c.timeline.events {
		if e := &c.timeline.events[i]; e.Kind == Asked && e.Job == s.job && e.Err == "" {
			asked[e.Request] = e
		}
	}
	for _, e := range c.timeline.epochs(c.breaks[s.job], c.runs[s]) {
		var last *execution   // for a request
		var before *execution // for anything
		for _, x := range e.runs {
			if x.request == "" || x.source == failover || x.source == "" {
				before = x
				continue
			}
			if last != nil && c.happened(Remove, "", s.job, last.claimed(), x.began()) == nil {
				c.inTurn(last, x, asked[x.request])
			}
			if before != nil && before.source == backfill && x.source == backfill {
				c.gaveWay(before, x)
			}
			last, before = x, x
		}
	}
}

// inTurn judges two runs for requests, in the order of their tokens. A view may show a request
// before one that was made a moment earlier.
func (c *checker) inTurn(a, b *execution, asked *Event) {
	switch {
	case a.request > b.request && asked != nil && a.decided()-asked.Mono > int64(c.limits.Margin):
		c.violate(16, fmt.Sprintf("%s/%d: a request began before an earlier one", a.job, a.item), append(append(a.events(), b.events()...), asked)...)
	case a.request == b.request && a.tick.After(b.tick):
		c.violate(17, fmt.Sprintf("%s/%d: the ticks of a backfill are out of order", a.job, a.item), append(a.events(), b.events()...)...)
	}
}

// gaveWay judges two runs of backfills with nothing in between: no tick of the schedule may have
// come while the first was at work. Only a calm time proves anything.
func (c *checker) gaveWay(a, b *execution) {
	r := at(c.regimes[a.job], a.began())
	from, to := a.began()+int64(edge+c.limits.Skew), a.returned()-int64(edge+c.limits.Skew)
	if r.Every <= 0 || r.Skip || a.start == nil || to <= from || to >= b.began() || a.item >= r.Total || c.reconfigured(a.job, a.began()-int64(c.limits.Session+c.limits.Margin), b.began()) {
		return
	}
	calm := a.began() - int64(c.limits.Session+c.limits.Margin)
	for _, spans := range [][]span{c.timeline.changes, c.timeline.slow, c.held[a.job], c.timeline.switchedOff(a.subject), c.alone[a.job]} {
		if len(overlapping(spans, calm, b.began())) > 0 {
			return
		}
	}
	tick := c.timeline.wall(to).Truncate(r.Every)
	if c.timeline.mono(tick) <= from || slices.ContainsFunc(c.runs[a.subject], func(x *execution) bool {
		return !x.asked() && !x.tick.Before(tick) && x.token < b.token // a clock ahead may have begun it early
	}) {
		return
	}
	c.violate(17, fmt.Sprintf("%s/%d: a backfill went on before tick %s", a.job, a.item, tick.UTC().Format("15:04:05")), append(a.events(), b.events()...)...)
}

// skipped checks that a job with the overlap SKIP makes no tick up that came while its item ran.
func (c *checker) skipped(s subject) {
	for _, e := range c.timeline.epochs(c.breaks[s.job], c.runs[s]) {
		for i, x := range e.runs[min(1, len(e.runs)):] {
			before := e.runs[i]
			if x.source != misfire || x.asked() || before.start == nil || !at(c.regimes[s.job], before.began()).Skip || !at(c.regimes[s.job], x.began()).Skip {
				continue
			}
			due := c.timeline.mono(x.tick)
			if due > before.began()+int64(edge+c.limits.Skew) && due < before.returned()-int64(edge+c.limits.Skew) && before.settled() {
				c.violate(18, fmt.Sprintf("%s/%d: made up for tick %s, which came while it ran", s.job, s.item, x.tick.UTC().Format("15:04:05")), append(before.events(), x.events()...)...)
			}
		}
	}
}
