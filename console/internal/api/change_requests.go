package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// InKey makes it safe to send a request again.
type InKey struct {
	Key string `header:"Idempotency-Key" minLength:"1" maxLength:"255" pattern:"^[!-~]+$" doc:"Makes it safe to send a request again: two of one user for one job with the same key make one. It counts until the request is forgotten, an hour after its end at the earliest, unless 100 others of the job end meanwhile. With another body it is refused (key-used)."`
}

// of returns the key of a request for the registry: that of one user is not that of another one.
func (in InKey) of(p *access.Principal) string {
	if in.Key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(p.Name + "\x00" + in.Key))
	return hex.EncodeToString(sum[:])
}

// TriggerBody says what is to run now.
type TriggerBody struct {
	Items     []int    `json:"items,omitempty" maxItems:"100000" nullable:"false" doc:"Items to run. Default: all."`
	Instances []string `json:"instances,omitempty" maxItems:"1000" nullable:"false" doc:"Ids of instances whose items run. Default: all."`
	Parameter string   `json:"parameter,omitempty" maxLength:"65536" doc:"Replaces the parameter of the job in these executions."`
}

// RetryBody says which failures are to be tried again.
type RetryBody struct {
	Tick      time.Time `json:"tick,omitzero" doc:"Scheduled time of the executions that have failed. Default: the latest one for which an item has failed."`
	Items     []int     `json:"items,omitempty" maxItems:"100000" nullable:"false" doc:"Items to run again if they have failed; also if they were cut short or killed. Default: all that have failed."`
	Parameter string    `json:"parameter,omitempty" maxLength:"65536" doc:"Replaces the parameter of the job in these executions."`
}

// BackfillBody says for which ticks items are to run.
type BackfillBody struct {
	From          time.Time `json:"from" doc:"Ticks at this time or later."`
	To            time.Time `json:"to" doc:"Ticks at this time or before. 1,000 lie in between at most."`
	Items         []int     `json:"items,omitempty" maxItems:"100000" nullable:"false" doc:"Items to run. Default: all."`
	Parameter     string    `json:"parameter,omitempty" maxLength:"65536" doc:"Replaces the parameter of the job in these executions."`
	StopAtFailure bool      `json:"stopAtFailure,omitempty" doc:"Leave the other ticks of an item out when one has failed."`
}

// InRequestFor is a request for runs.
type InRequestFor[B any] struct {
	InJob
	InDryRun
	InKey
	Body *B
}

// Requested is a request for runs that the registry has.
type Requested struct {
	Changed
	ID        string      `json:"id" doc:"Id of the request. In a dry run nobody has it."`
	Items     []int       `json:"items" nullable:"false" doc:"Items that run, ascending."`
	Ticks     []time.Time `json:"ticks,omitempty" nullable:"false" doc:"What each of them runs for, one after the other; none: for the time at which it begins."`
	Instances []string    `json:"instances,omitempty" nullable:"false" doc:"Instances that own the items now."`
	JVM       []string    `json:"jvm,omitempty" nullable:"false" doc:"JVM members among them. Each runs all of its items, without the parameter."`
	Beside    []int       `json:"beside,omitempty" nullable:"false" doc:"Items that they run although they were not asked for."`
	WasThere  bool        `json:"wasThere,omitempty" doc:"Whether the request was made before, with the same key."`
}

type requestedAnswer struct {
	Location string `header:"Location" doc:"Path of the request."`
	Body     Requested
}

// InRequest says which request is meant.
type InRequest struct {
	InJob
	Request string `path:"request" maxLength:"255" doc:"Id of the request." example:"000000000007-0198c7e2-7c1e-7000-8000-000000000000"`
}

// AwaitInput says which request is meant, and how long to wait for its end.
type AwaitInput struct {
	InRequest
	Wait int `query:"wait" minimum:"0" maximum:"25" default:"0" doc:"Answer only when all items are through, or after so many seconds."`
}

// CancelInput says which request is to end.
type CancelInput struct {
	InRequest
	InDryRun
}

// RequestDetail is a request, and what has become of it.
type RequestDetail struct {
	ops.RequestState
	Results []ItemResult `json:"results,omitempty" nullable:"false" doc:"How the items have ended, when all are through."`
}

// ItemResult is what has become of an item of a request.
type ItemResult struct {
	Item    int       `json:"item" doc:"Number of the item."`
	Outcome string    `json:"outcome" doc:"How it has ended: OK, FAILED, PANIC, TIMEOUT, CUT, KILLED or SKIPPED, or a word of a later version."`
	Error   string    `json:"error,omitempty" doc:"Beginning of the last error, or why the item was skipped."`
	TaskID  string    `json:"taskId,omitempty" doc:"Of the last execution."`
	Token   int64     `json:"token,omitempty" doc:"Fencing token of the last execution."`
	Ended   time.Time `json:"ended,omitzero" doc:"When its last execution has ended, by the clock of its instance."`
	Runs    int       `json:"runs" doc:"How many ticks were run."`
	Failed  int       `json:"failed" doc:"How many of them without success."`
}

func (a *API) addRequests() {
	ask(a, "trigger-job", "/trigger", "Run items now", "Beside the schedule, also during a pause. The answer comes when the registry has the request.",
		func(ctx context.Context, j *ops.Job, b *TriggerBody, key string) (Requested, error) {
			r, err := j.Trigger(ctx, jobtype.TriggerRequest{Items: b.Items, Instances: b.Instances, Parameter: b.Parameter, Key: key})
			if err != nil {
				return Requested{}, err
			}
			return Requested{ID: r.ID, Items: r.Items, Instances: r.Instances, JVM: r.JVM, Beside: r.Beside, WasThere: r.WasThere}, nil
		}, func(b *TriggerBody) string { return b.Parameter })
	ask(a, "retry-job", "/retry", "Run failed items again", "For the tick for which they have failed last.",
		func(ctx context.Context, j *ops.Job, b *RetryBody, key string) (Requested, error) {
			return requestedOf(j.Retry(ctx, ops.RetryRequest{Tick: b.Tick, Items: b.Items, Parameter: b.Parameter, Key: key}))
		}, func(b *RetryBody) string { return b.Parameter })
	ask(a, "backfill-job", "/backfill", "Run items for ticks of the past", "As the schedule is now, one tick after the other.",
		func(ctx context.Context, j *ops.Job, b *BackfillBody, key string) (Requested, error) {
			return requestedOf(j.Backfill(ctx, ops.BackfillRequest{From: b.From, To: b.To, Items: b.Items, Parameter: b.Parameter, StopAtFailure: b.StopAtFailure, Key: key}))
		}, func(b *BackfillBody) string { return b.Parameter })
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "get-request", Method: http.MethodGet, Path: jobPath + "/requests/{request}", Tags: tagJobs, Summary: "How far a request has come",
		Description: "It is kept for an hour after its end, unless 100 others of the job end meanwhile.",
	}, a.request)
	register(a, operator(route.Job), huma.Operation{
		OperationID: "cancel-request", Method: http.MethodPost, Path: jobPath + "/requests/{request}/cancel", Tags: tagJobs, Summary: "End a request",
		Description: "What runs for it goes on; what has not begun does not begin.", DefaultStatus: http.StatusOK, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *CancelInput) (*answer[Changed], error) {
		return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error { return o.Job(in.Job).Cancel(ctx, in.Request) })
	})
}

// ask adds an operation that makes a request.
func ask[B any](a *API, id, path, summary, about string, do func(context.Context, *ops.Job, *B, string) (Requested, error), parameter func(*B) string) {
	register(a, operator(route.Job), huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: jobPath + path, Tags: tagJobs, Summary: summary, Description: about,
		DefaultStatus: http.StatusAccepted, Errors: []int{http.StatusConflict},
	}, func(ctx context.Context, in *InRequestFor[B]) (*requestedAnswer, error) {
		if in.Body == nil {
			in.Body = new(B)
		}
		if n := len(parameter(in.Body)); n > jobtype.MaxTriggerParameter {
			return nil, refuse("body.parameter", "%d bytes; allowed are %d", n, jobtype.MaxTriggerParameter)
		}
		out := &requestedAnswer{}
		changed, err := a.change(ctx, in.InDryRun, func(o *ops.Ops) (err error) {
			out.Body, err = do(ctx, o.Job(in.Job), in.Body, in.of(access.From(ctx)))
			return err
		})
		out.Body.Changed, out.Body.Items = changed, notNil(out.Body.Items)
		if in.DryRun {
			return out, err // there is nothing to be found
		}
		out.Location = Prefix + "/namespaces/" + url.PathEscape(in.Namespace) + "/jobs/" + url.PathEscape(in.Job) + "/requests/" + url.PathEscape(out.Body.ID)
		return out, err
	})
}

func requestedOf(r *jobtype.Requested, err error) (Requested, error) {
	if err != nil {
		return Requested{}, err
	}
	return Requested{ID: r.ID, Items: r.Items, Ticks: r.Ticks, JVM: r.JVM, Beside: r.Beside, WasThere: r.WasThere}, nil
}

func (a *API) request(ctx context.Context, in *AwaitInput) (*answer[RequestDetail], error) {
	j, err := a.job(ctx)
	if err != nil {
		return nil, err
	}
	var results []jobtype.ItemResult
	if in.Wait > 0 {
		wait, cancel := context.WithTimeout(ctx, time.Duration(in.Wait)*time.Second)
		results, err = j.AwaitRequest(wait, in.Request)
		cancel()
		if err != nil && (!errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil) {
			return nil, err
		}
	}
	state, err := j.Request(ctx, in.Request)
	if err != nil {
		return nil, err
	}
	if results == nil && (len(state.Through) == len(state.Items) || !state.Ended.IsZero()) {
		if results, err = j.AwaitRequest(ctx, in.Request); err != nil { // it is through: nothing is waited for
			return nil, err
		}
	}
	detail := RequestDetail{RequestState: state}
	detail.Items = notNil(detail.Items)
	for _, r := range results {
		detail.Results = append(detail.Results, ItemResult{r.Item, r.Outcome.String(), r.Error, r.TaskID, r.Token, r.Ended, r.Runs, r.Failed})
	}
	return &answer[RequestDetail]{detail}, nil
}
