package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Who follows the cursors to the end sees each row once, in the order of the whole list.
func TestCursors(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer)
		for _, path := range []string{
			"/jobs", "/jobs?search=e", "/jobs?sort=status", "/jobs?sort=next", "/jobs?sort=ended", "/jobs?sort=running", "/jobs?sort=failing&search=e", "/instances", "/servers", "/processes", "/removed", "/calendars", "/audit", "/audit?by=anna&job=pay-out",
			"/history/executions", "/history/executions?job=shell", "/history/statuses?job=settle", "/history/events",
			"/jobs/settle/items", "/jobs/settle/instances", "/jobs/settle/servers", "/jobs/settle/requests",
		} {
			ask1 := func(limit int, after string) said {
				u, err := url.Parse(orders + path)
				if err != nil {
					t.Fatal(err)
				}
				q := u.Query()
				q.Set("limit", fmt.Sprint(limit))
				if after != "" {
					q.Set("after", after)
				}
				u.RawQuery = q.Encode()
				return ask(t, w, anna, u.String())
			}
			whole, next := ask1(200, "").rows(t)
			if next != "" || len(whole) == 0 {
				t.Errorf("%s: %d rows, and then %s", path, len(whole), next)
			}
			for _, limit := range []int{1, 3} {
				var all []json.RawMessage
				after, pages := "", 0
				for {
					rows, next := ask1(limit, after).rows(t)
					all = append(all, rows...)
					if pages++; next == "" || pages > len(whole) {
						break
					}
					if after = next; len(rows) != limit {
						t.Errorf("%s: %d rows instead of %d", path, len(rows), limit)
					}
				}
				if !slices.EqualFunc(all, whole, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
					t.Errorf("%s by %d: %d rows instead of %d", path, limit, len(all), len(whole))
				}
				if after == "" {
					continue
				}
				if other := ask(t, w, anna, "/api/v1/namespaces/orders/calendars?after="+url.QueryEscape(after)); path != "/calendars" && other.status != http.StatusUnprocessableEntity {
					t.Errorf("%s: its cursor is one of calendars, too: %d", path, other.status)
				}
			}
		}
	})
}

// A cursor is for its order.
func TestCursorsOfJobs(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer)
		for _, sort := range []string{"name", "status", "next"} {
			_, next := ask(t, w, anna, orders+"/jobs?limit=2&sort="+sort).rows(t)
			for _, other := range []string{"name", "status", "next"} {
				if got := ask(t, w, anna, orders+"/jobs?after="+next+"&sort="+other); (got.status == http.StatusOK) != (sort == other) {
					t.Errorf("a cursor by %s in the order by %s: %d %s", sort, other, got.status, got.body)
				}
			}
		}
		if got := ask(t, w, anna, orders+"/jobs?sort=fate"); got.status != http.StatusUnprocessableEntity {
			t.Errorf("another order: %d", got.status)
		}
	})
}

func TestFilters(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer)
		begin := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		now := url.QueryEscape(time.Now().UTC().Format(time.RFC3339))
		for _, tt := range []struct{ path, field, want string }{
			{"/jobs", "name", "broken late pay-out settle shell"},
			{"/jobs?search=SETT", "name", "settle"},
			{"/jobs?server=10.0.0.2", "name", "pay-out settle"},
			{"/jobs?status=NEVER_STARTED", "name", "broken late"},
			{"/jobs?status=NEVER_STARTED,OK&search=l", "name", "late settle shell"},
			{"/jobs?label=blue", "name", "pay-out"},
			{"/jobs?implementation=com.example.Shell", "name", "shell"},
			{"/jobs?paused=true", "name", "pay-out"},
			{"/jobs?faulty=true", "name", "broken settle"},
			{"/jobs?failing=true", "name", "settle"},
			{"/jobs?search=nothing", "name", ""},
			{"/jobs?sort=status", "name", "broken late pay-out settle shell"},
			{"/jobs?sort=next", "name", "shell settle late broken pay-out"},
			{"/jobs?sort=running", "name", "settle broken late pay-out shell"},
			{"/jobs?sort=failing&limit=2", "name", "settle broken"},
			{"/audit?job=pay-out", "action", "trigger pause disable servers pin disable items"},
			{"/audit?action=remove", "job", "old"},
			{"/audit?by=nobody", "job", ""},
			{"/audit?job=old&to=" + begin, "job", ""},
			{"/audit?job=old&from=" + begin, "job", "old old"},
			{"/servers/10.0.0.9/jobs", "job", "pay-out"},
			{"/servers/nowhere/jobs", "job", ""},
			{"/history/executions?job=settle&outcomes=RUNNING", "item", "2"},
			{"/history/executions?job=settle&items=0&source=MANUAL", "outcome", "OK"},
			{"/history/executions?job=settle&items=0,2&outcomes=FAILED", "item", ""},
			{"/history/executions?job=pay-out&address=10.0.0.2", "source", "MANUAL"},
			{"/history/executions?job=pay-out&address=10.0.0.1", "source", ""},
			{"/history/executions?from=" + now, "job", ""},
			{"/history/events?kinds=operated&what=pause", "by", "anna"},
			{"/history/events?kinds=joined&job=shell", "job", "shell"},
			{"/history/statuses?job=pay-out&state=TASK_FINISHED", "state", "TASK_FINISHED"},
			{"/history/jobs?prefix=s", "", ""},
			{"/jobs/settle/latest?after=0", "item", "1 2"},
			{"/jobs/settle/latest?after=0&limit=1", "item", "1"},
			{"/jobs/settle/ticks?count=2", "", ""},
		} {
			answer := ask(t, w, anna, orders+tt.path)
			if tt.field == "" {
				if rows, _ := answer.rows(t); len(rows) != 2 {
					t.Errorf("%s: %s", tt.path, answer.body)
				}
				continue
			}
			if got := answer.field(t, tt.field); got != tt.want {
				t.Errorf("%s: %s %q, want %q", tt.path, tt.field, got, tt.want)
			}
		}
	})
}

// The findings can be asked for by severity and job, and the rest is counted.
func TestFindings(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		for _, tt := range []struct {
			patterns []string
			query    string
			kinds    string
			more     int
		}{
			{nil, "?severity=critical", "config-unreadable not-offered", 0},
			{nil, "?severity=warning&limit=2", "config-unreadable not-offered", 1},
			{nil, "?job=settle&severity=warning", "run-overtaken", 0},
			{nil, "?job=nothing", "", 0},
			{[]string{"la*"}, "", "not-offered", 0},
			{[]string{"la*"}, "?limit=1", "not-offered", 0},
			{[]string{"la*", "broken"}, "?limit=1", "config-unreadable", 1},
			{[]string{"la*"}, "?job=broken", "", 0},
			{[]string{"shell"}, "", "", 0},
		} {
			answer := ask(t, w, apitest.May(access.Viewer, tt.patterns...), orders+"/findings"+tt.query)
			var report doctor.Report
			if err := json.Unmarshal([]byte(answer.body), &report); err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, f := range report.Findings {
				kinds = append(kinds, string(f.Kind))
			}
			if strings.Join(kinds, " ") != tt.kinds || report.More != tt.more || (report.Jobs > 0) != (tt.patterns == nil) {
				t.Errorf("%v %s: %s", tt.patterns, tt.query, answer.body)
			}
		}
	})
}

// The past of one execution: its output, its lines, and what repeats it.
func TestExecution(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		path := orders + "/history/executions/" + failedRun(t, w)
		anna := apitest.May(access.Viewer)
		if x := ask(t, w, anna, path).body; !strings.Contains(x, `"output":"settled\n"`) || !strings.Contains(x, "the bank is closed") {
			t.Error(x)
		}
		if text := ask(t, w, anna, path+"/lines").field(t, "text"); !strings.HasPrefix(text, "settles item=1") {
			t.Error(text)
		}
		if text := ask(t, w, anna, path+"/lines?after=1000").field(t, "text"); text != "" {
			t.Error(text)
		}
		if items := ask(t, w, anna, path+"/chain").field(t, "item"); items != "1" {
			t.Error(items)
		}
	})
}
