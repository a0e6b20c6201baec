package history

import (
	"fmt"
	"time"
)

// wakeTime bounds how long a process that was stopped by a signal and goes on may take until
// it has ended the contexts of handlers whose items are elsewhere by now.
const wakeTime = time.Second

// owners checks that an item has one live owner at most, that its tokens grow, and that a
// handler's context has ended before the next execution starts. Tokens of two items may be
// equal, in one job or in two.
func (c *checker) owners(s subject) {
	for _, e := range c.timeline.epochs(c.breaks[s.job], c.runs[s]) {
		c.ownersOf(e)
	}
}

func (c *checker) ownersOf(e epoch) {
	var last *execution // of those before, the one that ended last
	var token *execution
	for _, x := range e.runs {
		if x.start == nil {
			continue
		}
		if token != nil && token.token == x.token {
			c.violate(2, fmt.Sprintf("%s/%d: two executions have the token %d", x.job, x.item, x.token), token.start, x.start)
		}
		token = x
		if last != nil && last.until() > x.start.Mono && !c.asleep(last, x.start.Mono) && !c.timeline.wronglyDropped(last, x.start.Mono) {
			c.overlap(last, x)
		}
		if last == nil || x.until() > last.until() {
			last = x
		}
	}
}

func (c *checker) overlap(a, b *execution) {
	promise, what := 2, "two executions at a time"
	switch {
	case a.start.Mono > b.start.Mono:
		what = "an execution started after one with a larger token"
	case a.process != b.process && a.cut != nil:
		promise, what = 8, "an execution started before the context of the one before it had ended"
	}
	events := append(a.events(), b.events()...)
	events = append(events, c.timeline.faults(a.process, a.start.Mono-int64(c.limits.Session), b.start.Mono)...)
	c.violate(promise, fmt.Sprintf("%s/%d: %s, by %s", a.job, a.item, what, time.Duration(a.until()-b.start.Mono).Round(time.Millisecond)), events...)
}

// asleep reports whether an overlap is excused because the process was stopped by a signal:
// when its item started elsewhere, it had been stopped for so long that it could have lost its
// session, and it ended the execution or its context soon after it went on.
func (c *checker) asleep(x *execution, started int64) bool {
	for _, p := range c.timeline.pauses {
		expired := p.from + int64(min(200*time.Millisecond, c.limits.Session/10))
		woke := int64(never)
		if p.to != never {
			woke = p.to + int64(wakeTime)
		}
		if p.process == x.process && expired <= started && started <= woke && (x.until() <= woke || p.to == never) {
			return true
		}
	}
	return false
}

// fence checks that the fenced resource takes no write with a smaller token than it has taken
// before.
func (c *checker) fence() {
	highest := map[subject]*Event{}
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind != Write || !e.Accepted {
			continue
		}
		s := subject{e.Job, e.Item}
		before := highest[s]
		if before != nil && before.Mono < e.Call && before.Token > e.Token {
			c.violate(2, fmt.Sprintf("%s/%d: the fenced resource took a write with an old token", s.job, s.item), before, e)
		}
		if before == nil || e.Token > before.Token {
			highest[s] = e
		}
	}
}
