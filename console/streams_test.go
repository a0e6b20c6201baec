package console

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A stream ends as soon as who listens may not do so any more.
func TestStreamsEndWithRights(t *testing.T) {
	town := newTown(t)
	server := httptest.NewServer(town)
	t.Cleanup(server.Close)
	by := access.Actor{Name: "setup"}
	for name, credentials := range map[string]func() (header, value string, end func() error){
		"log-out": func() (string, string, func() error) {
			s, err := town.control.Login(t.Context(), "anna", password, netip.Addr{})
			must(t, err)
			return access.TokenHeader, s.Value(), func() error {
				town.control.Logout(&access.Principal{Key: s.Key})
				return nil
			}
		},
		"revoked by another process": func() (string, string, func() error) {
			token, _, err := town.control.AddToken(t.Context(), by, "anna", "laptop", nil, time.Hour)
			must(t, err)
			return "Authorization", "Bearer " + token, func() error {
				defer town.control.Users() // the console looks
				return access.File(town.usersFile).Change(t.Context(), func(u *access.Users) error { return u.RevokeToken("anna", "laptop") })
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			header, value, end := credentials()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/namespaces/"+ours+"/watch", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set(header, value)
			answer, err := server.Client().Do(r)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("%v, %v", answer, err)
			}
			defer answer.Body.Close()
			lines := bufio.NewScanner(answer.Body)
			beats, last := 0, "" // with a heartbeat it would end anyway
			for lines.Scan() {
				switch text := lines.Text(); {
				case text == "event: reset":
					must(t, end())
					beats = 0
				case text == "event: beat":
					beats++
				case text != "":
					last = text
				}
			}
			if beats > 0 || !strings.Contains(last, `"code":"denied"`) {
				t.Errorf("ends after %d heartbeats with %s", beats, last)
			}
		})
	}
}

// Streams go through all that is around the routes, are counted, and end with the console. A list is served meanwhile from what
// they know.
func TestStreams(t *testing.T) {
	c := newConsole(t, func(o *Options) { o.OpenMetrics = true })
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/namespaces/test/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("viewer", "")
	answer, err := server.Client().Do(r)
	if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", answer, err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	has := func(what string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == what {
				return
			}
		}
		t.Fatalf("no %q: %v", what, lines.Err())
	}
	has("event: reset")
	if _, text, _ := ask(c, "GET", "/metrics", ""); !strings.Contains(text, "elasticjob_console_listeners 1") || !strings.Contains(text, "elasticjob_console_watches 1") {
		t.Error(text)
	}
	if status, text, _ := ask(c, "GET", "/api/v1/namespaces/test/jobs", "viewer"); status != 200 || !strings.Contains(text, `"rows":[]`) || !strings.Contains(text, `"asOf"`) {
		t.Errorf("%d %s", status, text)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	has("event: bye")
	if status, text, h := ask(c, "GET", "/api/v1/namespaces/test/watch", "viewer"); status != 503 || h.Get("Retry-After") == "" {
		t.Errorf("after the end: %d %s", status, text)
	}
}

// All jobs of a namespace come in few bytes.
func TestStreamIsCompressed(t *testing.T) {
	const jobs, most = 2000, 40_000
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "test"})
	must(t, err)
	t.Cleanup(func() { must(t, reg.Close(context.Background())) })
	_, err = crowd.Plant(t.Context(), reg, jobs)
	must(t, err)
	c := newConsole(t, func(o *Options) { o.Connections = connection.Fixed(map[string]*ops.Ops{"test": ops.New(reg)}) })
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/namespaces/test/watch", nil)
	must(t, err)
	r.SetBasicAuth("viewer", "")
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := server.Client().Do(r)
	must(t, err)
	defer answer.Body.Close()
	sent := &counter{r: answer.Body}
	unzipped, err := gzip.NewReader(sent)
	must(t, err)
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<20)
	told := 0
	for told < jobs && lines.Scan() {
		told += strings.Count(lines.Text(), `{"name":"billing.`)
	}
	if told != jobs || sent.n > most {
		t.Errorf("%d jobs in %d bytes, %v; want %d in %d", told, sent.n, lines.Err(), jobs, most)
	}
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}
