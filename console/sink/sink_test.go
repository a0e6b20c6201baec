package sink_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/sink"
	"github.com/elasticjob-go/elasticjob/ops"
)

// patience bounds what takes no time unless the machine stands still.
const patience = time.Minute

func open(t *testing.T, c sink.Config, out io.Writer, log io.Writer) *sink.Sinks {
	t.Helper()
	s, err := sink.Open(c, out, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// finish closes sinks when all is sent.
func finish(t *testing.T, s *sink.Sinks) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

// numbers are the metrics of a sink.
func numbers(t *testing.T, s *sink.Sinks, name string) map[string]float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	if err := r.Register(s); err != nil {
		t.Fatal(err)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == name {
				all[strings.TrimPrefix(f.GetName(), "elasticjob_console_sink_")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return all
}

func recordOf(t *testing.T, line string) sink.Record {
	t.Helper()
	var r sink.Record
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%.200q: %v", line, err)
	}
	return r
}

var (
	at     = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	event  = access.Event{Time: at, Kind: access.UserAdded, By: "anna", User: "ben", Address: "192.0.2.7"}
	change = ops.Change{ID: "1", At: at, By: "anna", From: "192.0.2.7", Job: "settle", Action: ops.ActionUpdate, After: "jobName: settle\nprops:\n  email.password: hunter2\n"}
)

// send sends the event, and the change, which takes two commits.
func send(s *sink.Sinks) {
	s.Event(event)
	s.Change("shop", change)
	s.Change("shop", change)
	s.Change("shop", ops.Change{Action: ops.ActionPause}) // of a dry run
}

// check checks that lines are those of send.
func check(t *testing.T, name string, lines []string) {
	t.Helper()
	if len(lines) != 2 {
		t.Fatalf("%s: %q", name, lines)
	}
	first, second := recordOf(t, lines[0]), recordOf(t, lines[1])
	if first.Trace != "access" || first.Time != at || first.Event == nil || *first.Event != event || first.Change != nil {
		t.Errorf("%s: %s", name, lines[0])
	}
	if c := second.Change; second.Trace != "audit" || second.Namespace != "shop" || second.Time != at || second.Event != nil ||
		c == nil || c.ID != "1" || c.By != "anna" || c.Job != "settle" || c.Action != ops.ActionUpdate || !strings.Contains(c.After, "email.password") || strings.Contains(c.After, "hunter2") {
		t.Errorf("%s: %s", name, lines[1])
	}
}

func TestStdoutAndFile(t *testing.T) {
	var out, log bytes.Buffer
	path := filepath.Join(t.TempDir(), "traces.json")
	t.Setenv("TRACES", path)
	s := open(t, sink.Config{Stdout: true, File: "${env:TRACES}"}, &out, &log)
	send(s)
	finish(t, s)
	inFile, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err := errors.Join(err, statErr); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	check(t, "stdout", strings.Split(strings.TrimSpace(out.String()), "\n"))
	check(t, "file", strings.Split(strings.TrimSpace(string(inFile)), "\n"))
	if got := numbers(t, s, "file"); got["sent_total"] != 2 || got["dropped_total"] != 0 || got["waiting"] != 0 || log.Len() > 0 {
		t.Errorf("%v; the log: %s", got, &log)
	}
}

func TestSyslog(t *testing.T) {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packets.Close() }() // the test is over
	s := open(t, sink.Config{Syslog: "udp://" + packets.LocalAddr().String()}, nil, io.Discard)
	send(s)
	finish(t, s)
	if err := packets.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for range 2 {
		packet := make([]byte, 64<<10)
		n, _, err := packets.ReadFrom(packet)
		if err != nil {
			t.Fatal(err)
		}
		head, line, _ := strings.Cut(string(packet[:n]), ": ")
		if !strings.HasPrefix(head, "<37>") || !strings.Contains(head, " elasticjob[") { // auth, notice
			t.Error(head)
		}
		lines = append(lines, line)
	}
	check(t, "syslog", lines)
}

// A webhook gets each line with the token that there is at that time. What it does not take comes again; a redirect is
// no way to another server.
func TestWebhook(t *testing.T) {
	folder := t.TempDir()
	token, ca := filepath.Join(folder, "token"), filepath.Join(folder, "ca.pem")
	bodies, tokens, asked := make(chan string, 10), make(chan string, 10), 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/traces" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Error(r.Method, r.URL, r.Header, err)
		}
		bodies <- string(body)
		tokens <- r.Header.Get("Authorization")
	}))
	defer server.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := errors.Join(os.WriteFile(ca, certificate, 0o600), os.WriteFile(token, []byte("one\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := open(t, sink.Config{Webhook: sink.Webhook{URL: server.URL + "/traces", Token: "${file:" + token + "}", CA: ca}}, nil, io.Discard)
	s.Event(event)
	first := <-bodies
	if err := os.WriteFile(token, []byte("two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Change("shop", change)
	finish(t, s)
	check(t, "webhook", []string{first, <-bodies})
	if one, two := <-tokens, <-tokens; one != "Bearer one" || two != "Bearer two" {
		t.Errorf("%s, %s", one, two)
	}
	if got := numbers(t, s, "webhook"); got["sent_total"] != 2 || got["dropped_total"] != 0 {
		t.Error(got)
	}
}

// Documents that would not fit into a packet are left out.
func TestLargeChange(t *testing.T) {
	var out bytes.Buffer
	s := open(t, sink.Config{Stdout: true}, &out, io.Discard)
	c := change
	c.Before, c.After = strings.Repeat("\x01", 16<<10), strings.Repeat("<", 16<<10)
	s.Change("shop", c)
	c.ID, c.Before = "2", ""
	s.Change("shop", c)
	finish(t, s)
	lines := strings.Split(out.String(), "\n")
	if r := recordOf(t, lines[0]); r.Change.After != "" || !r.Change.Cut || len(lines[0]) > 1000 {
		t.Errorf("%d bytes", len(lines[0]))
	}
	if r := recordOf(t, lines[1]); len(r.Change.After) != 16<<10 || r.Change.Cut || len(lines[1]) > 17<<10 {
		t.Errorf("%d bytes", len(lines[1]))
	}
}

// writer is one for the tests: it calls a function.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A sink that takes nothing holds up nobody. Who sends more than its queue has room for loses his own lines.
func TestFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, log bytes.Buffer
		goOn := make(chan struct{})
		s := open(t, sink.Config{Stdout: true}, writer(func(p []byte) (int, error) {
			<-goOn
			return out.Write(p)
		}), &log)
		const few, many = 10, 50_000
		for range few {
			s.Event(event)
		}
		for n := range many {
			s.Change("shop", ops.Change{ID: fmt.Sprint(n), At: at, By: fmt.Sprintf("eve (token t%d)", n), Job: "settle", Action: ops.ActionPause})
		}
		synctest.Wait()
		got := numbers(t, s, "stdout")
		if got["dropped_total"] < many/2 || got["waiting"]+got["dropped_total"] != few+many-1 { // one is being sent
			t.Error(got)
		}
		if n := strings.Count(log.String(), "sink: lines are dropped"); n != 1 || !strings.Contains(log.String(), `sink=stdout`) || !strings.Contains(log.String(), "the queue is full") {
			t.Errorf("told %d times: %s", n, &log)
		}
		close(goOn)
		finish(t, s)
		anna, newest := 0, ""
		for lines := bufio.NewScanner(&out); lines.Scan(); {
			if newest = lines.Text(); strings.Contains(newest, `"by":"anna"`) {
				anna++
			}
		}
		if anna != few || recordOf(t, newest).Change.ID != fmt.Sprint(many-1) {
			t.Errorf("%d lines of anna; the newest: %s", anna, newest)
		}
	})
}

// A line is tried five times, with pauses. What is dropped is in the log once a minute, with how much it is.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var mu sync.Mutex
		var times []time.Time
		s := open(t, sink.Config{Stdout: true}, writer(func([]byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			times = append(times, time.Now())
			return 0, errors.New("the disk is full")
		}), &log)
		const lines = 20
		for range lines {
			s.Event(event)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(times) != 5*lines {
			t.Fatalf("%d tries", len(times))
		}
		for i, least := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
			if pause := times[i+1].Sub(times[i]); pause < least/2 || pause > least {
				t.Errorf("pause %d: %v", i, pause)
			}
		}
		if got := numbers(t, s, "stdout"); got["dropped_total"] != lines || got["sent_total"] != 0 || got["waiting"] != 0 {
			t.Error(got)
		}
		took := times[len(times)-1].Sub(times[0])
		if n := strings.Count(log.String(), "lines are dropped"); n < 2 || n > 1+int(took/time.Minute) || !strings.Contains(log.String(), "the disk is full") {
			t.Errorf("told %d times in %v: %s", n, took, &log)
		}
		finish(t, s)
	})
}

// What cannot be sent in time is told at the end, and is waited for no longer.
func TestCloseInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		s := open(t, sink.Config{Stdout: true}, writer(func(p []byte) (int, error) {
			<-goOn
			return len(p), nil
		}), io.Discard)
		for range 3 {
			s.Event(event)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "sink stdout: 2 lines are not sent") {
			t.Error(err)
		}
		close(goOn) // else the bubble could not end
		synctest.Wait()
		if got := numbers(t, s, "stdout"); got["sent_total"] != 1 || got["dropped_total"] != 2 {
			t.Error(got)
		}
	})
}

// A mistake is told with its key and what is allowed, and without what may be secret.
func TestMistakes(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "file")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const url = "https://logs.example.com/hunter2"
	for _, c := range []struct {
		of   sink.Config
		want string
	}{
		{sink.Config{File: missing}, "sinks: file: open " + missing},
		{sink.Config{File: "${env:NO_SUCH_VARIABLE}"}, "sinks: file: "},
		{sink.Config{Syslog: "logs:514"}, "sinks: syslog: allowed are local, udp://host:port, and tcp://host:port"},
		{sink.Config{Syslog: "tcp://logs"}, "sinks: syslog: allowed are"},
		{sink.Config{Syslog: "udp://logs:514/x"}, "sinks: syslog: allowed are"},
		{sink.Config{Webhook: sink.Webhook{URL: "http://logs.example.com/hunter2"}}, "sinks: webhook: url: allowed are https://…, and http://… on a loopback address"},
		{sink.Config{Webhook: sink.Webhook{URL: "hunter2"}}, "sinks: webhook: url: allowed are"},
		{sink.Config{Webhook: sink.Webhook{Token: "${env:HOME}"}}, "sinks: webhook: url is missing"},
		{sink.Config{Webhook: sink.Webhook{URL: url, Token: "hunter2"}}, "sinks: webhook: token: a secret has to be a reference"},
		{sink.Config{Webhook: sink.Webhook{URL: url, Token: "${file:" + missing + "}"}}, "sinks: webhook: token: "},
		{sink.Config{Webhook: sink.Webhook{URL: url, CA: missing}}, "sinks: webhook: ca: open " + missing},
		{sink.Config{Webhook: sink.Webhook{URL: url, CA: empty}}, "has no certificates; allowed is PEM"},
	} {
		_, err := sink.Open(c.of, io.Discard, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%+v: %v, want %s", c.of, err, c.want)
		}
	}
}
