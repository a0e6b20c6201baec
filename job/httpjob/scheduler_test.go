package httpjob_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// isForGood reports whether a scheduler does not try again after an error.
func isForGood(t *testing.T, of error) bool {
	t.Helper()
	calls := 0
	end := runOnce(t, job.Config{Retry: job.Retry{Attempts: 1, InitialBackoff: -1}}, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
		calls++
		return of
	}))
	if !errors.Is(end.Err, of) {
		t.Errorf("got %v", end.Err)
	}
	return calls == 1
}

// registry opens a registry in memory.
func registry(t *testing.T) coord.Registry {
	t.Helper()
	reg, err := memory.NewStore(memory.Options{}).Dial(t.Context(), memory.Config{Namespace: "http"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close(context.Background()) })
	return reg
}

// runOnce runs a job with one item, once, and returns how it ended.
func runOnce(t *testing.T, c job.Config, h job.Handler, options ...job.Option) job.Event {
	t.Helper()
	c.Name, c.ShardingTotalCount = "settle", 1
	finished := make(chan job.Event, 1)
	options = append(options, job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			finished <- e
		}
	}))
	s, err := job.Schedule(t.Context(), registry(t), c, h, options...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
		t.Fatal(err)
	}
	end := <-finished
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	return end
}

// runHTTP runs a job of this type, once.
func runHTTP(t *testing.T, c job.Config) job.Event {
	t.Helper()
	return runOnce(t, c, job.OfType(httpjob.Name, newType(t, httpjob.Options{})))
}

// The beginning of the answer is kept with the record, of a failure, too.
func TestOutput(t *testing.T) {
	for code, outcome := range map[int]job.Outcome{http.StatusOK: job.OutcomeOK, http.StatusInternalServerError: job.OutcomeFailed} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "begin"+strings.Repeat("x", 100_000)) // who reads it notices if it fails
		}).URL
		end := runHTTP(t, job.Config{Props: get(url)})
		if end.Outcome != outcome || len(end.Output) != 64<<10 || !strings.HasPrefix(string(end.Output), "begin") {
			t.Errorf("status %d: got %v, %d bytes %.20q", code, end.Outcome, len(end.Output), end.Output)
		}
	}
}

// What an answer brought is gone when the next attempt has none.
func TestOutputOfAnEarlierAttempt(t *testing.T) {
	var calls atomic.Int32 // after an aborted one the transport may ask once more, on another connection
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			http.Error(w, "not now", http.StatusInternalServerError)
			return
		}
		panic(http.ErrAbortHandler)
	}).URL
	end := runHTTP(t, job.Config{Props: get(url), Retry: job.Retry{Attempts: 1, InitialBackoff: -1}})
	if end.Outcome != job.OutcomeFailed || end.Attempt != 2 || end.Output != nil {
		t.Errorf("got %v after %d attempts, %q", end.Outcome, end.Attempt, end.Output)
	}
}

// Config.Retry does not try again what the server refuses for good.
func TestRetryOfTheJob(t *testing.T) {
	for code, attempts := range map[int]int{400: 1, 404: 1, 422: 1, 408: 2, 409: 2, 423: 2, 425: 2, 429: 2, 500: 2, 503: 2, 304: 2} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }).URL
		end := runHTTP(t, job.Config{
			Props: get(url).with(props{"http.success.codes": "200"}),
			Retry: job.Retry{Attempts: 1, InitialBackoff: -1},
		})
		if e, ok := errors.AsType[*httpjob.StatusError](end.Err); !ok || e.Code != code || end.Attempt != attempts {
			t.Errorf("status %d: got %v after %d attempts, want %d", code, end.Err, end.Attempt, attempts)
		}
	}
}

// The time-out of the job ends a request that is under way, and the server sees it.
func TestTimeoutOfTheJob(t *testing.T) {
	gone := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(gone)
	}).URL
	end := runHTTP(t, job.Config{Props: get(url).with(props{"http.read.timeout.milliseconds": "60000"}), Timeout: time.Second})
	if end.Outcome != job.OutcomeTimeout || !errors.Is(end.Err, job.ErrTimeout) {
		t.Errorf("got %v, %v", end.Outcome, end.Err)
	}
	<-gone
}

// A start with wrong properties, or without the name of TLS settings, is refused.
func TestStartIsRefused(t *testing.T) {
	_, err := job.Schedule(t.Context(), registry(t), job.Config{
		Name: "settle", ShardingTotalCount: 1, Props: get("https://h/").with(props{"http.tls": "billing"}),
	}, job.OfType(httpjob.Name, newType(t, httpjob.Options{})))
	if err == nil || !strings.Contains(err.Error(), `props: http.tls: "billing" is not known`) {
		t.Errorf("got %v", err)
	}
}
