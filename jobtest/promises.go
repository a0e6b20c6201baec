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
// The executions are of one job, and the ticks ascend, as those of [Ticks]. Requests (triggers,
// retries, backfills) do not count.
//
// A run that was cut short and run again is two executions for one tick. So after a failover
// ask for those that have succeeded:
//
//	jobtest.EachTickOnce(t, c.Executions().Outcome(job.OutcomeOK), ticks, 3)
//
// After an outage one run makes up for several ticks, and is for the last of them: this check is
// not for that.
func EachTickOnce(t testing.TB, x Executions, ticks []time.Time, items int) {
	t.Helper()
	v := none("EachTickOnce", x)
	defer v.report(t)
	if len(ticks) == 0 || items < 1 {
		v.add(time.Time{}, "%d ticks and %d items were given, so there is nothing to check", len(ticks), items)
		return
	}
	if jobs := x.jobs(); len(jobs) > 1 {
		v.add(time.Time{}, "these are executions of several jobs (%s): choose one with Of", strings.Join(jobs, ", "))
		return
	}
	found := map[start][]Execution{}
	requested := map[start]int{}
	for _, at := range ticks {
		for item := range items {
			found[start{item: item, tick: at.UnixMilli()}] = nil
		}
	}
	for _, e := range x.list {
		key := start{item: e.Item, tick: e.ScheduledTime.UnixMilli()}
		_, isWanted := found[key]
		switch {
		case !isOfSchedule(e):
			requested[key]++
		case isWanted:
			found[key] = append(found[key], e)
		case !e.ScheduledTime.Before(ticks[0]) && !e.ScheduledTime.After(ticks[len(ticks)-1]):
			v.addOf(e, "item %d has run for %s, which is none of the ticks and items", e.Item, e.ScheduledTime.Format(tickLayout))
		}
	}
	for _, at := range ticks {
		for item := range items {
			key := start{item: item, tick: at.UnixMilli()}
			of := found[key]
			if len(of) == 1 {
				continue
			}
			v.mark(of...)
			note := ""
			if n := requested[key]; n > 0 {
				note = fmt.Sprintf("; requests do not count, and %d were for one", n)
			}
			v.add(at, "item %d: %d executions for the tick %s, want 1%s", item, len(of), at.Format(tickLayout), note)
		}
	}
}

// NoTickTwice fails the test if a tick of an item was started twice. Executions by failover,
// and those for requests, may be for a tick that has been: they do not count. It also fails if
// there is no other execution, because then it has nothing to check.
func NoTickTwice(t testing.TB, x Executions) {
	t.Helper()
	v := about("NoTickTwice", x)
	first := map[start]Execution{}
	for _, e := range x.list {
		if e.Source != job.SourceNormal && e.Source != job.SourceMisfire {
			continue
		}
		k := start{e.JobName, e.Item, e.ScheduledTime.UnixMilli()}
		if before, twice := first[k]; twice {
			v.mark(before)
			v.addOf(e, "%s: item %d was started for %s with token %d, and again with token %d", e.JobName, e.Item, e.ScheduledTime.Format(tickLayout), before.Token, e.Token)
		}
		first[k] = e
	}
	if len(first) == 0 && len(x.list) > 0 {
		v.add(time.Time{}, "all are by failover or for requests, which do not count, so there is nothing to check")
	}
	v.report(t)
}

// NoOverlap fails the test if two executions of an item were at work at the same time. That
// happens if a handler goes on although its context has ended, and after
// [Process.LoseSession]. What an instance did after its death does not count.
func NoOverlap(t testing.TB, x Executions) {
	t.Helper()
	v := about("NoOverlap", x)
	for _, list := range x.byItem() {
		last := list[0] // of those before, the one that ended last
		for _, e := range list[1:] {
			if last.IsRunning() || last.Ended.After(e.Began) {
				v.mark(last)
				v.addOf(e, "%s: item %d was begun with token %d at %s, while token %d was at work", e.JobName, e.Item, e.Token, e.Began.Format(layout), last.Token)
			}
			if !last.IsRunning() && (e.IsRunning() || e.Ended.After(last.Ended)) {
				last = e
			}
		}
	}
	v.report(t)
}

// TokensGrow fails the test if an execution of an item has no larger token than those that
// began before it. Jobs with MonitorExecution off have no tokens.
func TokensGrow(t testing.TB, x Executions) {
	t.Helper()
	v := about("TokensGrow", x)
	for _, list := range x.byItem() {
		if list[0].Token == 0 {
			v.addOf(list[0], "%s: item %d has no token, because MonitorExecution of the job is off", list[0].JobName, list[0].Item)
			continue
		}
		for i := 1; i < len(list); i++ {
			if list[i].Token <= list[i-1].Token {
				v.mark(list[i-1])
				v.addOf(list[i], "%s: item %d was begun with token %d after %d", list[i].JobName, list[i].Item, list[i].Token, list[i-1].Token)
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
	check  string // its name
	of     Executions
	found  []string
	more   int
	marked map[string]bool // task ids of the executions that they are about
	first  time.Time       // when the first one was
}

func none(check string, x Executions) *violations {
	return &violations{check: check, of: x, marked: map[string]bool{}}
}

// about returns no violations, unless there are no executions: then a check means nothing.
func about(check string, x Executions) *violations {
	v := none(check, x)
	if len(x.list) == 0 {
		v.add(time.Time{}, "there are none, so there is nothing to check")
	}
	return v
}

// addOf adds one that an execution is to blame for.
func (v *violations) addOf(e Execution, format string, args ...any) {
	v.mark(e)
	v.add(e.Began, format, args...)
}

// mark has executions marked in the history.
func (v *violations) mark(list ...Execution) {
	for _, e := range list {
		v.marked[e.TaskID] = true
	}
}

// add adds one, with the time that it is about; zero if it is about none.
func (v *violations) add(at time.Time, format string, args ...any) {
	const shown = 10
	if !at.IsZero() && (v.first.IsZero() || at.Before(v.first)) {
		v.first = at
	}
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
	history := v.of.recorder.show(excerpt{job: v.of.job, marked: v.marked, from: v.first})
	t.Errorf("jobtest: %s: executions%s\n  %s\n%s", v.check, asked(v.of.asked), strings.Join(v.found, "\n  "), history)
}
