package main

import (
	"fmt"
	"slices"
	"time"
)

// verdict is what the record of a whole show comes to.
type verdict struct {
	ticks      []time.Time
	onTime     int // executions that a tick began when it was due
	makeUps    int // executions that made up for ticks that were missed
	failovers  int // executions that repeated one that was cut short
	unrecorded int // executions that repeated one whose end could not be recorded
	covered    int // ticks of items that another execution stands for
	faults     []string
}

// check holds the record against what the scheduler promises:
//
//   - every tick of every item is begun once, or missed and stood for by the next run;
//   - an item is run again for a tick exactly if its run for it was cut short, or its end
//     could not be recorded;
//   - an item's runs follow each other, with growing tokens.
//
// It looks for ticks up to the one given; what began after that may have no end yet.
func (l *ledger) check(until time.Time, every time.Duration) verdict {
	v := verdict{ticks: l.ticks(until, every)}
	for _, e := range l.executions {
		switch {
		case e.again(): // see below
		case e.makesUp():
			v.makeUps++
		default:
			v.onTime++
		}
		if e.outcome == failed {
			v.fault(e, "failed: %s", e.fault)
		}
	}
	for item := range l.items {
		runs := l.of(item)
		v.inOrder(runs)
		v.again(runs)
		v.covered += v.begun(item, runs)
	}
	return v
}

// ticks returns the ticks from the first one begun.
func (l *ledger) ticks(until time.Time, every time.Duration) []time.Time {
	if len(l.executions) == 0 {
		return nil
	}
	first := slices.MinFunc(l.executions, func(a, b *execution) int { return a.tick.Compare(b.tick) }).tick
	var ticks []time.Time
	for tick := first; !tick.After(until); tick = tick.Add(every) {
		ticks = append(ticks, tick)
	}
	return ticks
}

// inOrder looks for runs of an item that overlap, or whose tokens do not grow.
func (v *verdict) inOrder(runs []*execution) {
	for i, e := range runs[min(1, len(runs)):] {
		before := runs[i]
		switch {
		case e.token == before.token:
			v.fault(e, "has the token %d of another run", e.token)
		case before.outcome == goingOn:
			v.fault(e, "began on %s while it was running on %s", e.worker, before.worker)
		case e.begun.Before(before.ended):
			v.fault(e, "began on %s %v before it had ended on %s", e.worker, before.ended.Sub(e.begun), before.worker)
		}
	}
}

// again matches runs that were cut short with those that repeat them. A run that had come
// to its end may be repeated too, if its instance lost its session or its life before it
// could record that; a handler has to be ready for it.
func (v *verdict) again(runs []*execution) {
	open := map[int64]*execution{} // the last run of each tick
	for _, e := range runs {
		tick := e.tick.UnixNano()
		before := open[tick]
		switch {
		case !e.again() && before != nil:
			v.fault(e, "began twice, the second time on %s", e.worker)
		case !e.again():
		case before == nil:
			v.fault(e, "was run again on %s although it had never begun", e.worker)
		case before.outcome == cutShort:
			v.failovers++
		case before.closed:
			v.fault(e, "was run again on %s although it had finished on %s", e.worker, before.worker)
		default:
			v.unrecorded++
		}
		open[tick] = e
	}
	for _, e := range open {
		if e.outcome == cutShort {
			v.fault(e, "was cut short on %s and not run again", e.worker)
		}
	}
}

// begun looks for ticks that began no run of the item and that no later one stands for.
// It returns how many there are that one does stand for: a make-up, or the first run
// after the item went to another instance, because nobody had it when the tick came.
func (v *verdict) begun(item int, runs []*execution) (covered int) {
	var before *execution
	next := 0 // of the ticks
	for _, e := range runs {
		if e.again() {
			continue
		}
		for ; next < len(v.ticks) && v.ticks[next].Before(e.tick); next++ {
			elsewhere := before != nil && before.instance != e.instance
			if e.makesUp() || elsewhere {
				covered++
			} else {
				v.missing(item, v.ticks[next])
			}
		}
		if next < len(v.ticks) && v.ticks[next].Equal(e.tick) {
			next++
		}
		before = e
	}
	for ; next < len(v.ticks); next++ {
		v.missing(item, v.ticks[next])
	}
	return covered
}

func (v *verdict) missing(item int, tick time.Time) {
	v.faults = append(v.faults, fmt.Sprintf("item %d, %s: neither begun nor made up for", item, clock(tick)))
}

func (v *verdict) fault(e *execution, format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf("item %d, %s: ", e.item, clock(e.tick))+fmt.Sprintf(format, args...))
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }
