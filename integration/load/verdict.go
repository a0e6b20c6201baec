package main

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// noted are the entries of one worker.
type noted struct {
	entries []entry
	// killed is when the worker was killed; zero if it was not.
	killed time.Time
}

// runs is what became of the ticks of a window.
type runs struct {
	// Expected is jobs × items × ticks. Executions are all that began, for whatever reason.
	Expected   int `json:"expected"`
	Executions int `json:"executions"`
	// Missed have no execution. MadeUp have one because the tick was missed at first: it
	// makes up for those before it, too, so these are missed. FailedOver have one more,
	// because the first was cut short. Twice are executions beyond that. Stray are for a
	// tick that is none.
	Missed     int `json:"missed"`
	MadeUp     int `json:"made_up"`
	FailedOver int `json:"failed_over"`
	Twice      int `json:"twice"`
	Stray      int `json:"stray"`
	// Unended have begun and not ended.
	Unended int `json:"unended"`
}

// judge counts what became of every tick of every item.
func judge(o options, ticks []time.Time, workers []noted) runs {
	r := runs{Expected: o.Jobs * o.Items * len(ticks)}
	begun := make([]uint8, r.Expected) // by tick, job and item
	for _, w := range workers {
		for _, e := range w.entries {
			if e.kind != aRun {
				continue
			}
			r.Executions++
			if e.ended.IsZero() {
				r.Unended++
			}
			tick, ok := slices.BinarySearchFunc(ticks, e.tick, time.Time.Compare)
			if !ok || e.job >= o.Jobs || e.item >= o.Items {
				r.Stray++
				continue
			}
			switch e.source {
			case job.SourceFailover:
				r.FailedOver++
				continue
			case job.SourceMisfire:
				r.MadeUp++
			}
			at := &begun[(tick*o.Jobs+e.job)*o.Items+e.item]
			if *at > 0 {
				r.Twice++
			}
			*at = 1
		}
	}
	for _, n := range begun {
		if n == 0 {
			r.Missed++
		}
	}
	return r
}

// lateness returns how late each execution began, those after a failover left out.
func lateness(workers []noted) []time.Duration {
	var late []time.Duration
	for _, w := range workers {
		for _, e := range w.entries {
			if e.kind == aRun && e.source != job.SourceFailover {
				late = append(late, e.begun.Sub(e.tick))
			}
		}
	}
	return late
}

// edges returns, for each tick of each job, how late its first and its last item began.
func edges(workers []noted) (first, last []time.Duration) {
	type fire struct {
		job  int
		tick int64
	}
	type edge struct{ first, last time.Duration }
	fires := map[fire]edge{}
	for _, w := range workers {
		for _, e := range w.entries {
			if e.kind != aRun || e.source == job.SourceFailover {
				continue
			}
			f, late := fire{e.job, e.tick.UnixNano()}, e.begun.Sub(e.tick)
			at, seen := fires[f]
			if !seen {
				at = edge{late, late}
			}
			fires[f] = edge{min(at.first, late), max(at.last, late)}
		}
	}
	for _, e := range fires {
		first, last = append(first, e.first), append(last, e.last)
	}
	return first, last
}

// failover is what became of the runs that the end of a worker has cut short.
type failover struct {
	// Orphans are those runs. Lost of them have not begun elsewhere.
	Orphans int `json:"orphans"`
	Lost    int `json:"lost"`
	// Delay is from the end of the worker until the item began elsewhere.
	Delay spread `json:"delay"`
}

func orphans(workers []noted) failover {
	type run struct {
		job, item int
		tick      int64
	}
	of := func(e entry) run { return run{e.job, e.item, e.tick.UnixNano()} }
	taken := map[run]time.Time{}
	for _, w := range workers {
		for _, e := range w.entries {
			if e.kind == aRun && e.source == job.SourceFailover && w.killed.IsZero() {
				taken[of(e)] = e.begun
			}
		}
	}
	var f failover
	var delays []time.Duration
	for _, w := range workers {
		if w.killed.IsZero() {
			continue
		}
		for _, e := range w.entries {
			if e.kind != aRun || !e.ended.IsZero() {
				continue
			}
			f.Orphans++
			if at, ok := taken[of(e)]; ok {
				delays = append(delays, at.Sub(w.killed))
			} else {
				f.Lost++
			}
		}
	}
	f.Delay = spreadOf(delays)
	return f
}

// settled returns when the items of all jobs were assigned evenly again: every job's items
// all have an owner among the workers that stay, and no worker has two more than another.
// It returns the first and the last change since then and before until, when all are shut down.
func settled(o options, workers []noted, stays []bool, since, until time.Time) (first, last time.Time, even bool) {
	type change struct {
		entry
		worker int
	}
	var changes []change
	for i, w := range workers {
		for _, e := range w.entries {
			if e.kind == aChange && stays[i] && e.begun.Before(until) {
				changes = append(changes, change{e, i})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.begun.Compare(b.begun) })
	has := make([][]int, o.Jobs) // by job and worker
	for i := range has {
		has[i] = make([]int, len(workers))
	}
	assigned := func(items []int) bool {
		sum, low, high := 0, o.Items, 0
		for i, n := range items {
			if stays[i] {
				sum, low, high = sum+n, min(low, n), max(high, n)
			}
		}
		return sum == o.Items && high-low <= 1
	}
	for _, c := range changes {
		has[c.job][c.worker] = c.items
		if c.begun.Before(since) {
			continue
		}
		if first.IsZero() {
			first = c.begun
		}
		last = c.begun
	}
	even = !slices.ContainsFunc(has, func(items []int) bool { return !assigned(items) })
	return first, last, even
}
