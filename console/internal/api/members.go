package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// InNamespacePage is a page of something of a namespace.
type InNamespacePage struct {
	InNamespace
	InPage
}

// InServer says which server is meant. The parameter is its address: clients that are made from the document have
// another use for the name server.
type InServer struct {
	InNamespace
	Server string `path:"address" maxLength:"255" doc:"Address of the server." example:"10.0.0.1"`
}

// RemovedJob is a job that was removed, and that no program sets up again.
type RemovedJob struct {
	Name      string    `json:"name" doc:"Name of the job."`
	By        string    `json:"by,omitempty" doc:"Who has removed it."`
	Why       string    `json:"why,omitempty" doc:"Why, as he has said."`
	At        time.Time `json:"at,omitzero" doc:"When it was removed."`
	Revision  int       `json:"revision,omitempty" doc:"That of its configuration. A program with a higher one sets the job up again."`
	Expired   bool      `json:"expired,omitempty" doc:"Whether it was removed because it had no tick left."`
	Migration string    `json:"migration,omitempty" doc:"Id of the migration with which it is on its way."`
	Error     string    `json:"error,omitempty" doc:"Why nothing of this can be told."`
}

func (a *API) addMembers() {
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-instances", Method: http.MethodGet, Path: namespacePath + "/instances", Tags: tagServers, Summary: "Instances of all jobs, by job and id",
	}, pages(a, "instances", (*ops.Ops).Instances, func(i ops.InstanceInfo) string { return i.Job + "\x00" + i.ID }))
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-servers", Method: http.MethodGet, Path: namespacePath + "/servers", Tags: tagServers, Summary: "Servers of all jobs, by address",
		Description: "Numbers count only jobs that you may see.",
	}, pages(a, "servers", (*ops.Ops).Servers, func(s ops.ServerInfo) string { return s.Server }))
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-jobs-on-server", Method: http.MethodGet, Path: namespacePath + "/servers/{address}/jobs", Tags: tagServers, Summary: "Jobs that know a server, by name",
	}, a.jobsOn)
	// A process has jobs of all kinds, and counts their items together.
	register(a, viewer(route.AllJobs), huma.Operation{
		OperationID: "list-processes", Method: http.MethodGet, Path: namespacePath + "/processes", Tags: tagServers, Summary: "Processes that show what they have, by id",
	}, pages(a, "processes", (*ops.Ops).Processes, func(p ops.ProcessInfo) string { return p.ID }))
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-removed", Method: http.MethodGet, Path: namespacePath + "/removed", Tags: tagNamespaces, Summary: "Jobs that were removed, by name",
	}, pages(a, "removed", removed, func(r RemovedJob) string { return r.Name }))
}

// pages returns the handler of a list of a namespace, whose rows are in the order of their keys.
func pages[T any](a *API, kind string, list func(*ops.Ops, context.Context) ([]T, error), key func(T) string) func(context.Context, *InNamespacePage) (*answer[Page[T]], error) {
	return func(ctx context.Context, in *InNamespacePage) (*answer[Page[T]], error) {
		o, err := a.ops(ctx)
		if err != nil {
			return nil, err
		}
		return pageOf(&in.InPage, kind, key, func() ([]T, error) { return list(o, ctx) })
	}
}

func (a *API) jobsOn(ctx context.Context, in *InServer) (*answer[List[ops.JobServer]], error) {
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := o.JobsOn(ctx, in.Server)
	return listed(rows), err
}

func removed(o *ops.Ops, ctx context.Context) ([]RemovedJob, error) {
	list, err := o.Removed(ctx)
	rows := make([]RemovedJob, len(list))
	for i, r := range list {
		rows[i] = RemovedJob{Name: r.Name, By: r.By, Why: r.Why, At: r.At, Revision: r.Revision, Expired: r.Expired, Migration: r.Migration, Error: textOf(r.Err)}
	}
	return rows, err
}
