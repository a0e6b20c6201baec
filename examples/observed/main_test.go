package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds each wait: a slow machine needs more than a tick.
const patience = time.Minute

// finished matches the metric of runs that have ended well.
var finished = regexp.MustCompile(`elasticjob_executions_finished_total\{[^}]*job_name="settle"[^}]*outcome="[oO][kK]"[^}]*\} [1-9]`)

// A run shows in the metrics, in a dump, in spans and in the history.
func TestObserved(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	var out bytes.Buffer
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, listener, &out) }()

	await(t, "run in the metrics", func() bool {
		return finished.MatchString(page(t, "http://"+address+"/metrics"))
	})
	await(t, "job in the dump", func() bool { return strings.Contains(ask(t, address, "dump@settle\n"), "/settle/config") })
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"span pay Beijing in trace ", "span run settle in trace ", "span tick settle in trace ", "item 0 OK ", "INFO pays city=Beijing attempt=1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not print %q, but\n%s", want, &out)
		}
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("no %s after %v", what, patience)
		}
	}
}

func page(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// ask sends a line, as nc does.
func ask(t *testing.T, address, line string) string {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, line); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}
