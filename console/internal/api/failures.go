package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/failed"
)

// FailuresInput says which failures are wanted.
type FailuresInput struct {
	InNamespace
	From time.Time `query:"from" required:"true" doc:"Executions that begin at this time or later."`
	To   time.Time `query:"to" doc:"Before this time. Default: the end."`
}

// Failures are what has failed in a namespace.
type Failures struct {
	failed.Report
	NoHistory bool `json:"noHistory,omitempty" doc:"Whether there is no history. Only the last execution of each item is known then."`
	Hidden    bool `json:"hidden,omitempty" doc:"Whether the history is not looked at because it is also that of another namespace: it knows jobs by their names only."`
}

// RetryFailuresInput says which failures are to run again.
type RetryFailuresInput struct {
	InNamespace
	InDryRun
	Body RetryFailuresBody
}

// RetryFailuresBody says which failures are to run again.
type RetryFailuresBody struct {
	From  time.Time       `json:"from" doc:"Executions that begin at this time or later."`
	To    time.Time       `json:"to,omitzero" doc:"Before this time. Default: the end."`
	Older bool            `json:"older,omitempty" doc:"Also for ticks that the item has gone on from since: by backfills, one for each tick."`
	Jobs  []failed.Choice `json:"jobs,omitempty" minItems:"1" maxItems:"500" nullable:"false" doc:"Jobs, or some of their failures. Default: all."`
}

// RetriedFailures is what has become of a retry.
type RetriedFailures struct {
	Changed
	failed.Result
}

func (a *API) addFailures() {
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-failures", Method: http.MethodGet, Path: namespacePath + "/failures", Tags: tagNamespaces, Summary: "What has failed, and has not succeeded since",
		Description: "By job: those with something that still fails first, then those of which items have gone on to later ticks. An item at a tick counts once, however often it was tried. " +
			"What has failed last is known from the registry, what was before from the history: its newest 10,000 failures of the time.",
	}, a.failures)
	register(a, operator(route.SomeJobs), huma.Operation{
		OperationID: "retry-failures", Method: http.MethodPost, Path: namespacePath + "/failures/retry", Tags: tagNamespaces, Summary: "Run again what has failed",
		Description: "What an item has failed with last is retried, other ticks are backfilled: 50 requests for a job at a time. Each job is authorised and done by itself; what does not begin is in left, with the reason. " +
			"What waits to run again already is left, so it is safe to send this again.",
		DefaultStatus: http.StatusOK,
	}, a.retryFailures)
}

// failuresOf returns the question about failures of the namespace of a request, and what of that is not known.
func (a *API) failuresOf(ctx context.Context, isFresh bool, from, to time.Time) (q failed.Query, f Failures, err error) {
	list, _, err := a.list(ctx, isFresh, ops.JobsQuery{})
	if err != nil {
		return q, f, err
	}
	q = failed.Query{From: from, To: to, Jobs: list.Jobs}
	if !a.everyNamespace(ctx, func(_ *access.Principal, namespace string) bool { return namespace == route.At(ctx).Namespace }) {
		return q, Failures{Hidden: true}, nil
	}
	if q.History, err = a.history(ctx); errors.Is(err, ops.ErrNoHistory) {
		return q, Failures{NoHistory: true}, nil
	}
	if !a.seesDatabase(ctx) {
		q.MayPast = func(job string) bool { return a.seesPast(ctx, job) }
	}
	return q, f, err
}

func (a *API) failures(ctx context.Context, in *FailuresInput) (*answer[Failures], error) {
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	q, f, err := a.failuresOf(ctx, false, in.From, in.To)
	if err == nil {
		f.Report, err = failed.List(ctx, o, q)
	}
	return &answer[Failures]{f}, err
}

func (a *API) retryFailures(ctx context.Context, in *RetryFailuresInput) (*answer[RetriedFailures], error) {
	ctx, cancel := context.WithTimeout(ctx, manyTime)
	defer cancel()
	q, _, err := a.failuresOf(ctx, true, in.Body.From, in.Body.To)
	if err != nil {
		return nil, err
	}
	out := &answer[RetriedFailures]{}
	p := access.From(ctx)
	out.Body.Changed, err = a.change(ctx, in.InDryRun, func(o *ops.Ops) (err error) {
		out.Body.Result, err = failed.Retry(ctx, o.Together(), failed.Request{
			Query: q, Choices: in.Body.Jobs, Older: in.Body.Older,
			MaySteer: func(job string) bool { return p.May(access.Operator, in.Namespace, job) },
		})
		return err
	})
	return out, err
}
