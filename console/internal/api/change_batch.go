package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// BatchInput says what is to be done with many jobs.
type BatchInput struct {
	InNamespace
	InDryRun
	InKey
	Body BatchBody
}

// BatchBody says what is to be done with many jobs.
type BatchBody struct {
	Action    string   `json:"action" enum:"pause,resume,trigger,disable,enable" doc:"disable and enable: all servers of a job."`
	Jobs      []string `json:"jobs" minItems:"1" maxItems:"1000" uniqueItems:"true" nullable:"false" doc:"Names of the jobs, each of them once."`
	Why       string   `json:"why,omitempty" maxLength:"255" doc:"Why, for people: of a pause."`
	MakeUp    bool     `json:"makeUp,omitempty" doc:"Of a pause: run each item once when it ends, if ticks came meanwhile."`
	Parameter string   `json:"parameter,omitempty" maxLength:"65536" doc:"Of a trigger: replaces the parameter of the job."`
}

// BatchChanged is what has become of many jobs.
type BatchChanged struct {
	DryRun   bool         `json:"dryRun,omitempty" doc:"Whether nothing was changed: changes are what would be."`
	Outcomes []JobOutcome `json:"outcomes" nullable:"false" doc:"In the order of the request."`
	Failed   int          `json:"failed" doc:"How many jobs are not as they were to be."`
}

const (
	// batchAtOnce is how many jobs are changed at a time.
	batchAtOnce = 8
	// manyTime bounds a change of many jobs: the route has 30 s, and who asks wants to know what was done until then.
	manyTime = 25 * time.Second
)

func (a *API) addBatch() {
	register(a, operator(route.SomeJobs), huma.Operation{
		OperationID: "change-jobs", Method: http.MethodPost, Path: namespacePath + "/jobs:batch", Tags: tagNamespaces, Summary: "Do the same with many jobs",
		Description:   "Each is authorised, done and told of by itself, also if others fail. For a job that you may not steer the outcome is denied, whether there is one or not. The audit has one entry for 200 jobs.",
		DefaultStatus: http.StatusOK,
	}, a.batch)
}

func (a *API) batch(ctx context.Context, in *BatchInput) (*answer[BatchChanged], error) {
	if n := len(in.Body.Parameter); n > jobtype.MaxTriggerParameter {
		return nil, refuse("body.parameter", "%d bytes; allowed are %d", n, jobtype.MaxTriggerParameter)
	}
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	if len(in.Body.Jobs) > 1 {
		o = o.Together()
	}
	ctx, cancel := context.WithTimeout(ctx, manyTime)
	defer cancel()
	out := &answer[BatchChanged]{BatchChanged{DryRun: in.DryRun, Outcomes: make([]JobOutcome, len(in.Body.Jobs))}}
	turns := make(chan int)
	var workers sync.WaitGroup
	for range min(batchAtOnce, len(in.Body.Jobs)) {
		workers.Go(func() {
			for i := range turns {
				out.Body.Outcomes[i] = in.one(ctx, o, in.Body.Jobs[i])
			}
		})
	}
	for i := range in.Body.Jobs {
		turns <- i // one that begins after the end of ctx fails at once
	}
	close(turns)
	workers.Wait()
	for _, one := range out.Body.Outcomes {
		if one.Error != nil {
			out.Body.Failed++
		}
	}
	return out, nil
}

// one does it with one job.
func (in *BatchInput) one(ctx context.Context, o *ops.Ops, name string) JobOutcome {
	outcome := JobOutcome{Job: name, Changes: []ops.Change{}}
	p := access.From(ctx)
	if !p.May(access.Operator, in.Namespace, name) {
		outcome.Error = jobProblem(fmt.Errorf("%w: %s needs to be %v, for the job", route.ErrDenied, p.Name, access.Operator))
		return outcome
	}
	if err := ctx.Err(); err != nil {
		outcome.Error = jobProblem(fmt.Errorf("not tried: %w", context.Cause(ctx)))
		return outcome
	}
	changed, err := changing(o, in.DryRun, func(o *ops.Ops) error {
		j := o.Job(name)
		switch in.Body.Action {
		case "pause":
			return pause(ctx, j, &PauseBody{Why: in.Body.Why, MakeUp: in.Body.MakeUp}, &Paused{})
		case "resume":
			return unless(j.Resume(ctx, ops.ResumeRequest{}), ops.ErrNotPaused)
		case "disable":
			return j.DisableServers(ctx)
		case "enable":
			return j.EnableServers(ctx)
		}
		r, err := j.Trigger(ctx, jobtype.TriggerRequest{Parameter: in.Body.Parameter, Key: in.of(p)})
		if err == nil {
			outcome.Request = r.ID
		}
		return err
	})
	outcome.Changes, outcome.Error = slices.Clip(changed.Changes), jobProblem(err)
	return outcome
}
