package jobtype

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TriggerRequest is what to run now.
type TriggerRequest struct {
	// Items to run; none means all, and in a broadcast job all that have an owner now. If an
	// item has none when its turn comes, its outcome is SKIPPED.
	Items []int
	// Instances whose items to run, by their ids; none means all. If Items are named too, an
	// item runs if it is one of them and belongs to one of these instances.
	Instances []string
	// Parameter replaces Config.JobParameter in these executions, if it is not empty. Up to
	// MaxTriggerParameter bytes.
	Parameter string
	// By says who asks, for people. It is cut after 255 bytes.
	By string
	// Key makes it safe to ask again, from whatever process, if it is not known whether a request was
	// made: two of a job with the same key are one. Any text of up to MaxRequestKey bytes that its maker
	// uses for nothing else; requests without one are never the same. It counts as long as the request
	// stands, which is for an hour after its end, unless more than 100 others end meanwhile, or others of more than
	// 10,000 items: after that, it makes a new one.
	Key string
}

// MaxRequestKey bounds the key of a request, in bytes: 255.
const MaxRequestKey = 255

// MaxTriggerParameter bounds the parameter of a request, in bytes: 64 KiB.
const MaxTriggerParameter = jobtree.MaxRequestParameter

// Requested is a request for runs that the registry has: a trigger, a retry or a backfill.
type Requested struct {
	// ID names the request, in other processes, too; executions have it as RequestID.
	ID string
	// Items are those that run, ascending.
	Items []int
	// Ticks are what each item of a retry or a backfill runs for, in this order.
	Ticks []time.Time
	// Instances are the ids of those that own the items now, ascending.
	Instances []string
	// JVM are the JVM members among them, and Beside the items that these run although they were not
	// asked for: a JVM member that is asked runs all of its items, once, without the parameter and for no tick.
	// Both ascend.
	JVM    []string
	Beside []int
	// WasThere is whether it stood there already: made before with the same key, or by an attempt of this
	// call whose answer was lost.
	WasThere bool

	wait func(context.Context) ([]ItemResult, error)
}

// Waiting returns the request with what Wait does: for who makes requests.
func (r Requested) Waiting(wait func(context.Context) ([]ItemResult, error)) *Requested {
	r.wait = wait
	return &r
}

// Wait returns what has become of each item of the request, in the order of the items,
// when all are through: also if instances have ended in between and others have taken the
// items over. A request that was cancelled is through at once: items that still run for it are
// OutcomeSkipped until they have ended. As long as ctx does not
// end, there is no bound on the wait: an item that nobody may run waits, and so does whoever
// waits for it. In other processes ops.Job.AwaitRequest does the same.
//
// Errors: ErrNoRequest, if it has gone: see TriggerRequest.Key for how long it stays; the cause of the end of ctx; those of a view.
func (r *Requested) Wait(ctx context.Context) ([]ItemResult, error) { return r.wait(ctx) }

// ItemResult is what has become of one item of a request.
type ItemResult struct {
	Item int
	// Outcome is how the item ended; that of its last execution if some were cut short. If the
	// request was for several ticks, it is OutcomeFailed if one of them has failed, or with
	// ops.BackfillRequest.StopAtFailure that of the run after which the item stopped.
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
