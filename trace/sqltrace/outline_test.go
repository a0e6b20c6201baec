package sqltrace_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// outlineOf returns what a timeline shows of an execution.
func outlineOf(x history.Execution) history.Outline {
	o := history.Outline{ID: x.ID, Item: x.Item, Instance: x.Instance, Source: x.Source, ScheduledTime: x.ScheduledTime, StartTime: x.StartTime, Duration: x.Duration, Outcome: x.Outcome}
	if x.CompleteTime.IsZero() {
		o.Duration = -1
	}
	return o
}

// checkOutlines fails the test if the outlines of a job are not those of its executions, newest first.
func checkOutlines(h *home, tracer *sqltrace.Tracer, job string, from, to time.Time, limit int) {
	h.Helper()
	page, err := tracer.Executions(h.within(), history.ExecutionFilter{Job: job, From: from, To: to, Limit: limit})
	if err != nil {
		h.Fatal(err)
	}
	found, err := tracer.Outlines(h.within(), history.OutlineQuery{Job: job, From: from, To: to, Limit: limit})
	if err != nil || found.More != (page.Next != "") || len(found.Rows) != len(page.Rows) || len(page.Rows) == 0 {
		h.Fatalf("%d outlines, more: %v, %v; want %d, %v", len(found.Rows), found.More, err, len(page.Rows), page.Next != "")
	}
	for i, x := range page.Rows {
		if found.Rows[i] != outlineOf(x) {
			h.Errorf("outline %d is\n%+v, want\n%+v", i, found.Rows[i], outlineOf(x))
		}
	}
}

func TestOutlines(t *testing.T) {
	onEach(t, func(h *home) {
		tracer := h.open(sqltrace.Options{})
		writeRuns(h, tracer)
		h.write(tracer, trace.Batch{Events: []trace.Event{{ // one is lost
			ID: id(500), Time: began.Add(time.Minute), Kind: jobtype.EventRecovered, Job: "a", From: "10.0.0.1@-@7@-@abc", Items: []int{0, 1, 2, 3, 4},
		}}})
		from, to := began.Add(-time.Hour), began.Add(time.Hour)
		checkOutlines(h, tracer, "a", from, to, 1000)
		checkOutlines(h, tracer, "a", from, to, 7)
		checkOutlines(h, tracer, "a", from, to, 45) // these are all
		checkOutlines(h, tracer, "b", began.Add(5*time.Second), began.Add(15*time.Second), 1000)
		none, err := tracer.Outlines(h.within(), history.OutlineQuery{Job: "c", From: from, To: to})
		if err != nil || len(none.Rows) != 0 || none.More {
			h.Errorf("of no job: %+v, %v", none, err)
		}
	})
}

func TestOutlinesOfJVMs(t *testing.T) {
	onEach(t, func(h *home) {
		jvms[len(jvms)-1].createTables(h)
		jvms[len(jvms)-1].run(h, "before")
		tracer := h.open(sqltrace.Options{})
		h.write(tracer, trace.Batch{})
		from := time.Date(2023, 5, 6, 0, 0, 0, 0, time.UTC)
		checkOutlines(h, tracer, "j", from, from.Add(24*time.Hour), 0)
		h.exec("UPDATE JOB_EXECUTION_LOG SET complete_time = '2023-05-06 07:08:00'") // its clock was set back
		checkOutlines(h, tracer, "j", from, from.Add(24*time.Hour), 0)
	})
}
