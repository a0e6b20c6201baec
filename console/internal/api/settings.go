package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// SettingsInfo is how a job is to run.
type SettingsInfo struct {
	Job            string       `json:"job" doc:"Name of the job."`
	Implementation string       `json:"implementation,omitempty" doc:"What runs the job: a class, or a type such as SCRIPT."`
	Version        int64        `json:"version" doc:"Version of the configuration; the ETag has it, too."`
	Document       string       `json:"document" doc:"The configuration as it stands in the registry: YAML, or JSON of elastic-job 2.1.x."`
	Config         ConfigKeys   `json:"config,omitempty" doc:"The configuration with its defaults, by ElasticJob's keys. It is left out if it cannot be read."`
	Error          string       `json:"error,omitempty" doc:"Why the configuration cannot be read."`
	Errors         []FieldError `json:"errors,omitempty" nullable:"false" doc:"What is wrong with which field."`
}

// PlanInput is what is to be compared with what is there.
type PlanInput struct {
	InJob
	Body PlanRequest
}

// PlanRequest is the body of a plan.
type PlanRequest struct {
	ConfigInput
	Version int64 `json:"version,omitempty" minimum:"0" doc:"Version that the configuration has to have. Default: any, or none."`
	Ticks   int   `json:"ticks,omitempty" minimum:"0" maximum:"1000" doc:"How many ticks are told. Default 5."`
}

// ConfigInput is a configuration that a client gives, in one of two ways.
type ConfigInput struct {
	Config   ConfigKeys `json:"config,omitempty" doc:"The configuration by ElasticJob's keys; or give the document."`
	Document string     `json:"document,omitempty" maxLength:"524288" doc:"The configuration as text: YAML or JSON, by ElasticJob's keys."`
}

// decode returns the configuration, which has to be that of a job.
func (c *ConfigInput) decode(name string, stored []byte) (jobtype.Config, error) {
	if (c.Document == "") == (c.Config == nil) {
		return jobtype.Config{}, refuse("body", "either config or document is needed")
	}
	document := []byte(c.Document)
	if c.Config != nil {
		c.Config.name(name)
		var err error
		if document, err = json.Marshal(c.Config); err != nil { // YAML, too
			return jobtype.Config{}, refuse("body.config", "%v", err)
		}
	}
	// A guess that is right is a change, too: a plan changes nothing, so one could guess as often as one likes.
	document, err := veil.Disguise(document, stored)
	if err == nil {
		document, err = veil.Restore(document, stored)
	}
	if err != nil {
		return jobtype.Config{}, refuse("body", "%v", err)
	}
	config, err := jobtype.DecodeConfig(document)
	if err != nil {
		return config, err
	}
	if config.Name != name {
		return config, refuse("jobName", "it is the configuration of another job than that of the path")
	}
	return config, nil
}

// TicksInput says how many ticks are wanted.
type TicksInput struct {
	InJob
	Count int `query:"count" minimum:"1" maximum:"1000" default:"10" doc:"How many."`
}

// TicksInfo are the next ticks of a job.
type TicksInfo struct {
	Rows  []time.Time `json:"rows" nullable:"false" doc:"Also during a pause. None for a one-off job, or if no more come."`
	Error string      `json:"error,omitempty" doc:"Why they cannot be told."`
}

func (a *API) addSettings() {
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "get-settings", Method: http.MethodGet, Path: jobPath + "/settings", Tags: tagJobs, Summary: "Configuration of a job",
		Description: "Secrets that a JVM has written there in clear text are ***; put back as they are, they stay.",
	}, a.settings)
	// Whoever may see the job may: it tells what he sees anyway, and what follows from his own input.
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "plan-job", Method: http.MethodPost, Path: jobPath + "/plan", Tags: tagJobs, Summary: "What a configuration would change",
		Description: "Nothing is changed. Also for a job that is not there, which would be created.", DefaultStatus: http.StatusOK,
		Errors: []int{http.StatusConflict, http.StatusPreconditionFailed},
	}, a.plan)
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "list-ticks", Method: http.MethodGet, Path: jobPath + "/ticks", Tags: tagJobs, Summary: "Next ticks of a job",
		Description: "Without those that its calendars leave out and those after its end.",
	}, a.ticks)
}

// etag is the ETag of a version.
func etag(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

func (a *API) settings(ctx context.Context, _ *InJob) (*versioned[SettingsInfo], error) {
	j, err := a.job(ctx)
	if err != nil {
		return nil, err
	}
	s, err := j.Settings(ctx)
	if err != nil && !errors.Is(err, jobtype.ErrInvalidConfig) {
		return nil, err
	}
	info := SettingsInfo{Job: route.At(ctx).Job, Implementation: s.Implementation, Version: s.Version, Document: veil.Document(string(s.Document))}
	if err != nil {
		p := ProblemOf(err)
		info.Error, info.Errors = p.Detail, p.Errors
	} else if info.Config, err = configKeys(s.Config); err != nil {
		return nil, err
	}
	veil.Keys(info.Config)
	return &versioned[SettingsInfo]{etag(s.Version), info}, nil
}

func (a *API) plan(ctx context.Context, in *PlanInput) (*answer[ops.Plan], error) {
	j, err := a.job(ctx)
	if err != nil {
		return nil, err
	}
	there, err := j.Settings(ctx)
	if err != nil && !errors.Is(err, ops.ErrNoJob) && !errors.Is(err, jobtype.ErrInvalidConfig) {
		return nil, err
	}
	c, err := in.Body.decode(in.Job, there.Document)
	if err != nil {
		return nil, err
	}
	p, err := j.Plan(ctx, ops.PlanRequest{Config: c, Version: in.Body.Version, Ticks: in.Body.Ticks})
	if err != nil {
		return nil, err
	}
	p.Changes = notNil(p.Changes)
	return &answer[ops.Plan]{veiledPlan(*p)}, nil
}

func (a *API) ticks(ctx context.Context, in *TicksInput) (*answer[TicksInfo], error) {
	j, err := a.job(ctx)
	if err != nil {
		return nil, err
	}
	s, err := j.Settings(ctx)
	var p *ops.Plan
	if err == nil {
		p, err = j.Plan(ctx, ops.PlanRequest{Config: s.Config, Ticks: in.Count})
	}
	switch {
	case errors.Is(err, jobtype.ErrInvalidConfig):
		return &answer[TicksInfo]{TicksInfo{Rows: []time.Time{}, Error: ProblemOf(err).Detail}}, nil
	case err != nil:
		return nil, err
	}
	ticks := TicksInfo{Rows: make([]time.Time, len(p.TicksAfter))}
	for i, at := range p.TicksAfter {
		ticks.Rows[i] = at.UTC()
	}
	if s.Config.Cron != "" && len(ticks.Rows) == 0 && len(p.Warnings) > 0 {
		ticks.Error = p.Warnings[0]
	}
	return &answer[TicksInfo]{ticks}, nil
}

// veiledPlan returns a plan as it is shown. It shares nothing that it changes.
func veiledPlan(p ops.Plan) ops.Plan {
	p.Before, p.After = veil.Document(p.Before), veil.Document(p.After)
	p.Changes = slices.Clone(p.Changes)
	for i, d := range p.Changes {
		p.Changes[i] = veiledDifference(d)
	}
	return p
}

func veiledDifference(d jobtype.Difference) jobtype.Difference {
	name := strings.TrimPrefix(d.Field, "props: ")
	d.Before, d.After = veil.Value(name, d.Before), veil.Value(name, d.After)
	return d
}

// veiledChange returns a change as it is shown.
func veiledChange(c ops.Change) ops.Change {
	c.Before, c.After = veil.Document(c.Before), veil.Document(c.After)
	return c
}
