package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// run is one execution of one item: the last report on it, and since when it has been in its state.
type run struct {
	report
	worker *worker
	since  time.Time
}

func (r *run) isFailover() bool { return r.Source == job.SourceFailover }

// runs are executions of one item, in the order of their tokens.
type runs []*run

// add takes a report in. It returns the run that the report is about, and the run before that, if there is one.
func (r *runs) add(w *worker, about report) (this, before *run) {
	i, known := slices.BinarySearchFunc(*r, about.Token, func(e *run, token int64) int { return cmp.Compare(e.Token, token) })
	if !known {
		*r = slices.Insert(*r, i, &run{worker: w})
	}
	this = (*r)[i]
	this.report, this.since = about, time.Now()
	if i > 0 {
		before = (*r)[i-1]
	}
	return this, before
}

// at returns the runs for a tick.
func (r runs) at(tick time.Time) runs {
	return slices.DeleteFunc(slices.Clone(r), func(e *run) bool { return !e.Tick.Equal(tick) })
}

// areOver reports whether the last run for a tick has ended without being cut short or, if there was none, a run for a
// later tick has finished.
func (r runs) areOver(tick time.Time) bool {
	if same := r.at(tick); len(same) > 0 {
		last := same[len(same)-1].State
		return last == finished || last == failed
	}
	return slices.ContainsFunc(r, func(e *run) bool { return e.State == finished && e.Tick.After(tick) })
}

// areOnce reports whether runs for one tick are what the scheduler promises: the last one has finished, and those before
// it were cut short, or their worker was lost before the registry knew that they had finished.
func (r runs) areOnce() bool {
	for i, e := range r {
		isLast := i == len(r)-1
		if i > 0 && !e.isFailover() || isLast && e.State != finished || !isLast && e.State != cutShort && !e.worker.lost {
			return false
		}
	}
	return len(r) > 0
}

// makeUpFor reports whether the first run after a tick makes up for it: its source says so, or the item has a new owner,
// and so may have had none when the tick came.
func (r runs) makeUpFor(tick time.Time) bool {
	starts := slices.DeleteFunc(slices.Clone(r), (*run).isFailover)
	next := slices.IndexFunc(starts, func(e *run) bool { return e.Tick.After(tick) })
	return next >= 0 && (starts[next].Source == job.SourceMisfire || next == 0 || starts[next].Instance != starts[next-1].Instance)
}

// legend explains what String returns.
const legend = "rows show who ran which item; B×A: cut short on B, run again on A; +A: late; -: missed"

// String says who ran an item for a tick.
func (r runs) String() string {
	var b strings.Builder
	for _, e := range r {
		if e.Source == job.SourceMisfire {
			b.WriteByte('+')
		}
		b.WriteString(e.worker.name)
		if e.State == cutShort {
			b.WriteRune('×')
		}
		b.WriteString(e.Error)
	}
	return cmp.Or(b.String(), "-")
}

// row is what the runs of an item write. In a database that would be
//
//	UPDATE counts SET files = …, fence = $token WHERE item = $item AND fence <= $token
//
// A run may seem dead, be repeated elsewhere, and then go on. The condition keeps it from undoing what the later run has
// written. Each item has a fence of its own, because tokens of different items may be equal.
type row struct {
	result
	fence int64
}
