package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/why"
)

// WhyInput says what is to be explained.
type WhyInput struct {
	InJob
	At   time.Time `query:"at" doc:"The moment. Default: now."`
	Item int       `query:"item" minimum:"-1" default:"-1" doc:"Number of the item. Default: all items."`
}

// CausesInput says of which time causes are wanted.
type CausesInput struct {
	InJob
	From time.Time `query:"from" required:"true" doc:"Those of this time or later: 100 days before to at most."`
	To   time.Time `query:"to" doc:"Those before this time. Default: now."`
}

// CausesInfo are causes of a time.
type CausesInfo struct {
	Causes []why.Cause `json:"causes" nullable:"false" maxItems:"1000" doc:"What has kept the job from running, or may have, by since: paused, servers-disabled, item-disabled, calendar, no-instance and new-instances; configured and killed are moments, whose until is since."`
	Unseen []string    `json:"unseen" nullable:"false" doc:"What could not be looked at, or is not certain, in sentences."`
}

func (a *API) addWhy() {
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "explain-job", Method: http.MethodGet, Path: jobPath + "/why", Tags: tagJobs, Summary: "Why a job did not run at a moment",
		Description: "What became of the last tick up to then, and why: from the audit, calendars, the history and the job as it is. What could not be looked at is in unseen: the history, if there is none or if you may not see it.",
	}, a.why)
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "list-causes", Method: http.MethodGet, Path: jobPath + "/causes", Tags: tagJobs, Summary: "What has kept a job from running in a time",
		Description: "For timelines. The answer why it did not run at a moment has those of its tick.",
	}, a.causes)
}

func (a *API) why(ctx context.Context, in *WhyInput) (*answer[why.Answer], error) {
	o, q, err := a.asked(ctx, in.At)
	if err != nil {
		return nil, err
	}
	if in.Item >= 0 {
		q.Item = &in.Item
	}
	found, err := why.Explain(ctx, o, q)
	return &answer[why.Answer]{found}, err
}

func (a *API) causes(ctx context.Context, in *CausesInput) (*answer[CausesInfo], error) {
	end := in.To
	if end.IsZero() {
		end = time.Now()
	}
	if d := end.Sub(in.From); d <= 0 || d > 100*24*time.Hour {
		return nil, refuse("query.from", "up to 100 days before the end are allowed")
	}
	o, q, err := a.asked(ctx, end)
	if err != nil {
		return nil, err
	}
	list, unseen, err := why.Causes(ctx, o, q, in.From)
	return &answer[CausesInfo]{CausesInfo{notNil(list), notNil(unseen)}}, err
}

// asked returns the question about the job of a request at a moment, and what can answer it.
func (a *API) asked(ctx context.Context, at time.Time) (*ops.Ops, why.Query, error) {
	q := why.Query{Job: route.At(ctx).Job, At: at}
	o, err := a.ops(ctx)
	if err != nil {
		return nil, q, err
	}
	if !seesAll(ctx) {
		q.Unseen = append(q.Unseen, "You may not see how calendars have changed: they count as they are today.")
	}
	q.History, err = a.past(ctx, q.Job)
	switch {
	case errors.Is(err, route.ErrDenied):
		q.Unseen = append(q.Unseen, "You may not see the history: it is also that of other namespaces.")
	case err != nil && !errors.Is(err, ops.ErrNoHistory):
		q.Unseen = append(q.Unseen, "The history cannot be read: "+textOf(err))
	}
	return o, q, nil
}
