package history

import (
	"cmp"
	"fmt"
	"time"
)

// removals checks that nothing of a job that was removed begins until it is created again, and that
// contexts end soon. The numbers of the commits say what came first.
func (c *checker) removals(s subject) {
	if len(c.breaks[s.job]) > 0 {
		return // numbers may have come again
	}
	for _, x := range c.runs[s] {
		var last *Event // of the commits before the claim
		for i := range c.timeline.events {
			e := &c.timeline.events[i]
			if e.Job != s.job || e.Kind != Created && e.Kind != Removed {
				continue
			}
			if e.Token < x.token && (last == nil || e.Token >= last.Token) {
				last = e
			}
			if e.Kind == Removed && e.Token > x.token {
				c.obeyed(25, x, e, "removed with its job")
			}
		}
		if last != nil && last.Kind == Removed {
			c.violate(25, fmt.Sprintf("%s/%d: begun although the job was removed", s.job, s.item), append(x.events(), last)...)
		}
	}
}

// expired checks that no tick begins after the last one of a job that expires, and that the job is
// removed only when each item has run for the last one, or for all that it has missed.
func (c *checker) expired(s subject) {
	for _, x := range c.runs[s] {
		r := c.regimeAt(s.job, x.began())
		if last, ok := c.lastTick(s.job, r); ok && !x.asked() && x.tick.After(last) {
			c.violate(26, fmt.Sprintf("%s/%d: begun for a tick after the last one of %d", s.job, s.item, r.Ticks), append(x.events(), r.event)...)
		}
	}
	for i := range c.timeline.events {
		if e := &c.timeline.events[i]; e.Kind == Removed && e.Job == s.job && len(c.breaks[s.job]) == 0 {
			c.tooEarly(s, e)
		}
	}
}

// tooEarly judges the removal of a job that has expired.
func (c *checker) tooEarly(s subject, removed *Event) {
	r := c.regimeAt(s.job, removed.Mono)
	last, ok := c.lastTick(s.job, r)
	if !ok || r.to <= removed.Mono { // an operator has removed it
		return
	}
	var x *execution // the last one
	for _, y := range c.runs[s] {
		if y.token < removed.Token && !y.asked() {
			x = y
		}
	}
	isDue := s.item < r.Total && r.Misfire && !c.within(c.timeline.switchedOff(s), c.timeline.mono(last))
	switch {
	case !isDue && x == nil:
	case x == nil || isDue && x.tick.Before(last):
		c.violate(26, fmt.Sprintf("%s/%d: the job was removed before the item had run for its last tick %s", s.job, s.item, last.UTC().Format("15:04:05")), removed, r.event)
	case !x.complete() && c.killOf(x) == nil && r.Failover:
		c.violate(26, fmt.Sprintf("%s/%d: the job was removed, and its last run was cut short", s.job, s.item), append(x.events(), removed)...)
	}
}

// regimeAt is the last one that somebody had begun to put in force before a moment.
func (c *checker) regimeAt(job string, mono int64) (last regime) {
	for _, r := range c.regimes[job] {
		if r.begun() <= mono {
			last = r
		}
	}
	return last
}

// begun is when somebody began to put the rules in force.
func (r regime) begun() int64 { return cmp.Or(r.event.Call, r.from) }

// lastTick is the last tick of a job that expires: they count from when its schedule is first in
// force.
func (c *checker) lastTick(job string, r regime) (tick time.Time, ok bool) {
	if r.Ticks == 0 {
		return time.Time{}, false
	}
	for i := range c.timeline.events {
		if e := &c.timeline.events[i]; e.Kind == Scheduled && e.Job == job && r.begun() <= e.Mono && e.Mono <= r.to {
			return e.Tick.Truncate(r.Every).Add(time.Duration(r.Ticks) * r.Every), true
		}
	}
	return time.Time{}, false
}

// isPast reports whether a tick would be after the last one of a regime.
func (c *checker) isPast(job string, r regime, tick time.Time) bool {
	last, ok := c.lastTick(job, r)
	return ok && tick.After(last)
}

// expires reports whether a job may have ended by itself until a moment.
func (c *checker) expires(job string, until int64) bool {
	for _, r := range c.regimes[job] {
		if last, ok := c.lastTick(job, r); ok && c.timeline.mono(last) <= until+int64(c.limits.Skew) {
			return true
		}
	}
	return false
}
