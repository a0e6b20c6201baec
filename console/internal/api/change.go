package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Changed is in the answer to each change: what it has changed. What is as it should be already is no
// change.
type Changed struct {
	DryRun  bool         `json:"dryRun,omitempty" doc:"Whether nothing was changed: changes are what would be."`
	Changes []ops.Change `json:"changes" nullable:"false" doc:"Entries of the audit that it has made. None if all was as it should be already."`
}

func (c *Changed) changed() *Changed { return c }

// InDryRun is the part of a request for a change that says whether it is only to be tried.
type InDryRun struct {
	DryRun bool `query:"dryRun" default:"false" doc:"Change nothing: check everything, and answer what would change."`
}

// change makes a change in the name of who sends a request, and returns what has changed. If it fails halfway, the
// problem says what has changed until then.
func (a *API) change(ctx context.Context, in InDryRun, do func(*ops.Ops) error) (Changed, error) {
	o, err := a.ops(ctx)
	if err != nil {
		return Changed{}, err
	}
	return changing(o, in.DryRun, do)
}

func changing(o *ops.Ops, isDry bool, do func(*ops.Ops) error) (Changed, error) {
	c := Changed{DryRun: isDry, Changes: []ops.Change{}}
	o = o.OnChange(c.note)
	if isDry {
		o = o.DryRun()
	}
	if err := do(o); err != nil {
		p := ProblemOf(err)
		p.Changes = c.Changes
		return c, p
	}
	return c, nil
}

// note adds a change, without secrets. One that takes several commits is told of several times.
func (c *Changed) note(one ops.Change) {
	one = veiledChange(one)
	if n := len(c.Changes); n > 0 {
		last := &c.Changes[n-1]
		if last.ID == one.ID && last.Job == one.Job && last.Action == one.Action && last.Detail == one.Detail {
			*last = one
			return
		}
	}
	c.Changes = append(c.Changes, one)
}

// InSteer is a request to steer a job.
type InSteer[B any] struct {
	InJob
	InDryRun
	Body *B
}

// Nothing is the body of a request that has nothing to say: {}, or none.
type Nothing struct{}

// anAnswer is an answer that says what has changed.
type anAnswer[R any] interface {
	*R
	changed() *Changed
}

// steer adds an operation that changes a job: POST to a path below it. do fills the answer but for what has
// changed. Its body may be left out.
func steer[B, R any, P anAnswer[R]](a *API, need route.Need, id, path, summary, about string, do func(context.Context, *ops.Job, *B, P) error) {
	register(a, need, huma.Operation{
		OperationID: id, Method: http.MethodPost, Path: jobPath + path, Tags: tagJobs, Summary: summary, Description: about, DefaultStatus: http.StatusOK,
		Errors: []int{http.StatusConflict, http.StatusPreconditionFailed},
	}, func(ctx context.Context, in *InSteer[B]) (*answer[R], error) {
		if in.Body == nil {
			in.Body = new(B)
		}
		out := &answer[R]{}
		changed, err := a.change(ctx, in.InDryRun, func(o *ops.Ops) error { return do(ctx, o.Job(in.Job), in.Body, P(&out.Body)) })
		*P(&out.Body).changed() = changed
		return out, err
	})
}

// addChanges adds all that changes something.
func (a *API) addChanges() {
	a.addSettingsChanges()
	a.addRequests()
	a.addRuns()
	a.addItems()
	a.addServerChanges()
	a.addClears()
	a.addCalendarChanges()
	a.addBatch()
}
