package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// InExecution says which execution is meant.
type InExecution struct {
	InNamespace
	Execution string `path:"execution" maxLength:"255" doc:"Id of the execution: a task id."`
}

// InTime says which time is meant.
type InTime struct {
	From time.Time `query:"from" doc:"At this time or later. Default: the beginning."`
	To   time.Time `query:"to" doc:"Before this time. Default: the end."`
}

// ExecutionsInput says which executions are wanted.
type ExecutionsInput struct {
	InNamespace
	InPage
	InExecutions
}

// InExecutions is the part of a request that says which executions are wanted.
type InExecutions struct {
	InTime
	Job      string            `query:"job" maxLength:"255" doc:"Name of the job. Who may see only some jobs has to give it."`
	Items    []int             `query:"items" nullable:"false" maxItems:"1000" doc:"Items of the job, with commas between them."`
	Instance string            `query:"instance" maxLength:"255" doc:"Id of the instance that has run it."`
	Address  string            `query:"address" maxLength:"255" doc:"Address of the server that has run it."`
	Source   string            `query:"source" enum:"NORMAL_TRIGGER,MISFIRE,FAILOVER,MANUAL,RETRY,BACKFILL" doc:"Why it ran."`
	Outcomes []history.Outcome `query:"outcomes" nullable:"false" maxItems:"8" enum:"OK,FAILED,PANIC,TIMEOUT,CUT,KILLED,RUNNING,LOST" doc:"How it has ended, with commas between them."`
	Request  string            `query:"request" maxLength:"255" doc:"Id of the request for which it ran."`
}

// filter returns what a request wants.
func (in *InExecutions) filter() history.ExecutionFilter {
	return history.ExecutionFilter{
		Job: in.Job, Items: in.Items, Instance: in.Instance, IP: in.Address, Source: sourceOf(in.Source), Outcomes: in.Outcomes, RequestID: in.Request,
		From: in.From, To: in.To,
	}
}

// LinesInput says which lines of a log are wanted.
type LinesInput struct {
	InExecution
	After int `query:"after" minimum:"0" default:"0" doc:"Number of the line before the first one that is wanted."`
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many lines at most."`
}

// LatestInput is a page of the newest executions of the items of a job.
type LatestInput struct {
	InJob
	After int `query:"after" minimum:"-1" default:"-1" doc:"The item before the first one that is wanted."`
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many items at most."`
}

// StatusesInput says which changes of state are wanted.
type StatusesInput struct {
	InNamespace
	InPage
	InTime
	Job    string `query:"job" maxLength:"255" doc:"Name of the job. Who may see only some jobs has to give it."`
	TaskID string `query:"taskId" maxLength:"255" doc:"Task id of the execution."`
	Type   string `query:"type" enum:"READY,FAILOVER" doc:"Type of the execution."`
	State  string `query:"state" maxLength:"50" doc:"State, such as TASK_FINISHED."`
}

// EventsInput says which events are wanted.
type EventsInput struct {
	InNamespace
	InShortPage
	InTime
	Job      string   `query:"job" maxLength:"255" doc:"Name of the job. Who may see only some jobs has to give it."`
	Instance string   `query:"instance" maxLength:"255" doc:"Id of the instance that has seen it."`
	Kinds    []string `query:"kinds" nullable:"false" maxItems:"20" doc:"Kinds, with commas between them, such as operated."`
	By       string   `query:"by" maxLength:"255" doc:"Who it was."`
	What     string   `query:"what" maxLength:"255" doc:"The action of the kind operated, and the like."`
}

// CountsInput says what is counted.
type CountsInput struct {
	InNamespace
	InTime
	Job  string `query:"job" maxLength:"255" doc:"Name of the job. Who may see only some jobs has to give it."`
	Step string `query:"step" enum:"hour,day" default:"hour" doc:"In hours or in days."`
	Zone string `query:"timeZone" maxLength:"100" default:"UTC" doc:"Whose hours and days: an IANA name, or an offset such as GMT+08:00."`
}

// DurationsInput says whose durations are wanted.
type DurationsInput struct {
	InNamespace
	InTime
	Job string `query:"job" maxLength:"255" doc:"Name of the job. Who may see only some jobs has to give it."`
}

// NamesInput says which names are wanted.
type NamesInput struct {
	InNamespace
	Prefix string `query:"prefix" maxLength:"255" doc:"How the names begin."`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many names at most."`
}

func (a *API) addHistory() {
	get := func(id, path, summary, description string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Tags: tagHistory, Summary: summary, Description: description}
	}
	base := namespacePath + "/history"
	register(a, viewer(route.SomeJobs), get("list-executions", base+"/executions", "Executions, newest first", ""), a.executions)
	registerStream(a, viewer(route.SomeJobs), file(get("export-executions", base+"/executions.csv", "Executions as a file for spreadsheets, newest first",
		"RFC 4180, with a first row of names. A text that a spreadsheet would take for a formula has an apostrophe before it. "+
			"If the database fails, the connection is cut: a file that has an end is whole."), "text/csv"), a.executionsFile)
	register(a, viewer(route.SomeJobs), get("get-columns", base+"/columns", "Many executions of a job as columns, newest last",
		"For timelines: each list of numbers has one for each execution, in the same order."), a.columns)
	register(a, viewer(route.SomeJobs), get("list-lanes", base+"/lanes", "What has become of all jobs in a time, in cells",
		"For timelines of all jobs. A database knows jobs by their names: those of other namespaces whose history is in it are among them, if you may see them."), a.lanes)
	register(a, viewer(route.SomeJobs), get("get-execution", base+"/executions/{execution}", "Execution, with the end of its output", ""), a.execution)
	register(a, viewer(route.SomeJobs), get("list-lines", base+"/executions/{execution}/lines", "Lines of the log of an execution",
		"Of one that runs they may be asked for again and again, after the last one that is there."), a.lines)
	register(a, viewer(route.SomeJobs), get("get-chain", base+"/executions/{execution}/chain", "Executions of the same item for the same tick, oldest first",
		"Failovers, retries and what else repeats it, itself among them."), a.chain)
	register(a, viewer(route.Job), get("list-latest", jobPath+"/latest", "Newest execution of each item of a job, by item", ""), a.latest)
	register(a, viewer(route.SomeJobs), get("list-statuses", base+"/statuses", "Changes of the states of executions, newest first", "As ElasticJob's console shows them."), a.statuses)
	register(a, viewer(route.SomeJobs), get("list-events", base+"/events", "What else has happened, newest first", "Also what operators have changed: the kind operated."), a.events)
	register(a, viewer(route.SomeJobs), get("count-executions", base+"/counts", "How many executions have ended, by hour or day",
		"Of the last 24 hours or 30 days, if no time is given. Hours and days without any are left out."), a.counts)
	register(a, viewer(route.SomeJobs), get("count-missed", base+"/missed", "How many ticks were missed, by hour or day",
		"Of the last 24 hours or 30 days, if no time is given. Those of each item count by themselves, when it was noticed that they were missed. "+
			"Hours and days without any are left out. Ticks of a pause are none of them, nor those of jobs that keep no record of what runs."), a.missed)
	register(a, viewer(route.SomeJobs), get("get-durations", base+"/durations", "How long executions took", "The newest 2,000."), a.durations)
	register(a, viewer(route.SomeJobs), get("list-history-jobs", base+"/jobs", "Names of jobs that have executions",
		"Those that you may not see are left out, so there may be fewer than the limit although more follow."), a.historyJobs)
	// Addresses are of all jobs.
	register(a, viewer(route.AllJobs), get("list-history-addresses", base+"/addresses", "Addresses on which there were executions", ""), a.historyAddresses)
}

// past returns what answers a question about the past of a job, or of all jobs if it is empty. Whoever asks
// for all of them needs to see all jobs of all namespaces whose history is in the same database.
func (a *API) past(ctx context.Context, job string) (history.Reader, error) {
	if job == "" && !a.seesDatabase(ctx) {
		return nil, fmt.Errorf("%w: the past of all jobs of namespace %s: name one, in parameter job", route.ErrDenied, brief.Quote(route.At(ctx).Namespace))
	}
	if job != "" && !a.seesPast(ctx, job) {
		return nil, fmt.Errorf("%w: the past of job %s: you need to see jobs of its name in each namespace that has its history in the same database", route.ErrDenied, brief.Quote(job))
	}
	return a.history(ctx)
}

// seesPast reports whether who asks may see the past of a job. A database knows jobs by their names only, so
// he has to see those of the name in each of its namespaces.
func (a *API) seesPast(ctx context.Context, job string) bool {
	return a.everyNamespace(ctx, func(p *access.Principal, namespace string) bool { return p.May(access.Viewer, namespace, job) })
}

func (a *API) seesDatabase(ctx context.Context) bool {
	return a.everyNamespace(ctx, func(p *access.Principal, namespace string) bool { return p.MayAll(access.Viewer, namespace) })
}

// everyNamespace reports whether something holds for who asks, in each namespace whose history is in the database of
// that of the request.
func (a *API) everyNamespace(ctx context.Context, holds func(p *access.Principal, namespace string) bool) bool {
	p, here := access.From(ctx), route.At(ctx).Namespace
	all := a.Connections.Namespaces()
	database := ""
	for _, n := range all {
		if n.Name == here {
			database = n.Database
		}
	}
	for _, n := range all {
		if (n.Name == here || database != "" && n.Database == database) && !holds(p, n.Name) {
			return false
		}
	}
	return true
}

// one returns an execution that who asks may see. One that he may not see is not there.
func (a *API) one(ctx context.Context, id string) (history.Reader, history.Execution, error) {
	reader, err := a.history(ctx)
	if err != nil {
		return nil, history.Execution{}, err
	}
	x, err := reader.Execution(ctx, id)
	if errors.Is(err, history.ErrNotFound) || err == nil && !a.seesPast(ctx, x.Job) {
		err = history.ErrNotFound // the same for both, to the letter
	}
	return reader, x, err
}

func (a *API) executions(ctx context.Context, in *ExecutionsInput) (*answer[Page[ExecutionInfo]], error) {
	after, err := in.place("executions")
	if err != nil {
		return nil, err
	}
	reader, err := a.past(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	f := in.filter()
	f.After, f.Limit = history.Cursor(after), in.Limit
	page, err := reader.Executions(ctx, f)
	return paged(each(page.Rows, executionOf), cursorTo("executions", string(page.Next))), err
}

func (a *API) execution(ctx context.Context, in *InExecution) (*answer[ExecutionInfo], error) {
	_, x, err := a.one(ctx, in.Execution)
	return &answer[ExecutionInfo]{executionOf(x)}, err
}

func (a *API) lines(ctx context.Context, in *LinesInput) (*answer[List[LineInfo]], error) {
	reader, x, err := a.one(ctx, in.Execution)
	if err != nil {
		return nil, err
	}
	rows, err := reader.Lines(ctx, x.ID, in.After, in.Limit)
	return listed(each(rows, lineOf)), err
}

func (a *API) chain(ctx context.Context, in *InExecution) (*answer[List[ExecutionInfo]], error) {
	reader, x, err := a.one(ctx, in.Execution)
	if err != nil {
		return nil, err
	}
	rows, err := reader.Chain(ctx, x)
	return listed(each(rows, executionOf)), err
}

func (a *API) latest(ctx context.Context, in *LatestInput) (*answer[List[ExecutionInfo]], error) {
	reader, err := a.past(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	rows, err := reader.Latest(ctx, in.Job, in.After, in.Limit)
	return listed(each(rows, executionOf)), err
}

func (a *API) statuses(ctx context.Context, in *StatusesInput) (*answer[Page[StatusInfo]], error) {
	after, err := in.place("statuses")
	if err != nil {
		return nil, err
	}
	reader, err := a.past(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	page, err := reader.Statuses(ctx, history.StatusFilter{
		Job: in.Job, TaskID: in.TaskID, ExecutionType: in.Type, State: in.State, From: in.From, To: in.To, After: history.Cursor(after), Limit: in.Limit,
	})
	return paged(each(page.Rows, statusOf), cursorTo("statuses", string(page.Next))), err
}

func (a *API) events(ctx context.Context, in *EventsInput) (*answer[Page[EventInfo]], error) {
	after, err := (&InPage{After: in.After}).place("events")
	if err != nil {
		return nil, err
	}
	f := history.EventFilter{Job: in.Job, Instance: in.Instance, By: in.By, What: in.What, From: in.From, To: in.To, After: history.Cursor(after), Limit: in.Limit}
	for _, name := range in.Kinds {
		kind := kindOf(name)
		if kind == 0 {
			return nil, refuse("query.kinds", "there is no such kind; there are %s", kindNames())
		}
		f.Kinds = append(f.Kinds, kind)
	}
	reader, err := a.past(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	page, err := reader.Events(ctx, f)
	return paged(each(page.Rows, eventOf), cursorTo("events", string(page.Next))), err
}

func (a *API) counts(ctx context.Context, in *CountsInput) (*answer[List[CountInfo]], error) {
	reader, q, err := a.counting(ctx, in)
	if err != nil {
		return nil, err
	}
	rows, err := reader.Counts(ctx, q)
	return listed(each(rows, countOf)), err
}

func (a *API) missed(ctx context.Context, in *CountsInput) (*answer[List[MissedInfo]], error) {
	reader, q, err := a.counting(ctx, in)
	if err != nil {
		return nil, err
	}
	rows, err := reader.Missed(ctx, q)
	return listed(each(rows, missedOf)), err
}

// counting returns what is to be counted, and who can.
func (a *API) counting(ctx context.Context, in *CountsInput) (history.Reader, history.CountQuery, error) {
	q := history.CountQuery{Job: in.Job, From: in.From, To: in.To, Step: history.Hourly}
	span := 24 * time.Hour
	if in.Step == "day" {
		q.Step, span = history.Daily, 30*24*time.Hour
	}
	if q.To.IsZero() {
		q.To = time.Now().Add(15 * time.Minute) // it is moved to the quarter before
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-span)
	}
	var err error
	if q.Zone, err = zoneOf(in.Zone); err != nil {
		return nil, q, err
	}
	reader, err := a.past(ctx, in.Job)
	return reader, q, err
}

func (a *API) durations(ctx context.Context, in *DurationsInput) (*answer[DurationsInfo], error) {
	reader, err := a.past(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	d, err := reader.Durations(ctx, in.Job, in.From, in.To)
	return &answer[DurationsInfo]{DurationsInfo{
		Executions: d.Executions, P50: d.P50.Seconds(), P95: d.P95.Seconds(), P99: d.P99.Seconds(), Max: d.Max.Seconds(), Since: d.Since, All: d.All,
	}}, err
}

func (a *API) historyJobs(ctx context.Context, in *NamesInput) (*answer[List[string]], error) {
	reader, err := a.history(ctx)
	if err != nil {
		return nil, err
	}
	names, err := reader.JobNames(ctx, in.Prefix, in.Limit)
	var rows []string
	for _, name := range names {
		if a.seesPast(ctx, name) {
			rows = append(rows, name)
		}
	}
	return listed(rows), err
}

func (a *API) historyAddresses(ctx context.Context, in *NamesInput) (*answer[List[string]], error) {
	reader, err := a.past(ctx, "")
	if err != nil {
		return nil, err
	}
	rows, err := reader.Addresses(ctx, in.Prefix, in.Limit)
	return listed(rows), err
}

// sourceOf returns the source of a name; 0 if there is none.
func sourceOf(name string) jobtype.Source {
	for s := jobtype.SourceNormal; s <= jobtype.SourceBackfill; s++ {
		if s.String() == name {
			return s
		}
	}
	return 0
}

// kindOf returns the kind of a name; 0 if there is none.
func kindOf(name string) jobtype.EventKind {
	for k := jobtype.EventClaimed; k <= jobtype.EventOperated; k++ {
		if k.String() == name {
			return k
		}
	}
	return 0
}
