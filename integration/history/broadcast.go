package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// broadcast checks that each process that takes part in a broadcast job starts each tick once at
// most, and none that came before it did; and that it does start each of them, or a later one,
// as long as it may have items.
func (c *checker) broadcast(job string) {
	if !slices.ContainsFunc(c.regimes[job], func(r regime) bool { return r.Broadcast }) || len(c.breaks[job]) > 0 {
		return
	}
	runs := map[string][]*execution{} // by process
	up := map[string]*Event{}
	for i := range c.timeline.events {
		if e := &c.timeline.events[i]; e.Kind == Up {
			up[e.Process] = e
		}
	}
	for s, list := range c.runs {
		for _, x := range list {
			if s.job == job && x.start != nil && !x.asked() {
				runs[x.process] = append(runs[x.process], x)
			}
		}
	}
	for process, e := range up {
		c.sharesOf(job, e, runs[process])
		c.shareLacks(job, process, runs[process])
	}
}

func (c *checker) sharesOf(job string, up *Event, runs []*execution) {
	slices.SortFunc(runs, func(a, b *execution) int { return cmp.Compare(a.start.Mono, b.start.Mono) })
	began := map[int64]*execution{}
	for _, x := range runs {
		if before := began[x.tick.UnixMilli()]; before != nil {
			c.violate(21, fmt.Sprintf("%s: %s has started a tick twice", job, x.process), append(before.events(), x.events()...)...)
		}
		began[x.tick.UnixMilli()] = x
		if x.tick.Add(c.limits.Skew).Before(up.Wall) {
			c.violate(21, fmt.Sprintf("%s: %s has started a tick that came before it", job, x.process), append(x.events(), up)...)
		}
	}
}

// shareLacks checks that a process runs each tick, or a later one, that comes after it has had
// time enough to get an item.
func (c *checker) shareLacks(job, process string, runs []*execution) {
	var busy []span
	for _, x := range runs {
		busy = append(busy, span{from: x.began(), to: x.returned()})
	}
	sooner := soonest(runs)
	there := c.timeline.stretches(job, func(p *presence) bool {
		return p.enabled(process) && p.broken[process] == 0 && p.broken[""] == 0
	})
	for _, r := range c.regimes[job] {
		if !r.Broadcast || !r.Misfire || r.Every <= 0 {
			continue
		}
		for _, stay := range there {
			from, to := max(stay.from, r.from), min(stay.to, r.to, c.timeline.quiet)
			isSettled := false
			for tick := c.timeline.wall(from).Truncate(r.Every).Add(r.Every); c.timeline.mono(tick) < to; tick = tick.Add(r.Every) {
				due := c.timeline.mono(tick) + int64(r.Jitter)
				if !isSettled {
					had, _, _ := c.idleBut(job, nil, from, c.timeline.mono(tick))
					isSettled = had > c.limits.Margin
				}
				if !isSettled || isOut(r.Out, tick) || c.within(c.held[job], due) {
					continue
				}
				c.report.Shares++
				until, events := to, []*Event{c.quiet()}
				if next := sooner(tick); next != nil {
					until, events = min(until, next.began()), next.events()
				}
				if late, _, by := c.idleBut(job, busy, due, until); late > c.limits.Margin+c.limits.Skew {
					c.violate(21, fmt.Sprintf("%s: %s has not started tick %s for %s", job, process, tick.UTC().Format("15:04:05"), late.Round(time.Millisecond)), with(events, by)...)
					return
				}
			}
		}
	}
}
