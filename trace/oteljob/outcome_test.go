package oteljob_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// mute is an error without a text.
type mute struct{}

func (*mute) Error() string { panic("no text") }

// An execution's span ends, however the execution does, and says how.
func TestOutcomes(t *testing.T) {
	waits := job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	fails := func(err error) job.Handler {
		return job.HandlerFunc(func(context.Context, job.ShardingContext) error { return err })
	}
	for _, tc := range []struct {
		name    string
		handler job.Handler
		run     jobtest.Case
		outcome job.Outcome
		status  sdktrace.Status
		typ     string // error.type
		event   string
		message string // of the event
	}{
		{name: "ok", handler: fails(nil), outcome: job.OutcomeOK},
		{
			name: "failed", handler: fails(&fs.PathError{Op: "open", Path: "/accounts", Err: fs.ErrNotExist}), outcome: job.OutcomeFailed,
			status: sdktrace.Status{Code: codes.Error, Description: "open /accounts: file does not exist"},
			typ:    "*fs.PathError", event: "exception", message: "open /accounts: file does not exist",
		},
		{
			name: "panicked", handler: job.HandlerFunc(func(context.Context, job.ShardingContext) error { panic("no money") }), outcome: job.OutcomePanic,
			status: sdktrace.Status{Code: codes.Error, Description: "job: panic: no money"},
			typ:    "panic", event: "exception", message: "job: panic: no money",
		},
		{
			name: "took too long", handler: waits, run: jobtest.Case{Config: job.Config{Timeout: time.Minute}}, outcome: job.OutcomeTimeout,
			status: sdktrace.Status{Code: codes.Error, Description: job.ErrTimeout.Error()},
			typ:    "timeout", event: "exception", message: job.ErrTimeout.Error(),
		},
		{
			name: "was killed", handler: waits, run: jobtest.Case{KillAfter: time.Minute}, outcome: job.OutcomeKilled,
			event: "cut short", message: job.ErrKilled.Error(),
		},
		{
			name: "was cut short by a shutdown", handler: waits, run: jobtest.Case{ShutdownAfter: time.Minute}, outcome: job.OutcomeCut,
			event: "cut short", message: job.ErrShutdown.Error(),
		},
		{name: "lost its session", handler: waits, run: jobtest.Case{LoseSessionAfter: time.Minute}, outcome: job.OutcomeCut, event: "cut short"},
		{
			name: "has an error without a text", handler: fails(&mute{}), outcome: job.OutcomeFailed,
			status: sdktrace.Status{Code: codes.Error, Description: "its error has no text: the method Error panics"},
			typ:    "*oteljob_test.mute", event: "exception", message: "its error has no text: the method Error panics",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				tc.run.Config.Name, tc.run.Options = "settle", r.options()
				result := jobtest.Run(t, tc.handler, tc.run)
				s := r.one("run settle")
				if result.Outcome != tc.outcome || of(s, "elasticjob.outcome") != tc.outcome.String() {
					t.Errorf("outcome %v, in the span %q, want %v", result.Outcome, of(s, "elasticjob.outcome"), tc.outcome)
				}
				if s.Status != tc.status || of(s, "error.type") != tc.typ {
					t.Errorf("status %v, error.type %q, want %v and %q", s.Status, of(s, "error.type"), tc.status, tc.typ)
				}
				requireEvent(t, s, tc.event, tc.message)
				if got := of(s, "elasticjob.task.id"); got != result.TaskID {
					t.Errorf("task %q, want %q", got, result.TaskID)
				}
				r.one("trigger settle")
			})
		})
	}
}

// requireEvent checks that a span has one event, or none.
func requireEvent(t *testing.T, s tracetest.SpanStub, name, message string) {
	t.Helper()
	if name == "" && len(s.Events) == 0 {
		return
	}
	if len(s.Events) != 1 || s.Events[0].Name != name {
		t.Fatalf("events %v, want %q alone", s.Events, name)
	}
	if got := textIn(s.Events[0].Attributes, "exception.message"); message != "" && got != message {
		t.Errorf("message %q, want %q", got, message)
	}
}

// Exporters refuse texts that are no UTF-8, with all spans that they were to send with them.
func TestErrorsFromOutsideAreBoundedAndClean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		jobtest.Run(t, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			return errors.New("\xff" + strings.Repeat("long", 10_000))
		}), jobtest.Case{Config: job.Config{Name: "settle"}, Options: r.options()})
		for _, text := range []string{r.one("run settle").Status.Description, textIn(r.one("run settle").Events[0].Attributes, "exception.message")} {
			if !utf8.ValidString(text) || len(text) > 4_100 {
				t.Errorf("%d bytes, valid: %v; want 4,000 bytes of UTF-8", len(text), utf8.ValidString(text))
			}
		}
	})
}

func TestRetriesAreEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		calls := 0
		jobtest.Run(t, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			if calls++; calls < 3 {
				return errors.New("no money")
			}
			return nil
		}), jobtest.Case{Config: job.Config{Name: "settle", Retry: job.Retry{Attempts: 3}}, Options: r.options()})
		s := r.one("run settle")
		if of(s, "elasticjob.attempts") != "3" || len(s.Events) != 2 || s.Status.Code != codes.Unset {
			t.Fatalf("%s attempts, events %v, status %v; want 3, 2 and unset", of(s, "elasticjob.attempts"), s.Events, s.Status)
		}
		if e := s.Events[1]; e.Name != "retry" || textIn(e.Attributes, "elasticjob.attempt") != "2" || textIn(e.Attributes, "exception.message") != "no money" {
			t.Errorf("the second retry is %v", e)
		}
	})
}
