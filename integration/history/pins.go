package history

import (
	"cmp"
	"fmt"
)

// pinned checks that an item that is pinned to an address begins there, if somebody has been
// there, and the item idle, for long enough. A failover may be anywhere.
func (c *checker) pinned(s subject) {
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind != Pin || e.Job != s.job || e.Item != s.item || e.Err != "" {
			continue
		}
		until := c.timeline.quiet
		if end := c.timeline.endOfPin(i); end != nil {
			until = min(until, cmp.Or(end.Call, end.Mono))
		}
		there := c.timeline.stretches(s.job, func(p *presence) bool { return p.ableAt(e.Address) })
		for _, x := range c.runs[s] {
			if x.start == nil || x.source == failover || x.decided() <= e.Mono || x.decided() > until || c.timeline.address(x.process) == e.Address {
				continue
			}
			from := int64(never)
			for _, p := range there {
				if p.from <= x.decided() && x.decided() < p.to {
					from = max(p.from, e.Mono)
				}
			}
			if from == never {
				continue
			}
			if idle, _, by := c.idle(s, from, x.decided()); idle > c.limits.Session+c.limits.Margin {
				c.violate(19, fmt.Sprintf("%s/%d: begun elsewhere although it is pinned", s.job, s.item), with(append(x.events(), e), by)...)
				break
			}
		}
	}
}

// astray lists the stretches in which an item was strictly pinned to an address where no process
// was able to run it, or may have been.
func (t *timeline) astray(s subject) []span {
	var list []span
	for i := range t.events {
		e := &t.events[i]
		if e.Kind != Pin || !e.Strict || e.Job != s.job || e.Item != s.item {
			continue
		}
		until := int64(never)
		if end := t.endOfPin(i); end != nil {
			until = end.Mono
		}
		for _, p := range t.stretches(s.job, func(p *presence) bool { return !p.ableAt(e.Address) }) {
			p.from, p.to = max(p.from, cmp.Or(e.Call, e.Mono)), min(p.to, until)
			if p.from < p.to {
				list = append(list, p)
			}
		}
	}
	return list
}

// endOfPin returns the event that may have ended a pin; nil if there is none.
func (t *timeline) endOfPin(pin int) *Event {
	e := &t.events[pin]
	for i := range t.events[pin+1:] {
		then := &t.events[pin+1+i]
		if then.Kind == Restore || then.Job == e.Job && (then.Kind == Remove || then.Kind == Tamper || (then.Kind == Pin || then.Kind == Unpin) && then.Item == e.Item) {
			return then
		}
	}
	return nil
}

// address is what a process registers under.
func (t *timeline) address(process string) string {
	for i := range t.events {
		if e := &t.events[i]; e.Kind == Up && e.Process == process {
			return e.Address
		}
	}
	return ""
}

// ableAt reports whether a process at an address is enabled that has no fault, while the store
// has none.
func (p *presence) ableAt(address string) bool {
	for process := range p.joined {
		if p.address[process] == address && p.enabled(process) && p.broken[process] == 0 && p.broken[""] == 0 {
			return true
		}
	}
	return false
}
