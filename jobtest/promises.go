package jobtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// EachTickOnce fails the test unless each of the items 0 to items-1 has exactly one of the
// executions for each of the ticks, and none for another tick between the first and the last.
// Requests (triggers, retries, backfills) do not count. See [Ticks] for the ticks.
//
// A run that was cut short and run again is two executions for one tick. So after a failover
// ask for those that have succeeded:
//
//	jobtest.EachTickOnce(t, c.Executions().Outcome(job.OutcomeOK), ticks, 3)
func EachTickOnce(t testing.TB, x Executions, ticks []time.Time, items int) {
	t.Helper()
	v := violations{of: x}
	wanted := map[int64]bool{}
	for _, at := range ticks {
		wanted[at.UnixMilli()] = true
	}
	found := map[start][]Execution{}
	for _, e := range x.list {
		at := e.ScheduledTime.UnixMilli()
		switch {
		case !isOfSchedule(e):
		case wanted[at] && e.Item < items:
			found[start{e.JobName, e.Item, at}] = append(found[start{e.JobName, e.Item, at}], e)
		case len(ticks) > 0 && at >= ticks[0].UnixMilli() && at <= ticks[len(ticks)-1].UnixMilli():
			v.add("item %d has run for %s, which is none of the ticks and items", e.Item, e.ScheduledTime.Format(tickLayout))
		}
	}
	jobs := x.jobs()
	if len(jobs) > 1 {
		v.add("these are executions of several jobs (%s): choose one with Of", strings.Join(jobs, ", "))
	}
	name := ""
	if len(jobs) > 0 {
		name = jobs[0]
	}
	for _, at := range ticks {
		for item := range items {
			if n := len(found[start{name, item, at.UnixMilli()}]); n != 1 {
				v.add("item %d: %d executions for the tick %s, want 1", item, n, at.Format(tickLayout))
			}
		}
	}
	v.report(t)
}

// NoTickTwice fails the test if a tick of an item was started twice. Executions by failover,
// and those for requests, may be for a tick that has been: they do not count.
func NoTickTwice(t testing.TB, x Executions) {
	t.Helper()
	v := violations{of: x}
	first := map[start]Execution{}
	for _, e := range x.list {
		if e.Source != job.SourceNormal && e.Source != job.SourceMisfire {
			continue
		}
		k := start{e.JobName, e.Item, e.ScheduledTime.UnixMilli()}
		if before, twice := first[k]; twice {
			v.add("%s: item %d was started for %s with token %d, and again with token %d", e.JobName, e.Item, e.ScheduledTime.Format(tickLayout), before.Token, e.Token)
		}
		first[k] = e
	}
	v.report(t)
}

// NoOverlap fails the test if two executions of an item were at work at the same time. That
// happens if a handler goes on although its context has ended, and after
// [Instance.LoseSession]. What an instance did after its death does not count.
func NoOverlap(t testing.TB, x Executions) {
	t.Helper()
	v := violations{of: x}
	for _, list := range x.byItem() {
		for i, e := range list {
			for _, before := range list[:i] {
				if before.IsRunning() || before.Ended.After(e.Began) {
					v.add("%s: item %d was begun with token %d at %s, while token %d was at work", e.JobName, e.Item, e.Token, e.Began.Format(layout), before.Token)
					break
				}
			}
		}
	}
	v.report(t)
}

// TokensGrow fails the test if an execution of an item has no larger token than those that
// began before it.
func TokensGrow(t testing.TB, x Executions) {
	t.Helper()
	v := violations{of: x}
	for _, list := range x.byItem() {
		for i := 1; i < len(list); i++ {
			if list[i].Token <= list[i-1].Token {
				v.add("%s: item %d was begun with token %d after %d", list[i].JobName, list[i].Item, list[i].Token, list[i-1].Token)
			}
		}
	}
	v.report(t)
}

// start names the start of an item for a tick, in milliseconds.
type start struct {
	job  string
	item int
	tick int64
}

// isOfSchedule reports whether no request has asked for an execution.
func isOfSchedule(e Execution) bool {
	return e.Source == job.SourceNormal || e.Source == job.SourceMisfire || e.Source == job.SourceFailover && e.RequestID == ""
}

// jobs returns the names of the jobs, ascending.
func (x Executions) jobs() []string {
	var names []string
	for _, e := range x.list {
		names = append(names, e.JobName)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// byItem returns the executions of each item, in the order in which they began.
func (x Executions) byItem() [][]Execution {
	ordered := slices.Clone(x.list)
	slices.SortStableFunc(ordered, func(a, b Execution) int {
		return cmp.Or(strings.Compare(a.JobName, b.JobName), cmp.Compare(a.Item, b.Item), a.Began.Compare(b.Began))
	})
	var groups [][]Execution
	for i, e := range ordered {
		if i == 0 || e.JobName != ordered[i-1].JobName || e.Item != ordered[i-1].Item {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], e)
	}
	return groups
}

// violations is what a check has found.
type violations struct {
	of    Executions
	found []string
	more  int
}

func (v *violations) add(format string, args ...any) {
	const shown = 10
	if len(v.found) == shown {
		v.more++
		return
	}
	v.found = append(v.found, fmt.Sprintf(format, args...))
}

// report fails the test with what was found, all in one message.
func (v *violations) report(t testing.TB) {
	t.Helper()
	v.of.recorder.requireAll(t)
	if len(v.found) == 0 {
		return
	}
	if v.more > 0 {
		v.found = append(v.found, fmt.Sprintf("and %d more", v.more))
	}
	t.Errorf("jobtest: executions%s\n  %s\n%s", asked(v.of.asked), strings.Join(v.found, "\n  "), v.of.history())
}
