package failed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Query says which failures are wanted.
type Query struct {
	// From and To bound when an execution has begun; To is not within, and open if it is zero. Of what only the tree knows,
	// its end counts.
	From, To time.Time
	// History is nil if there is none.
	History history.Reader
	// Jobs are those of the namespace that may be seen. Each is read if it has a failure.
	Jobs []ops.JobInfo
	// MayPast reports whether the history of a job may be shown; nil: of all.
	MayPast func(job string) bool
}

// State is what has become of an item at a tick for which it has failed.
type State string

// The states.
const (
	Failed    State = "FAILED"
	Older     State = "OLDER"
	Succeeded State = "SUCCEEDED"
)

// places are the order of the states in a report.
var places = map[State]int{Failed: 0, Older: 1, Succeeded: 2}

// Run is an item at a tick for which it has failed, with its newest execution that was no success.
type Run struct {
	Item      int       `json:"item" doc:"Number of the item."`
	Tick      time.Time `json:"tick,omitzero" doc:"Tick for which it has failed. A JVM does not tell."`
	State     State     `json:"state" enum:"FAILED,OLDER,SUCCEEDED" doc:"What has become of it."`
	Outcome   string    `json:"outcome" doc:"How the newest execution without success has ended: FAILED, PANIC, TIMEOUT, CUT or LOST."`
	Begun     time.Time `json:"begun,omitzero" doc:"When that has begun, by the clock of its instance."`
	Execution string    `json:"execution,omitempty" doc:"Its id in the history."`
	Server    string    `json:"server,omitempty" doc:"Address of its server."`
	Error     string    `json:"error,omitempty" doc:"Text of its error."`
	Times     int       `json:"times" doc:"How many executions for the tick have failed, as far as they are known."`
	Waits     bool      `json:"waits,omitempty" doc:"Whether the item runs for the tick now, is to be failed over, or has requests before it."`

	isLast, isDisabled bool // the tree has it as the last execution of its item; an operator has disabled that
}

// Job is a job with failures.
type Job struct {
	Job       string    `json:"job" doc:"Name of the job."`
	Failed    int       `json:"failed" doc:"How many items at ticks still fail: nothing has succeeded for the tick, and the item has not gone on to a later one."`
	Older     int       `json:"older,omitempty" doc:"How many items at ticks had no success, and the item has gone on to later ticks."`
	Succeeded int       `json:"succeeded,omitempty" doc:"How many have succeeded since: by a failover, a retry or a backfill."`
	Newest    time.Time `json:"newest" doc:"When the newest of the failures has begun."`
	Runs      []Run     `json:"runs" nullable:"false" doc:"The worst and newest first: 100 at most, and some 2,000 of all jobs, but one of each."`
}

// Report is what has failed in a namespace: jobs with something FAILED first, then those with something OLDER.
type Report struct {
	Jobs  []Job     `json:"jobs" nullable:"false" doc:"Jobs with failures: 500 at most."`
	More  int       `json:"more,omitempty" doc:"How many jobs with failures are left out."`
	Since time.Time `json:"since,omitzero" doc:"Set if there were so many failures that none from before then was looked at."`
	// HistoryError says why the history could not be read. What the tree knows is there all the same.
	HistoryError string   `json:"historyError,omitempty" doc:"Why the history could not be read. Only the last execution of each item is known then."`
	Elsewhere    []string `json:"elsewhere,omitempty" nullable:"false" doc:"Names of jobs with failures that the namespace does not have: they were removed, or are of another namespace with the same history."`
}

// Bounds of a report.
const (
	maxRead  = 10 * history.MaxLimit // executions that have failed
	maxJobs  = 500
	maxOfJob = 100
	maxRuns  = 2000
	atOnce   = 8 // jobs
)

// outcomes are those of executions that nobody wants. What was killed is what an operator wanted.
var outcomes = append(history.Failures(), history.OutcomeOf(jobtype.OutcomeCut), history.OutcomeLost)

// List returns what has failed.
//
// Errors: those of a read of the tree and of the history.
func List(ctx context.Context, o *ops.Ops, q Query) (Report, error) {
	r, err := list(ctx, o, q)
	left := maxRuns
	for i := range r.Jobs {
		j := &r.Jobs[i]
		j.Runs = j.Runs[:min(len(j.Runs), maxOfJob, max(left, 1))]
		left -= len(j.Runs)
	}
	if err != nil {
		err = fmt.Errorf("failures: %w", err)
	}
	return r, err
}

// list is List with all runs.
func list(ctx context.Context, o *ops.Ops, q Query) (Report, error) {
	r := Report{Jobs: []Job{}}
	past := map[string][]history.Execution{}
	if q.History != nil {
		var err error
		r.Since, err = q.read(ctx, past)
		if err != nil && ctx.Err() != nil {
			return r, err
		}
		if err != nil {
			r.HistoryError, r.Since, q.History = brief.Error(err).Error(), time.Time{}, nil
			clear(past)
		}
	}
	var failing, others []string
	for _, info := range q.Jobs {
		if info.Failing > 0 {
			failing = append(failing, info.Name)
		} else if len(past[info.Name]) > 0 {
			others = append(others, info.Name)
		}
	}
	names := append(failing, others...)
	r.More = max(len(names)-maxJobs, 0)
	names = names[:len(names)-r.More]
	for name := range past {
		if !slices.ContainsFunc(q.Jobs, func(i ops.JobInfo) bool { return i.Name == name }) {
			r.Elsewhere = append(r.Elsewhere, name)
		}
	}
	slices.Sort(r.Elsewhere)
	found := make([]Job, len(names))
	err := each(len(names), func(i int) (err error) {
		found[i], err = q.job(ctx, o.Job(names[i]), names[i], past[names[i]])
		return err
	})
	r.Jobs = slices.DeleteFunc(found, func(j Job) bool { return len(j.Runs) == 0 })
	slices.SortFunc(r.Jobs, func(a, b Job) int {
		return cmp.Or(places[a.Runs[0].State]-places[b.Runs[0].State], b.Newest.Compare(a.Newest), cmp.Compare(a.Job, b.Job))
	})
	return r, err
}

// read reads the failures of the span, by job. since is set if there are more.
func (q *Query) read(ctx context.Context, past map[string][]history.Execution) (since time.Time, err error) {
	f := history.ExecutionFilter{Outcomes: outcomes, From: q.From, To: q.To, Limit: history.MaxLimit}
	for n := 0; n < maxRead; {
		page, err := q.History.Executions(ctx, f)
		if err != nil {
			return since, err
		}
		for _, x := range page.Rows {
			if q.MayPast == nil || q.MayPast(x.Job) {
				past[x.Job] = append(past[x.Job], x)
			}
			since = x.StartTime
		}
		if n += len(page.Rows); page.Next == "" {
			return time.Time{}, nil
		}
		f.After = page.Next
	}
	return since, nil
}

// at is an item at a tick.
type at struct {
	item int
	tick int64 // in ms; 0 if it is not known
}

func atOf(item int, tick time.Time) at {
	if tick.IsZero() {
		return at{item, 0}
	}
	return at{item, tick.UnixMilli()}
}

// job returns the failures of one job, of which the history tells some, newest first.
func (q *Query) job(ctx context.Context, j *ops.Job, name string, past []history.Execution) (Job, error) {
	items, err := j.Items(ctx)
	if errors.Is(err, ops.ErrNoJob) { // it was removed a moment ago
		return Job{}, nil
	}
	if err != nil {
		return Job{}, err
	}
	known := map[at]*Run{}
	var order []at
	add := func(r Run) {
		key := atOf(r.Item, r.Tick)
		if before := known[key]; before != nil {
			before.Times++
			return
		}
		r.Times = 1
		known[key], order = &r, append(order, key)
	}
	byItem := map[int]*ops.ItemInfo{}
	for i := range items {
		byItem[items[i].Item] = &items[i]
	}
	for _, x := range past {
		if i := byItem[x.Item]; i != nil && !isElsewhere(i, x) {
			add(Run{Item: x.Item, Tick: x.ScheduledTime, Outcome: string(x.Outcome), Begun: x.StartTime, Execution: x.ID, Server: x.IP, Error: x.Error})
		}
	}
	for _, i := range items {
		last := i.Last
		if last == nil || !isFailure(last.Outcome) || last.Ended.Before(q.From) || !q.To.IsZero() && !last.Ended.Before(q.To) {
			continue
		}
		if known[atOf(last.Item, last.Tick)] == nil { // else the history has it
			add(Run{Item: i.Item, Tick: last.Tick, Outcome: last.Outcome, Begun: cmp.Or(last.Begun, last.Ended), Execution: last.TaskID, Error: last.Error})
		}
	}
	since, err := q.successes(ctx, name, past)
	if err != nil {
		return Job{}, err
	}
	f := Job{Job: name}
	for _, key := range order {
		r := known[key]
		r.judge(byItem[r.Item], since)
		switch r.State {
		case Failed:
			f.Failed++
		case Older:
			f.Older++
		default:
			f.Succeeded++
		}
		if r.Begun.After(f.Newest) {
			f.Newest = r.Begun
		}
		f.Runs = append(f.Runs, *r)
	}
	slices.SortStableFunc(f.Runs, func(a, b Run) int {
		return cmp.Or(places[a.State]-places[b.State], b.Tick.Compare(a.Tick), a.Item-b.Item)
	})
	return f, nil
}

// isElsewhere reports whether an execution must be of another namespace: the item has not begun that tick of its schedule.
func isElsewhere(i *ops.ItemInfo, x history.Execution) bool {
	isOfSchedule := x.Source == jobtype.SourceNormal || x.Source == jobtype.SourceMisfire
	return isOfSchedule && x.ScheduledTime.After(i.LastTick) && (i.Run == nil || x.ScheduledTime.After(i.Run.Tick))
}

func isFailure(outcome string) bool { return slices.Contains(outcomes, history.Outcome(outcome)) }

// judge says what has become of it: since has the ticks that have succeeded later.
func (r *Run) judge(i *ops.ItemInfo, since map[at]bool) {
	key := atOf(r.Item, r.Tick)
	isSame := i.Last != nil && !r.Tick.IsZero() && atOf(i.Item, i.Last.Tick) == key
	r.isLast = isSame && isFailure(i.Last.Outcome) && history.Outcome(i.Last.Outcome) != history.OutcomeLost
	switch {
	case isSame && i.Last.Outcome == jobtype.OutcomeOK.String(), since[key] && !r.Tick.IsZero():
		r.State = Succeeded
	case since[key], !r.isLast && !r.Tick.IsZero() && i.LastTick.After(r.Tick):
		r.State = Older
	default:
		r.State = Failed
	}
	runs := i.Run != nil && atOf(i.Item, i.Run.Tick) == key
	r.isDisabled = i.Disabled
	r.Waits = r.State != Succeeded && (runs || i.Waits || len(i.Requests) > 0)
}

// successes returns which items have succeeded later for a tick for which they had failed; and, as a tick that is not
// known, the items of JVM members that have succeeded last.
func (q *Query) successes(ctx context.Context, job string, past []history.Execution) (map[at]bool, error) {
	all := map[at]bool{}
	if len(past) == 0 {
		return all, nil
	}
	if slices.ContainsFunc(past, func(x history.Execution) bool { return x.ScheduledTime.IsZero() }) {
		rows, err := q.History.Latest(ctx, job, -1, history.MaxLimit)
		if err != nil {
			return nil, err
		}
		for _, x := range rows {
			all[at{x.Item, 0}] = x.Outcome == history.OutcomeOf(jobtype.OutcomeOK)
		}
	}
	f := history.ExecutionFilter{Job: job, Outcomes: []history.Outcome{history.OutcomeOf(jobtype.OutcomeOK)}, From: past[len(past)-1].StartTime, Limit: history.MaxLimit}
	for _, f.Source = range []jobtype.Source{jobtype.SourceFailover, jobtype.SourceRetry, jobtype.SourceBackfill} {
		f.After = ""
		for range maxRead / history.MaxLimit {
			page, err := q.History.Executions(ctx, f)
			if err != nil {
				return nil, err
			}
			for _, x := range page.Rows {
				all[atOf(x.Item, x.ScheduledTime)] = true
			}
			if f.After = page.Next; f.After == "" {
				break
			}
		}
	}
	return all, nil
}

// each does something n times, a few at a time, and returns the first error.
func each(n int, do func(i int) error) error {
	errs := make([]error, n)
	turns := make(chan int)
	var workers sync.WaitGroup
	for range min(atOnce, n) {
		workers.Go(func() {
			for i := range turns {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		turns <- i
	}
	close(turns)
	workers.Wait()
	return cmp.Or(errs...)
}
