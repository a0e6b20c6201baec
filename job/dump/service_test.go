package dump_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/trace"
)

const token = "0123456789abcdef"

// served is a service that runs, with a job settle of two items, and a job a@b that no process runs.
type served struct {
	*testing.T
	service *dump.Service
	reg     coord.Registry
	job     *job.Scheduler
	log     bytes.Buffer
	address string
}

// newServed returns a service that does not listen yet.
func newServed(t *testing.T, o dump.Options) *served {
	t.Helper()
	s := &served{T: t}
	s.reg = open(t, inMemory(t))
	s.job = runs(t, s.reg, job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: 2}, "10.0.0.1")
	await(t, s.job, "both items", func(s job.Status) bool { return len(s.Items) == 2 })
	if _, err := s.reg.Commit(t.Context(), coord.Put("a@b/config", []byte("jobName: a@b")), coord.Put("a@b/servers/10.0.0.9", nil)); err != nil {
		t.Fatal(err)
	}
	o.Slog = slog.New(slog.NewTextHandler(&s.log, nil))
	var err error
	if s.service, err = dump.New(s.reg, dump.Schedulers{s.job}, o); err != nil {
		t.Fatal(err)
	}
	return s
}

// serve serves a listener until the test ends.
func (s *served) serve(l net.Listener) {
	s.Helper()
	s.address = l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.service.ServeLines(ctx, l) }()
	s.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.Errorf("serve: %v", err)
		}
	})
}

// listen listens on a port of this machine.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// netcat sends a text and returns all of the answer. If it ends the text, it says so, as nc -N does.
func (s *served) netcat(text string, ends bool) string {
	s.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = c.Close() }() // all was read
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		s.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		s.Fatal(err)
	}
	if ends {
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			s.Fatal(err)
		}
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		s.Fatalf("%q: %v", text, err)
	}
	return string(answer)
}

var commands = map[string]dump.Command{
	"echo": func(_ context.Context, args string, w io.Writer) error {
		_, err := fmt.Fprintf(w, "(%s)", args)
		return err
	},
	"fail": func(_ context.Context, _ string, w io.Writer) error {
		_, err := io.WriteString(w, "so far\n")
		return errors.Join(err, errors.New("a\nb"))
	},
	"large": func(_ context.Context, _ string, w io.Writer) error {
		_, err := w.Write(make([]byte, 1<<20))
		return err
	},
	"panic": func(context.Context, string, io.Writer) error { panic("boom") },
	"much": func(_ context.Context, _ string, w io.Writer) (err error) {
		for err == nil {
			_, err = w.Write(make([]byte, 1<<20))
		}
		return err
	},
}

func TestLine(t *testing.T) {
	s := newServed(t, dump.Options{Commands: commands})
	s.serve(listen(t))
	for _, tc := range []struct{ line, want string }{
		{"dump@settle\n", "/settle/sharding | \n/settle/sharding/1 | \n/settle/sharding/1/instance | ip1@-@"},
		{"dump@settle\r\n", "/settle/sharding | \n"},
		{"GET /jobs HTTP/1.1\r\nHost: x\r\n\r\n", "error: dump: \"GET /jobs HTTP/1.1\": a line is command@arguments, such as dump@settle\n"},
		{"dump@settle\nGET / HTTP/1.1\n", "/settle/sharding | \n"},
		{"dump@a@b\n", "/a@b/servers | \n/a@b/servers/ip1 | \n/a@b/config | jobName: a@b\n"},
		{"dump@none\n", "error: dump: job \"none\": no such job\n"},
		{"dump@\n", "error: dump: job \"\": no such job\n"},
		{"dump@a/b\n", "error: dump: job \"a/b\": no such job\n"},
		{"dump@~elasticjob\n", "error: dump: job \"~elasticjob\": no such job\n"},
		{"Dump@settle\n", "error: dump: no such command \"Dump\"\n"},
		{"dump\n", "error: dump: \"dump\": a line is command@arguments, such as dump@settle\n"},
		{"\n", "error: dump: \"\": a line is"},
		{"echo@a b@c\n", "(a b@c)"},
		{"echo@\n", "()"},
		{"fail@\n", "so far\nerror: dump: command fail: a b\n"},
		{"panic@x\n", "error: dump: panic: boom\n"},
		{"x" + strings.Repeat("y", 5000) + "@\n", "error: dump: the line has more than 4096 bytes\n"},
		{"dump@" + strings.Repeat("y", 5000) + "\n", "error: dump: the line has more than 4096 bytes\n"},
	} {
		if got := s.netcat(tc.line, false); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%.40q: %.200q, want %q", tc.line, got, tc.want)
		}
	}
	for _, line := range []string{"dump@settle", "dump"} { // nc -N, without a line feed
		if got := s.netcat(line, true); got == "" || strings.HasPrefix(got, "error") != (line == "dump") {
			t.Errorf("%q: %.200q", line, got)
		}
	}
	if got := s.netcat("much@\n", false); len(got) != 16<<20+len("error: dump: command much: dump: the answer of a command has more than 16777216 bytes\n") {
		t.Errorf("much: %d bytes, … %q", len(got), got[max(len(got)-100, 0):])
	}
	if !strings.Contains(s.log.String(), "asked=panic panic=boom") {
		t.Errorf("the log has no panic: %s", &s.log)
	}
}

func TestHTTP(t *testing.T) {
	s := newServed(t, dump.Options{
		Commands: commands, Log: written{},
		Shows: func(job string) bool { return job != "hidden" },
	})
	if _, err := s.reg.Commit(t.Context(), coord.Put("hidden/config", nil)); err != nil {
		t.Fatal(err)
	}
	pages := s.service.Handler()
	for _, tc := range []struct {
		method, url, body string
		status            int
		want              string // how the answer begins
	}{
		{"GET", "/jobs", "", 200, `{"jobs":["settle"]}`},
		{"GET", "/jobs/settle", "", 200, `{"job":"settle","instanceId":"10.0.0.1@-@`},
		{"GET", "/jobs/a@b", "", 404, "error: dump: job \"a@b\" does not run here: no such job"},
		{"GET", "/dump", "", 200, `{"jobs":["a@b","settle"]}`},
		{"GET", "/dump/settle", "", 200, `{"job":"settle","time":"`},
		{"GET", "/dump/settle?format=text", "", 200, "/settle/sharding | \n/settle/sharding/1 | \n/settle/sharding/1/instance | ip1@-@"},
		{"GET", "/dump/settle?format=text&mask=false", "", 200, "/settle/sharding | \n/settle/sharding/1 | \n/settle/sharding/1/instance | 10.0.0.1@-@"},
		{"GET", "/dump/a@b?format=text", "", 200, "/a@b/servers | \n/a@b/servers/ip1 | \n"},
		{"GET", "/dump/settle?format=xml", "", 400, `error: bad request: format="xml": json and text are allowed`},
		{"GET", "/dump/settle?mask=perhaps", "", 400, `error: bad request: mask="perhaps": true and false are allowed`},
		{"GET", "/dump/hidden", "", 404, "error: dump: job \"hidden\": no such job"},
		{"GET", "/dump/none", "", 404, "error: dump: job \"none\": no such job"},
		{"GET", "/dump/a%2Fb", "", 404, "error: dump: job \"a/b\": no such job"},
		{"GET", "/log/settle?item=1&task=t&after=7", "", 200, `{"lines":[{"task":"t","instance":"","item":1,"number":8,"time":"0001-01-01T00:00:00Z","level":"WARN","text":"settle"}],"more":false}`},
		{"GET", "/log/settle?item=0", "", 200, `{"lines":[{"task":"","instance":"","item":0,"number":1,`},
		{"GET", "/log/settle", "", 400, `error: bad request: item="": a number from 0 on is needed`},
		{"GET", "/log/settle?item=0&after=-1", "", 400, `error: bad request: after="-1": `},
		{"GET", "/log/hidden", "", 404, "error: dump: job \"hidden\": no such job"},
		{"POST", "/command/echo", "a\nb", 200, "(a\nb)"},
		{"POST", "/command/fail", "", 500, "error: dump: command fail: a b\n"},
		{"POST", "/command/panic", "", 500, "error: dump: panic: boom\n"},
		{"POST", "/command/none", "", 404, "error: dump: no such command \"none\"\n"},
		{"POST", "/command/echo", strings.Repeat("x", 64<<10+1), 400, "error: bad request: the arguments: more than 65536 bytes\n"},
		{"GET", "/command/echo", "", 405, ""},
		{"POST", "/dump/settle", "", 405, ""},
	} {
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), tc.method, tc.url, strings.NewReader(tc.body)))
		got := answer.Body.String()
		if strings.HasPrefix(answer.Header().Get("Content-Type"), "application/json") {
			var inOneLine bytes.Buffer
			if err := json.Compact(&inOneLine, answer.Body.Bytes()); err != nil {
				t.Errorf("%s: %v", tc.url, err)
			}
			got = inOneLine.String()
		}
		if answer.Code != tc.status || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s %s: %d %.200s, want %d %s", tc.method, tc.url, answer.Code, got, tc.status, tc.want)
		}
	}

	// A command is not for the pages of others.
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/command/echo", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer := httptest.NewRecorder()
	if pages.ServeHTTP(answer, r); answer.Code != http.StatusForbidden {
		t.Errorf("another site's command: %d %s", answer.Code, answer.Body)
	}
}

// written has one line for each question.
type written struct{}

func (written) Lines(job string, item int, task string, after int) []trace.Line {
	return []trace.Line{{TaskID: task, Item: item, Number: after + 1, Level: slog.LevelWarn, Text: job}}
}

func TestToken(t *testing.T) {
	s := newServed(t, dump.Options{Token: token, Commands: commands})
	s.serve(listen(t))
	for _, tc := range []struct{ line, want string }{
		{"dump@a@b@" + token, "/a@b/servers"},
		{"echo@" + token, "()"},
		{"echo@x@" + token, "(x)"},
		{"echo@@" + token, "()"},
		{"dump@a@b", "error: dump: a token is needed, or another one: a line is command@arguments@token\n"},
		{"dump@a@b@" + token + "x", "error: dump: a token"},
		{"dump@settle@", "error: dump: a token"},
		{"dump", "error: dump: a token"},
	} {
		if got := s.netcat(tc.line+"\n", false); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%q: %.200q, want %q", tc.line, got, tc.want)
		}
	}
	for _, path := range []string{"/jobs", "/jobs/settle", "/dump", "/dump/settle", "/log/settle"} {
		for header, want := range map[string]int{"": 401, "Bearer " + token[1:]: 401, "Basic " + token: 401, "Bearer " + token: 200} {
			r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
			r.Header.Set("Authorization", header)
			answer := httptest.NewRecorder()
			if want == 200 && path == "/log/settle" {
				want = 404 // it keeps none
			}
			if s.service.Handler().ServeHTTP(answer, r); answer.Code != want {
				t.Errorf("%s with %q: %d %s", path, header, answer.Code, answer.Body)
			}
		}
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	nothing := func(context.Context, string, io.Writer) error { return nil }
	for name, o := range map[string]dump.Options{
		"token of 5 bytes":                  {Token: "short"},
		"token of 17":                       {Token: "0123456789abcde@f"},
		`command "dump"`:                    {Commands: map[string]dump.Command{"dump": nothing}},
		`command "a b"`:                     {Commands: map[string]dump.Command{"a b": nothing}},
		`command "a": nil`:                  {Commands: map[string]dump.Command{"a": nil}},
		"a registry and a process are need": {},
	} {
		var reg coord.Registry
		if o.Token != "" || o.Commands != nil {
			reg = &memory.Registry{}
		}
		if _, err := dump.New(reg, dump.Schedulers{}, o); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "abcde@f") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pipes is a listener in virtual time.
type pipes struct {
	conns chan net.Conn
	err   chan error
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes {
	return &pipes{conns: make(chan net.Conn), err: make(chan error), done: make(chan struct{})}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case err := <-p.err:
		return nil, err
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

// closedAfter returns how long a connection stays open if nobody writes to it.
func closedAfter(c net.Conn) time.Duration {
	begin := time.Now()
	_, _ = io.Copy(io.Discard, c) // until it is closed
	return time.Since(begin)
}

// Clients that are silent, that do not read, and too many of them, harm nobody.
func TestSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServed(t, dump.Options{Commands: commands}), newPipes()
		s.serve(p)
		pages := newPipes()
		server := &http.Server{Handler: s.service.Handler(), ReadHeaderTimeout: time.Minute}
		server.SetKeepAlivesEnabled(false) // a client that reads in the last moment finds the end, too
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(pages) }()
		defer func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			<-ended
		}()
		ask := func() {
			t.Helper()
			c := p.dial()
			if _, err := io.WriteString(c, "echo@x\n"); err != nil {
				t.Error(err)
			}
			if answer, err := io.ReadAll(c); err != nil || string(answer) != "(x)" {
				t.Errorf("%q, %v", answer, err)
			}
		}
		for _, begin := range []string{"", "dump@"} {
			c := p.dial()
			var writing sync.WaitGroup
			writing.Go(func() { _, _ = io.WriteString(c, begin) }) // the service may have closed it
			ask()
			if after := closedAfter(c); after < 5*time.Second || after > 10*time.Second {
				t.Errorf("after %q it is closed after %v", begin, after)
			}
			writing.Wait()
		}

		// They ask, and do not read.
		for question, dial := range map[string]func() net.Conn{
			"large@\n": p.dial, "POST /command/large HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n": pages.dial,
		} {
			var slow []net.Conn
			for range 8 {
				c := dial()
				if _, err := io.WriteString(c, question); err != nil {
					t.Error(err)
				}
				slow = append(slow, c)
			}
			synctest.Wait()
			begin := time.Now()
			ask()
			if waited := time.Since(begin); waited != 20*time.Second {
				t.Errorf("8 clients that do not read have delayed another one by %v", waited)
			}
			for _, c := range slow {
				if after := closedAfter(c); after > time.Second { // an HTTP server lingers
					t.Errorf("it is closed %v later", after)
				}
			}
		}

		// There are too many.
		var silent []net.Conn
		for range 64 {
			silent = append(silent, p.dial())
		}
		if after := closedAfter(p.dial()); after != 0 {
			t.Errorf("one too many is closed after %v", after)
		}
		for _, c := range silent {
			closedAfter(c)
		}
		synctest.Wait()
		for range 100 { // those that have gone do not count
			ask()
			synctest.Wait()
		}
	})
}

// The registry is asked for one dump at a time.
func TestDumpsAreTakenOneByOne(t *testing.T) {
	inVirtualTime(t, func(l *late) {
		service, err := dump.New(l.free, dump.Schedulers{l.scheduler}, dump.Options{})
		if err != nil {
			l.Fatal(err)
		}
		l.process.Link().Lag(time.Hour)
		l.commit(coord.Put("settle/x", nil)) // so that each takes a second
		begin := time.Now()
		var asking sync.WaitGroup
		for range 3 {
			asking.Go(func() {
				answer := httptest.NewRecorder()
				service.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(l.Context(), "GET", "/dump/settle", nil))
				if answer.Code != http.StatusOK {
					l.Errorf("%d %s", answer.Code, answer.Body)
				}
			})
		}
		asking.Wait()
		if took := time.Since(begin); took != 3*time.Second {
			l.Errorf("three dumps have taken %v", took)
		}
		l.process.Link().Lag(0)
	})
}

// An answer that takes too long is an error; it does not hold up others.
func TestSlowCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServed(t, dump.Options{Commands: map[string]dump.Command{"wait": func(ctx context.Context, _ string, _ io.Writer) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}}})
		answer := httptest.NewRecorder()
		begin := time.Now()
		s.service.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "POST", "/command/wait", nil))
		if answer.Code != http.StatusGatewayTimeout || time.Since(begin) != time.Minute {
			t.Errorf("%d %s after %v", answer.Code, answer.Body, time.Since(begin))
		}
	})
}

// The end of the service ends what clients do. A listener that others close is an error; one that fails for a while is
// none.
func TestServeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newServed(t, dump.Options{Commands: map[string]dump.Command{"wait": func(ctx context.Context, _ string, _ io.Writer) error {
			<-ctx.Done()
			return nil
		}}}), newPipes()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.service.ServeLines(ctx, p) }()
		p.err <- errors.New("too many files")
		for _, begin := range []string{"", "wait@\n", "wait"} {
			c := p.dial()
			if begin != "" {
				if _, err := io.WriteString(c, begin); err != nil {
					t.Error(err)
				}
			}
			defer closedAfter(c)
		}
		synctest.Wait()
		begin := time.Now()
		stop()
		if err := <-ended; err != nil || time.Since(begin) > time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if !strings.Contains(s.log.String(), "too many files") {
			t.Errorf("the log: %s", &s.log)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, p := newServed(t, dump.Options{}), newPipes()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.service.ServeLines(t.Context(), p); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a listener that others close: %v", err)
		}
	})
}

// A dump goes through JSON and back.
func TestJSON(t *testing.T) {
	s := newServed(t, dump.Options{})
	d, err := dump.Take(t.Context(), s.reg, dump.Schedulers{s.job}, "settle")
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again dump.Dump
	if err := json.Unmarshal(document, &again); err != nil || text(t, again) != text(t, d) || again.Status.InstanceID != d.Status.InstanceID || !again.Time.Equal(d.Time) {
		t.Errorf("%v\n%s", err, document)
	}
}
