package sqltrace_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
	"github.com/google/uuid"
)

func TestFirst(t *testing.T) {
	db := sqlite(t)
	tr, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	now := time.Now()
	x := job.Execution{TaskID: uuid.NewString(), Item: 1, Source: job.SourceNormal, ScheduledTime: now}
	err = tr.Write(t.Context(), trace.Batch{Events: []trace.Event{
		{ID: uuid.NewString(), Time: now, Kind: trace.KindStarted, Job: "a", Instance: "10.0.0.1@-@1@-@ab", Execution: x},
		{ID: uuid.NewString(), Time: now, Kind: trace.KindFinished, Job: "a", Instance: "10.0.0.1@-@1@-@ab", Execution: x, Outcome: job.OutcomeOK, Took: time.Second},
		{ID: uuid.NewString(), Time: now, Kind: trace.KindRecovered, Job: "a", From: "x", Items: []int{1}},
		{ID: uuid.NewString(), Time: now, Kind: trace.KindItems, Job: "a", Items: []int{1}},
	}, Lines: []trace.Line{{Job: "a", TaskID: x.TaskID, Number: 1, Text: "hello"}}})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM JOB_EXECUTION_LOG WHERE is_success = 1").Scan(&n); err != nil || n != 1 {
		t.Fatal(n, err)
	}
}
