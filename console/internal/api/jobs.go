package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/ops"
)

// JobsInput says which jobs are wanted.
type JobsInput struct {
	InNamespace
	InPage
	Search         string          `query:"search" maxLength:"255" doc:"Part of the name, the description or the implementation, in upper or lower case."`
	Server         string          `query:"server" maxLength:"255" doc:"Address of a server that the job has to have."`
	Label          string          `query:"label" maxLength:"255" doc:"Label of the job."`
	Implementation string          `query:"implementation" maxLength:"255" doc:"What runs the job: a class, or a type such as SCRIPT."`
	Status         []ops.JobStatus `query:"status" nullable:"false" maxItems:"6" enum:"OK,CRASHED,STOPPED,NEVER_STARTED,DISABLED,SHARDING_FLAG" doc:"Statuses, one of which the job has to have, with commas between them."`
	Paused         bool            `query:"paused" default:"false" doc:"Only paused jobs."`
	Faulty         bool            `query:"faulty" default:"false" doc:"Only jobs with faults."`
	Failing        bool            `query:"failing" default:"false" doc:"Only jobs with items whose last execution was no success."`
	Sort           string          `query:"sort" enum:"name,status,next,ended,running,failing" default:"name" doc:"Order: by name; by status, CRASHED first and OK last; by next, that with the soonest tick first; by ended, that of which an execution has ended last first; by running or failing, that with most such items first. What has none is last, and what is equal is by name."`
	CacheControl   string          `header:"Cache-Control" maxLength:"255" doc:"With no-cache, the store is read for this request alone."`
}

// JobsPage is a part of the jobs.
type JobsPage struct {
	Rows   []ops.JobInfo `json:"rows" nullable:"false" doc:"Those of this page, in the order that was asked for."`
	Next   string        `json:"next,omitempty" doc:"Cursor of the next page: parameter after. Empty if this is the last one."`
	Totals ops.Totals    `json:"totals" doc:"Those of all jobs that are wanted and that you may see, on whichever page."`
	AsOf   time.Time     `json:"asOf" doc:"When this was so, as far as the console knew: what was changed a moment before may be missing. With the header Cache-Control: no-cache the store is read."`
}

func (a *API) addJobs() {
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-jobs", Method: http.MethodGet, Path: namespacePath + "/jobs", Tags: tagJobs, Summary: "Jobs",
		Description: "In an order other than by name, a job that changes between two pages may be on both, or on none.",
	}, a.jobs)
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "get-job", Method: http.MethodGet, Path: jobPath, Tags: tagJobs, Summary: "All that there is to know of a job",
	}, of(a, func(ctx context.Context, j *ops.Job) (*answer[JobView], error) {
		d, err := j.Describe(ctx)
		if err != nil {
			return nil, err
		}
		return &answer[JobView]{*Detail(d)}, nil
	}))
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "get-job-info", Method: http.MethodGet, Path: jobPath + "/info", Tags: tagJobs, Summary: "What the list of jobs shows of a job",
	}, of(a, func(ctx context.Context, j *ops.Job) (*answer[ops.JobInfo], error) {
		info, err := j.Info(ctx)
		return &answer[ops.JobInfo]{info}, err
	}))
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "list-items", Method: http.MethodGet, Path: jobPath + "/items", Tags: tagJobs, Summary: "Items of a job, with what runs, by number",
	}, partsOf(a, "items", (*ops.Job).Items, func(i ops.ItemInfo) string { return fmt.Sprintf("%09d", i.Item) }))
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "list-job-instances", Method: http.MethodGet, Path: jobPath + "/instances", Tags: tagJobs, Summary: "Instances of a job, with their faults, by id",
	}, partsOf(a, "job instances", (*ops.Job).Instances, func(i ops.InstanceInfo) string { return i.ID }))
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "list-job-servers", Method: http.MethodGet, Path: jobPath + "/servers", Tags: tagJobs, Summary: "Servers that a job knows, by address",
	}, partsOf(a, "job servers", (*ops.Job).Servers, func(s ops.JobServer) string { return s.Server }))
	register(a, viewer(route.Job), huma.Operation{
		OperationID: "list-requests", Method: http.MethodGet, Path: jobPath + "/requests", Tags: tagJobs, Summary: "Triggers, retries and backfills of a job, oldest first",
		Description: "Those that have not ended, and those that have within the last hour.",
	}, partsOf(a, "requests", (*ops.Job).Requests, func(r ops.RequestState) string { return r.ID }))
}

// maxParts bounds the items, instances and servers of a JobView, and so on.
const maxParts = 1000

// JobView is a job as a client sees it.
type JobView struct {
	ops.JobDetail
	More MoreParts `json:"more,omitzero" doc:"What the lists leave out, which have 1,000 rows each: routes of their own have all."`
}

// MoreParts says how many there are beside those that are listed.
type MoreParts struct {
	Items     int `json:"items,omitempty" doc:"How many items are left out."`
	Instances int `json:"instances,omitempty" doc:"How many instances are left out."`
	Servers   int `json:"servers,omitempty" doc:"How many servers are left out."`
	Faults    int `json:"faults,omitempty" doc:"How many faults are left out."`
	Requests  int `json:"requests,omitempty" doc:"How many requests are left out."`
}

// Detail returns a job as a client sees it: lists are bounded, and never null; secrets are hidden.
func Detail(d *ops.JobDetail) *JobView {
	v := &JobView{JobDetail: *d}
	v.Document = veil.Document(d.Document)
	v.Items, v.More.Items = first(notNil(d.Items))
	v.Instances, v.More.Instances = first(notNil(d.Instances))
	v.Servers, v.More.Servers = first(notNil(d.Servers))
	v.Faults, v.More.Faults = first(d.Faults)
	v.Requests, v.More.Requests = first(d.Requests)
	return v
}

// first returns the first rows, and how many more there are.
func first[T any](rows []T) ([]T, int) {
	n := min(len(rows), maxParts)
	return rows[:n], len(rows) - n
}

// of returns the handler of a question about a job that has no parameters.
func of[O any](a *API, ask func(context.Context, *ops.Job) (*O, error)) func(context.Context, *InJob) (*O, error) {
	return func(ctx context.Context, _ *InJob) (*O, error) {
		j, err := a.job(ctx)
		if err != nil {
			return nil, err
		}
		return ask(ctx, j)
	}
}

// InJobPage is a page of parts of a job.
type InJobPage struct {
	InJob
	InPage
}

// partsOf returns the handler of a list of parts of a job, which are in the order of their keys.
func partsOf[T any](a *API, kind string, list func(*ops.Job, context.Context) ([]T, error), key func(T) string) func(context.Context, *InJobPage) (*answer[Page[T]], error) {
	return func(ctx context.Context, in *InJobPage) (*answer[Page[T]], error) {
		j, err := a.job(ctx)
		if err != nil {
			return nil, err
		}
		return pageOf(&in.InPage, kind, key, func() ([]T, error) { return list(j, ctx) })
	}
}

func (a *API) jobs(ctx context.Context, in *JobsInput) (*answer[JobsPage], error) {
	kind, sort := "jobs", ops.SortByName
	if in.Sort != "name" {
		kind, sort = "jobs-by-"+in.Sort, ops.JobSort(in.Sort)
	}
	after, err := in.place(kind)
	if err != nil {
		return nil, err
	}
	list, asOf, err := a.list(ctx, strings.Contains(in.CacheControl, "no-cache"), ops.JobsQuery{
		Search: in.Search, Server: in.Server, Label: in.Label, Implementation: in.Implementation, Statuses: in.Status,
		Paused: in.Paused, Faulty: in.Faulty, Failing: in.Failing, Sort: sort, After: after, Limit: in.Limit,
	})
	if err != nil {
		return nil, err
	}
	return &answer[JobsPage]{JobsPage{notNil(list.Jobs), cursorTo(kind, list.Next), list.Totals, asOf.UTC()}}, nil
}

// list returns the jobs that a query is for, and when it was so: as they are known already, or as they stand in the store.
func (a *API) list(ctx context.Context, isFresh bool, q ops.JobsQuery) (*ops.JobList, time.Time, error) {
	if isFresh || a.Jobs == nil || q.Server != "" { // what is known does not say who the servers of a job are
		o, err := a.ops(ctx)
		if err != nil {
			return nil, time.Time{}, err
		}
		asOf := time.Now()
		list, err := o.Jobs(ctx, q)
		return list, asOf, err
	}
	known, asOf, err := a.Jobs(ctx, route.At(ctx).Namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	all := seesAll(ctx)
	list, err := q.List(func(yield func(*ops.JobInfo) bool) {
		for _, info := range known {
			if (all || sees(ctx, info.Name)) && !yield(info) {
				return
			}
		}
	})
	return list, asOf, err
}
