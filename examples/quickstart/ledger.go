package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// execution is one run of one item, as its instance reported it.
type execution struct {
	worker string
	item   int
	tick   time.Time
	source string
	token  int64

	begun, ended time.Time // ended is zero as long as it goes on
	done, files  int
	outcome      outcome
	fault        string // of one that failed
	closed       bool   // the registry has recorded its end
}

// outcome is how an execution ended.
type outcome int

const (
	goingOn  outcome = iota
	finished         // with a result
	failed           // with an error
	cutShort         // by the end of its process or of its session
)

// again reports whether it repeats an execution that was cut short.
func (e *execution) again() bool { return e.source == job.SourceFailover.String() }

// makesUp reports whether it stands for ticks that were missed.
func (e *execution) makesUp() bool { return e.source == job.SourceMisfire.String() }

// ledger is the record of everything that ran.
type ledger struct {
	items      int
	executions []*execution        // in the order in which they were heard of
	moves      map[int][]time.Time // by item, when it went from one instance to another
	losses     int                 // instances that ended without leaving
}

// enter takes a report in, and returns the execution that it is about.
func (l *ledger) enter(worker string, r report) *execution {
	e := l.find(worker, r)
	if e == nil {
		e = &execution{worker: worker, item: r.Item, tick: r.Tick, source: r.Source, token: r.Token, begun: r.At}
		l.executions = append(l.executions, e)
	}
	switch r.Kind {
	case goesOn:
		e.done, e.files = r.Done, r.Files
	case ends:
		e.ended, e.outcome, e.fault = r.At, r.outcome(), r.Error
	}
	return e
}

// close notes that the registry has recorded the end of a run.
func (l *ledger) close(item int, token int64) {
	for _, e := range slices.Backward(l.executions) {
		if e.item == item && e.token == token {
			e.closed = true
		}
	}
}

// move notes that an item went to another instance.
func (l *ledger) move(item int, at time.Time) {
	if l.moves == nil {
		l.moves = map[int][]time.Time{}
	}
	l.moves[item] = append(l.moves[item], at)
}

// find returns the execution that goes on and that the report is about.
func (l *ledger) find(worker string, r report) *execution {
	for _, e := range slices.Backward(l.executions) {
		if e.worker == worker && e.item == r.Item && e.token == r.Token && e.outcome == goingOn {
			return e
		}
	}
	return nil
}

// died marks what a process that has ended leaves unfinished.
func (l *ledger) died(worker string, at time.Time) {
	for _, e := range l.under(worker) {
		e.ended, e.outcome = at, cutShort
	}
}

// under returns the executions that a process runs at the moment, by item.
func (l *ledger) under(worker string) []*execution {
	var list []*execution
	for _, e := range l.executions {
		if e.worker == worker && e.outcome == goingOn {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *execution) int { return a.item - b.item })
	return list
}

// rerun returns the failover of an execution that was cut short, nil if there was none.
func (l *ledger) rerun(cut *execution) *execution {
	for _, e := range l.executions {
		if e.again() && e.item == cut.item && e.tick.Equal(cut.tick) && e.token > cut.token {
			return e
		}
	}
	return nil
}

// cut returns the executions of a process that were cut short at that time or later.
func (l *ledger) cut(worker string, since time.Time) []*execution {
	var list []*execution
	for _, e := range l.executions {
		if e.worker == worker && e.outcome == cutShort && !e.ended.Before(since) {
			list = append(list, e)
		}
	}
	return list
}

// pending returns the executions that were cut short and not repeated yet.
func (l *ledger) pending() []*execution {
	var list []*execution
	for _, e := range l.executions {
		if e.outcome == cutShort && l.rerun(e) == nil {
			list = append(list, e)
		}
	}
	return list
}

// through is the last tick for which, or for a later one, every item has finished a run. It is
// zero at first, and never goes back.
func (l *ledger) through() time.Time {
	last := make([]time.Time, l.items)
	for _, e := range l.executions {
		if e.outcome == finished && !e.again() && e.item < l.items && e.tick.After(last[e.item]) {
			last[e.item] = e.tick
		}
	}
	return slices.MinFunc(last, time.Time.Compare)
}

// of returns the executions of an item in the order of their tokens.
func (l *ledger) of(item int) []*execution {
	var list []*execution
	for _, e := range l.executions {
		if e.item == item {
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b *execution) int { return cmp.Compare(a.token, b.token) })
	return list
}
