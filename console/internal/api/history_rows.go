package api

import (
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// ExecutionInfo is one run of one item, all its attempts together.
type ExecutionInfo struct {
	ID       string          `json:"id" doc:"Id of the execution."`
	TaskID   string          `json:"taskId" doc:"Task id, as ElasticJob has it. That of a JVM is of many executions."`
	Job      string          `json:"job" doc:"Name of the job."`
	Item     int             `json:"item" doc:"Number of the item."`
	Instance string          `json:"instance,omitempty" doc:"Id of the instance that has run it. A JVM does not tell."`
	Hostname string          `json:"hostname,omitempty" doc:"Name of the host that has run it."`
	Address  string          `json:"address,omitempty" doc:"Address of the host that has run it."`
	Source   string          `json:"source,omitempty" doc:"Why it ran: NORMAL_TRIGGER, MISFIRE, FAILOVER, MANUAL, RETRY or BACKFILL. Left out for a word of a later version."`
	Tick     time.Time       `json:"tick,omitzero" doc:"Tick for which it ran. A JVM does not tell."`
	Begun    time.Time       `json:"begun,omitzero" doc:"When its handler was called, by the clock of its instance."`
	Ended    time.Time       `json:"ended,omitzero" doc:"When it has ended, by the clock of its instance. Left out while it runs."`
	Waited   float64         `json:"waitedSeconds" doc:"How long it waited for a thread before that, in seconds."`
	Duration float64         `json:"durationSeconds" doc:"How long it took, in seconds, with the pauses between attempts."`
	Token    int64           `json:"token,omitempty" doc:"Its fencing token: that of a later execution is larger. A JVM does not tell."`
	Attempts int             `json:"attempts,omitempty" doc:"How many attempts there were. Left out if nobody has told."`
	Outcome  history.Outcome `json:"outcome" doc:"How it has ended: OK, FAILED, PANIC, TIMEOUT, CUT or KILLED; RUNNING if nobody has told its end, LOST if its instance ended in the middle of it; or a word of a later version."`
	Request  string          `json:"request,omitempty" doc:"Id of the request for which it ran."`
	Original string          `json:"original,omitempty" doc:"Id of the execution that it repeats."`
	Error    string          `json:"error,omitempty" doc:"Text of its last error."`
	Output   string          `json:"output,omitempty" doc:"End of what the handler has kept; only of a single execution."`
}

func executionOf(x history.Execution) ExecutionInfo {
	return ExecutionInfo{
		ID: x.ID, TaskID: x.TaskID, Job: x.Job, Item: x.Item, Instance: x.Instance, Hostname: x.Hostname, Address: x.IP, Source: sourceName(x.Source),
		Tick: x.ScheduledTime, Begun: x.StartTime, Ended: x.CompleteTime, Waited: x.Waited.Seconds(), Duration: x.Duration.Seconds(),
		Token: x.Token, Attempts: x.Attempts, Outcome: x.Outcome, Request: x.RequestID, Original: x.OriginalTaskID, Error: x.Error, Output: x.Output,
	}
}

// sourceName returns the name of a source; empty if this version does not know it.
func sourceName(s jobtype.Source) string {
	if s == 0 {
		return ""
	}
	return s.String()
}

// LineInfo is a line of the log of an execution.
type LineInfo struct {
	Number int       `json:"number" doc:"Parameter after, for the lines that follow."`
	Time   time.Time `json:"time" doc:"When it was written, by the clock of its instance."`
	Level  string    `json:"level" doc:"DEBUG, INFO, WARN or ERROR, or one in between such as INFO+1." example:"INFO"`
	Text   string    `json:"text" doc:"The line with its attributes: 4,000 bytes at most."`
}

func lineOf(l trace.Line) LineInfo {
	return LineInfo{Number: l.Number, Time: l.Time, Level: l.Level.String(), Text: l.Text}
}

// StatusInfo is a change of the state of an execution.
type StatusInfo struct {
	ID       string    `json:"id" doc:"Id of the change."`
	Job      string    `json:"job" doc:"Name of the job."`
	TaskID   string    `json:"taskId" doc:"Task id of the execution."`
	Original string    `json:"original,omitempty" doc:"Task id of the execution that it repeats."`
	Address  string    `json:"address,omitempty" doc:"Address of the host."`
	Instance string    `json:"instance,omitempty" doc:"Id of the instance. A JVM does not tell."`
	Source   string    `json:"source,omitempty" doc:"Who has written it."`
	Type     string    `json:"type" doc:"READY or FAILOVER."`
	Items    string    `json:"items" doc:"Items of the execution, as text." example:"[3]"`
	State    string    `json:"state" doc:"State that it got: TASK_STAGING, TASK_DROPPED, TASK_RUNNING, TASK_FINISHED, TASK_ERROR, TASK_FAILED, TASK_LOST or TASK_KILLED." example:"TASK_FINISHED"`
	Message  string    `json:"message,omitempty" doc:"What was told beside: the error of one that has failed, say."`
	Time     time.Time `json:"time,omitzero" doc:"When it was so."`
	Attempt  int       `json:"attempt,omitempty" doc:"Which attempt it was, from 1. A JVM does not tell."`
}

func statusOf(s history.Status) StatusInfo {
	return StatusInfo{
		ID: s.ID, Job: s.Job, TaskID: s.TaskID, Original: s.OriginalTaskID, Address: s.IP, Instance: s.Instance, Source: s.Source, Type: s.ExecutionType,
		Items: s.Items, State: s.State, Message: s.Message, Time: s.CreationTime, Attempt: s.Attempt,
	}
}

// EventInfo is something that has happened beside executions.
type EventInfo struct {
	ID       string    `json:"id" doc:"Id of the event. Ids sort by time."`
	Time     time.Time `json:"time" doc:"When it happened, by the clock of who has seen it."`
	Kind     string    `json:"kind"`
	Job      string    `json:"job,omitempty" doc:"Name of the job. Left out if it is about the namespace."`
	Instance string    `json:"instance,omitempty" doc:"Id of the instance that has seen it. Left out if none has."`
	Item     *int      `json:"item,omitempty" doc:"Number of the item, of a tick that was made up or skipped."`
	Tick     time.Time `json:"tick,omitzero" doc:"Tick that it is about."`
	Ticks    int       `json:"ticks,omitempty" doc:"How many ticks it is about."`
	Items    []int     `json:"items,omitempty" doc:"Items that it is about. Left out if there are none."`
	From     string    `json:"from,omitempty" doc:"The instance that has ended, or where an operator was."`
	What     string    `json:"what,omitempty" doc:"What is more about it, in a word or two."`
	Detail   string    `json:"detail,omitempty" doc:"More about it: what has changed, or whom it is about."`
	By       string    `json:"by,omitempty" doc:"Who it was: of what operators do."`
	Why      string    `json:"why,omitempty" doc:"Why, as the operator has said."`
	Before   string    `json:"before,omitempty" doc:"How it was."`
	After    string    `json:"after,omitempty" doc:"How it is."`
	Over     bool      `json:"over,omitempty" doc:"Whether it is the end of what has begun before."`
	Error    string    `json:"error,omitempty" doc:"Text of the error."`
}

func eventOf(e trace.Event) EventInfo {
	info := EventInfo{
		ID: e.ID, Time: e.Time, Kind: e.Kind.String(), Job: e.Job, Instance: e.Instance, Tick: e.Execution.ScheduledTime, Ticks: e.Ticks, Items: e.Items,
		From: e.From, What: e.What, Detail: e.Detail, By: e.By, Why: e.Why, Before: veil.Document(e.Before), After: veil.Document(e.After), Over: e.Over, Error: e.Error,
	}
	if e.Kind == jobtype.EventMadeUp || e.Kind == jobtype.EventSkipped {
		info.Item = &e.Execution.Item
	}
	return info
}

// CountInfo is how many executions have begun in an hour or on a day, and have ended since.
type CountInfo struct {
	Start      time.Time                 `json:"start" doc:"When the hour or day begins."`
	Executions map[history.Outcome]int64 `json:"executions" doc:"How many executions, by outcome."`
}

func countOf(c history.Count) CountInfo { return CountInfo{c.Start, c.Executions} }

// MissedInfo is how many ticks were missed, of which that was noticed in an hour or on a day.
type MissedInfo struct {
	Start   time.Time        `json:"start" doc:"When the hour or day begins."`
	MadeUp  int64            `json:"madeUp" doc:"Ticks for which an execution has made up: one for all that an item had missed."`
	Skipped map[string]int64 `json:"skipped" doc:"Ticks that nobody runs, by the reason: item disabled, servers disabled, too late, while running, begun with another item, schedule changed, or a word of a later version."`
}

func missedOf(m history.Missed) MissedInfo { return MissedInfo{m.Start, m.MadeUp, m.Skipped} }

// DurationsInfo are how long executions took, in seconds.
type DurationsInfo struct {
	Executions int       `json:"executions" doc:"How many were looked at."`
	P50        float64   `json:"p50Seconds" doc:"Half of them took no longer, in seconds."`
	P95        float64   `json:"p95Seconds" doc:"95 of 100 took no longer, in seconds."`
	P99        float64   `json:"p99Seconds" doc:"99 of 100 took no longer, in seconds."`
	Max        float64   `json:"maxSeconds" doc:"How long the longest took, in seconds."`
	Since      time.Time `json:"since,omitzero" doc:"Start of the oldest of them."`
	All        bool      `json:"all" doc:"Whether there are no older ones."`
}

// kindNames lists the kinds of events.
func kindNames() string {
	var names []string
	for k := jobtype.EventClaimed; k <= jobtype.EventOperated; k++ {
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
