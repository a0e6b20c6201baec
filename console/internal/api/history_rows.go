package api

import (
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/console/internal/veil"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// ExecutionInfo is one run of one item, all its attempts together.
type ExecutionInfo struct {
	ID        string          `json:"id"`
	TaskID    string          `json:"taskId" doc:"As ElasticJob has it: a JVM's is that of many executions."`
	Job       string          `json:"job"`
	Item      int             `json:"item"`
	Instance  string          `json:"instance,omitempty"`
	Hostname  string          `json:"hostname,omitempty"`
	Address   string          `json:"address,omitempty"`
	Source    string          `json:"source,omitempty" doc:"Why it ran."`
	Tick      time.Time       `json:"tick,omitzero" doc:"What it ran for."`
	Started   time.Time       `json:"started,omitzero"`
	Completed time.Time       `json:"completed,omitzero"`
	Waited    float64         `json:"waitedSeconds" doc:"For a thread."`
	Duration  float64         `json:"durationSeconds"`
	Token     int64           `json:"token,omitempty" doc:"Fencing token."`
	Attempts  int             `json:"attempts,omitempty"`
	Outcome   history.Outcome `json:"outcome" doc:"OK, FAILED, PANIC, TIMEOUT, CUT, KILLED, RUNNING, LOST, or a word of a later version."`
	Request   string          `json:"request,omitempty" doc:"Id of the request for which it ran."`
	Original  string          `json:"original,omitempty" doc:"Id of the execution that it repeats."`
	Error     string          `json:"error,omitempty"`
	Output    string          `json:"output,omitempty" doc:"End of what the handler has kept; only of a single execution."`
}

func executionOf(x history.Execution) ExecutionInfo {
	info := ExecutionInfo{
		ID: x.ID, TaskID: x.TaskID, Job: x.Job, Item: x.Item, Instance: x.Instance, Hostname: x.Hostname, Address: x.IP,
		Tick: x.ScheduledTime, Started: x.StartTime, Completed: x.CompleteTime, Waited: x.Waited.Seconds(), Duration: x.Duration.Seconds(),
		Token: x.Token, Attempts: x.Attempts, Outcome: x.Outcome, Request: x.RequestID, Original: x.OriginalTaskID, Error: x.Error, Output: x.Output,
	}
	if x.Source != 0 {
		info.Source = x.Source.String()
	}
	return info
}

// LineInfo is a line of the log of an execution.
type LineInfo struct {
	Number int       `json:"number" doc:"Parameter after, for the lines that follow."`
	Time   time.Time `json:"time"`
	Level  string    `json:"level" example:"INFO"`
	Text   string    `json:"text"`
}

func lineOf(l trace.Line) LineInfo {
	return LineInfo{Number: l.Number, Time: l.Time, Level: l.Level.String(), Text: l.Text}
}

// StatusInfo is a change of the state of an execution.
type StatusInfo struct {
	ID       string    `json:"id"`
	Job      string    `json:"job"`
	TaskID   string    `json:"taskId"`
	Original string    `json:"original,omitempty" doc:"Task id of the execution that it repeats."`
	Address  string    `json:"address,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Source   string    `json:"source,omitempty" doc:"Who has written it."`
	Type     string    `json:"type" doc:"READY or FAILOVER."`
	Items    string    `json:"items" example:"[3]"`
	State    string    `json:"state" example:"TASK_FINISHED"`
	Message  string    `json:"message,omitempty"`
	Time     time.Time `json:"time,omitzero"`
	Attempt  int       `json:"attempt,omitempty"`
}

func statusOf(s history.Status) StatusInfo {
	return StatusInfo{
		ID: s.ID, Job: s.Job, TaskID: s.TaskID, Original: s.OriginalTaskID, Address: s.IP, Instance: s.Instance, Source: s.Source, Type: s.ExecutionType,
		Items: s.Items, State: s.State, Message: s.Message, Time: s.CreationTime, Attempt: s.Attempt,
	}
}

// EventInfo is something that has happened beside executions.
type EventInfo struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Job      string    `json:"job,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Item     *int      `json:"item,omitempty"`
	Tick     time.Time `json:"tick,omitzero"`
	Ticks    int       `json:"ticks,omitempty" doc:"How many."`
	Items    []int     `json:"items,omitempty"`
	From     string    `json:"from,omitempty" doc:"The instance that has ended, or where an operator was."`
	What     string    `json:"what,omitempty" doc:"What is more about it, in a word or two."`
	Detail   string    `json:"detail,omitempty"`
	By       string    `json:"by,omitempty"`
	Why      string    `json:"why,omitempty"`
	Before   string    `json:"before,omitempty" doc:"How it was."`
	After    string    `json:"after,omitempty" doc:"How it is."`
	Over     bool      `json:"over,omitempty" doc:"Whether it is the end of what has begun before."`
	Error    string    `json:"error,omitempty"`
}

func eventOf(e trace.Event) EventInfo {
	info := EventInfo{
		ID: e.ID, Time: e.Time, Kind: e.Kind.String(), Job: e.Job, Instance: e.Instance, Tick: e.Execution.ScheduledTime, Ticks: e.Ticks, Items: e.Items,
		From: e.From, What: e.What, Detail: e.Detail, By: e.By, Why: e.Why, Before: veil.Document(e.Before), After: veil.Document(e.After), Over: e.Over, Error: e.Error,
	}
	if e.Kind == trace.KindMadeUp || e.Kind == trace.KindPassedOver {
		info.Item = &e.Execution.Item
	}
	return info
}

// CountInfo is how many executions have begun in an hour or on a day, and have ended since.
type CountInfo struct {
	Start      time.Time                 `json:"start"`
	Executions map[history.Outcome]int64 `json:"executions" doc:"By outcome."`
}

func countOf(c history.Count) CountInfo { return CountInfo{c.Start, c.Executions} }

// DurationsInfo are how long executions took, in seconds.
type DurationsInfo struct {
	Executions int       `json:"executions" doc:"How many were looked at."`
	P50        float64   `json:"p50Seconds"`
	P95        float64   `json:"p95Seconds"`
	P99        float64   `json:"p99Seconds"`
	Max        float64   `json:"maxSeconds"`
	Since      time.Time `json:"since,omitzero" doc:"Start of the oldest of them."`
	All        bool      `json:"all" doc:"Whether there are no older ones."`
}

// kindNames lists the kinds of events.
func kindNames() string {
	var names []string
	for k := trace.KindClaimed; k <= trace.KindOperated; k++ {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

func zoneOf(name string) (*time.Location, error) {
	zone, err := cronexpr.LoadLocation(name)
	if err != nil {
		return nil, refuse("query.timeZone", "%v", err)
	}
	return zone, nil
}

func each[T, U any](rows []T, of func(T) U) []U {
	list := make([]U, len(rows))
	for i, row := range rows {
		list[i] = of(row)
	}
	return list
}
