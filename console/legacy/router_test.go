package legacy

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Jobs may have names that are words of other paths.
func TestFind(t *testing.T) {
	routes, err := New(Options{Connections: newWorld(t).book})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ method, path, want, others string }{
		{"GET", "/api/jobs", "/api/jobs", ""},
		{"HEAD", "/api/jobs", "/api/jobs", ""},
		{"GET", "/api/jobs/a/sharding", "/api/jobs/{job}/sharding", ""},
		{"GET", "/api/jobs/config/a", "/api/jobs/config/{job}", ""},
		{"GET", "/api/jobs/config/sharding", "/api/jobs/config/{job}", ""},
		{"POST", "/api/jobs/config/disable", "/api/jobs/{job}/disable", ""},
		{"GET", "/api/event-trace/execution/ip", "/api/event-trace/execution/ip", ""},
		{"GET", "/api/event-trace/execution/ip/10", "/api/event-trace/execution/ip/{prefix}", ""},
		{"PATCH", "/api/jobs/config/a", "", "GET DELETE"},
		{"GET", "/api/other", "", ""},
	} {
		found, others := routes.Find(tt.method, route.Segments(tt.path))
		if found == nil {
			found = &route.Route{}
		}
		if found.Pattern != tt.want || tt.want == "" && strings.Join(others, " ") != tt.others {
			t.Errorf("%s %s: %q, others %q; want %q, %q", tt.method, tt.path, found.Pattern, others, tt.want, tt.others)
		}
	}
}
