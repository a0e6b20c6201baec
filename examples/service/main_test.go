package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is the whole service, on a real port.
type service struct {
	*testing.T
	url    string
	shop   shop // its tables, over a connection of the test
	alerts chan string
	ended  chan error
}

// begin starts the service, and waits until it is ready.
func begin(t *testing.T) *service {
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listener.Addr().String()
	file := filepath.Join(t.TempDir(), "shop.db")
	go func() { s.ended <- run(listener, "", file, slog.New(slog.DiscardHandler)) }()
	s.await("it is ready", func() bool { return s.status("/ready") == http.StatusOK })
	if s.shop, err = open(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.shop.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// await waits until something is so, for ten seconds.
func (s *service) await(what string, is func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 10*time.Second)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-ctx.Done():
			s.Fatalf("not after ten seconds: %s", what)
		}
	}
}

// ask sends a request, and returns the answer.
func (s *service) ask(method, path string) (status int, text string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
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

// The service settles the shards, makes a report, sends an alert, and ends when it is told to.
func TestService(t *testing.T) {
	s := begin(t)
	if live, faults := s.status("/live"), s.status("/faults"); live != http.StatusOK || faults != http.StatusOK {
		t.Errorf("live: %d, faults: %d", live, faults)
	}
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
	if alert := <-s.alerts; !strings.Contains(alert, `report of \"Atlantis\"`) {
		t.Errorf("alert: %s", alert)
	}
	s.await("all shards are settled", func() bool { return s.shop.number(t, `SELECT count(*) FROM orders WHERE NOT settled`) == 0 })
	if wrong := s.shop.number(t, `SELECT (SELECT sum(cents) FROM orders) - (SELECT sum(cents) FROM shards)`); wrong != 0 {
		t.Errorf("the shards are wrong by %d", wrong)
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}
