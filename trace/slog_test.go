package trace_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// happened is a batch with every event of which there is a line, and some of which there is none.
func happened() trace.Batch {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x := job.Execution{TaskID: "t1", Item: 2, ScheduledTime: at, Source: job.SourceNormal, Token: 7}
	y := job.Execution{TaskID: "t2", Item: 3, ScheduledTime: at, Source: job.SourceRetry, RequestID: "r1", OriginalTaskID: "t0"}
	events := []trace.Event{
		{Kind: jobtype.EventClaimed, Execution: x},
		{Kind: jobtype.EventStarted, Execution: x, Waited: 3 * time.Millisecond},
		{Kind: jobtype.EventFinished, Execution: x, Outcome: job.OutcomeOK, Attempt: 1, Took: time.Second},
		{Kind: jobtype.EventFinished, Execution: y, Outcome: job.OutcomeFailed, Attempt: 2, Took: time.Minute, Error: "no money"},
		{Kind: jobtype.EventSkipped, Execution: job.Execution{Item: 4, ScheduledTime: at}, Ticks: 2, What: "too late"},
		{Kind: jobtype.EventRecovered, From: "10.0.0.9@-@1", Items: []int{1, 2}, What: "failover"},
		{Kind: jobtype.EventFault, What: "store", Error: "away"},
		{Kind: jobtype.EventFault, What: "store", Error: "away", Over: true},
		{Kind: jobtype.EventMissed, Ticks: 12, Error: "too many"},
	}
	for i := range events {
		events[i].ID, events[i].Time, events[i].Job, events[i].Instance = string(rune('a'+i)), at, "settle", "me"
	}
	return trace.Batch{Events: events, Lines: []trace.Line{{Text: "a handler's line"}}}
}

const wantLines = `time=2026-03-01T12:00:00.000Z level=INFO msg="execution finished" job=settle instance=me item=2 task=t1 tick=2026-03-01T12:00:00.000Z source=NORMAL_TRIGGER token=7 outcome=OK took=1s attempts=1 waited=3ms
time=2026-03-01T12:00:00.000Z level=WARN msg="execution finished" job=settle instance=me item=3 task=t2 tick=2026-03-01T12:00:00.000Z source=RETRY token=0 outcome=FAILED took=1m0s attempts=2 request=r1 original=t0 error="no money"
time=2026-03-01T12:00:00.000Z level=WARN msg="ticks are skipped" job=settle instance=me item=4 tick=2026-03-01T12:00:00.000Z ticks=2 reason="too late"
time=2026-03-01T12:00:00.000Z level=WARN msg="executions were cut short" job=settle instance=me from=10.0.0.9@-@1 items=2 failover=true
time=2026-03-01T12:00:00.000Z level=WARN msg=fault job=settle instance=me kind=store error=away
time=2026-03-01T12:00:00.000Z level=INFO msg="fault is over" job=settle instance=me kind=store error=away
time=2026-03-01T12:00:00.000Z level=WARN msg="events were missed" job=settle instance=me events=12 error="too many"
`

// One line for each execution, and each event that is of none; a batch that comes again has no
// line again.
func TestSlog(t *testing.T) {
	var out strings.Builder
	s := trace.Slog(slog.New(slog.NewTextHandler(&out, nil)))
	for range 2 {
		if err := s.Write(t.Context(), happened()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(wantLines, out.String()); diff != "" {
		t.Error(diff)
	}
}

// panicky panics at the second line.
type panicky struct {
	slog.Handler
	lines *int
}

func (p panicky) Handle(ctx context.Context, r slog.Record) error {
	if *p.lines++; *p.lines == 2 {
		panic("broken")
	}
	return p.Handler.Handle(ctx, r)
}

// A line that cannot be written is left out; the others come once.
func TestSlogThatPanics(t *testing.T) {
	var out strings.Builder
	lines := 0
	s := trace.Slog(slog.New(panicky{slog.NewTextHandler(&out, nil), &lines}))
	func() {
		defer func() { _ = recover() }()     // the recorder makes an error of it
		_ = s.Write(t.Context(), happened()) // it panics
		t.Error("it does not panic")
	}()
	if err := s.Write(t.Context(), happened()); err != nil {
		t.Error(err)
	}
	want := strings.Split(wantLines, "\n")
	if diff := cmp.Diff(strings.Join(append(want[:1:1], want[2:]...), "\n"), out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestZap(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	if err := trace.Zap(zap.New(core)).Write(t.Context(), happened()); err != nil {
		t.Fatal(err)
	}
	entries := logs.All()
	if len(entries) != 7 {
		t.Fatalf("%d lines", len(entries))
	}
	e := entries[1]
	if f := e.ContextMap(); e.Message != "execution finished" || e.Level != zapcore.WarnLevel || f["outcome"] != "FAILED" || f["took"] != time.Minute || f["item"] != int64(3) || !e.Time.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v %v", e.Entry, f)
	}
}
