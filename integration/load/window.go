package main

import "time"

// Window is the time in which the figures are taken: from its first tick up to but not
// including until, and the ticks in it.
type Window struct {
	From, Until time.Time
	ticks       []time.Time
}

// window returns the first one that begins not before earliest. It begins with a tick, if
// there is one soon.
func (o *options) window(earliest time.Time) Window {
	w := Window{From: earliest}
	first := o.schedule.Next(earliest.Add(-time.Nanosecond))
	if !o.Idle && !first.IsZero() && first.Sub(earliest) <= time.Hour {
		w.From = first
	}
	w.Until = w.From.Add(o.For)
	for t := first; !t.IsZero() && t.Before(w.Until) && len(w.ticks) <= maxRuns; t = o.schedule.Next(t) {
		w.ticks = append(w.ticks, t)
	}
	return w
}

// middle is when a process comes or goes: a while after a tick, so that its commits are
// over if handlers take no time, and half of them have not ended if they do.
func (o *options) middle(w Window) time.Time {
	middle := w.From.Add(o.For / 2)
	if tick := o.schedule.Prev(middle); !tick.Before(w.From) {
		middle = tick
	}
	if o.Work > 0 {
		return middle.Add(min(o.Work, o.For/4) / 2)
	}
	return middle.Add(300 * time.Millisecond)
}

// probed is how long before the ends of the window counters are read: when the runs of the
// tick before are over, and none of the next has begun.
const probed = 50 * time.Millisecond
