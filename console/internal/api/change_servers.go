package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ServersBody says which servers of a job are meant.
type ServersBody struct {
	Servers []string `json:"servers,omitempty" maxItems:"10000" nullable:"false" doc:"Addresses."`
	All     bool     `json:"all,omitempty" doc:"All that the job has."`
}

// addresses returns the servers that are meant; none means all.
func (b *ServersBody) addresses() ([]string, error) {
	if b.All == (len(b.Servers) > 0) {
		return nil, refuse("body.servers", "servers or all is needed, and not both")
	}
	return b.Servers, nil
}

// DisableServersBody says which servers of a job are meant, perhaps some that are not there yet.
type DisableServersBody struct {
	ServersBody
	Ahead bool `json:"ahead,omitempty" doc:"Also servers that the job does not have yet."`
}

// ServerInput says which server is meant.
type ServerInput struct {
	InServer
	InDryRun
	Why string `query:"why" maxLength:"255" doc:"Why, for people: the audit has it."`
}

// ServerChanged is what has become of the jobs of a server.
type ServerChanged struct {
	DryRun   bool         `json:"dryRun,omitempty" doc:"Whether nothing was changed: changes are what would be."`
	Outcomes []JobOutcome `json:"outcomes" nullable:"false" doc:"By job."`
	Failed   int          `json:"failed" doc:"How many jobs are not as they were to be."`
	Untried  string       `json:"untried,omitempty" doc:"Why jobs are left out that were not tried."`
}

// JobOutcome is what has become of one of several jobs.
type JobOutcome struct {
	Job        string       `json:"job" doc:"Name of the job."`
	Changes    []ops.Change `json:"changes" nullable:"false" doc:"Entries of the audit. None if all was as it should be already."`
	IsDisabled bool         `json:"disabled,omitempty" doc:"Whether the server was not enabled for the job, because that is disabled as a whole."`
	Request    string       `json:"request,omitempty" doc:"Id of the request that a trigger has made."`
	Error      *JobProblem  `json:"error,omitempty" doc:"Why the job is not as it was to be."`
}

// JobProblem is what is wrong with one of several jobs.
type JobProblem struct {
	Code   string `json:"code" doc:"As that of a problem." example:"no-job"`
	Status int    `json:"status" doc:"Status that it would be if it were the only job." example:"404"`
	Detail string `json:"detail" doc:"What is wrong, for people."`
}

func jobProblem(err error) *JobProblem {
	if err == nil {
		return nil
	}
	p := ProblemOf(err)
	return &JobProblem{p.Code, p.Status, p.Detail}
}

func (a *API) addServerChanges() {
	steer(a, operator(route.Job), "disable-job-servers", "/servers/disable", "Keep instances at some addresses from having items of a job",
		"All servers: the job does not run any more.", func(ctx context.Context, j *ops.Job, b *DisableServersBody, _ *Changed) error {
			addresses, err := b.addresses()
			switch {
			case err != nil:
				return err
			case b.Ahead && b.All:
				return refuse("body.ahead", "not together with all")
			case b.Ahead:
				return j.DisableServersAhead(ctx, addresses...)
			}
			return j.DisableServers(ctx, addresses...)
		})
	steer(a, operator(route.Job), "enable-job-servers", "/servers/enable", "Let instances at some addresses have items of a job again",
		"", onServers((*ops.Job).EnableServers))
	steer(a, operator(route.Job), "remove-job-servers", "/servers/remove", "Shut down instances at some addresses, and forget these servers of a job",
		"", onServers((*ops.Job).RemoveServers))
	for verb, do := range map[string]struct {
		summary string
		run     func(*ops.Server, context.Context, string) ([]ops.JobResult, error)
	}{
		"disable":  {"Disable a server in all jobs", func(s *ops.Server, ctx context.Context, _ string) ([]ops.JobResult, error) { return s.Disable(ctx) }},
		"enable":   {"Enable a server in all jobs", func(s *ops.Server, ctx context.Context, _ string) ([]ops.JobResult, error) { return s.Enable(ctx) }},
		"shutdown": {"Shut down the instances of a server in all jobs", (*ops.Server).Shutdown},
		"remove":   {"Shut down the instances of a server in all jobs, and forget it", func(s *ops.Server, ctx context.Context, _ string) ([]ops.JobResult, error) { return s.Remove(ctx) }},
	} {
		register(a, operator(route.AllJobs), huma.Operation{
			OperationID: verb + "-server", Method: http.MethodPost, Path: namespacePath + "/servers/{address}/" + verb, Tags: tagServers, Summary: do.summary,
			Description: "In all jobs that have it now, job by job, also if some fail.", DefaultStatus: http.StatusOK,
		}, func(ctx context.Context, in *ServerInput) (*answer[ServerChanged], error) {
			return a.serverChange(ctx, in, do.run)
		})
	}
}

func onServers(do func(*ops.Job, context.Context, ...string) error) func(context.Context, *ops.Job, *ServersBody, *Changed) error {
	return func(ctx context.Context, j *ops.Job, b *ServersBody, _ *Changed) error {
		addresses, err := b.addresses()
		if err != nil {
			return err
		}
		return do(j, ctx, addresses...)
	}
}

func (a *API) serverChange(ctx context.Context, in *ServerInput, do func(*ops.Server, context.Context, string) ([]ops.JobResult, error)) (*answer[ServerChanged], error) {
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	if in.DryRun {
		o = o.DryRun()
	}
	ctx, cancel := context.WithTimeout(ctx, manyTime)
	defer cancel()
	outcomes, err := do(o.Because(in.Why).Server(in.Server), ctx, in.Why)
	if err != nil && len(outcomes) == 0 {
		return nil, err
	}
	out := &answer[ServerChanged]{ServerChanged{DryRun: in.DryRun, Outcomes: []JobOutcome{}}}
	for _, one := range outcomes {
		out.Body.Outcomes = append(out.Body.Outcomes, JobOutcome{Job: one.Job, Changes: notNil(one.Changes), IsDisabled: one.IsDisabled, Error: jobProblem(one.Err)})
		if one.Err != nil {
			out.Body.Failed++
		}
	}
	if err != nil {
		out.Body.Untried = ProblemOf(err).Detail
	}
	return out, nil
}
