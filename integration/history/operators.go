package history

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// disabled checks that a disabled server or item begins nothing until it is enabled, even if
// processes restart. A process that is cut off or slow may learn of it later.
func (c *checker) disabled(s subject) {
	address := map[string]string{}
	for i := range c.timeline.events {
		if e := &c.timeline.events[i]; e.Kind == Up {
			address[e.Process] = e.Address
		}
	}
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		if e.Kind != Disable || e.Job != s.job || e.Item >= 0 && e.Item != s.item {
			continue
		}
		until := int64(never)
		for j := range c.timeline.events[i:] {
			if then := &c.timeline.events[i+j]; then.Kind == Enable && then.Job == e.Job && then.Item == e.Item && then.Address == e.Address {
				until = cmp.Or(then.Call, then.Mono)
				break
			}
		}
		if after := overlapping(c.breaks[s.job], e.Mono, until); len(after) > 0 {
			until = after[0].from // the operator's change may be lost from there on
		}
		for _, x := range c.runs[s] {
			heard := e.Mono + int64(c.limits.Session)
			if x.start == nil || x.decided() < heard || x.decided() > until {
				continue
			}
			if e.Item >= 0 || address[x.process] == e.Address {
				c.violate(6, fmt.Sprintf("%s/%d: started although it was disabled", s.job, s.item), append(x.events(), e)...)
				break
			}
		}
	}
}

// moved checks that running work is not moved. The context of a handler may end early only
// for a reason that concerns its own process.
func (c *checker) moved(s subject) {
	for _, x := range c.runs[s] {
		if x.cut == nil {
			continue
		}
		at := x.cut.Mono
		since := at - int64(2*c.limits.Session+c.limits.Margin)
		excused := false
		switch cause := x.cut.Cause; {
		case strings.Contains(cause, "timed out"):
			excused = true
		case isKilled(x.cut):
			excused = c.killOf(x) != nil
		case strings.Contains(cause, "shut down"):
			excused = c.left(x.process, x.job, at)
		case strings.Contains(cause, "removed from the registry"):
			excused = c.happened(Remove, "", x.job, 0, at) != nil
		default:
			// A store that was slow for a good part of the session may not have renewed it.
			slow := time.Duration(total(clip(c.timeline.slow, since, at)))
			excused = len(c.timeline.troubled(x.process, since, at)) > 0 || slow > c.limits.Session/4
		}
		if !excused {
			c.violate(7, fmt.Sprintf("%s/%d: cut short although nothing had been done to its process (%s)", s.job, s.item, x.cut.Cause), x.events()...)
		}
	}
}

// ends checks that a scheduler stops only when it is told to, and that a process that has
// closed everything leaves nothing running.
func (c *checker) ends() {
	for i := range c.timeline.events {
		e := &c.timeline.events[i]
		switch {
		case e.Kind == Down && e.Err != "":
			c.violate(11, "goroutines are left of "+e.Process, e)
		case e.Kind == Left && e.Err != "":
			asked := c.left(e.Process, e.Job, e.Mono) || c.happened(Remove, "", e.Job, 0, e.Mono) != nil ||
				strings.Contains(e.Err, "removed from the registry") && c.expires(e.Job, e.Mono)
			since := e.Mono - int64(2*c.limits.Session+c.limits.Margin) - int64(5*time.Second)
			if !asked && len(c.timeline.troubled(e.Process, since, e.Mono)) == 0 {
				c.violate(3, "a scheduler stopped by itself", e)
			}
		}
	}
}
