package show

import (
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// execution is an execution of the past for programs.
type execution struct {
	ID            string    `json:"id"`
	Job           string    `json:"job"`
	Item          int       `json:"item"`
	Instance      string    `json:"instance,omitempty"`
	Server        string    `json:"server,omitempty"`
	Source        string    `json:"source,omitempty"`
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	StartTime     time.Time `json:"startTime,omitzero"`
	CompleteTime  time.Time `json:"completeTime,omitzero"`
	Waited        string    `json:"waited,omitempty"`
	Duration      string    `json:"duration,omitempty"`
	Token         int64     `json:"token,omitempty"`
	Attempts      int       `json:"attempts,omitempty"`
	Outcome       string    `json:"outcome"`
	Request       string    `json:"request,omitempty"`
	Original      string    `json:"original,omitempty"`
	Error         string    `json:"error,omitempty"`
	Output        string    `json:"output,omitempty"`
}

func executionOf(x history.Execution) execution {
	e := execution{
		ID: x.ID, Job: x.Job, Item: x.Item, Instance: x.Instance, Server: x.IP, ScheduledTime: x.ScheduledTime, StartTime: x.StartTime, CompleteTime: x.CompleteTime,
		Token: x.Token, Attempts: x.Attempts, Outcome: string(x.Outcome), Request: x.RequestID, Original: x.OriginalTaskID, Error: x.Error, Output: x.Output,
	}
	if x.Source != 0 {
		e.Source = x.Source.String()
	}
	if x.Waited > 0 {
		e.Waited = x.Waited.String()
	}
	if x.Duration > 0 {
		e.Duration = x.Duration.String()
	}
	return e
}

// executions is a page of history for programs.
type executions struct {
	Executions []execution `json:"executions"`
	Next       string      `json:"next,omitempty"` // for --after
}

// Executions shows a page of executions. elsewhere says which of their jobs the namespace does not have.
func Executions(page history.Page[history.Execution], elsewhere string) Result {
	list := executions{each(page.Rows, executionOf), string(page.Next)}
	return Result{
		Value: list, Names: func() []string { return each(list.Executions, func(e execution) string { return e.ID }) },
		Table: func() *Table {
			t := executionTable(list.Executions)
			t.Foot = elsewhere
			if list.Next != "" {
				t.Foot = strings.TrimSpace(elsewhere + "\nThere are more: --after " + list.Next)
			}
			return t
		},
	}
}

func executionTable(list []execution) *Table {
	t := NewTable("STARTED", "JOB", "ITEM", "TICK", "SOURCE", "OUTCOME", "TOOK", "SERVER", "ID", "ERROR", "(ATTEMPTS)", "(WAITED)", "(TOKEN)", "(REQUEST)")
	t.Empty = "No execution."
	for _, e := range list {
		t.Row(moment.Text(e.StartTime), e.Job, e.Item, moment.Text(e.ScheduledTime), e.Source, e.Outcome, e.Duration, e.Server, e.ID, FirstLine(e.Error), e.Attempts, e.Waited, e.Token, e.Request)
	}
	return t
}

// oneExecution is an execution with those that repeat it, for programs.
type oneExecution struct {
	execution
	Chain []execution `json:"chain"`
}

// Execution shows an execution, and those that repeat it.
func Execution(x history.Execution, chain []history.Execution) Result {
	e := oneExecution{executionOf(x), each(chain, executionOf)}
	return Result{Value: e, Names: func() []string { return []string{e.ID} }, Table: func() *Table {
		t := NewTable()
		t.Field("ID", e.ID)
		t.Field("Job", e.Job)
		t.Field("Item", e.Item)
		t.Field("Outcome", e.Outcome)
		t.Field("Source", e.Source)
		t.Field("Tick", moment.Text(e.ScheduledTime))
		t.Field("Started", moment.Text(e.StartTime))
		t.Field("Completed", moment.Text(e.CompleteTime))
		t.Field("Took", e.Duration)
		t.Field("Waited", e.Waited)
		t.Field("Attempts", e.Attempts)
		t.Field("Instance", e.Instance)
		t.Field("Server", e.Server)
		t.Field("Token", e.Token)
		t.Field("Request", e.Request)
		t.Section("Error:", Text(e.Error))
		t.Section("Output:", Text(e.Output))
		if len(e.Chain) > 1 {
			t.Section("All runs of this item for this tick:", executionTable(e.Chain))
		}
		return t
	}}
}

// each returns what a function makes of each element.
func each[T, N any](list []T, of func(T) N) []N {
	made := make([]N, len(list))
	for i, element := range list {
		made[i] = of(element)
	}
	return made
}
