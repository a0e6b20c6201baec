package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// TriggerResult is a request that the registry has.
type TriggerResult struct {
	// ID names the request. [AwaitRequest] takes it, also in another process; executions have
	// it as RequestID.
	ID string
	// Items are those that were asked for, ascending.
	Items []int
	// Instances are the ids of those that own the items now, ascending.
	Instances []string
	// JVM are the JVM members among them, and Beside the items that these run although they were not
	// asked for: a JVM member that is asked runs all of its items, once and without the parameter.
	// Both ascend.
	JVM    []string
	Beside []int
	// WasThere is whether it stood there already: made before with the same key, or by an attempt of this
	// call whose answer was lost.
	WasThere bool

	reg coord.Registry
	job jobtree.Job
}

// ItemResult is what has become of one item of a request.
type ItemResult struct {
	Item int
	// Outcome is how the item ended; that of its last execution if some were cut short. If the
	// request was for several ticks, it is OutcomeFailed if one of them has failed, or with
	// BackfillRequest.StopAtFailure that of the run after which the item stopped.
	Outcome Outcome
	// Error is the beginning of the last error, up to 256 bytes, why the item was skipped, or why a run
	// that was cut short was not tried again; empty if there was none.
	Error string
	// TaskID and Token name the last execution, and Ended is when it ended, by the clock of its
	// instance.
	TaskID string
	Token  int64
	Ended  time.Time
	// Runs is how many ticks have been run, and Failed how many of them without success.
	Runs, Failed int
}

// Wait returns when all items of the request are through: see [AwaitRequest].
func (t *TriggerResult) Wait(ctx context.Context) ([]ItemResult, error) {
	return awaitRequest(ctx, t.reg, t.job, t.ID)
}

// AwaitRequest returns what has become of each item of a request, in the order of the items,
// when all are through: also if instances have ended in between and others have taken the
// items over. A request that was cancelled is through at once: items that still run for it are
// OutcomeSkipped until they have ended. A request stays for an hour after its end, unless more
// than 100 others end meanwhile, or others of more than 10,000 items. As long as ctx does not
// end, there is no bound on the wait: an item that nobody may run waits, and so does whoever
// waits for it.
//
// Errors: ErrNoRequest; the cause of the end of ctx; those of a view.
func AwaitRequest(ctx context.Context, reg coord.Registry, name, id string) ([]ItemResult, error) {
	job := jobtree.Job(name)
	if !jobtree.IsName(name) || coord.ValidatePath(job.Request(id)) != nil {
		return nil, fmt.Errorf("job %s: request %s: %w", quote(name), quote(id), ErrNoRequest)
	}
	return awaitRequest(ctx, reg, job, id)
}

func awaitRequest(ctx context.Context, reg coord.Registry, job jobtree.Job, id string) ([]ItemResult, error) {
	view, err := reg.View(ctx, job.Request(id))
	if err != nil {
		return nil, fmt.Errorf("job %s: request %s: %w", job, quote(id), err)
	}
	defer view.Close()
	var s *jobtree.State
	for {
		changed := view.Changed()
		if err := view.Err(); err != nil {
			return nil, fmt.Errorf("job %s: request %s: %w", job, quote(id), err)
		}
		s = jobtree.Reread(view.Snapshot(), job, s)
		r := s.Request(id)
		if r == nil {
			return nil, fmt.Errorf("job %s: request %s: %w", job, quote(id), ErrNoRequest)
		}
		if r.Err != nil {
			return nil, fmt.Errorf("job %s: request %s: %w", job, quote(id), r.Err)
		}
		if !slices.ContainsFunc(r.Items, func(i int) bool { return !r.IsThrough(i) }) {
			return resultsOf(r), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			waiting := slices.DeleteFunc(slices.Clone(r.Items), r.IsThrough)
			return nil, fmt.Errorf("job %s: request %s: items %s are not through: %w", job, quote(id), brief.Items(waiting), context.Cause(ctx))
		}
	}
}

func resultsOf(r *jobtree.Request) []ItemResult {
	list := make([]ItemResult, len(r.Items))
	for n, i := range r.Items {
		list[n] = ItemResult{Item: i, Outcome: OutcomeSkipped, Error: "the request was cancelled"}
		if p := r.Progress(i); p != nil && (p.Outcome != "" || r.Ended.IsZero()) {
			list[n] = ItemResult{i, jobtype.OutcomeOf(string(p.Outcome)), p.Error, p.TaskID, p.Token, p.Ended, p.Done, p.Failed}
		}
	}
	return list
}
