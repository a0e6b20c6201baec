package main

import (
	"fmt"
	"slices"
	"time"
)

// verdict is what the record of a whole show comes to.
type verdict struct {
	ticks   []time.Time
	onTime  int // runs that a tick began when it was due
	makeUps int // runs that made up for ticks that were missed
	repeats int // runs that repeated one that was cut short
	unsaid  int // runs that repeated one whose instance was lost before it could report the begin or record the end
	covered int // ticks of items that began no run of their own; the next run covers them
	faults  []string
}

// failovers is the number of runs that repeated another one.
func (v verdict) failovers() int { return v.repeats + v.unsaid }

// check holds the record against what the scheduler promises:
//
//   - every tick of every item begins one run, or the next run covers it;
//   - a run that was cut short is repeated, and a run that is recorded as finished is not;
//   - the runs of an item do not overlap, and their tokens grow.
//
// Every tick up to the given time must have its run; later ones may be missing.
func (l *ledger) check(until time.Time, every time.Duration) verdict {
	v := verdict{ticks: l.ticks(until, every)}
	for _, e := range l.executions {
		switch {
		case e.again(): // verdict.again counts these
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
		v.again(runs, l.losses, until)
		v.begun(item, runs, l.moves[item])
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
		case e.begun.Before(before.ended.Add(-before.slack())):
			v.fault(e, "began on %s %v before it had ended on %s", e.worker, before.ended.Sub(e.begun), before.worker)
		}
	}
}

// slack is how long after the begin of the next run a run may have ended. A handler whose
// context ends needs some processor time to notice that.
func (e *execution) slack() time.Duration {
	if e.outcome == cutShort {
		return time.Second
	}
	return 0
}

// again matches failovers with the runs that they repeat. A failover may repeat a run that was
// cut short. It may also repeat one whose instance was lost after the claim and before the
// begin, or after the end and before that was recorded: handlers have to expect it. But a lost
// instance explains only one failover of an item.
func (v *verdict) again(runs []*execution, losses int, until time.Time) {
	last := map[int64]*execution{} // the last run for each tick
	for _, e := range runs {
		tick := e.tick.UnixNano()
		before := last[tick]
		last[tick] = e
		if !e.again() {
			if before != nil {
				v.fault(e, "began twice, the second time on %s", e.worker)
			}
			continue
		}
		switch {
		case before != nil && before.outcome == cutShort:
			v.repeats++
		case before != nil && before.closed:
			v.fault(e, "was run again on %s although it had finished on %s", e.worker, before.worker)
		default:
			v.unsaid++
		}
		if losses--; losses == -1 {
			v.fault(e, "was run again on %s although no other instance was lost", e.worker)
		}
	}
	for _, e := range last {
		if e.outcome == cutShort && !e.tick.After(until) {
			v.fault(e, "was cut short on %s and not run again", e.worker)
		}
	}
}

// begun looks for ticks of an item that began no run. That is right if a later run makes up for
// the tick. It is right too if the item got a new owner between the tick and the next run: no
// instance had the item when the tick came, and the first run of the new owner covers it.
func (v *verdict) begun(item int, runs []*execution, moves []time.Time) {
	for _, tick := range v.ticks {
		if slices.ContainsFunc(runs, func(e *execution) bool { return e.tick.Equal(tick) }) {
			continue
		}
		next := slices.IndexFunc(runs, func(e *execution) bool { return !e.again() && e.tick.After(tick) })
		switch {
		case next < 0:
			v.missing(item, tick)
		case runs[next].makesUp(), movedBetween(moves, tick, runs[next].ended):
			v.covered++
		default:
			v.missing(item, tick)
		}
	}
}

func movedBetween(moves []time.Time, from, to time.Time) bool {
	return slices.ContainsFunc(moves, func(t time.Time) bool { return !t.Before(from) && !t.After(to) })
}

func (v *verdict) missing(item int, tick time.Time) {
	v.faults = append(v.faults, fmt.Sprintf("item %d, %s: neither begun nor made up for", item, clock(tick)))
}

func (v *verdict) fault(e *execution, format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf("item %d, %s: ", e.item, clock(e.tick))+fmt.Sprintf(format, args...))
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }
