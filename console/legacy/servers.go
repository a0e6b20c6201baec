package legacy

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// server is ServerBriefInfo.
type server struct {
	ServerIP        string   `json:"serverIp"`
	Instances       []string `json:"instances"`
	JobNames        []string `json:"jobNames"`
	InstancesNum    int      `json:"instancesNum"`
	JobsNum         int      `json:"jobsNum"`
	DisabledJobsNum int      `json:"disabledJobsNum"`
}

// servers adds up the servers of the jobs that the caller may see, by address; none if no centre is
// activated.
func (a *api) servers(r *http.Request) ([]server, error) {
	if _, ok := a.center(access.From(r.Context())); !ok {
		return nil, nil
	}
	o, err := a.ops(r)
	if err != nil {
		return nil, err
	}
	all, err := o.JobServers(r.Context())
	if err != nil {
		return nil, err
	}
	byAddress := map[string]*server{}
	for _, in := range all {
		if !maySee(r, in.Job) {
			continue
		}
		s := byAddress[in.Server]
		if s == nil {
			s = &server{ServerIP: in.Server, Instances: []string{}}
			byAddress[in.Server] = s
		}
		s.JobNames = append(s.JobNames, in.Job)
		s.Instances = append(s.Instances, in.Instances...)
		if !in.Enabled {
			s.DisabledJobsNum++
		}
	}
	list := make([]server, 0, len(byAddress))
	for _, address := range slices.Sorted(maps.Keys(byAddress)) {
		s := byAddress[address]
		slices.Sort(s.Instances)
		s.Instances = slices.Compact(s.Instances) // a JVM has one id in all jobs
		s.InstancesNum, s.JobsNum = len(s.Instances), len(s.JobNames)
		list = append(list, *s)
	}
	return list, nil
}

func (a *api) countServers(r *http.Request, _ dialect) (any, error) {
	servers, err := a.servers(r)
	return bare{len(servers)}, err
}

func (a *api) listServers(r *http.Request, _ dialect) (any, error) {
	servers, err := a.servers(r)
	return append([]server{}, servers...), err
}

func (a *api) listJobsOn(r *http.Request, d dialect) (any, error) {
	o, err := a.ops(r)
	if err != nil {
		return nil, err
	}
	on, err := o.JobsOn(r.Context(), r.PathValue("ip"))
	if err != nil {
		return nil, err
	}
	var rows []jobBrief
	for _, in := range on {
		if !maySee(r, in.Job) {
			continue
		}
		row := jobBrief{JobName: in.Job, Status: ops.JobOK, InstanceCount: len(in.Instances)}
		if !in.Enabled {
			row.Status = ops.JobDisabled
		}
		rows = append(rows, row)
	}
	return as(d, rows, oldBrief), nil
}

func (a *api) disableServer(r *http.Request, _ dialect) (any, error) {
	return a.changeServer(r, (*ops.Server).Disable)
}

func (a *api) enableServer(r *http.Request, _ dialect) (any, error) {
	return a.changeServer(r, (*ops.Server).Enable)
}

func (a *api) shutdownServer(r *http.Request, _ dialect) (any, error) {
	return a.changeServer(r, func(s *ops.Server, ctx context.Context) ([]ops.JobResult, error) { return s.Shutdown(ctx, "") })
}

func (a *api) removeServer(r *http.Request, _ dialect) (any, error) {
	return a.changeServer(r, (*ops.Server).Remove)
}

// changeServer does something to a server in all jobs. If it fails in some, the error names them.
func (a *api) changeServer(r *http.Request, do func(*ops.Server, context.Context) ([]ops.JobResult, error)) (any, error) {
	o, err := a.ops(r)
	if err != nil {
		return nil, err
	}
	outcomes, err := do(o.Server(r.PathValue("ip")), r.Context())
	if err == nil {
		return done{}, nil
	}
	var failed brief.List
	for _, outcome := range outcomes {
		if outcome.Err != nil {
			failed.Add(outcome.Job)
		}
	}
	if failed.Empty() {
		return nil, err
	}
	return nil, fmt.Errorf("jobs %s: %w", failed.String(), err)
}

// disableServerJob makes the server if the job does not know it, as ElasticJob does: instances that come
// there later get nothing.
func (a *api) disableServerJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error { return j.DisableServersAhead(r.Context(), r.PathValue("ip")) })
}

func (a *api) enableServerJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error { return j.EnableServers(r.Context(), r.PathValue("ip")) })
}

func (a *api) shutdownServerJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error {
		_, err := j.Shutdown(r.Context(), ops.ShutdownRequest{Servers: []string{r.PathValue("ip")}})
		return err
	})
}

func (a *api) removeServerJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error { return j.RemoveServers(r.Context(), r.PathValue("ip")) })
}
