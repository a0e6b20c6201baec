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

	"github.com/elasticjob-go/elasticjob/job"
)

func polling(url string) props {
	return post(url + "/start").with(props{
		"http.data": "a=b", "http.content.type": "text/plain", "http.header.X-Item": "${shardingItem}",
		"http.poll": "true", "http.poll.interval.milliseconds": "1", "http.retry.attempts": "2", "http.retry.backoff.milliseconds": "1",
	})
}

// A server that has taken the work is asked until it is done, and the last answer counts.
func TestPolling(t *testing.T) {
	for end, outcome := range map[int]job.Outcome{http.StatusOK: job.OutcomeOK, http.StatusInternalServerError: job.OutcomeFailed} {
		var polls atomic.Int32 // each of them may come over another connection
		mux := http.NewServeMux()
		mux.HandleFunc("POST /start", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/runs/7?key=abc")
			w.WriteHeader(http.StatusAccepted)
		})
		mux.HandleFunc("GET /runs/7", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Item") != "0" || r.Header.Get("shardingContext") == "" || r.Header.Get("Idempotency-Key") != "" || r.Header.Get("Content-Type") != "" || r.ContentLength > 0 {
				t.Errorf("got %v", r.Header)
			}
			switch n := polls.Add(1); {
			case n == 1:
				w.WriteHeader(http.StatusAccepted) // the same Location
			case n == 2:
				w.WriteHeader(http.StatusServiceUnavailable) // is tried again
			case n == 3:
				panic(http.ErrAbortHandler) // too
			case n < 10:
				w.Header().Set("Location", "7")
				w.WriteHeader(http.StatusAccepted)
			default:
				w.WriteHeader(end)
				_, _ = io.WriteString(w, "the end") // who reads it notices if it fails
			}
		})
		got := runHTTP(t, job.Config{Props: polling(serve(t, mux.ServeHTTP).URL)})
		if got.Outcome != outcome || polls.Load() != 10 || string(got.Output) != "the end" {
			t.Errorf("got %v, %v, %q after %d polls", got.Outcome, got.Err, got.Output, polls.Load())
		}
	}
}

// Nothing is polled unless it was asked for, nor without a Location.
func TestNoPolling(t *testing.T) {
	accepted := func(location string) string {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				t.Error("polled")
			}
			if location != "" {
				w.Header().Set("Location", location)
			}
			w.WriteHeader(http.StatusAccepted)
		}).URL
	}
	if err := execute(t, polling(accepted("/runs/7")).with(props{"http.poll": ""})); err != nil {
		t.Error(err)
	}
	if err := execute(t, polling(accepted(""))); err != nil {
		t.Error(err)
	}
}

// accepting starts a server that never finishes.
func accepting(t *testing.T, header http.Header) (string, *atomic.Int32) {
	polls := new(atomic.Int32)
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			polls.Add(1)
		}
		w.Header().Set("Location", "/runs/7")
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(http.StatusAccepted)
	}).URL, polls
}

func TestPollsEnd(t *testing.T) {
	t.Run("by their own time-out", func(t *testing.T) {
		t.Parallel()
		url, polls := accepting(t, nil)
		err := execute(t, polling(url).with(props{"http.poll.timeout.milliseconds": "1500"}))
		if err == nil || !strings.Contains(err.Error(), "the server has not finished after 1.5s (http.poll.timeout.milliseconds)") || polls.Load() == 0 {
			t.Errorf("got %v after %d polls", err, polls.Load())
		}
	})
	t.Run("by the job's", func(t *testing.T) {
		t.Parallel()
		url, polls := accepting(t, nil)
		end := runHTTP(t, job.Config{Props: polling(url), Timeout: time.Second})
		if end.Outcome != job.OutcomeTimeout || polls.Load() == 0 {
			t.Errorf("got %v, %v after %d polls", end.Outcome, end.Err, polls.Load())
		}
	})
	t.Run("with the context, in a pause", func(t *testing.T) {
		t.Parallel()
		url, _ := accepting(t, http.Header{"Retry-After": {"50"}})
		ctx, end := context.WithCancelCause(t.Context())
		why := errors.New("the item moves")
		time.AfterFunc(50*time.Millisecond, func() { end(why) })
		if err := executeIn(t, ctx, polling(url)); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("when the server has gone", func(t *testing.T) {
		t.Parallel()
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				panic(http.ErrAbortHandler)
			}
			w.Header().Set("Location", "/runs/7")
			w.WriteHeader(http.StatusAccepted)
		}).URL
		if err := execute(t, polling(url)); err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("got %v", err)
		}
	})
}

// The server's pause replaces that of the properties, up to the maximum.
func TestPauseBetweenPolls(t *testing.T) {
	for name, tc := range map[string]struct {
		after, interval, most string
		least                 time.Duration
	}{
		"the server's":  {"1", "1", "60000", time.Second},
		"a long one":    {"50", "1", "500", 500 * time.Millisecond},
		"no pause":      {"0", "500", "60000", 500 * time.Millisecond},
		"its own":       {"", "500", "60000", 500 * time.Millisecond},
		"a shorter one": {"1", "50000", "60000", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var accepted, polled time.Time
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					polled = time.Now()
					return
				}
				accepted = time.Now()
				w.Header().Set("Location", "/runs/7")
				w.Header().Set("Retry-After", tc.after)
				w.WriteHeader(http.StatusAccepted)
			}).URL
			p := polling(url).with(props{"http.poll.interval.milliseconds": tc.interval, "http.retry.after.max.milliseconds": tc.most})
			if err := execute(t, p); err != nil {
				t.Fatal(err)
			}
			if pause := polled.Sub(accepted); pause < tc.least || pause > tc.least+20*time.Second {
				t.Errorf("waited %v, want %v", pause, tc.least)
			}
		})
	}
}

// A Location at another origin is polled without the headers of the configuration; one that is
// no URL is refused for good, because the server has the work already.
func TestPollingElsewhere(t *testing.T) {
	t.Setenv("HTTPJOB_TOKEN", "hunter2")
	var polls atomic.Int32
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		polls.Add(1)
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Item") != "" || r.Host == "billing" {
			t.Errorf("got %s, %v", r.Host, r.Header)
		}
	}).URL
	start := func(location string) string {
		return serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusAccepted)
		}).URL
	}
	more := props{"http.header.Authorization": "Bearer ${env:HTTPJOB_TOKEN}", "http.header.Host": "billing"}
	if err := execute(t, polling(start(other)).with(more)); err != nil || polls.Load() != 1 {
		t.Errorf("got %v after %d polls", err, polls.Load())
	}
	for _, location := range []string{"ftp://h/", "http://%zz/", "mailto:a@b"} {
		err := execute(t, polling(start(location)).with(more))
		if err == nil || !strings.Contains(err.Error(), "the Location of the answer 202 is no URL with http or https") || !isForGood(t, err) {
			t.Errorf("%s: got %v", location, err)
		}
	}
}
