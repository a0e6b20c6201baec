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
	Item *int      // nil is all items, the first 1,000
	At   time.Time // zero is now
	// History is nil if there is none, or if it cannot be looked at. Unseen says that, and what else whoever asks may not see.
	History history.Reader
	Unseen  []string
}

// Explain says why a job did, or did not run at a moment.
//
// Errors: ops.ErrNoJob; jobtype.ErrNoItem; those of a read of the store or the history.
func Explain(ctx context.Context, o *ops.Ops, q Query) (Answer, error) {
	f := &facts{at: q.At, item: q.Item, now: clocks.Wall()}
	if f.at.IsZero() {
		f.at = f.now
	}
	if err := f.gather(ctx, o, q); err != nil {
		return Answer{}, fmt.Errorf("job %s: why at %s: %w", brief.Text(q.Job), f.at.UTC().Format(time.RFC3339), err)
	}
	a := f.answer()
	a.Item, a.Unseen = q.Item, slices.Insert(a.Unseen, 0, q.Unseen...)
	return a, nil
}

// know reads the job, and what operators have changed: all that matters from a moment on.
func (f *facts) know(ctx context.Context, o *ops.Ops, q Query, since time.Time) (p past, calendars []*ops.Calendar, err error) {
	if f.job, err = o.Job(q.Job).Describe(ctx); err != nil {
		return p, nil, err
	}
	if calendars, err = o.Calendars(ctx); err != nil {
		return p, nil, err
	}
	audit, err := o.Audit(ctx, ops.AuditQuery{})
	if err != nil {
		return p, nil, err
	}
	for i := range audit {
		if slices.Contains(audit[i].Jobs, q.Job) { // an action on several jobs
			audit[i].Job = q.Job
		}
	}
	f.changes = slices.DeleteFunc(audit, func(c ops.Change) bool {
		return c.Err != nil || c.Job != q.Job && (c.Job != "" || !strings.HasPrefix(c.Detail, "calendar "))
	})
	p = past{Reader: q.History, facts: f, ctx: ctx}
	if q.History != nil {
		p.readChanges(since)
	}
	slices.SortStableFunc(f.changes, func(a, b ops.Change) int { return a.At.Compare(b.At) })
	f.held = f.holding()
	return p, calendars, p.err
}

func (f *facts) gather(ctx context.Context, o *ops.Ops, q Query) error {
	p, calendars, err := f.know(ctx, o, q, f.at)
	if err != nil {
		return err
	}
	known := f.unseen
	f.due = dueAt(f.at, versions(f.job.Config, f.job.Since, f.changes), f.changes, calendars)
	f.unseen = append(known, f.unseen...)
	total := min(max(f.config.ShardingTotalCount, len(f.job.Items)), jobtype.MaxShardingTotalCount)
	if f.config.Broadcast { // there are as many as instances
		total = len(f.job.Items)
	}
	if q.Item == nil {
		for item := range min(total, history.MaxLimit) {
			f.items = append(f.items, item)
		}
		if total > len(f.items) {
			f.unseen = append(f.unseen, fmt.Sprintf("Only the first %d of %d items were looked at.", len(f.items), total))
		}
	} else if f.items = []int{*q.Item}; *q.Item < 0 || *q.Item >= total {
		return fmt.Errorf("%w: item %d", jobtype.ErrNoItem, *q.Item)
	}
	f.addPresent()
	switch {
	case q.History == nil:
		f.unseen = append(f.unseen, "No history was looked at: of each item only its last end is known.")
	case f.none == nil && !f.tick.IsZero():
		p.read()
	}
	return p.err
}

// addPresent adds what the tree tells: runs that go on, the last one of each item, and faults.
func (f *facts) addPresent() {
	for _, now := range f.job.Faults {
		f.events = append(f.events, trace.Event{Time: now.Since, Kind: jobtype.EventFault, Instance: now.Instance, What: now.Kind, Error: now.Cause})
	}
	for _, i := range f.job.Items {
		if run := i.Run; run != nil && !run.Tick.IsZero() {
			f.runs = append(f.runs, history.Execution{ID: run.TaskID, Item: i.Item, Instance: run.Instance, ScheduledTime: run.Tick, StartTime: run.Begun, Outcome: history.OutcomeRunning})
		}
		if last := i.Last; last != nil && last.TaskID != "" {
			x := history.Execution{
				ID: last.TaskID, Item: last.Item, ScheduledTime: last.Tick, StartTime: last.Begun, CompleteTime: last.Ended, Outcome: history.Outcome(last.Outcome), Error: last.Error,
			}
			for s := jobtype.SourceNormal; s <= jobtype.SourceBackfill; s++ {
				if s.String() == last.Source {
					x.Source = s
				}
			}
			f.runs = append(f.runs, x)
		}
	}
}

// past reads the history of a job into facts, until a question fails.
type past struct {
	history.Reader
	*facts
	ctx context.Context
	err error // of the question that has failed
}

// before is how many rows before the tick are looked at, of each kind.
const before = 200

// happened returns events, and whether there are more of that time.
func (p *past) happened(from, to time.Time, limit int, kinds ...jobtype.EventKind) (rows []trace.Event, isMore bool) {
	if p.err == nil {
		var page history.Page[trace.Event]
		page, p.err = p.Events(p.ctx, history.EventFilter{Job: p.job.Info.Name, From: from, To: to, Limit: limit, Kinds: kinds})
		return page.Rows, page.Next != ""
	}
	return nil, false
}

// ran returns executions of the items that are asked for, and whether there are more of that time.
func (p *past) ran(from, to time.Time, limit int) (rows []history.Execution, isMore bool) {
	f := history.ExecutionFilter{Job: p.job.Info.Name, From: from, To: to, Limit: limit}
	if len(p.items) == 1 {
		f.Items = p.items
	}
	if p.err == nil {
		var page history.Page[history.Execution]
		page, p.err = p.Executions(p.ctx, f)
		return page.Rows, page.Next != ""
	}
	return nil, false
}

// readChanges adds the changes of operators that only the history still has.
func (p *past) readChanges(since time.Time) {
	rows, isMore := p.happened(time.Time{}, time.Time{}, history.MaxLimit, jobtype.EventOperated)
	for _, e := range rows {
		// The ID of an action on several jobs is another one here.
		isIt := func(c ops.Change) bool {
			return c.Action == ops.Action(e.What) && c.By == e.By && c.Detail == e.Detail && c.At.Sub(e.Time).Abs() < time.Millisecond
		}
		if !slices.ContainsFunc(p.changes, isIt) {
			p.changes = append(p.changes, ops.Change{ID: e.ID, At: e.Time, By: e.By, Job: e.Job, Action: ops.Action(e.What), Detail: e.Detail, Why: e.Why, Before: e.Before, After: e.After})
		}
	}
	if isMore && since.Before(rows[len(rows)-1].Time) {
		p.unseen = append(p.unseen, fmt.Sprintf("Only the newest %d changes of the job were looked at.", history.MaxLimit))
	}
}

// happens are the kinds of events that say how a job was.
var happens = []jobtype.EventKind{
	jobtype.EventRecovered, jobtype.EventJoined, jobtype.EventLeft, jobtype.EventItems, jobtype.EventLeads, jobtype.EventConfigured, jobtype.EventFault,
}

// read adds what ran and happened before the tick and after it: of the time that it takes until each item has run, or
// until it is known why not.
func (p *past) read() {
	earlier, _ := p.ran(time.Time{}, p.tick, max(before, len(p.items)))
	kept, _ := p.happened(time.Time{}, p.tick, before, happens...)
	runs, events := slices.Concat(earlier, p.runs), slices.Concat(kept, p.events)
	wait := p.tolerance() + soon
	if next := p.ticks.Next(p.tick); !next.IsZero() {
		wait += 2 * next.Sub(p.tick)
	}
	for isFirst := true; p.err == nil; isFirst, wait = false, 8*wait {
		to := p.tick.Add(wait)
		later, hasMoreRuns := p.ran(p.tick, to, history.MaxLimit)
		passed, hasMoreTicks := p.happened(p.tick, to, history.MaxLimit, jobtype.EventMadeUp, jobtype.EventSkipped)
		others, _ := p.happened(p.tick, p.tick.Add(max(wait, around)), history.MaxLimit, happens...)
		isMore := hasMoreRuns || hasMoreTicks
		if isMore {
			p.unseen = append(p.unseen, fmt.Sprintf("So much has happened up to %s that not all of it was looked at: ask for one item.", to.UTC().Format(time.RFC3339)))
		}
		if !isMore || isFirst { // else what is nearer to the tick is more worth
			p.runs = merged(slices.Concat(later, runs))
			p.events = slices.Concat(passed, others, events)
			slices.SortStableFunc(p.events, func(a, b trace.Event) int { return a.Time.Compare(b.Time) })
			p.isCut = !to.After(p.now)
		}
		isOpen := func(item int) bool { t := p.fate(item); return t.skipped == nil && t.runs == nil }
		if isMore || to.After(p.now) || !slices.ContainsFunc(p.items, isOpen) {
			return
		}
	}
}

// merged has each execution once, ascending by its start. The tree may know the end of one before the history does.
func merged(all []history.Execution) (list []history.Execution) {
	at := map[string]int{}
	for _, x := range all {
		n, isThere := at[x.ID]
		switch {
		case !isThere:
			at[x.ID] = len(list)
			list = append(list, x)
		case list[n].Outcome == history.OutcomeRunning:
			list[n].Outcome, list[n].CompleteTime, list[n].Error = x.Outcome, x.CompleteTime, x.Error
		}
	}
	slices.SortStableFunc(list, func(a, b history.Execution) int { return a.StartTime.Compare(b.StartTime) })
	return list
}
