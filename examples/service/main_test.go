package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds each wait: a slow machine needs more than a tick.
const patience = time.Minute

// service is the whole service, on a real port.
type service struct {
	*testing.T
	url    string
	shop   shop // its tables, over a connection of the test
	alerts chan string
	ended  chan error
}

// begin starts the service, and waits until it is ready.
func begin(t *testing.T, log slog.Handler) *service {
	t.Helper()
	s := &service{T: t, alerts: make(chan string, 100), ended: make(chan error, 1)}
	pager := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.alerts <- string(text)
	}))
	t.Cleanup(pager.Close)
	t.Setenv("ALERT_URL", pager.URL)
	t.Setenv("POD_IP", "10.0.0.7")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listener.Addr().String()
	file := filepath.Join(t.TempDir(), "shop.db")
	// The tables are made first: an execution that a gate holds has the lock of the database.
	if s.shop, err = open(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- run(listener, "", file, slog.New(log)) }()
	s.await("it is ready", func() bool { return s.status("/health/ready") == http.StatusOK })
	t.Cleanup(func() {
		if err := s.shop.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// await waits until something is so.
func (s *service) await(what string, is func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-ctx.Done():
			s.Fatalf("not after %v: %s", patience, what)
		}
	}
}

// receive receives something that comes soon.
func receive[T any](t *testing.T, from <-chan T) (got T) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case got = <-from:
	case <-late.C:
		t.Fatalf("nothing has come in %v", patience)
	}
	return got
}

// ask sends a request, and returns the answer.
func (s *service) ask(method, path string) (status int, text string) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		s.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func (s *service) status(path string) int {
	s.Helper()
	status, _ := s.ask(http.MethodGet, path)
	return status
}

// number asks the tables.
func (s shop) number(t *testing.T, query string) (n int) {
	t.Helper()
	if err := s.db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// end sends SIGTERM, as Kubernetes does.
func (s *service) end() {
	s.Helper()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		s.Fatal(err)
	}
}

// The service makes a report when it is asked to, and sends an alert when that fails.
func TestReportsAndAlerts(t *testing.T) {
	s := begin(t, slog.DiscardHandler)
	status, text := s.ask(http.MethodPost, "/rebuild?city=Shanghai")
	if status != http.StatusOK || strings.Count(text, ": OK") != 4 {
		t.Errorf("rebuild: %d %s", status, text)
	}
	if wrong := s.shop.number(t, `SELECT (SELECT sum(cents) FROM reports) - (SELECT sum(cents) FROM orders WHERE city = 'Shanghai')`); wrong != 0 {
		t.Errorf("the report is wrong by %d", wrong)
	}
	if _, text = s.ask(http.MethodPost, "/rebuild?city=Atlantis"); strings.Count(text, ": FAILED") != 4 {
		t.Errorf("rebuild: %s", text)
	}
	for !strings.Contains(receive(t, s.alerts), `report of \"Atlantis\"`) { // what else fails on a slow machine has an alert of its own
	}
	s.await("the alert is counted", func() bool {
		_, text := s.ask(http.MethodGet, "/metrics")
		return strings.Contains(text, "\nelasticjob_jobs{job_namespace=\"shop\"} 2\n") &&
			!strings.Contains(text, "\nelasticjob_alerts_sent_total{job_namespace=\"shop\"} 0\n") &&
			strings.Contains(text, "\nelasticjob_store_requests_total{")
	})
	s.end()
	if err := receive(t, s.ended); err != nil {
		t.Error(err)
	}
}

// gate is a log in which the first execution of settle stands still, until it is let go on.
type gate struct {
	slog.Handler
	once          *sync.Once
	reached, open chan struct{}
}

func (g gate) Enabled(context.Context, slog.Level) bool { return true }
func (g gate) WithAttrs([]slog.Attr) slog.Handler       { return g }

func (g gate) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "settled" {
		g.once.Do(func() { close(g.reached); <-g.open })
	}
	return nil
}

// After SIGTERM the service finishes what runs. Until then it is live, and not ready.
func TestDrain(t *testing.T) {
	g := gate{slog.DiscardHandler, new(sync.Once), make(chan struct{}), make(chan struct{})}
	s := begin(t, g)
	if live, faults := s.status("/health/live"), s.status("/health/faults"); live != http.StatusOK || faults != http.StatusOK {
		t.Errorf("live: %d, faults: %d", live, faults)
	}
	receive(t, g.reached)
	s.end()
	s.await("it is not ready", func() bool { return s.status("/health/ready") == http.StatusServiceUnavailable })
	if live := s.status("/health/live"); live != http.StatusOK {
		t.Errorf("while it drains, live: %d", live)
	}
	close(g.open)
	if err := receive(t, s.ended); err != nil {
		t.Error(err)
	}
	s.shop.isSound(t)
	if settled := s.shop.number(t, `SELECT count(*) FROM shards WHERE cents > 0`); settled == 0 {
		t.Error("what was running was not finished")
	}
}

// isSound checks that each order was settled once, or not at all.
func (s shop) isSound(t *testing.T) {
	t.Helper()
	if wrong := s.number(t, `SELECT (SELECT coalesce(sum(cents), 0) FROM orders WHERE settled) - (SELECT sum(cents) FROM shards)`); wrong != 0 {
		t.Errorf("the shards are wrong by %d", wrong)
	}
}

// The service is short enough to be read.
func TestLength(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
	}
	if lines == 0 || lines >= 225 {
		t.Errorf("%d lines, want less than 225", lines)
	}
}
