package guard

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// stand is a guard around some routes, and its log.
type stand struct {
	*Guard
	log     bytes.Buffer
	metrics *Metrics
}

// newStand has the routes GET and POST /do, GET /stream, GET and POST /mine, and GET /alive, which have one handler.
func newStand(t *testing.T, o Options, handler http.HandlerFunc) *stand {
	t.Helper()
	s := &stand{}
	table := &route.Table{
		Who: func(r *http.Request) (*access.Principal, error) {
			switch name, _, ok := r.BasicAuth(); {
			case name == "often":
				return nil, &access.LimitError{After: 1500 * time.Millisecond}
			case name == "busy":
				return nil, access.ErrBusy
			case ok:
				return &access.Principal{Name: name}, nil
			}
			return nil, nil
		},
		Fail: fail("text"),
	}
	open := route.Need{Scope: route.Open}
	for _, r := range []route.Route{
		{Method: "GET", Pattern: "/do", Need: open, Handler: handler},
		{Method: "POST", Pattern: "/do", Need: open, Handler: handler, Fail: fail("own")},
		{Method: "GET", Pattern: "/stream", Need: open, Handler: handler, Stream: true},
		{Method: "GET", Pattern: "/mine", Need: route.Need{Scope: route.SignedIn}, Handler: handler},
		{Method: "POST", Pattern: "/mine", Need: route.Need{Scope: route.SignedIn}, Handler: handler},
		{Method: "GET", Pattern: "/alive", Need: open, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Probe: true},
	} {
		if err := table.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if s.metrics, err = NewMetrics(); err != nil {
		t.Fatal(err)
	}
	o.Metrics, o.Log = s.metrics, slog.New(slog.NewJSONHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if s.Guard, err = New(table, o); err != nil {
		t.Fatal(err)
	}
	return s
}

// fail answers in a format.
func fail(format string) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, format+": "+err.Error(), route.Status(err))
	}
}

// ask sends a request, and returns the answer.
func (s *stand) ask(r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, answer *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func request(method, path string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func nothing(http.ResponseWriter, *http.Request) {}

// Whatever the answer is, it has the headers, and nothing sits between them and the client.
func TestHeadersOnEveryAnswer(t *testing.T) {
	s := newStand(t, Options{Hosts: []string{"Console.example"}}, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "panic" {
			panic("oh")
		}
	})
	for name, r := range map[string]*http.Request{
		"fine":       request("GET", "http://console.example:8899/do"),
		"no route":   request("GET", "http://console.example/none"),
		"method":     request("PUT", "http://console.example/do"),
		"other name": request("GET", "http://evil.example/do"),
		"panic":      request("GET", "http://console.example/do?panic"),
		"probe":      request("GET", "http://10.0.0.1/alive"),
	} {
		h := s.ask(r).Header
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if h.Get(header) != want {
				t.Errorf("%s: %s: %q", name, header, h.Get(header))
			}
		}
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
			t.Errorf("%s: Content-Security-Policy: %q", name, policy)
		}
		if h.Get("X-Request-Id") == "" || h.Get("Strict-Transport-Security") != "" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", name, h)
		}
	}
	secure := request("GET", "https://console.example/do")
	secure.TLS = &tls.ConnectionState{}
	if s.ask(secure).Header.Get("Strict-Transport-Security") == "" {
		t.Error("TLS, and the browser is not told to stay with it")
	}
	behind := newStand(t, Options{Secure: true}, nothing)
	if behind.ask(request("GET", "/do")).Header.Get("Strict-Transport-Security") == "" {
		t.Error("TLS at a proxy, and the browser is not told to stay with it")
	}
}

func TestHost(t *testing.T) {
	s := newStand(t, Options{Hosts: []string{"Console.example.", "[::1]:8899"}}, nothing)
	for url, want := range map[string]int{
		"http://console.example/do": 200, "http://CONSOLE.example.:80/do": 200, "http://[::1]:8899/do": 200,
		"http://rebound.example/do": 421, "http://127.0.0.1/do": 421, "http://127.0.0.1/alive": 200,
	} {
		if got := s.ask(request("GET", url)).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", url, got, want)
		}
	}
}

// A page of another site changes nothing with what the browser sends along by itself.
func TestOrigin(t *testing.T) {
	s := newStand(t, Options{Origins: []string{"https://front.example"}}, nothing)
	const cross = "Sec-Fetch-Site"
	for name, tt := range map[string]struct {
		method  string
		headers []string
		want    int
	}{
		"cookie, cross-site":         {"POST", []string{"Cookie", "elasticjob=x", cross, "cross-site"}, 403},
		"cookie, same site only":     {"POST", []string{"Cookie", "elasticjob=x", cross, "same-site"}, 403},
		"cookie, old browser":        {"POST", []string{"Cookie", "elasticjob=x", "Origin", "https://evil.example"}, 403},
		"no origin at all":           {"POST", []string{"Origin", "null"}, 403},
		"basic":                      {"POST", []string{"Authorization", "Basic cm9vdDpyb290", cross, "cross-site"}, 403},
		"proxy's header":             {"POST", []string{"X-User", "anna", cross, "cross-site"}, 403},
		"log-in of another's":        {"POST", []string{cross, "cross-site"}, 403},
		"own page":                   {"POST", []string{"Cookie", "elasticjob=x", cross, "same-origin"}, 200},
		"own page, old browser":      {"POST", []string{"Cookie", "elasticjob=x", "Origin", "http://example.com"}, 200},
		"trusted page":               {"POST", []string{cross, "cross-site", "Origin", "https://front.example"}, 200},
		"bearer":                     {"POST", []string{"Authorization", "bearer t", cross, "cross-site"}, 200},
		"access token":               {"POST", []string{"Access-Token", "t", cross, "cross-site"}, 200},
		"curl":                       {"POST", []string{"Authorization", "Basic cm9vdDpyb290"}, 200},
		"link from another site":     {"GET", []string{"Cookie", "elasticjob=x", cross, "cross-site"}, 200},
		"digest is no bearer's case": {"POST", []string{"Authorization", "Bearerish t", cross, "cross-site"}, 403},
	} {
		answer := s.ask(request(tt.method, "/do", tt.headers...))
		if answer.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", name, answer.StatusCode, tt.want)
		}
		if text := bodyOf(t, answer); answer.StatusCode == 403 && !strings.HasPrefix(text, "own: "+route.ErrOrigin.Error()) {
			t.Errorf("%s: not in the format of the route: %s", name, text)
		}
	}
	if !strings.Contains(s.log.String(), `"refused":"`+route.ErrOrigin.Error()) {
		t.Error("the log does not say why")
	}
}

func TestNewRefuses(t *testing.T) {
	for want, o := range map[string]Options{
		"Origins": {Origins: []string{"console.example"}}, "Limits: write: -1ns; allowed are 1s to 10m0s": {Limits: Limits{Write: -1}},
		"requestsOfAddress: 100001; allowed are 1 to 100000, and 0": {Limits: Limits{RequestsOfAddress: 100_001}},
		"body: 1048577; allowed are 1024 to 1048576":                {Limits: Limits{Body: 1<<20 + 1}},
	} {
		if _, err := New(&route.Table{}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Whatever panics, the request is counted to its end.
func TestPanicOfFail(t *testing.T) {
	s := newStand(t, Options{}, nothing)
	s.table.Fail = func(http.ResponseWriter, *http.Request, error) { panic("again") }
	func() {
		defer func() { _ = recover() }() // net/http does
		s.ask(request("GET", "/none"))
	}()
	if page := bodyOf(t, metricsPage(s)); !strings.Contains(page, "elasticjob_console_requests_in_flight 0\n") {
		t.Error(page)
	}
}

func TestSizes(t *testing.T) {
	s := newStand(t, Options{Limits: Limits{Body: 1024, URL: 256, Header: 1024}}, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), route.Status(err))
		}
	})
	body := func(text string, length int64) *http.Request {
		r := httptest.NewRequest("POST", "/do", strings.NewReader(text))
		r.ContentLength = length
		return r
	}
	for name, tt := range map[string]struct {
		r    *http.Request
		want int
	}{
		"body fits":             {body(strings.Repeat("x", 1024), 1024), 200},
		"body too large":        {body("", 1025), 413}, // it is not even waited for
		"in parts":              {body(strings.Repeat("x", 1024), -1), 200},
		"in parts, too large":   {body(strings.Repeat("x", 1025), -1), 413},
		"query too long":        {request("GET", "/do?q="+strings.Repeat("x", 256)), 431},
		"headers too long":      {request("GET", "/do", "X", strings.Repeat("x", 1024)), 431},
		"path of no route long": {request("GET", "/"+strings.Repeat("x", 256)), 431},
	} {
		if got := s.ask(tt.r).StatusCode; got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// What a handler says as it panics is for the log alone.
func TestPanic(t *testing.T) {
	s := newStand(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Etag", `"7"`)
		panic("the internals")
	})
	answer := s.ask(request("POST", "/do"))
	text := bodyOf(t, answer)
	if answer.StatusCode != 500 || text != "own: "+route.ErrPanic.Error()+"\n" || answer.Header.Get("Etag") != "" {
		t.Errorf("%d %q %v", answer.StatusCode, text, answer.Header)
	}
	log := s.log.String()
	for _, want := range []string{"the internals", "guard_test.go", answer.Header.Get("X-Request-Id"), `"status":500`, `"level":"WARN"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

// An answer that has begun cannot be replaced: the client has to see that it is cut short.
func TestPanicInTheMiddle(t *testing.T) {
	for name, cause := range map[string]any{"a defect": "oh", "on purpose": http.ErrAbortHandler, "before it has begun": http.ErrAbortHandler} {
		s := newStand(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
			if name != "before it has begun" {
				_, _ = w.Write([]byte("a part")) // a recorder takes all
			}
			panic(cause)
		})
		func() {
			defer func() {
				if got := recover(); got != any(http.ErrAbortHandler) {
					t.Errorf("%s: %v: the connection goes on", name, got)
				}
			}()
			s.ask(request("GET", "/do"))
		}()
		if has := strings.Contains(s.log.String(), "has panicked"); has != (cause == "oh") {
			t.Errorf("%s: the log says so: %v", name, has)
		}
		if !strings.Contains(s.log.String(), "console: request") {
			t.Errorf("%s: no line for the request", name)
		}
	}
}

// The log names who did what, and has none of what only the client should know.
func TestLogHasNoSecrets(t *testing.T) {
	s := newStand(t, Options{Address: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") }},
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "se-cret answer") })
	r := httptest.NewRequest("POST", "/do?token=se-cret&password=se-cret", strings.NewReader("se-cret body"))
	r.SetBasicAuth("anna", "se-cret")
	r.Header.Set("Access-Token", "se-cret")
	r.Header.Set("Cookie", "elasticjob=se-cret")
	r.Header.Set("X-Request-Id", "se-cret")
	s.ask(r)
	s.ask(request("GET", "/"+strings.Repeat("x", 5000)))
	s.ask(request(strings.Repeat("X", 5000), "/do"))
	log := s.log.String()
	if strings.Contains(log, "se-cret") || len(log) > 2000 {
		t.Errorf("%d bytes: %s", len(log), log)
	}
	for _, want := range []string{`"method":"POST"`, `"path":"/do"`, `"route":"/do"`, `"status":200`, `"bytes":14`, `"user":"anna"`, `"address":"192.0.2.7"`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
}

// Hints before an answer are not its status, and an address is the same however the listener writes it.
func TestLogOfHints(t *testing.T) {
	s := newStand(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusNoContent)
	})
	r := request("GET", "/do")
	r.RemoteAddr = "[::ffff:192.0.2.7]:4711"
	s.ask(r)
	for _, want := range []string{`"status":204`, `"address":"192.0.2.7"`} {
		if log := s.log.String(); !strings.Contains(log, want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
}

func TestProbesAreQuiet(t *testing.T) {
	s := newStand(t, Options{}, nothing)
	s.ask(request("GET", "/alive"))
	if log := s.log.String(); !strings.Contains(log, `"level":"DEBUG"`) {
		t.Error(log)
	}
}

func TestTooManyAtOnce(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	s := newStand(t, Options{
		Limits:  Limits{Requests: 3, RequestsOfAddress: 2, Streams: 1},
		Address: func(r *http.Request) netip.Addr { return netip.MustParseAddr(r.Header.Get("From")) },
	}, func(http.ResponseWriter, *http.Request) {
		began <- struct{}{}
		<-goOn
	})
	answers := make(chan int, 4)
	begin := func(path, from string) {
		go func() { answers <- s.ask(request("GET", path, "From", from)).StatusCode }()
		<-began
	}
	refused := func(path, from string, want int) {
		t.Helper()
		answer := s.ask(request("GET", path, "From", from))
		if answer.StatusCode != want || answer.Header.Get("Retry-After") == "" {
			t.Errorf("%s from %s: %d, want %d", path, from, answer.StatusCode, want)
		}
	}
	begin("/do", "2001:db8::1")
	begin("/do", "2001:db8::2")
	refused("/do", "2001:db8::3", 429) // the same network
	begin("/do", "192.0.2.1")
	refused("/do", "192.0.2.2", 503)
	begin("/stream", "192.0.2.2") // streams have places of their own
	refused("/stream", "192.0.2.2", 503)
	if got := s.ask(request("GET", "/alive", "From", "192.0.2.2")).StatusCode; got != 200 {
		t.Errorf("a probe of a full console: %d", got)
	}
	page := bodyOf(t, metricsPage(s))
	for _, want := range []string{"elasticjob_console_requests_in_flight 3\n", "elasticjob_console_streams 1\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	close(goOn)
	for range 4 {
		if got := <-answers; got != 200 {
			t.Errorf("one that had its place: %d", got)
		}
	}
	go func() { <-began }()
	if got := s.ask(request("GET", "/do", "From", "2001:db8::3")).StatusCode; got != 200 {
		t.Errorf("there is room again: %d", got)
	}
	if len(s.requests.by) != 0 {
		t.Errorf("it remembers %v", s.requests.by)
	}
}

// A proxy that nobody has named is warned of, once an hour.
func TestProxyThatIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trusted := netip.MustParseAddr("203.0.113.7")
		s := newStand(t, Options{Address: func(r *http.Request) netip.Addr {
			if r.Header.Get("X-Forwarded-For") == trusted.String() { // as if by a proxy that is trusted
				return trusted
			}
			return peer(r)
		}}, nothing)
		ask := func(want int, headers ...string) {
			t.Helper()
			s.ask(request("GET", "/do", headers...))
			if got := strings.Count(s.log.String(), "X-Forwarded-For is not believed"); got != want {
				t.Errorf("%v: %d warnings, want %d", headers, got, want)
			}
		}
		ask(0)
		ask(0, "X-Forwarded-For", trusted.String())
		ask(1, "X-Forwarded-For", "198.51.100.1")
		ask(1, "X-Forwarded-For", "198.51.100.2")
		pass(time.Hour)
		ask(2, "X-Forwarded-For", "198.51.100.2")
	})
}

// Whoever is not let in for now is told when to come again.
func TestRetryAfter(t *testing.T) {
	s := newStand(t, Options{}, nothing)
	for name, want := range map[string]string{"often": "429 2", "busy": "503 1", "": "401 "} {
		r := request("GET", "/mine")
		if name != "" {
			r.SetBasicAuth(name, "")
		}
		answer := s.ask(r)
		if got := fmt.Sprint(answer.StatusCode, " ", answer.Header.Get("Retry-After")); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func metricsPage(s *stand) *http.Response {
	w := httptest.NewRecorder()
	s.metrics.Handler().ServeHTTP(w, request("GET", "/metrics"))
	return w.Result()
}

func TestMetrics(t *testing.T) {
	s := newStand(t, Options{}, nothing)
	s.ask(request("GET", "/do"))
	s.ask(request("BREW", "/do"))
	s.ask(request("GET", "/some/where"))
	page := bodyOf(t, metricsPage(s))
	for _, want := range []string{
		`elasticjob_console_requests_total{method="GET",route="/do",status="2xx"} 1`,
		`elasticjob_console_requests_total{method="",route="",status="4xx"} 2`,
		`elasticjob_console_request_duration_seconds_count{method="GET",route="/do"} 1`,
		"elasticjob_console_requests_in_flight 0",
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

// A stream ends when the guard does; other requests come to their end.
func TestCloseEndsStreams(t *testing.T) {
	began, why := make(chan struct{}), make(chan error, 1)
	s := newStand(t, Options{}, func(_ http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-r.Context().Done()
		why <- context.Cause(r.Context())
	})
	go s.ask(request("GET", "/stream"))
	<-began
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-why; !errors.Is(err, route.ErrClosed) {
		t.Errorf("the stream ended: %v", err)
	}
	if got := s.ask(request("GET", "/stream")).StatusCode; got != 503 {
		t.Errorf("another stream: %d", got)
	}
}

func TestCloseGivesUp(t *testing.T) {
	began, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := newStand(t, Options{}, func(http.ResponseWriter, *http.Request) {
		began <- struct{}{}
		<-goOn
	})
	go func() {
		defer close(ended)
		s.ask(request("GET", "/stream"))
	}()
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(goOn)
	<-ended
}
