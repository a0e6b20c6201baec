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
		for j := range c.timeline.events[i+1:] {
			then := &c.timeline.events[i+1+j]
			if then.Kind == Restore || then.Job == e.Job && (then.Kind == Remove || then.Kind == Tamper || (then.Kind == Pin || then.Kind == Unpin) && then.Item == e.Item) {
				until = min(until, cmp.Or(then.Call, then.Mono))
				break
			}
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
