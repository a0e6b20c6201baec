package httpjob_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
)

func TestCodes(t *testing.T) {
	for _, tc := range []struct {
		success string
		code    int
		ok      bool
	}{
		{"", 200, true}, {"", 204, true}, {"", 304, true}, {"", 302, true}, {"", 399, true}, {"", 400, false}, {"", 500, false},
		{"200,409,500-599", 409, true}, {"200,409,500-599", 503, true}, {"200,409,500-599", 201, false},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tc.code) }).URL
		err := execute(t, get(url).with(props{"http.success.codes": tc.success}))
		if (err == nil) != tc.ok {
			t.Errorf("status %d with %q: got %v", tc.code, tc.success, err)
		}
	}
}

// The error has the beginning of the answer, in one line.
func TestStatusError(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "no\r\n\troom\x1b[31m \xff"+strings.Repeat(" x", 10_000)) // who reads it notices if it fails
	}).URL
	err := execute(t, get(url+"/settle?key=abc"))
	e, ok := errors.AsType[*httpjob.StatusError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if e.Code != 503 || e.RetryAfter != 2*time.Minute || !strings.HasPrefix(e.Body, "no room?[31m ? x x") || len(e.Body) > 210 {
		t.Errorf("got %+v", e)
	}
	if want := "httpjob: GET " + url + "/settle?…: status 503 Service Unavailable, retry after 2m0s: no room"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %q, want %q at its beginning", err, want)
	}
}

// An answer without an end, and one that becomes large when it is unpacked, are read up to a
// bound.
func TestLongAnswers(t *testing.T) {
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	for range 100 {
		_, _ = packer.Write(make([]byte, 100_000)) // who reads it notices if it fails
	}
	_ = packer.Close() // nothing is read or written any more
	for name, answer := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 10_000)); err != nil {
					return
				}
			}
		},
		"packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes()) // who reads it notices if it fails
		},
	} {
		t.Run(name, func(t *testing.T) {
			end := runHTTP(t, job.Config{Props: get(serve(t, answer).URL)})
			if end.Err != nil || len(end.Output) != 64<<10 {
				t.Errorf("got %v, %d bytes", end.Err, len(end.Output))
			}
		})
	}
}

// A connection is used again after an answer that was read to its end.
func TestConnectionsAreKept(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 100_000)) // who reads it notices if it fails
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	h := handlerOf(t, newType(t, httpjob.Options{}), get(server.URL))
	for range 5 {
		if err := h.Execute(t.Context(), sharding()); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("got %d connections", n)
	}
}

// Changes of properties do not gather connections.
func TestTransportsAreBounded(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) {}).URL
	requests := newType(t, httpjob.Options{})
	for n := range httpjob.MaxTransports + 10 {
		p := get(url).with(props{"http.connect.timeout.milliseconds": strconv.Itoa(3000 + n)})
		if err := handlerOf(t, requests, p).Execute(t.Context(), sharding()); err != nil {
			t.Fatal(err)
		}
	}
	if n := requests.Transports(); n != httpjob.MaxTransports {
		t.Errorf("got %d", n)
	}
}

func TestClose(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) {}).URL
	requests := httpjob.New(httpjob.Options{})
	h := handlerOf(t, requests, get(url))
	if err := h.Execute(t.Context(), sharding()); err != nil {
		t.Fatal(err)
	}
	requests.Close()
	requests.Close()
	if err := h.Execute(t.Context(), sharding()); !errors.Is(err, httpjob.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// The end of the context ends a request at once, wherever it stands.
func TestCancel(t *testing.T) {
	for name, beforeAnswer := range map[string]bool{"before the answer": true, "within the answer": false} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancelCause(t.Context())
			why := errors.New("the item moves")
			gone := make(chan struct{})
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if !beforeAnswer {
					_, _ = io.WriteString(w, "begin")         // who reads it notices if it fails
					_ = http.NewResponseController(w).Flush() // who reads it notices if it fails
				}
				end(why)
				<-r.Context().Done()
				close(gone)
			}).URL
			if err := executeIn(t, ctx, get(url).with(props{"http.retry.attempts": "5"})); !errors.Is(err, why) {
				t.Errorf("got %v", err)
			}
			<-gone
		})
	}
}
