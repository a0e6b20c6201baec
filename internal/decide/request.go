package decide

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Bounds of the requests that wait.
const (
	MaxRequests = 1000 // of a job
	MaxQueued   = 100  // of an item
	// maxKept is how many requests that have ended are kept for those who want to know, and maxKeptItems for how
	// many items they may be, but for the last one: every process of the job has a copy of all that is kept.
	maxKept      = 100
	maxKeptItems = 10_000
	// keptTime is how long they are kept.
	keptTime = time.Hour
)

// Submit returns the operations that write a request, and its id. unique tells it apart from
// others that may get the same number. The number is the order in which requests wait, so the
// count is one of the conditions: of two that come together, one has to try again.
func Submit(s *jobtree.State, job jobtree.Job, d jobtree.RequestDocument, unique string) (id string, ops []coord.Op, err error) {
	open := 0
	waiting := make(map[int]int, len(d.Items))
	for _, r := range s.Requests {
		if r.Err != nil || !r.Ended.IsZero() {
			continue
		}
		open++
		for _, i := range r.Items {
			if d.Has(i) && !r.IsThrough(i) {
				waiting[i]++
			}
		}
	}
	if open >= MaxRequests {
		return "", nil, fmt.Errorf("%w: %d of this job, at most %d are allowed", jobtree.ErrQueueFull, open, MaxRequests)
	}
	for _, i := range d.Items {
		if waiting[i] >= MaxQueued {
			return "", nil, fmt.Errorf("%w: %d for item %d, at most %d are allowed", jobtree.ErrQueueFull, waiting[i], i, MaxQueued)
		}
	}
	n := s.NextRequest()
	id = jobtree.NewRequestID(n, unique)
	value, err := jobtree.EncodeRequest(d)
	if err != nil {
		return "", nil, err
	}
	count := coord.Create(job.Requests(), jobtree.EncodeRequestCount(n))
	if s.RequestCount != nil {
		count = coord.SetAt(job.Requests(), jobtree.EncodeRequestCount(n), s.RequestCount.Version)
	}
	return id, []coord.Op{coord.Exists(job.Config()), count, coord.Create(job.Request(id), value)}, nil
}

// queue is, for each item, the request whose turn it is (now) and the one that comes after it (next). A
// hundred requests may wait for each of ten thousand items, so it is found once for all items.
type queue struct {
	now, next []*jobtree.Request
	// By item, the requests whose progress says that it runs for them, or is to run again. Some may have ended.
	runs map[int][]*jobtree.Request
}

// requestQueue returns the queue of the snapshot; nil if there is no request.
func (w *World) requestQueue() *queue {
	if w.queue != nil || len(w.Requests) == 0 {
		return w.queue
	}
	most := 0
	for _, r := range w.Requests {
		if len(r.Items) > 0 {
			most = max(most, r.Items[len(r.Items)-1]+1)
		}
	}
	if most == 0 {
		return nil
	}
	q := &queue{make([]*jobtree.Request, most), make([]*jobtree.Request, most), map[int][]*jobtree.Request{}}
	for _, r := range w.Requests {
		for n, i := range r.Items {
			if r.RunsAt(n) {
				q.runs[i] = append(q.runs[i], r)
			}
			switch {
			case !r.Ended.IsZero():
			case q.next[i] != nil && !r.RunsAt(n), r.IsThroughAt(n):
			case q.now[i] == nil:
				q.now[i] = r
			case r.RunsAt(n): // before its turn: a view that shows commits in parts has shown it first
				q.now[i], q.next[i] = r, q.now[i]
			default:
				q.next[i] = r
			}
		}
	}
	w.queue = q
	return q
}

// currentRequest returns the request whose turn it is at an item, begun or not; nil if there is none.
func (w *World) currentRequest(i int) *jobtree.Request {
	if q := w.requestQueue(); q != nil && i < len(q.now) {
		return q.now[i]
	}
	return nil
}

// HasRequests reports whether a request has not ended.
func (w *World) HasRequests() bool {
	return slices.ContainsFunc(w.Requests, func(r *jobtree.Request) bool { return r.Ended.IsZero() })
}

// Requested lists the idle items of this instance that are to begin for a request: backfills, or all other
// requests.
func (w *World) Requested(k *Work, isBackfill bool) []int {
	if w.requestQueue() == nil || !w.IsActive() {
		return nil
	}
	var list []int
	for i := range w.itemCount() {
		r, item := w.currentRequest(i), &w.Items[i]
		if r == nil || !w.isRunnableHere(i, item) || !isIdle(k, i, item) || (sourceOfRequest(r) == Backfill) != isBackfill {
			continue
		}
		if p := r.Progress(i); p == nil || p.Runner == "" {
			list = append(list, i)
		}
	}
	return list
}

// WaitingRequest returns the request that is to begin next at an item: the one whose turn it is if it has
// not begun, and otherwise the one after it; nil if there is none.
func (w *World) WaitingRequest(i int) *jobtree.Request {
	r := w.currentRequest(i)
	if r == nil {
		return nil
	}
	if p := r.Progress(i); p == nil || p.Runner == "" {
		return r
	}
	return w.queue.next[i]
}

// isRequestNext reports whether an item runs for a request when its present run has ended, whatever its
// ticks. Backfills come after ticks.
func (w *World) isRequestNext(i int) bool {
	r := w.WaitingRequest(i)
	return r != nil && sourceOfRequest(r) != Backfill
}

// RequestProgress returns a number that changes whenever an item has got on with its requests.
func (w *World) RequestProgress(i int) int64 {
	r := w.currentRequest(i)
	switch {
	case r == nil:
		return 0
	case r.Progress(i) != nil:
		return r.Progress(i).Modified
	}
	return r.Modified
}

// RequestedHere lists the items that this instance owns or runs, and for which a request waits.
func (w *World) RequestedHere(k *Work) []int {
	if w.requestQueue() == nil {
		return nil
	}
	isEnabled := w.ServerEnabled(w.Self.IP)
	var list []int
	for i := range w.itemCount() {
		item := &w.Items[i]
		if w.WaitingRequest(i) != nil && !item.Disabled && (k.Runs[i] != nil || isEnabled && w.owns(item)) {
			list = append(list, i)
		}
	}
	return list
}

// ClaimRequested claims items for the requests whose turn it is. Without records (Monitor is off) the
// progress is the claim.
func (w *World) ClaimRequested(items []int) []Change {
	c := w.claims("claim requested")
	for _, i := range items {
		r, item := w.currentRequest(i), &w.Items[i]
		claim := w.claimFor(i, r)
		claim.Last = lastFired(item, time.Time{})
		if !w.Rules.Monitor {
			c.put(item, claim, append([]coord.Op{coord.AtVersion(w.Job.ItemInstance(i), item.Owner.Version)}, w.beginProgress(claim, r)...))
			continue
		}
		c.own(item, claim, w.beginProgress(claim, r)...)
	}
	return c.list
}

// claimFor returns the claim of an item for the next run that a request asks for. Its time is one that fired can have.
func (w *World) claimFor(i int, r *jobtree.Request) Claim {
	p := progressOf(r, i)
	claim := Claim{Item: i, Source: sourceOfRequest(r), Tick: w.Now.Truncate(time.Millisecond), Parameter: r.Parameter, Request: r.ID, Original: r.OriginalOf(i), Done: p.Done, Failed: p.Failed}
	if claim.Done < len(r.Ticks) {
		claim.Tick = r.Ticks[claim.Done]
	}
	return claim
}

// sourceOfRequest returns why the items of a request run.
func sourceOfRequest(r *jobtree.Request) Source {
	switch r.Source {
	case "RETRY":
		return Retry
	case "BACKFILL":
		return Backfill
	}
	return Manual
}

// beginProgress returns the operations that note that this instance runs an item for a request.
func (w *World) beginProgress(claim Claim, r *jobtree.Request) []coord.Op {
	ops := w.writeProgress(r, claim.Item, jobtree.ProgressDocument{Runner: w.Self.ID, Done: claim.Done, Failed: claim.Failed})
	if r.Progress(claim.Item) != nil {
		ops = append(ops, coord.AtVersion(w.Job.Request(r.ID), r.Version)) // it was not cancelled
	}
	return ops
}

// writeProgress returns the operations that write the progress of an item, if it is what the snapshot shows.
func (w *World) writeProgress(r *jobtree.Request, item int, d jobtree.ProgressDocument) []coord.Op {
	path, p := w.Job.Progress(r.ID, item), r.Progress(item)
	if p == nil {
		return []coord.Op{coord.AtVersion(w.Job.Request(r.ID), r.Version), coord.Create(path, jobtree.EncodeProgress(d))}
	}
	d.Error = cmp.Or(d.Error, p.Error) // of the last run that had one
	return []coord.Op{coord.SetAt(path, jobtree.EncodeProgress(d), p.Version)}
}

// setRequest adds to a claim what a request asks of the run, and how far it has come.
func (w *World) setRequest(claim *Claim, r *jobtree.Request) {
	if r != nil {
		next := w.claimFor(claim.Item, r)
		claim.Request, claim.Parameter, claim.Done, claim.Failed = next.Request, next.Parameter, next.Done, next.Failed
	}
}

// nextProgress returns the progress of an item after one more run for a request. done and failed count the
// runs before.
func nextProgress(r *jobtree.Request, done, failed int, c jobtree.CompletionDocument) jobtree.ProgressDocument {
	d := jobtree.ProgressDocument{Done: done + 1, Failed: failed, TaskID: c.TaskID, Token: c.Token, Ended: c.Ended, Error: c.Error}
	isOK := c.Outcome == jobtree.OutcomeOK
	if !isOK {
		d.Failed++
	}
	switch {
	case d.Done < r.Runs() && (isOK || !r.Halts):
	case r.Runs() == 1 || d.Failed == 1 && r.Halts:
		d.Outcome = c.Outcome
	case d.Failed > 0:
		d.Outcome = jobtree.OutcomeFailed
	default:
		d.Outcome = jobtree.OutcomeOK
	}
	return d
}

// endProgress returns the operations that note that a run here for a request has ended; none if the
// request is gone. The version of the progress is a condition: a commit that is carried out late, a second
// time, must not undo what others have written since.
func (w *World) endProgress(r *Run, c jobtree.CompletionDocument) []coord.Op {
	request := w.openRequest(r)
	if request == nil {
		return nil
	}
	return w.writeProgress(request, r.Item, nextProgress(request, r.Done, r.Failed, c))
}

// openRequest returns the request for which a run was claimed, if the end of the run is still to be recorded there.
func (w *World) openRequest(r *Run) *jobtree.Request {
	request := w.Request(r.Request)
	if r.Request == "" || request == nil || request.Err != nil || w.isEndRecorded(request, r) {
		return nil
	}
	return request
}

// isEndRecorded reports whether the progress of an item shows that a run has ended already, or that the
// item awaits failover: the answer to the commit that has written that was lost.
func (w *World) isEndRecorded(request *jobtree.Request, r *Run) bool {
	p, f := request.Progress(r.Item), w.failoverItem(r.Item)
	return p != nil && (p.Err != nil || p.Outcome != "" || p.Done > r.Done || f != nil && f.Modified == p.Modified)
}

// releaseProgress returns the operations by which a request whose claim is released waits for its turn again.
func (w *World) releaseProgress(r *Run) []coord.Op {
	request := w.openRequest(r)
	if request == nil {
		return nil
	}
	return w.writeProgress(request, r.Item, jobtree.ProgressDocument{Done: r.Done, Failed: r.Failed})
}

// EndUnmonitored notes, in a job without records, that runs for requests have ended, or that their claims
// were released.
func (w *World) EndUnmonitored(runs []*Run) []Change {
	c := changes{w: w, step: "end requested", urgency: urgency.Soonest, head: (*World).sessionHead}
	for _, r := range runs {
		ops := w.releaseProgress(r)
		if r.Completed != nil {
			ops = w.endProgress(r, *r.Completed)
		}
		if len(ops) == 0 {
			ops = []coord.Op{w.ifSessionLives()} // nobody wants to know; and so it is not asked again
		}
		c.add(r.Item, ops...).Ends = r
	}
	return c.list
}

// TakeTrigger turns the trigger that is addressed to this instance into a request, in one commit: so
// it survives the instance. (In ElasticJob a trigger that comes while the job runs is dropped
// silently, B-25, and a second one may delete the first before it is seen, B-26.) The change
// is nil if there is no trigger. With an error the change only removes the trigger.
func (w *World) TakeTrigger(unique string) (*Change, error) {
	trigger, ok := w.Triggers[w.Self.ID]
	if !ok {
		return nil, nil
	}
	if !w.IsActive() {
		return w.takeTrigger(trigger, unique, w.sessionHead(), errors.New("the server is disabled, or its clock is off"))
	}
	return w.takeTrigger(trigger, unique, w.sessionHead(), nil)
}

// AdoptTrigger is [World.TakeTrigger] for triggers of instances that have ended. known are the instances
// that were there of late: if it is not one of them, nobody knows how old its trigger is.
func (w *World) AdoptTrigger(known func(id string) bool, unique string) (*Change, error) {
	for id, trigger := range w.Triggers {
		// An instance that is out of the tree obeys no trigger and never comes back, even if its runs go on.
		if _, there := w.Instances[id]; there {
			continue
		}
		conditions := []coord.Op{w.ifLeader()}
		if coord.ValidatePath(w.Job.Instance(id)) == nil {
			conditions = append(conditions, coord.Absent(w.Job.Instance(id))) // the view may show a trigger before its instance
		}
		if !known(id) {
			c := changes{w: w, step: "adopt trigger", isRepair: true}
			c.add(NoItem, append([]coord.Op{coord.AtVersion(w.Job.Trigger(id), trigger.Version), coord.DeleteTree(w.Job.Trigger(id))}, conditions...)...)
			return &c.list[0], errors.New("nobody knows how old it is: its instance ended before")
		}
		return w.takeTrigger(trigger, unique, conditions, nil)
	}
	return nil, nil
}

// takeTrigger returns the change that turns a trigger into a request. refused is why it is not to be: then
// the change only removes it.
func (w *World) takeTrigger(trigger jobtree.Trigger, unique string, conditions []coord.Op, refused error) (*Change, error) {
	path := w.Job.Trigger(trigger.Instance)
	change := &Change{Step: "take trigger", Urgency: urgency.Sooner, Ops: append(conditions, coord.AtVersion(path, trigger.Version), coord.DeleteTree(path))}
	items := w.Triggered(trigger)
	switch {
	case refused != nil:
		return change, refused
	case len(items) == 0:
		return change, errors.New("the instance has no items")
	}
	_, ops, err := Submit(w.State, w.Job, jobtree.RequestDocument{Items: items, Source: "MANUAL", At: w.correctedTime()}, unique)
	if err != nil {
		return change, err
	}
	change.Ops = append(change.Ops, ops...)
	return change, nil
}

// Triggered lists the items of a trigger: all that the instance owns, but for those that cannot run.
func (w *World) Triggered(t jobtree.Trigger) []int {
	var items []int
	for i := range w.itemCount() {
		if item := &w.Items[i]; !item.Disabled && item.Owner.Is(t.Instance) {
			items = append(items, i)
		}
	}
	return items
}
