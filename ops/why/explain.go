package why

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Query says what is to be explained.
type Query struct {
	Job  string
	Item *int      // nil is all items
	At   time.Time // zero is now
	// History is nil if there is none, or if it cannot be looked at. Unseen says that, and what else whoever asks may not see.
	History history.Reader
	Unseen  []string
}

// Explain says why a job did, or did not run at a moment.
//
// Errors: ops.ErrNoJob; jobtype.ErrNoItem; those of a read of the store or the history.
func Explain(ctx context.Context, o *ops.Ops, q Query) (Answer, error) {
	now := clocks.Wall()
	if q.At.IsZero() {
		q.At = now
	}
	failed := func(err error) (Answer, error) {
		return Answer{}, fmt.Errorf("job %s: why at %s: %w", brief.Text(q.Job), q.At.UTC().Format(time.RFC3339), err)
	}
	job, err := o.Job(q.Job).Describe(ctx)
	if err != nil {
		return failed(err)
	}
	calendars, err := o.Calendars(ctx)
	if err != nil {
		return failed(err)
	}
	audit, err := o.Audit(ctx, ops.AuditQuery{})
	if err != nil {
		return failed(err)
	}
	f := &facts{at: q.At, now: now, job: job}
	unseen := slices.Clone(q.Unseen)
	f.changes = slices.DeleteFunc(audit, func(c ops.Change) bool {
		return c.Err != nil || c.Job != q.Job && (c.Job != "" || !strings.HasPrefix(c.Detail, "calendar "))
	})
	p := past{q.History, q.Job, f}
	if q.History == nil {
		unseen = append(unseen, "No history was looked at: of each item only its last end is known.")
	} else if err := p.readChanges(ctx); err != nil {
		return failed(err)
	}
	slices.SortStableFunc(f.changes, func(a, b ops.Change) int { return a.At.Compare(b.At) })
	unseen = append(unseen, f.unseen...)
	f.due = dueAt(q.At, versions(job.Config, job.Since, f.changes), f.changes, calendars)
	f.unseen = append(unseen, f.unseen...)
	if f.items, err = f.asked(q.Item); err != nil {
		return failed(err)
	}
	f.addPresent()
	if q.History != nil && f.none == nil && !f.tick.IsZero() {
		if err := p.read(ctx, q.Item); err != nil {
			return failed(err)
		}
	}
	a := f.answer()
	a.Item = q.Item
	return a, nil
}

// asked returns the items that are asked for.
func (f *facts) asked(item *int) ([]int, error) {
	total := max(f.config.ShardingTotalCount, 0)
	switch {
	case item == nil:
		items := make([]int, min(total, jobtype.MaxShardingTotalCount))
		for i := range items {
			items[i] = i
		}
		if f.config.Broadcast { // there are as many as instances
			items = items[:min(len(items), len(f.job.Items))]
		}
		return items, nil
	case *item < 0 || !f.config.Broadcast && *item >= max(total, len(f.job.Items)):
		return nil, fmt.Errorf("%w: item %d", jobtype.ErrNoItem, *item)
	}
	return []int{*item}, nil
}

// addPresent adds what the tree tells: a pause, runs that go on, the last one of each item, and faults.
func (f *facts) addPresent() {
	if p := f.job.Info.Paused; !p.Since.IsZero() { // the audit may have it no more
		f.changes = append(f.changes, ops.Change{At: p.Since, By: p.By, Why: p.Why, Job: f.job.Info.Name, Action: ops.ActionPause})
	}
	for _, now := range f.job.Faults {
		f.events = append(f.events, trace.Event{Time: now.Since, Kind: jobtype.EventFault, Instance: now.Instance, What: now.Kind, Error: now.Cause})
	}
	for _, i := range f.job.Items {
		if run := i.Run; run != nil && !run.Tick.IsZero() {
			f.runs = append(f.runs, history.Execution{ID: run.TaskID, Item: i.Item, Instance: run.Instance, ScheduledTime: run.Tick, StartTime: run.Begun, Outcome: history.OutcomeRunning, RequestID: run.Request})
		}
		if last := i.Last; last != nil && last.TaskID != "" {
			f.runs = append(f.runs, history.Execution{
				ID: last.TaskID, Item: last.Item, ScheduledTime: last.Tick, StartTime: last.Begun, CompleteTime: last.Ended, Outcome: history.Outcome(last.Outcome),
				Source: sourceOf(last.Source), RequestID: last.Request, Error: last.Error,
			})
		}
	}
}

func sourceOf(text string) jobtype.Source {
	for s := jobtype.SourceNormal; s <= jobtype.SourceBackfill; s++ {
		if s.String() == text {
			return s
		}
	}
	return 0
}

// past reads the history of a job into facts.
type past struct {
	history.Reader
	job string
	*facts
}

// before is how many rows before the tick are looked at, of each kind.
const before = 200

// readChanges adds the changes of operators that only the history still has.
func (p past) readChanges(ctx context.Context) error {
	known := map[string]bool{}
	for _, c := range p.changes {
		known[c.ID] = true
	}
	for _, f := range []history.EventFilter{{From: p.at, Limit: history.MaxLimit}, {To: p.at, Limit: before}} {
		f.Job, f.Kinds = p.job, []jobtype.EventKind{jobtype.EventOperated}
		page, err := p.Events(ctx, f)
		if err != nil {
			return err
		}
		for _, e := range page.Rows {
			if !known[e.ID] {
				p.changes = append(p.changes, ops.Change{ID: e.ID, At: e.Time, By: e.By, Job: e.Job, Action: ops.Action(e.What), Detail: e.Detail, Why: e.Why, Before: e.Before, After: e.After})
			}
		}
		if page.Next != "" && !f.From.IsZero() {
			p.unseen = append(p.unseen, fmt.Sprintf("Only the newest %d changes since then were looked at.", history.MaxLimit))
		}
	}
	return nil
}

// happens are the kinds of events that say how a job was, and passes those about single ticks.
var (
	happens = []jobtype.EventKind{
		jobtype.EventRecovered, jobtype.EventJoined, jobtype.EventLeft, jobtype.EventItems, jobtype.EventLeads, jobtype.EventConfigured, jobtype.EventFault,
	}
	passes = []jobtype.EventKind{jobtype.EventMadeUp, jobtype.EventSkipped}
)

// read adds what ran and happened before the tick and after it: for as long as it takes until each item has run, or
// until it is known why not.
func (p past) read(ctx context.Context, item *int) error {
	f := history.ExecutionFilter{Job: p.job, To: p.tick, Limit: min(max(before, len(p.items)), history.MaxLimit)}
	if item != nil {
		f.Items = []int{*item}
	}
	earlier, err := p.Executions(ctx, f)
	if err != nil {
		return err
	}
	kept, err := p.Events(ctx, history.EventFilter{Job: p.job, To: p.tick, Limit: before, Kinds: happens})
	if err != nil {
		return err
	}
	f.From, f.Limit = p.tick, history.MaxLimit
	runs, events := p.runs, p.events
	isFirst := true
	wait := p.tolerance() + soon
	if next := p.ticks.Next(p.tick); !next.IsZero() {
		wait += 2 * next.Sub(p.tick)
	}
	for ; ; wait *= 8 {
		f.To = p.tick.Add(wait)
		later, err := p.Executions(ctx, f)
		if err != nil {
			return err
		}
		told, err := p.Events(ctx, history.EventFilter{Job: p.job, From: p.tick, To: f.To, Limit: history.MaxLimit, Kinds: passes})
		if err != nil {
			return err
		}
		others, err := p.Events(ctx, history.EventFilter{Job: p.job, From: p.tick, To: p.tick.Add(max(wait, around)), Limit: history.MaxLimit, Kinds: happens})
		if err != nil {
			return err
		}
		isMore := later.Next != "" || told.Next != ""
		if isMore {
			p.unseen = append(p.unseen, fmt.Sprintf("Much has happened after the tick: not all of it up to %s was looked at. Ask for one item.", f.To.UTC().Format(time.RFC3339)))
		}
		if isMore && !isFirst {
			return nil // what is nearer to the tick is more worth
		}
		isFirst = false
		p.runs = merged(runs, later.Rows, earlier.Rows)
		p.events = slices.Concat(events, told.Rows, others.Rows, kept.Rows)
		slices.SortStableFunc(p.events, func(a, b trace.Event) int { return a.Time.Compare(b.Time) })
		if isMore || f.To.After(p.now) || !slices.ContainsFunc(p.items, func(item int) bool { t := p.fate(item); return t.skipped == nil && t.runs == nil }) {
			return nil
		}
	}
}

// merged joins executions by their ids, ascending by their start. The first one that knows an id counts, but for what the
// tree does not tell.
func merged(present []history.Execution, past ...[]history.Execution) (list []history.Execution) {
	at := map[string]int{}
	for _, x := range slices.Concat(append(past, present)...) {
		if n, isThere := at[x.ID]; !isThere {
			at[x.ID] = len(list)
			list = append(list, x)
		} else if list[n].Outcome == history.OutcomeRunning && x.Outcome != history.OutcomeRunning {
			list[n].Outcome, list[n].CompleteTime, list[n].Error = x.Outcome, x.CompleteTime, x.Error
		}
	}
	slices.SortStableFunc(list, func(a, b history.Execution) int { return a.StartTime.Compare(b.StartTime) })
	return list
}
