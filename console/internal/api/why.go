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

func (a *API) addWhy() {
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "explain-job", Method: http.MethodGet, Path: jobPath + "/why", Tags: tagJobs, Summary: "Why a job did not run at a moment",
		Description: "What became of the last tick up to then, and why: from the audit, calendars, the history and the job as it is. What could not be looked at is in unseen: the history, if there is none or if you may not see it.",
	}, a.why)
}

func (a *API) why(ctx context.Context, in *WhyInput) (*answer[why.Answer], error) {
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	q := why.Query{Job: route.At(ctx).Job, At: in.At}
	if in.Item >= 0 {
		q.Item = &in.Item
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
	found, err := why.Explain(ctx, o, q)
	return &answer[why.Answer]{found}, err
}
