package failed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Request says what is to run again of what a query finds.
type Request struct {
	Query
	// Choices are the jobs that are meant; none means all.
	Choices []Choice
	// Older is whether what is OLDER is to run again, too. What a choice names runs again in any case.
	Older bool
	// MaySteer reports whether a job may be retried; nil: all.
	MaySteer func(job string) bool
}

// Choice is a job, or some of its failures.
type Choice struct {
	Job  string   `json:"job" doc:"Name of the job."`
	Runs []Chosen `json:"runs,omitempty" nullable:"false" minItems:"1" doc:"Those of its failures that are meant. Default: all."`
}

// Chosen is a failure that somebody has chosen.
type Chosen struct {
	Item int       `json:"item" doc:"Number of the item."`
	Tick time.Time `json:"tick" doc:"Tick for which it has failed."`
}

// Why says why something is not run again.
type Why string

// The reasons. What has another one has an Error.
const (
	Denied     Why = "denied"      // MaySteer says no
	NoFailure  Why = "no-failure"  // it has run again a moment ago
	Paused     Why = "paused"      // the job is: a request would begin all the same
	Disabled   Why = "disabled"    // all servers of the job, or the item
	NoInstance Why = "no-instance" // no instance is there
	Waiting    Why = "waiting"     // it runs already, or was asked for a moment ago
	IsOlder    Why = "older"       // Request.Older says no
	NoTick     Why = "no-tick"     // a JVM has run it, and does not tell for which tick
	TooMany    Why = "too-many"    // more than maxRequests for the job at a time
	Refused    Why = "refused"
)

// Part is what has become of some items of a job at a tick.
type Part struct {
	Job        string    `json:"job" doc:"Name of the job."`
	Tick       time.Time `json:"tick,omitzero" doc:"Tick for which they run. Left out of what does not run, which may be of several."`
	Items      []int     `json:"items" nullable:"false" doc:"Numbers of the items."`
	Failures   int       `json:"failures" doc:"How many failures these are: items at ticks."`
	Request    string    `json:"request,omitempty" doc:"Id of the request for which they run. In a dry run nobody has it."`
	IsBackfill bool      `json:"backfill,omitempty" doc:"Whether it is a backfill, and not a retry."`
	Why        Why       `json:"why,omitempty" doc:"Why there is none: denied, no-failure (it has run again a moment ago), paused, disabled, no-instance, waiting (it runs, or was asked for a moment ago), older (not without older), no-tick (of a JVM), too-many (for one job at a time), refused."`
	Error      string    `json:"error,omitempty" doc:"More about that."`

	executions []string // those that have failed, which make it the same request if it is made once more
}

// Result is what has become of a retry. In a dry run: what would.
type Result struct {
	Begun []Part `json:"begun" nullable:"false" doc:"What runs again."`
	Left  []Part `json:"left" nullable:"false" doc:"What does not run again, with the reason."`
	More  bool   `json:"more,omitempty" doc:"Whether there may be more failures than were looked at."`
}

// maxRequests bounds the requests that one retry makes for a job: one for each tick.
const maxRequests = 50

// Retry runs again what has failed, each job by itself: what one of them refuses is left, and the others go on.
//
// Errors: those of List.
func Retry(ctx context.Context, o *ops.Ops, r Request) (Result, error) {
	result := Result{Begun: []Part{}, Left: []Part{}}
	report, err := list(ctx, o, r.Query)
	if err != nil {
		return result, fmt.Errorf("retry failures: %w", err)
	}
	result.More = report.More > 0 || !report.Since.IsZero() || report.HistoryError != ""
	infos := map[string]*ops.JobInfo{}
	for i := range r.Jobs {
		infos[r.Jobs[i].Name] = &r.Jobs[i]
	}
	chosen := map[string]map[at]bool{}
	for _, c := range r.Choices {
		chosen[c.Job] = map[at]bool{}
		for _, run := range c.Runs {
			chosen[c.Job][atOf(run.Item, run.Tick)] = true
		}
	}
	for _, j := range report.Jobs {
		of, isMeant := chosen[j.Job]
		if !isMeant && len(r.Choices) > 0 {
			continue
		}
		if ctx.Err() != nil {
			return result, fmt.Errorf("retry failures: %w", context.Cause(ctx))
		}
		for _, p := range r.job(ctx, o, j, infos[j.Job], of) {
			if p.Why == "" {
				result.Begun = append(result.Begun, p)
			} else {
				result.Left = append(result.Left, p)
			}
		}
	}
	if ctx.Err() != nil {
		return result, fmt.Errorf("retry failures: %w", context.Cause(ctx))
	}
	return result, nil
}

// job runs failures of one job again: chosen ones, or all if there are none. What an item has failed with last comes first:
// another run of the item would take its place in the tree.
func (r *Request) job(ctx context.Context, o *ops.Ops, j Job, info *ops.JobInfo, chosen map[at]bool) (parts []Part) {
	for _, run := range j.Runs {
		isChosen := chosen[atOf(run.Item, run.Tick)]
		if run.State == Succeeded || len(chosen) > 0 && !isChosen {
			continue
		}
		p := Part{Job: j.Job, Tick: run.Tick, Why: r.why(run, info, isChosen), IsBackfill: !run.isLast}
		if p.Why != "" { // there may be many
			p.Tick, p.IsBackfill = time.Time{}, false
		}
		n := slices.IndexFunc(parts, func(q Part) bool { return q.Why == p.Why && q.IsBackfill == p.IsBackfill && q.Tick.Equal(p.Tick) })
		if n < 0 {
			n, parts = len(parts), append(parts, p)
		}
		parts[n].Items = append(parts[n].Items, run.Item)
		parts[n].executions = append(parts[n].executions, run.Execution)
		parts[n].Failures++
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		if a.IsBackfill == b.IsBackfill {
			return a.Tick.Compare(b.Tick)
		}
		if b.IsBackfill {
			return -1
		}
		return 1
	})
	rest := Part{Job: j.Job, Why: TooMany}
	made := 0
	parts = slices.DeleteFunc(parts, func(p Part) bool {
		if p.Why != "" {
			return false
		}
		if made++; made <= maxRequests {
			return false
		}
		rest.Items, rest.Failures = append(rest.Items, p.Items...), rest.Failures+p.Failures
		return true
	})
	if rest.Failures > 0 {
		parts = append(parts, rest)
	}
	for i := range parts {
		p := &parts[i]
		slices.Sort(p.Items)
		p.Items = slices.Compact(p.Items)
		if p.Why == "" {
			p.begin(ctx, o.Job(j.Job))
		}
	}
	return parts
}

// why says why a failure is not to run again; empty if it is.
func (r *Request) why(run Run, info *ops.JobInfo, isChosen bool) Why {
	switch {
	case r.MaySteer != nil && !r.MaySteer(info.Name):
		return Denied
	case run.State == Older && !r.Older && !isChosen:
		return IsOlder
	case run.Tick.IsZero():
		return NoTick
	case run.Waits:
		return Waiting
	case !info.Paused.Since.IsZero():
		return Paused
	case run.isDisabled || info.Status == ops.JobDisabled:
		return Disabled
	case info.Instances == 0:
		return NoInstance
	}
	return ""
}

// begin makes the request.
func (p *Part) begin(ctx context.Context, j *ops.Job) {
	var made *jobtype.Requested
	var err error
	// The history may not have yet what ran a moment ago, and two may ask at once.
	slices.Sort(p.executions)
	key := fmt.Sprintf("failures %d %x", p.Tick.UnixMilli(), sha256.Sum256([]byte(strings.Join(p.executions, "\n")))) // an execution may have no id
	if p.IsBackfill {
		made, err = j.Backfill(ctx, ops.BackfillRequest{From: p.Tick, To: p.Tick, Items: p.Items, Key: key})
	} else {
		made, err = j.Retry(ctx, ops.RetryRequest{Tick: p.Tick, Items: p.Items, Key: key})
	}
	switch {
	case err == nil && made.WasThere, errors.Is(err, jobtype.ErrKeyUsed):
		p.Why = Waiting
	case errors.Is(err, ops.ErrNothingFailed):
		p.Why = NoFailure
	case err != nil:
		p.Why, p.Error = Refused, err.Error()
	default:
		p.Request, p.Items, p.Failures = made.ID, made.Items, len(made.Items)
	}
}
