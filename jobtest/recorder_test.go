package jobtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// script writes a history as a scheduler tells it.
type script struct {
	rec *jobtest.Recorder
	to  job.Observer
	ids int
}

func newScript() *script { return scriptOf(jobtest.NewRecorder()) }

func scriptOf(rec *jobtest.Recorder) *script { return &script{rec: rec, to: rec.Observer()} }

// day is when histories begin.
var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// ran is one execution of a history. Times are seconds after day.
type ran struct {
	item, tick  int
	source      job.Source // NORMAL if left out
	token       int64      // the second of its begin if left out
	begin, end  int        // end 0: it still runs; begin is the tick if left out
	outcome     job.Outcome
	err         error
	on, of      string // 10.0.0.1 and settle if left out
	output      string
	isRequested bool
}

func second(n int) time.Time { return day.Add(time.Duration(n) * time.Second) }

func (s *script) ran(list ...ran) *script {
	for _, r := range list {
		s.ids++
		if r.on == "" {
			r.on = "10.0.0.1"
		}
		if r.of == "" {
			r.of = "settle"
		}
		if r.source == 0 {
			r.source = job.SourceNormal
		}
		if r.begin == 0 {
			r.begin = r.tick
		}
		if r.token == 0 {
			r.token = int64(r.begin)
		}
		e := job.Execution{TaskID: fmt.Sprint(s.ids), Item: r.item, ScheduledTime: second(r.tick), Source: r.source, Token: r.token}
		if r.isRequested {
			e.RequestID = "request"
		}
		event := job.Event{Kind: jobtype.EventStarted, Time: second(r.begin), JobName: r.of, InstanceID: r.on + "@-@1-abc", Execution: e}
		s.to(event)
		if r.end == 0 {
			continue
		}
		if r.outcome == 0 {
			r.outcome = job.OutcomeOK
		}
		event.Kind, event.Time, event.Outcome, event.Err, event.Attempt = jobtype.EventFinished, second(r.end), r.outcome, r.err, 1
		event.Took, event.Output = time.Duration(r.end-r.begin)*time.Second, []byte(r.output)
		s.to(event)
	}
	return s
}

// A history, and what each matcher finds in it. Each of them finds something, and not all: so
// each has a history that makes it fail.
func TestExecutions(t *testing.T) {
	s := newScript().ran(
		ran{item: 0, tick: 10, end: 12},
		ran{item: 1, tick: 10, end: 11, outcome: job.OutcomeFailed, err: errors.New("no\nsuch  account")},
		ran{item: 0, tick: 20, end: 25, on: "10.0.0.2"},
		ran{item: 0, tick: 10, begin: 26, end: 27, source: job.SourceRetry, of: "report"},
		ran{item: 0, tick: 30},
	)
	x := s.rec.Executions()
	for _, tc := range []struct {
		name string
		got  jobtest.Executions
		want int
		says string
	}{
		{"all", x, 5, "5 instead of 6 executions\n"},
		{"Of", x.Of("report"), 1, "job report"},
		{"Item", x.Item(1), 1, "item 1"},
		{"Tick", x.Tick(second(10)), 3, "tick 2026-03-01 00:00:10 UTC"},
		{"Source", x.Source(job.SourceRetry), 1, "source RETRY"},
		{"Outcome", x.Outcome(job.OutcomeOK), 3, "outcome OK"},
		{"Running", x.Running(), 1, "that run"},
		{"On an address", x.On("10.0.0.2"), 1, "on 10.0.0.2"},
		{"On an instance", x.On("10.0.0.1@-@1-abc"), 4, "on 10.0.0.1@-@1-abc"},
		{"Where", x.Where("long", func(e jobtest.Execution) bool { return e.Took > 2*time.Second }), 1, "long"},
		{"several", x.Of("settle").Item(0).Outcome(job.OutcomeOK), 2, "job settle, item 0, outcome OK"},
		{"none", x.Item(2), 0, "item 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.got.Len() != tc.want || len(tc.got.List()) != tc.want {
				t.Errorf("found %d, want %d: %v", tc.got.Len(), tc.want, tc.got.List())
			}
			tc.got.Require(t, tc.want)
			failure := failureOf(t, func(t testing.TB) { tc.got.Require(t, tc.want+1) })
			if !strings.Contains(failure, tc.says) || strings.Count(failure, "\n>") != tc.want {
				t.Errorf("%d lines should be marked, and it should say %q: %s", tc.want, tc.says, failure)
			}
			if failure := failuresOf(t, func(t testing.TB) { tc.got.One(t) }); (failure == "") != (tc.want == 1) {
				t.Errorf("One: %s", failure)
			}
		})
	}

	const want = `history:
  2026-03-01 00:00:10.000  10.0.0.1   settle item 0, tick 2026-03-01 00:00:10 UTC, NORMAL_TRIGGER, token 10: OK after 2s
  2026-03-01 00:00:10.000  10.0.0.1   settle item 1, tick 2026-03-01 00:00:10 UTC, NORMAL_TRIGGER, token 10: FAILED after 1s: no such account
  2026-03-01 00:00:20.000  10.0.0.2   settle item 0, tick 2026-03-01 00:00:20 UTC, NORMAL_TRIGGER, token 20: OK after 5s
  2026-03-01 00:00:26.000  10.0.0.1   report item 0, tick 2026-03-01 00:00:10 UTC, RETRY, token 26: OK after 1s
  2026-03-01 00:00:30.000  10.0.0.1   settle item 0, tick 2026-03-01 00:00:30 UTC, NORMAL_TRIGGER, token 30: runs
`
	if got := s.rec.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestFaults(t *testing.T) {
	s := newScript()
	tell := func(at int, instance string, kind job.FaultKind, cause string, over bool) {
		s.to(job.Event{
			Kind: jobtype.EventFault, Time: second(at), JobName: "settle", InstanceID: instance,
			Fault: job.Fault{Kind: kind, Err: errors.New(cause), Since: second(at)}, Over: over,
		})
	}
	tell(1, "a@-@1-x", jobtype.FaultStore, "the store does not answer", false)
	tell(2, "b@-@1-x", jobtype.FaultStore, "the store does not answer", false)
	tell(3, "a@-@1-x", jobtype.FaultClock, "the clock is off", false)
	tell(4, "a@-@1-y", jobtype.FaultStore, "the store refuses", false) // another cause, and a new session
	tell(5, "a@-@1-y", jobtype.FaultStore, "the store refuses", true)
	tell(6, "c@-@1-x", jobtype.FaultStore, "of which it has not heard", true)
	x := s.rec.Faults()
	for _, tc := range []struct {
		name string
		got  jobtest.Faults
		want int
		says string
	}{
		{"all", x, 3, "3 instead of 4 faults\n"},
		{"Of", x.Of("report"), 0, "job report"},
		{"Kind", x.Kind(jobtype.FaultStore), 2, "kind store"},
		{"On", x.On("a"), 2, "on a"},
		{"Lasting", x.Lasting(), 2, "that last"},
		{"Where", x.Where("early", func(f jobtest.Fault) bool { return f.Began.Before(second(2)) }), 1, "early"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.got.Len() != tc.want || len(tc.got.List()) != tc.want {
				t.Errorf("found %d, want %d: %v", tc.got.Len(), tc.want, tc.got.List())
			}
			tc.got.Require(t, tc.want)
			failure := failureOf(t, func(t testing.TB) { tc.got.Require(t, tc.want+1) })
			if !strings.Contains(failure, tc.says) || !strings.Contains(failure, "the store refuses, over after 4s\n") {
				t.Errorf("it should say %q: %s", tc.says, failure)
			}
		})
	}
	if f := x.Kind(jobtype.FaultStore).On("a").One(t); f.Over != second(5) {
		t.Error(f)
	}
}

// All that a scheduler tells stands in the history.
func TestHistory(t *testing.T) {
	s := newScript()
	for _, e := range []job.Event{
		{Kind: jobtype.EventJoined},
		{Kind: jobtype.EventLeads},
		{Kind: jobtype.EventItems, Items: []int{0, 2}},
		{Kind: jobtype.EventRetried, Execution: job.Execution{Item: 2}, Attempt: 1, Err: errors.New("busy"), Backoff: time.Second},
		{Kind: jobtype.EventReleased, Execution: job.Execution{Item: 2}},
		{Kind: jobtype.EventMadeUp, Execution: job.Execution{Item: 2, ScheduledTime: second(0)}, Count: 3},
		{Kind: jobtype.EventSkipped, Execution: job.Execution{Item: 2, ScheduledTime: second(0)}, Count: 4, Reason: jobtype.SkipTooLate},
		{Kind: jobtype.EventRecovered, From: "b@-@1-x", Items: []int{1}},
		{Kind: jobtype.EventLeads, Over: true},
		{Kind: jobtype.EventLeft, Err: errors.New("gone")},
		{Kind: jobtype.EventLeft},
	} {
		e.Time, e.JobName, e.InstanceID = second(1), "settle", "a@-@1-x"
		s.to(e)
	}
	history := s.rec.String()
	from := 0
	for _, says := range []string{
		"settle joined", "settle leads\n", "has items [0 2]", "retries item 2 in 1s, attempt 1 has failed: busy", "releases item 2",
		"makes up item 2 for 3 ticks, the last 2026-03-01 00:00:00 UTC", "skips 4 ticks of item 2, the last 2026-03-01 00:00:00 UTC: ",
		"has found items [1] of b, which has ended", "leads no more", "left: gone", "settle left\n",
	} {
		i := strings.Index(history[from:], says)
		if i < 0 {
			t.Fatalf("it does not say %q, in this order: %s", says, history)
		}
		from += i
	}
	if got := jobtest.NewRecorder().String(); got != "history: nothing has happened\n" {
		t.Errorf("without events: %q", got)
	}
}

// A long history shows its end, or what matters, and texts of others are bounded.
func TestHistoryIsBounded(t *testing.T) {
	s := newScript()
	for i := range 1000 {
		s.ran(ran{tick: i + 1, end: i + 2, outcome: job.OutcomeFailed, err: errors.New(strings.Repeat("no ", 10_000))})
		s.ran(ran{tick: i + 1, end: i + 2, of: "report"})
	}
	history := s.rec.String()
	if strings.Count(history, "\n") != 202 || !strings.Contains(history, "  … 1800 lines before these\n") || len(history) > 100_000 {
		t.Errorf("%d lines, %d bytes", strings.Count(history, "\n"), len(history))
	}
	s.ran(ran{tick: 500, begin: 502, end: 503})
	failure := failureOf(t, func(t testing.TB) { jobtest.NoTickTwice(t, s.rec.Executions().Of("settle")) })
	for _, says := range []string{"  … 481 lines before these\n", "\n> 2026-03-01 00:08:20.000", "\n> 2026-03-01 00:08:22.000", "  … 320 lines after these\n"} {
		if !strings.Contains(failure, says) || strings.Contains(failure, "report") {
			t.Errorf("it does not say %q: %s", says, failure)
		}
	}
}

// If something was missed no count can be trusted.
func TestMissedEvents(t *testing.T) {
	s := newScript().ran(ran{tick: 1, end: 2})
	x := s.rec.Executions()
	x.Require(t, 1)
	s.to(job.Event{Kind: jobtype.EventMissed, Count: 3})
	for name, check := range map[string]func(testing.TB){
		"Executions":   func(t testing.TB) { x.Require(t, 1) },
		"Faults":       func(t testing.TB) { s.rec.Faults().Require(t, 0) },
		"EachTickOnce": func(t testing.TB) { jobtest.EachTickOnce(t, x, []time.Time{second(1)}, 1) },
		"NoTickTwice":  func(t testing.TB) { jobtest.NoTickTwice(t, x) },
		"NoOverlap":    func(t testing.TB) { jobtest.NoOverlap(t, x) },
		"TokensGrow":   func(t testing.TB) { jobtest.TokensGrow(t, x) },
	} {
		if failure := failureOf(t, check); !strings.Contains(failure, "missed 3 events") {
			t.Errorf("%s: %s", name, failure)
		}
	}
}

// What a recorder keeps is bounded, and it tells when that was too little.
func TestRecorderIsBounded(t *testing.T) {
	fault := job.Fault{Kind: jobtype.FaultStore, Err: errors.New("away")}
	for name, tell := range map[string]func(s *script, i int){
		"executions": func(s *script, i int) { s.ran(ran{tick: i + 1, end: i + 2}) },
		"faults": func(s *script, i int) {
			s.to(job.Event{Kind: jobtype.EventFault, JobName: fmt.Sprint(i), Fault: fault})
		},
		"events": func(s *script, i int) { s.to(job.Event{Kind: jobtype.EventJoined}) },
		"output": func(s *script, i int) { s.ran(ran{tick: i + 1, end: i + 2, output: strings.Repeat("x", 9<<20)}) },
	} {
		s := scriptOf(jobtest.NewSmallRecorder(10))
		if name == "output" {
			s = newScript()
		}
		for i := range 7 {
			tell(s, i)
		}
		s.rec.Faults().Of("none").Require(t, 0)
		for i := range 4 {
			tell(s, 7+i)
		}
		failureOf(t, func(t testing.TB) { s.rec.Faults().Of("none").Require(t, 0) })
	}
}

// A recorder alone, in real time.
func TestRecorderAlone(t *testing.T) {
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "billing"})
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close(context.Background())
	rec := jobtest.NewRecorder()
	s, err := job.Schedule(t.Context(), reg, job.Config{Name: "settle", ShardingTotalCount: 2}, lasts(0), job.WithObserver(rec.Observer()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown(context.Background())
	if _, err := s.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	rec.Until(t, time.Minute, func() bool { return rec.Executions().Outcome(job.OutcomeOK).Len() == 2 })
	jobtest.NoOverlap(t, rec.Executions())
	if failure := failureOf(t, func(t testing.TB) { rec.Until(t, time.Millisecond, func() bool { return false }) }); !strings.Contains(failure, "settle item 1, tick") {
		t.Error(failure)
	}
}
