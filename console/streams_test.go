package console

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

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
