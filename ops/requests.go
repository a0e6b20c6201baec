package ops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/request"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// RequestState is how far a request has come.
type RequestState struct {
	// ID is what [Job.Cancel] and [Job.AwaitRequest] take.
	ID string `json:"id"`
	// Source is MANUAL, RETRY or BACKFILL. By is who asked, and At when.
	Source string    `json:"source"`
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
	// Items are those that it is for, and Through, Running and Waiting those of them that are
	// through, run for it now, or wait: to begin, for their next tick, or to be run again after
	// they were cut short. All are ascending.
	Items   []int `json:"items"`
	Through []int `json:"through,omitempty"`
	Running []int `json:"running,omitempty"`
	Waiting []int `json:"waiting,omitempty"`
	// Failed are those of Items of which a run for it has failed, ascending.
	Failed []int `json:"failed,omitempty"`
	// Why says what the first waiting item waits for; empty if none waits.
	Why string `json:"why,omitempty"`
	// Ended is when all items were through, or when it was cancelled; zero before that.
	Ended time.Time `json:"ended,omitzero"`
}

// Requests returns the requests of the job, the oldest first: those that have not ended, and
// those that are kept for whoever waits for them. It reads the whole tree of the job.
//
// Errors: those of a read.
func (j *Job) Requests(ctx context.Context) ([]RequestState, error) {
	s, err := j.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("job %s: requests: %w", brief.Text(string(j.name)), err)
	}
	return requestsOf(s), nil
}

func requestsOf(s *jobtree.State) []RequestState {
	var list []RequestState
	turns := turnsOf(s)
	for _, r := range s.Requests {
		if r.Err == nil { // else it is about to be removed
			list = append(list, stateOf(s, r, turns))
		}
	}
	return list
}

// turnsOf returns whose turn it is at each item that a request waits for.
func turnsOf(s *jobtree.State) map[int]*jobtree.Request {
	turns := map[int]*jobtree.Request{}
	for _, r := range s.Requests {
		for _, i := range r.Items {
			if turns[i] == nil && !r.IsThrough(i) {
				turns[i] = r
			}
		}
	}
	return turns
}

func stateOf(s *jobtree.State, r *jobtree.Request, turns map[int]*jobtree.Request) RequestState {
	state := RequestState{ID: r.ID, Source: r.Source, By: r.By, At: r.At, Items: r.Items, Ended: r.Ended}
	for _, i := range r.Items {
		p := r.Progress(i)
		if p != nil && p.Failed > 0 {
			state.Failed = append(state.Failed, i)
		}
		switch {
		case r.IsThrough(i):
			state.Through = append(state.Through, i)
		case p != nil && p.Runner != "" && !wasCutShort(s, i, p.Runner):
			state.Running = append(state.Running, i)
		default:
			state.Waiting = append(state.Waiting, i)
		}
	}
	if len(state.Waiting) > 0 {
		i := state.Waiting[0]
		if first := turns[i]; first != r {
			state.Why = fmt.Sprintf("item %d has request %s first", i, first.ID)
		} else {
			state.Why = whyWaits(s, r, i)
		}
	}
	return state
}

// wasCutShort reports whether an item waits to be run again for a request, because its runner
// has ended.
func wasCutShort(s *jobtree.State, i int, runner string) bool {
	waits := slices.ContainsFunc(s.FailoverItems, func(f jobtree.FailoverItem) bool { return f.Item == i })
	return waits && !s.Item(i).Running.Is(runner)
}

// whyWaits says why an item has not begun for the request whose turn it is, as far as the tree
// tells.
func whyWaits(s *jobtree.State, r *jobtree.Request, i int) string {
	item := s.Item(i)
	isAnyEnabled := false
	for _, in := range s.Instances {
		isAnyEnabled = isAnyEnabled || in.Owner != 0 && s.ServerEnabled(in.IP)
	}
	switch {
	case item.Disabled && r.Progress(i) != nil && wasCutShort(s, i, r.Progress(i).Runner):
		return fmt.Sprintf("item %d was cut short, and is disabled", i)
	case item.Running != nil:
		return fmt.Sprintf("item %d runs on %s", i, brief.Text(item.Running.ID))
	case len(s.Instances) == 0:
		return "no instance is there"
	case !isAnyEnabled:
		return "all servers are disabled"
	case item.Owner == nil && s.Pins[i] != nil && s.Pins[i].Strict:
		return fmt.Sprintf("item %d has no owner, because it is pinned, and there is no such instance", i)
	case item.Owner == nil:
		return fmt.Sprintf("item %d has no owner", i)
	}
	id := item.Owner.ID
	_, isThere := s.Instances[id]
	switch {
	case !isThere:
		return fmt.Sprintf("item %d belongs to %s, which is gone", i, brief.Text(id))
	case s.IsOld(id):
		return fmt.Sprintf("item %d belongs to %s, which is too old to know requests", i, brief.Text(id))
	}
	return fmt.Sprintf("item %d belongs to %s, which has not begun it", i, brief.Text(id))
}

// Request returns one request of the job. It reads the whole tree of the job.
//
// Errors: jobtype.ErrNoRequest; those of a read.
func (j *Job) Request(ctx context.Context, id string) (RequestState, error) {
	list, err := j.Requests(ctx)
	if err != nil {
		return RequestState{}, err
	}
	for _, r := range list {
		if r.ID == id {
			return r, nil
		}
	}
	return RequestState{}, fmt.Errorf("job %s: request %s: %w", brief.Text(string(j.name)), brief.Quote(id), jobtype.ErrNoRequest)
}

// AwaitRequest returns what has become of each item of a request, in the order of the items, when all are through: see
// [jobtype.Requested.Wait].
func (j *Job) AwaitRequest(ctx context.Context, id string) ([]jobtype.ItemResult, error) {
	return request.Await(ctx, j.ops.reg, j.name, id)
}
