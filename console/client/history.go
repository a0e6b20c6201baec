package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Execution is one run of one item, all its attempts together.
type Execution struct {
	ID       string          `json:"id"`
	TaskID   string          `json:"taskId"`
	Job      string          `json:"job"`
	Item     int             `json:"item"`
	Instance string          `json:"instance,omitempty"`
	Hostname string          `json:"hostname,omitempty"`
	Address  string          `json:"address,omitempty"`
	Source   string          `json:"source,omitempty"`
	Tick     time.Time       `json:"tick,omitzero"`
	Begun    time.Time       `json:"begun,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"`
	Waited   float64         `json:"waitedSeconds"`
	Duration float64         `json:"durationSeconds"`
	Token    int64           `json:"token,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
	Outcome  history.Outcome `json:"outcome"`
	Request  string          `json:"request,omitempty"`
	Original string          `json:"original,omitempty"` // id of the execution that it repeats
	Error    string          `json:"error,omitempty"`
	Output   string          `json:"output,omitempty"` // of a single execution
}

// Line is a line of the log of an execution.
type Line struct {
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	Level  string    `json:"level"`
	Text   string    `json:"text"`
}

// Status is a change of the state of an execution.
type Status struct {
	ID       string    `json:"id"`
	Job      string    `json:"job"`
	TaskID   string    `json:"taskId"`
	Original string    `json:"original,omitempty"`
	Address  string    `json:"address,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Source   string    `json:"source,omitempty"`
	Type     string    `json:"type"`
	Items    string    `json:"items"`
	State    string    `json:"state"`
	Message  string    `json:"message,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	Attempt  int       `json:"attempt,omitempty"`
}

// Event is something that has happened beside executions.
type Event struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Job      string    `json:"job,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Item     *int      `json:"item,omitempty"`
	Tick     time.Time `json:"tick,omitzero"`
	Ticks    int       `json:"ticks,omitempty"`
	Items    []int     `json:"items,omitempty"`
	From     string    `json:"from,omitempty"`
	What     string    `json:"what,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	By       string    `json:"by,omitempty"`
	Why      string    `json:"why,omitempty"`
	Before   string    `json:"before,omitempty"`
	After    string    `json:"after,omitempty"`
	Over     bool      `json:"over,omitempty"`
	Error    string    `json:"error,omitempty"`
}

// Count is how many executions have begun in an hour or on a day.
type Count struct {
	Start      time.Time                 `json:"start"`
	Executions map[history.Outcome]int64 `json:"executions"`
}

// Durations are how long executions took, in seconds.
type Durations struct {
	Executions int       `json:"executions"`
	P50        float64   `json:"p50Seconds"`
	P95        float64   `json:"p95Seconds"`
	P99        float64   `json:"p99Seconds"`
	Max        float64   `json:"maxSeconds"`
	Since      time.Time `json:"since,omitzero"`
	All        bool      `json:"all"`
}

// ExecutionsQuery says which executions are wanted. Who may see only some jobs has to name one.
type ExecutionsQuery struct {
	Job               string
	Items             []int
	Instance, Address string
	Source            string // MANUAL, …
	Outcomes          []history.Outcome
	Request           string
	From, To          time.Time
	Limit             int // rows of a page; default 100
}

// Executions goes over executions, the newest first.
//
// Errors of the past: ops.ErrNoHistory if the namespace has no database.
func (n *Namespace) Executions(ctx context.Context, q ExecutionsQuery) iter.Seq2[Execution, error] {
	return pages[Execution](ctx, n.c, q.values(), n.path("history", "executions")...)
}

func (q ExecutionsQuery) values() values {
	v := list(list(query().text("job", q.Job), "items", q.Items), "outcomes", q.Outcomes)
	return v.text("instance", q.Instance).text("address", q.Address).text("source", q.Source).text("request", q.Request).time("from", q.From).time("to", q.To).number("limit", q.Limit)
}

// WriteExecutions writes executions as CSV, the newest first, with a first row of names. q.Limit is how many there are at
// most, up to 100,000, which is the default. It takes as long as ctx allows, and is not tried again.
//
// Errors: those of Executions; one if what was written is not the whole; those of to.
func (n *Namespace) WriteExecutions(ctx context.Context, to io.Writer, q ExecutionsQuery) error {
	a := call{method: http.MethodGet, path: n.path("history", "executions.csv"), query: q.values().Values, header: map[string]string{"Accept": "text/csv"}}
	r, err := n.c.request(ctx, a, nil)
	if err != nil {
		return err
	}
	answer, err := n.c.http.Do(r)
	if err != nil {
		return fmt.Errorf("client: %s: %w", a.name(), withoutURL(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxDetail*4)) // what has come says enough
		return errorOf(a.name(), answer, text)
	}
	if _, err := io.Copy(to, answer.Body); err != nil {
		return fmt.Errorf("client: %s: %w", a.name(), err)
	}
	return nil
}

// Execution returns an execution, with its output.
func (n *Namespace) Execution(ctx context.Context, id string) (Execution, error) {
	return get[Execution](ctx, n.c, nil, n.path("history", "executions", id)...)
}

// Lines returns lines of the log of an execution: up to limit, after one.
func (n *Namespace) Lines(ctx context.Context, id string, after, limit int) ([]Line, error) {
	return rows[Line](ctx, n.c, query().number("after", after).number("limit", limit), n.path("history", "executions", id, "lines")...)
}

// Chain returns the executions of the same item for the same tick, the oldest first.
func (n *Namespace) Chain(ctx context.Context, id string) ([]Execution, error) {
	return rows[Execution](ctx, n.c, query(), n.path("history", "executions", id, "chain")...)
}

// Latest returns the newest execution of each item of the job, of up to 1,000 items from one on.
func (j *Job) Latest(ctx context.Context, from, limit int) ([]Execution, error) {
	v := query().number("limit", limit)
	v.Set("after", strconv.Itoa(from-1))
	return rows[Execution](ctx, j.n.c, v, j.path("latest")...)
}

// ColumnsQuery says which executions are wanted: those of Job that begin at From or later, and before To. All three are
// needed.
type ColumnsQuery struct {
	Job      string
	From, To time.Time
	Limit    int // up to 100,000, which is the default
}

// Columns are executions of a job, the newest last: each list of numbers has one for each execution, in the same order.
type Columns struct {
	Begin    time.Time `json:"begin"` // Ticks and Begun are in milliseconds since then
	IDs      []string  `json:"ids"`
	Items    []int     `json:"items"`
	Ticks    []int64   `json:"ticks"`    // -1: not known
	Begun    []int64   `json:"begun"`    // -1: not known
	Duration []int64   `json:"duration"` // in milliseconds; -1: it runs, or nobody has told
	// Outcome, Source and Instance are indexes of the texts in Outcomes, Sources and Instances.
	Outcome   []int             `json:"outcome"`
	Source    []int             `json:"source"`
	Instance  []int             `json:"instance"`
	Outcomes  []history.Outcome `json:"outcomes"`
	Sources   []string          `json:"sources"`
	Instances []string          `json:"instances"`
	More      bool              `json:"more"` // whether there are older ones in that time
}

// Columns returns many executions of a job.
func (n *Namespace) Columns(ctx context.Context, q ColumnsQuery) (Columns, error) {
	v := query().text("job", q.Job).time("from", q.From).time("to", q.To).number("limit", q.Limit)
	return get[Columns](ctx, n.c, v.Values, n.path("history", "columns")...)
}

// StatusesQuery says which changes of state are wanted.
type StatusesQuery struct {
	Job, TaskID string
	Type        string // READY or FAILOVER
	State       string // TASK_FINISHED, …
	From, To    time.Time
	Limit       int
}

// Statuses goes over changes of the states of executions, the newest first.
func (n *Namespace) Statuses(ctx context.Context, q StatusesQuery) iter.Seq2[Status, error] {
	v := query().text("job", q.Job).text("taskId", q.TaskID).text("type", q.Type).text("state", q.State).time("from", q.From).time("to", q.To).number("limit", q.Limit)
	return pages[Status](ctx, n.c, v, n.path("history", "statuses")...)
}

// EventsQuery says which events are wanted.
type EventsQuery struct {
	Job, Instance string
	Kinds         []string
	By, What      string
	From, To      time.Time
	Limit         int
}

// Events goes over what else has happened, the newest first.
func (n *Namespace) Events(ctx context.Context, q EventsQuery) iter.Seq2[Event, error] {
	v := list(query().text("job", q.Job).text("instance", q.Instance), "kinds", q.Kinds)
	v = v.text("by", q.By).text("what", q.What).time("from", q.From).time("to", q.To).number("limit", q.Limit)
	return pages[Event](ctx, n.c, v, n.path("history", "events")...)
}

// CountsQuery says what is counted.
type CountsQuery struct {
	Job      string
	Step     string // hour or day; default hour
	TimeZone string // default UTC
	From, To time.Time
}

func (q CountsQuery) values() values {
	return query().text("job", q.Job).text("step", q.Step).text("timeZone", q.TimeZone).time("from", q.From).time("to", q.To)
}

// Counts returns how many executions have ended, by hour or day.
func (n *Namespace) Counts(ctx context.Context, q CountsQuery) ([]Count, error) {
	return rows[Count](ctx, n.c, q.values(), n.path("history", "counts")...)
}

// Missed is how many ticks were missed, of which that was noticed in an hour or on a day. Those of each item count by
// themselves.
type Missed struct {
	Start   time.Time        `json:"start"`
	MadeUp  int64            `json:"madeUp"`  // an execution has made up for them
	Skipped map[string]int64 `json:"skipped"` // nobody runs them; by the text of jobtype.SkipReason
}

// Missed returns how many ticks were missed, by hour or day.
func (n *Namespace) Missed(ctx context.Context, q CountsQuery) ([]Missed, error) {
	return rows[Missed](ctx, n.c, q.values(), n.path("history", "missed")...)
}

// Durations returns how long the newest executions took.
func (n *Namespace) Durations(ctx context.Context, job string, from, to time.Time) (Durations, error) {
	return get[Durations](ctx, n.c, query().text("job", job).time("from", from).time("to", to).Values, n.path("history", "durations")...)
}

// HistoryJobs returns names of jobs that have executions, up to limit (default 100).
func (n *Namespace) HistoryJobs(ctx context.Context, prefix string, limit int) ([]string, error) {
	return rows[string](ctx, n.c, query().text("prefix", prefix).number("limit", limit), n.path("history", "jobs")...)
}

// HistoryAddresses returns addresses on which there were executions, up to limit (default 100).
func (n *Namespace) HistoryAddresses(ctx context.Context, prefix string, limit int) ([]string, error) {
	return rows[string](ctx, n.c, query().text("prefix", prefix).number("limit", limit), n.path("history", "addresses")...)
}
