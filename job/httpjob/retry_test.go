package httpjob_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

// patient are properties that send again soon.
func patient(url, method string) props {
	return get(url).with(props{"http.method": method, "http.retry.attempts": "2", "http.retry.backoff.milliseconds": "1"})
}

// failing starts a server that fails in some way twice, and then answers. It returns how often
// it was asked.
func failing(t *testing.T, fail http.HandlerFunc) (string, *atomic.Int32) {
	asked := new(atomic.Int32)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= 2 {
			fail(w, r)
		}
	})
	return s.URL, asked
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// What is sent again within an execution: only what may be, and only if it may help.
func TestRetries(t *testing.T) {
	unsafe := props{"http.retry.unsafe": "true"}
	for _, tc := range []struct {
		name   string
		fail   http.HandlerFunc
		method string
		more   props
		asked  int32
	}{
		{"unavailable", status(503), "GET", nil, 3},
		{"too many", status(429), "PUT", nil, 3},
		{"bad gateway", status(502), "DELETE", nil, 3},
		{"gateway time-out", status(504), "HEAD", nil, 3},
		{"broken connection", abort, "OPTIONS", nil, 3},
		{"unavailable", status(503), "POST", nil, 1},
		{"broken connection", abort, "POST", nil, 1},
		{"broken connection", abort, "PATCH", nil, 1},
		{"unavailable, asked for", status(503), "POST", unsafe, 3},
		{"broken connection, asked for", abort, "PATCH", unsafe, 3},
		{"other failures", status(500), "GET", nil, 1},
		{"for good", status(404), "GET", nil, 1},
		{"a success", status(503), "GET", props{"http.success.codes": "503"}, 1},
		{"no attempts", status(503), "GET", props{"http.retry.attempts": "0"}, 1},
		{"too few attempts", status(503), "GET", props{"http.retry.attempts": "1"}, 2},
		{"the default", status(503), "GET", props{"http.retry.attempts": ""}, 3},
	} {
		t.Run(tc.name+" "+tc.method, func(t *testing.T) {
			url, asked := failing(t, tc.fail)
			err := execute(t, patient(url, tc.method).with(tc.more))
			if asked.Load() != tc.asked {
				t.Errorf("asked %d times, want %d", asked.Load(), tc.asked)
			}
			if ok := tc.asked == 3 || tc.more["http.success.codes"] != ""; (err == nil) != ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A server that has closed a connection which was kept may have got the request before. So a
// POST is not sent again, although it has an Idempotency-Key, for which the client of net/http
// would do it by itself.
func TestKeptConnectionThatBreaks(t *testing.T) {
	for method, want := range map[string]int32{"POST": 2, "PATCH": 2, "PUT": 3} {
		t.Run(method, func(t *testing.T) {
			var asked atomic.Int32
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) == 2 {
					panic(http.ErrAbortHandler)
				}
			}).URL
			h := handlerOf(t, newType(t, httpjob.Options{}), patient(url, method))
			if err := h.Execute(t.Context(), sharding()); err != nil {
				t.Fatal(err)
			}
			err := h.Execute(t.Context(), sharding())
			if asked.Load() != want || (err == nil) != (want == 3) {
				t.Errorf("asked %d times, want %d: %v", asked.Load(), want, err)
			}
		})
	}
}

// rejecting is a listener that closes its first connections at once.
type rejecting struct {
	net.Listener
	left int
}

func (l *rejecting) Accept() (net.Conn, error) {
	for ; ; l.left-- {
		c, err := l.Listener.Accept()
		if err != nil || l.left == 0 {
			return c, err
		}
		_ = c.Close() // nothing is read or written any more
	}
}

// Before there is a connection the server has got nothing, so a POST is tried again.
func TestNothingWasSent(t *testing.T) {
	for rejects, ok := range map[int]bool{2: true, 3: false} {
		asked := 0
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
		s.Listener = &rejecting{s.Listener, rejects}
		s.StartTLS()
		t.Cleanup(s.Close)
		requests := newType(t, httpjob.Options{TLS: map[string]*tls.Config{"test": {RootCAs: pool(s.Certificate())}}})
		err := handlerOf(t, requests, patient(s.URL, "POST").with(props{"http.tls": "test"})).Execute(t.Context(), sharding())
		if (err == nil) != ok || ok && asked != 1 {
			t.Errorf("%d connections are closed: got %v, asked %d times", rejects, err, asked)
		}
	}
}

// A server says how long to wait. Longer than the maximum, and longer than the time that is
// left, is not waited for.
func TestRetryAfter(t *testing.T) {
	date := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) // the server's clock is wrong
	for name, tc := range map[string]struct {
		after string
		left  time.Duration // of the execution
		most  string
		asked int32
		told  time.Duration
	}{
		"seconds":        {"1", time.Minute, "5000", 2, 0},
		"date":           {date.Add(time.Second).Format(http.TimeFormat), time.Minute, "5000", 2, 0},
		"past date":      {date.Add(-time.Hour).Format(http.TimeFormat), time.Minute, "5000", 2, 0},
		"no time at all": {"soon", time.Minute, "5000", 2, 0},
		"too long":       {"6", time.Minute, "5000", 1, 6 * time.Second},
		"far too long":   {"99999999999999999", time.Minute, "86400000", 1, 1 << 30 * time.Second},
		"no time left":   {"60", 40 * time.Second, "90000", 1, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			var first, second time.Time
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) > 1 {
					second = time.Now()
					return
				}
				first = time.Now()
				w.Header().Set("Date", date.Format(http.TimeFormat))
				w.Header().Set("Retry-After", tc.after)
				w.WriteHeader(http.StatusServiceUnavailable)
			}).URL
			ctx, end := context.WithTimeout(t.Context(), tc.left)
			defer end()
			err := executeIn(t, ctx, patient(url, "GET").with(props{"http.retry.after.max.milliseconds": tc.most}))
			if asked.Load() != tc.asked || (err == nil) != (tc.asked == 2) {
				t.Errorf("asked %d times, want %d: %v", asked.Load(), tc.asked, err)
			}
			if strings.HasPrefix(name, "seconds") || name == "date" {
				if second.Sub(first) < time.Second {
					t.Errorf("waited %v", second.Sub(first))
				}
			}
			if e, ok := errors.AsType[*httpjob.StatusError](err); ok && e.RetryAfter != tc.told || err != nil && !ok {
				t.Errorf("got %v, want %v to wait", err, tc.told)
			}
			if err != nil && ctx.Err() != nil {
				t.Error("it waited in vain")
			}
		})
	}
}

// The end of the context ends the pause.
func TestCancelInThePause(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	why := errors.New("the item moves")
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusServiceUnavailable)
		time.AfterFunc(20*time.Millisecond, func() { end(why) })
	}).URL
	began := time.Now()
	if err := executeIn(t, ctx, patient(url, "GET")); !errors.Is(err, why) || time.Since(began) > 20*time.Second {
		t.Errorf("got %v", err)
	}
}

// The body is whole each time.
func TestBodyIsSentAgain(t *testing.T) {
	var bodies []int64
	url, _ := failing(t, func(w http.ResponseWriter, r *http.Request) {
		bodies = append(bodies, r.ContentLength)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	if err := execute(t, patient(url, "PUT").with(props{"http.data": "a=b"})); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(bodies) != "[3 3]" {
		t.Errorf("got %v", bodies)
	}
}
