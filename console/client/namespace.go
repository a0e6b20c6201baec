package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Version returns the version of the console's program.
func (c *Client) Version(ctx context.Context) (string, error) {
	root, err := get[struct {
		Version string            `json:"version"`
		Links   map[string]string `json:"links"`
	}](ctx, c, nil)
	return root.Version, err
}

// OpenAPI returns the document that describes the API, as JSON.
func (c *Client) OpenAPI(ctx context.Context) ([]byte, error) {
	var document []byte
	err := c.do(ctx, call{method: http.MethodGet, path: []string{"openapi.json"}, out: &document})
	return document, err
}

// NamespaceInfo is a namespace that the caller may see something of.
type NamespaceInfo struct {
	Name     string `json:"name"`
	Database string `json:"database,omitempty"` // of its history; empty if there is none
	AllJobs  bool   `json:"allJobs"`            // whether all of its jobs may be seen
}

// Namespaces returns the namespaces that the caller may see something of, by name.
func (c *Client) Namespaces(ctx context.Context) ([]NamespaceInfo, error) {
	return rows[NamespaceInfo](ctx, c, query(), "namespaces")
}

// Cron is what a cron expression means.
type Cron struct {
	Expression  string      `json:"expression"` // written in the same way for all that mean the same
	TimeZone    string      `json:"timeZone"`
	Explanation string      `json:"explanation"`
	Ticks       []time.Time `json:"ticks"` // the next ones
}

// CronQuery asks what a cron expression means.
type CronQuery struct {
	Expression string
	TimeZone   string // default UTC
	Language   string // en or zh; default en
	Count      int    // of ticks: 1 to 100; default 10
}

// Cron explains a cron expression.
func (c *Client) Cron(ctx context.Context, q CronQuery) (Cron, error) {
	v := query().text("expression", q.Expression).text("timeZone", q.TimeZone).text("language", q.Language).number("count", q.Count)
	return get[Cron](ctx, c, v.Values, "cron")
}

// Namespace is a namespace by the name that the console has for it. It is a value that is never changed.
type Namespace struct {
	c     *Client
	name  string
	isDry bool
}

// Namespace returns a namespace. Nothing is asked for yet.
func (c *Client) Namespace(name string) *Namespace { return &Namespace{c: c, name: name} }

// DryRun returns the same namespace, whose changes are checked and answered, but not made.
func (n *Namespace) DryRun() *Namespace { return &Namespace{n.c, n.name, true} }

// path returns a path below the namespace.
func (n *Namespace) path(segments ...string) []string {
	return append([]string{"namespaces", n.name}, segments...)
}

// change sends a change.
func (n *Namespace) change(ctx context.Context, a call) error {
	if a.query == nil {
		a.query = query().Values
	}
	if n.isDry {
		a.query.Set("dryRun", "true")
		a.isSafe = true // nothing is changed
	}
	a.path = n.path(a.path...)
	return n.c.do(ctx, a)
}

// Changed is what a change has changed: the entries of the audit that it has made. There are none if all was as it
// should be already.
type Changed struct {
	DryRun  bool         `json:"dryRun,omitempty"`
	Changes []ops.Change `json:"changes"`
}

// JobsQuery says which jobs are wanted. The zero query is for all.
type JobsQuery struct {
	Search                  string // part of the name, the description or the implementation
	Server                  string // address
	Label, Implementation   string
	Statuses                []ops.JobStatus
	Paused, Faulty, Failing bool
	Sort                    ops.JobSort // default by name
	Limit                   int         // rows of a page, up to 1,000; default 100
	After                   string      // JobsPage.Next of the page before
}

func (q JobsQuery) values() values {
	v := query().text("search", q.Search).text("server", q.Server).text("label", q.Label).text("implementation", q.Implementation)
	return list(v, "status", q.Statuses).flag("paused", q.Paused).flag("faulty", q.Faulty).flag("failing", q.Failing).text("sort", string(q.Sort)).number("limit", q.Limit).text("after", q.After)
}

// JobsPage is a part of the jobs, with the totals of all.
type JobsPage struct {
	Rows   []ops.JobInfo `json:"rows"`
	Next   string        `json:"next,omitempty"` // empty if this is the last page
	Totals ops.Totals    `json:"totals"`
	AsOf   time.Time     `json:"asOf"` // this is how it was then, or later
}

// JobsPage returns a page of the jobs, in the order of q.Sort.
func (n *Namespace) JobsPage(ctx context.Context, q JobsQuery) (JobsPage, error) {
	return get[JobsPage](ctx, n.c, q.values().Values, n.path("jobs")...)
}

// Jobs goes over all jobs, in the order of q.Sort.
func (n *Namespace) Jobs(ctx context.Context, q JobsQuery) iter.Seq2[ops.JobInfo, error] {
	return func(yield func(ops.JobInfo, error) bool) {
		q := q
		for {
			p, err := n.JobsPage(ctx, q)
			if err != nil {
				yield(ops.JobInfo{}, err)
				return
			}
			for _, row := range p.Rows {
				if !yield(row, nil) {
					return
				}
			}
			if q.After = p.Next; q.After == "" {
				return
			}
		}
	}
}

// Instances goes over the instances of all jobs, by job and id.
func (n *Namespace) Instances(ctx context.Context) iter.Seq2[ops.InstanceInfo, error] {
	return pages[ops.InstanceInfo](ctx, n.c, query(), n.path("instances")...)
}

// Servers goes over the servers of all jobs, by address.
func (n *Namespace) Servers(ctx context.Context) iter.Seq2[ops.ServerInfo, error] {
	return pages[ops.ServerInfo](ctx, n.c, query(), n.path("servers")...)
}

// Processes goes over the processes that show what they have, by id. It needs all jobs.
func (n *Namespace) Processes(ctx context.Context) iter.Seq2[ops.ProcessInfo, error] {
	return pages[ops.ProcessInfo](ctx, n.c, query(), n.path("processes")...)
}

// RemovedJob is a job that was removed, and that no program sets up again.
type RemovedJob struct {
	Name      string    `json:"name"`
	By        string    `json:"by,omitempty"`
	Why       string    `json:"why,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Revision  int       `json:"revision,omitempty"` // a program with a higher one sets the job up again
	Expired   bool      `json:"expired,omitempty"`
	Migration string    `json:"migration,omitempty"`
	Error     string    `json:"error,omitempty"` // why nothing of this can be told
}

// Removed goes over the jobs that were removed, by name.
func (n *Namespace) Removed(ctx context.Context) iter.Seq2[RemovedJob, error] {
	return pages[RemovedJob](ctx, n.c, query(), n.path("removed")...)
}

// AuditQuery says which changes are wanted.
type AuditQuery struct {
	Job, By  string
	Action   ops.Action
	From, To time.Time
	Limit    int // rows of a page, up to 200; default 50
}

// AuditEntry is a change that an operator has made.
type AuditEntry struct {
	ops.Change
	Error string `json:"error,omitempty"` // why nothing of this can be told but the id
}

// Audit goes over what operators have changed, the newest first.
func (n *Namespace) Audit(ctx context.Context, q AuditQuery) iter.Seq2[AuditEntry, error] {
	v := query().text("job", q.Job).text("by", q.By).text("action", string(q.Action)).time("from", q.From).time("to", q.To).number("limit", q.Limit)
	return pages[AuditEntry](ctx, n.c, v, n.path("audit")...)
}

// Findings examines the namespace: what is wrong, and what to do about it.
func (n *Namespace) Findings(ctx context.Context) (doctor.Report, error) {
	return get[doctor.Report](ctx, n.c, nil, n.path("findings")...)
}

// CalendarInfo is a calendar of the namespace.
type CalendarInfo struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	Error   string `json:"error,omitempty"` // why it cannot be read
}

// Calendar is a calendar with its document.
type Calendar struct {
	CalendarInfo
	Document string   `json:"document"`
	Jobs     []string `json:"jobs"` // that name it
	// ETag is for PutCalendar and RemoveCalendar.
	ETag string `json:"-"`
}

// Calendars goes over the calendars, by name.
func (n *Namespace) Calendars(ctx context.Context) iter.Seq2[CalendarInfo, error] {
	return pages[CalendarInfo](ctx, n.c, query(), n.path("calendars")...)
}

// Calendar returns a calendar.
func (n *Namespace) Calendar(ctx context.Context, name string) (Calendar, error) {
	var one Calendar
	err := n.c.do(ctx, call{method: http.MethodGet, path: n.path("calendars", name), out: &one, etag: &one.ETag})
	return one, err
}

// Days are some days by the clock of a calendar's zone.
type Days struct {
	From time.Time // the date of the first one, whatever its zone; default today
	Days int       // 1 to 366; default 31
}

func (d Days) values() values {
	v := query().number("days", d.Days)
	if !d.From.IsZero() {
		v.Set("from", d.From.Format(time.DateOnly))
	}
	return v
}

// CalendarPlan is what a calendar leaves out of some days, by the clock of its zone.
type CalendarPlan struct {
	TimeZone string         `json:"timeZone,omitempty"`
	From     time.Time      `json:"from,omitzero"`
	To       time.Time      `json:"to,omitzero"`
	Rows     []CalendarSpan `json:"rows"`            // in their order
	More     bool           `json:"more"`            // whether there are more than 10,000 of them
	Error    string         `json:"error,omitempty"` // why the calendar cannot be read
}

// CalendarSpan is a time in which jobs have no ticks: from From on, and before To.
type CalendarSpan struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// CalendarPlan returns what a calendar leaves out.
func (n *Namespace) CalendarPlan(ctx context.Context, name string, d Days) (CalendarPlan, error) {
	return get[CalendarPlan](ctx, n.c, d.values().Values, n.path("calendars", name, "plan")...)
}

// PlanCalendar returns what a calendar would leave out. Nothing is changed.
//
// Errors: ErrInvalid if the document cannot be read.
func (n *Namespace) PlanCalendar(ctx context.Context, document string, d Days) (out CalendarPlan, err error) {
	body := struct {
		Document string `json:"document"`
	}{document}
	err = n.c.do(ctx, call{method: http.MethodPost, path: n.path("calendars:plan"), query: d.values().Values, body: body, out: &out, isSafe: true})
	return out, err
}

// CalendarChanged says what a calendar that was written does.
type CalendarChanged struct {
	Changed
	Jobs []string `json:"jobs"` // that name it
	Idle []string `json:"idle"` // those that have no tick to come by it
}

// Any is the ETag for who does not mind which version something has, as long as it is there.
const Any = "*"

// PutCalendar writes a calendar. etag is that of the one to be replaced, or Any; empty if there has to be none.
//
// Errors: ErrChanged, which is ops.ErrCalendarChanged, too.
func (n *Namespace) PutCalendar(ctx context.Context, name, document, etag string) (out CalendarChanged, err error) {
	body := struct {
		Document string `json:"document"`
	}{document}
	err = n.change(ctx, call{method: http.MethodPut, path: []string{"calendars", name}, header: precondition(etag), body: body, out: &out})
	return out, err
}

// precondition returns the header that says which version has to be there.
func precondition(etag string) map[string]string {
	if etag == "" {
		return map[string]string{"If-None-Match": "*"}
	}
	return map[string]string{"If-Match": etag}
}

// RemoveCalendar removes a calendar, if it is that of an ETag, or Any; if it is forced, also while jobs name it.
//
// Errors: ErrChanged, which is ops.ErrCalendarChanged, too; ops.ErrCalendarUsed.
func (n *Namespace) RemoveCalendar(ctx context.Context, name, etag string, force bool) (out Changed, err error) {
	header := map[string]string{"If-Match": etag}
	err = n.change(ctx, call{method: http.MethodDelete, path: []string{"calendars", name}, header: header, query: query().flag("force", force).Values, out: &out})
	return out, err
}

// JobProblem is what is wrong with one of several jobs.
type JobProblem struct {
	Code   string `json:"code"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// Outcome is what has become of one of several jobs.
type Outcome struct {
	Job     string       `json:"job"`
	Changes []ops.Change `json:"changes"`
	Request string       `json:"request,omitempty"` // id of the request that a trigger has made
	Problem *JobProblem  `json:"error,omitempty"`
}

// Err returns why the job is not as it was to be, as an *Error; nil if it is.
func (o *Outcome) Err() error {
	if o.Problem == nil {
		return nil
	}
	return &Error{Request: "job " + o.Job, Status: o.Problem.Status, Code: o.Problem.Code, Detail: o.Problem.Detail, Changes: o.Changes}
}

// Outcomes are what has become of several jobs.
type Outcomes struct {
	DryRun   bool      `json:"dryRun,omitempty"`
	Outcomes []Outcome `json:"outcomes"`
	Failed   int       `json:"failed"`            // how many jobs are not as they were to be
	Untried  string    `json:"untried,omitempty"` // why jobs are left out
}

// BatchAction is what can be done with many jobs.
type BatchAction string

// The actions of a Batch. Disable and enable are about all servers of a job.
const (
	BatchPause   BatchAction = "pause"
	BatchResume  BatchAction = "resume"
	BatchTrigger BatchAction = "trigger"
	BatchDisable BatchAction = "disable"
	BatchEnable  BatchAction = "enable"
)

// Batch says what is to be done with many jobs.
type Batch struct {
	Action    BatchAction `json:"action"`
	Jobs      []string    `json:"jobs"` // 1 to 1,000, each once
	Why       string      `json:"why,omitempty"`
	MakeUp    bool        `json:"makeUp,omitempty"`    // of a pause
	Parameter string      `json:"parameter,omitempty"` // of a trigger
	// Key is the idempotency key of triggers. Default: one for this call.
	Key string `json:"-"`
}

// Batch does the same with many jobs, each by itself.
func (n *Namespace) Batch(ctx context.Context, b Batch) (out Outcomes, err error) {
	if b.Key == "" {
		b.Key = newKey()
	}
	// All of these can be sent again: what is so already is no change.
	err = n.change(ctx, call{method: http.MethodPost, path: []string{"jobs:batch"}, header: keyed(b.Key), body: b, out: &out, isSafe: true})
	return out, err
}

func keyed(key string) map[string]string { return map[string]string{"Idempotency-Key": key} }

// Server is a server in all jobs that have it. Its changes need all jobs.
type Server struct {
	n       *Namespace
	address string
}

// Server returns a server by its address.
func (n *Namespace) Server(address string) *Server { return &Server{n, address} }

// Jobs returns the jobs that have the server, by name.
func (s *Server) Jobs(ctx context.Context) ([]ops.JobServer, error) {
	return rows[ops.JobServer](ctx, s.n.c, query(), s.n.path("servers", s.address, "jobs")...)
}

// Disable keeps its instances from having items, job by job.
func (s *Server) Disable(ctx context.Context) (Outcomes, error) { return s.all(ctx, "disable", "") }

// Enable ends Disable.
func (s *Server) Enable(ctx context.Context) (Outcomes, error) { return s.all(ctx, "enable", "") }

// Shutdown has its instances leave their jobs.
func (s *Server) Shutdown(ctx context.Context, why string) (Outcomes, error) {
	return s.all(ctx, "shutdown", why)
}

// Remove has its instances leave their jobs, and forgets it.
func (s *Server) Remove(ctx context.Context) (Outcomes, error) { return s.all(ctx, "remove", "") }

func (s *Server) all(ctx context.Context, verb, why string) (out Outcomes, err error) {
	err = s.n.change(ctx, call{method: http.MethodPost, path: []string{"servers", s.address, verb}, query: query().text("why", why).Values, out: &out})
	return out, err
}
