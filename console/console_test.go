package console

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/ops"
)

// newConsole returns a console of one namespace. Users log in by their name alone.
func newConsole(t *testing.T, change func(*Options)) *Console {
	t.Helper()
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Connections: connection.Fixed(map[string]*ops.Ops{"test": ops.New(reg)}),
		Who:         whoever, Slog: slog.New(slog.DiscardHandler), Version: "test",
	}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(context.Background()), reg.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// whoever takes the name of a log-in for the role, of everything.
func whoever(r *http.Request) (*access.Principal, error) {
	name, _, ok := r.BasicAuth()
	if !ok {
		return nil, nil
	}
	var role access.Role
	if err := role.UnmarshalText([]byte(name)); err != nil {
		return nil, errors.New("the secret of the users file")
	}
	return &access.Principal{Name: name, Grants: []access.Grant{{Role: role}}}, nil
}

func ask(c http.Handler, method, path, as string) (int, string, http.Header) {
	r := httptest.NewRequest(method, path, nil)
	if as != "" {
		r.SetBasicAuth(as, "")
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Result().Body)
	if err != nil {
		panic(err) // a recorder has none
	}
	return w.Code, string(text), w.Result().Header
}

func TestProbes(t *testing.T) {
	c := newConsole(t, func(o *Options) { o.Hosts = []string{"console.example"} })
	for _, tt := range []struct {
		path, as string
		status   int
		has, not string
	}{
		{"/healthz", "", 200, "ok", ""},
		{"/readyz", "", 200, `{"ready":true}`, "test"},
		{"/readyz", "viewer", 200, `"what":"namespace","name":"test"`, ""},
		{"/metrics", "", 401, "log in", "elasticjob"},
		{"/metrics", "viewer", 200, `elasticjob_console_connections{phase="`, ""},
		{"/metrics", "other", 500, "defect", "secret"},
	} {
		status, text, h := ask(c, "GET", "http://10.0.0.1"+tt.path, tt.as)
		if status != tt.status || !strings.Contains(text, tt.has) || tt.not != "" && strings.Contains(text, tt.not) {
			t.Errorf("%s as %q: %d %s", tt.path, tt.as, status, text)
		}
		if h.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: it does not go through the guard", tt.path)
		}
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if status, text, _ := ask(c, "GET", "/readyz", ""); status != 503 || !strings.Contains(text, `{"ready":false}`) {
		t.Errorf("it ends: %d %s", status, text)
	}
}

func TestOpenMetrics(t *testing.T) {
	own := prometheus.NewCounter(prometheus.CounterOpts{Name: "own_total", Help: "Own."})
	c := newConsole(t, func(o *Options) { o.OpenMetrics, o.Collectors = true, []prometheus.Collector{own} })
	for name, h := range map[string]http.Handler{"its own": c.Metrics(), "/metrics": c} {
		if status, text, _ := ask(h, "GET", "/metrics", ""); status != 200 || !strings.Contains(text, "own_total 0") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// What has no route fails in the format of the paths beside it.
func TestFormatsOfFailures(t *testing.T) {
	c := newConsole(t, nil)
	for path, want := range map[string]string{"/api/v1/none": "application/problem+json", "/none": "text/plain; charset=utf-8"} {
		status, text, h := ask(c, "GET", path, "")
		if status != 404 || h.Get("Content-Type") != want {
			t.Errorf("%s: %d %s: %s", path, status, h.Get("Content-Type"), text)
		}
	}
	r := httptest.NewRequest("GET", "/none", nil)
	r.Header.Set("Accept", "text/html,*/*")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	if w.Code != 404 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("a browser: %d %s", w.Code, w.Header().Get("Content-Type"))
	}
}

func TestRoutesAreThere(t *testing.T) {
	c := newConsole(t, nil)
	for path, want := range map[string]string{
		"/api/v1/namespaces":           `"name":"test"`,
		"/api/v1/namespaces/test/jobs": `"rows":[]`,
		"/api/v1/openapi.json":         "/watch",
	} {
		if status, text, _ := ask(c, "GET", path, "viewer"); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	book := connection.Fixed(nil)
	twice := prometheus.NewCounter(prometheus.CounterOpts{Name: "twice", Help: "Twice."})
	for want, o := range map[string]Options{
		"Connections": {Who: whoever},
		"Who":         {Connections: book},
		"one of them": {Connections: book, Who: whoever, Access: &access.Control{}},
		"Origins":     {Connections: book, Who: whoever, Origins: []string{"console.example"}},
		"Collectors":  {Connections: book, Who: whoever, Collectors: []prometheus.Collector{twice, twice}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
