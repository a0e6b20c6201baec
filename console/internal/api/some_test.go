package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
)

// Who may see only some jobs learns nothing of others, whatever he asks: no name of a job, of a server or of an
// instance that has only theirs.
func TestOthersJobsAreNotSeen(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		berta, execution := apitest.May(access.Viewer, "pay-*"), failedRun(t, w)
		leave(t, w, "ghost/left")
		for pattern, question := range questions {
			for _, q := range []string{
				question,
				strings.ReplaceAll(question, "settle", "pay-out"),
				strings.ReplaceAll(question, "?job=settle", ""),
				strings.ReplaceAll(question, "10.0.0.2", "10.0.0.1"),
			} {
				q = strings.ReplaceAll(q, "{execution}", execution)
				answer := ask(t, w, berta, q)
				if answer.status == http.StatusOK && strings.Contains(q, "settle") || answer.status >= 500 {
					t.Errorf("%s: %d", q, answer.status)
				}
				for _, secret := range []string{"settle", "shell", "late", "broken", `"old"`, "10.0.0.1", "10.0.0.3", "the bank is closed", "ghost"} {
					if !strings.Contains(pattern, "openapi") && strings.Contains(answer.body, secret) && !strings.Contains(q, secret) {
						t.Errorf("%s: %d, with %s: %.500s", q, answer.status, secret, answer.body)
					}
				}
			}
		}
		mine := map[string]string{
			"/jobs": "name", "/instances": "job", "/servers/10.0.0.2/jobs": "job", "/audit": "job", "/history/jobs": "",
		}
		for path, field := range mine {
			answer := ask(t, w, berta, orders+path)
			if rows, _ := answer.rows(t); len(rows) == 0 || field != "" && strings.ReplaceAll(strings.ReplaceAll(answer.field(t, field), "pay-out", ""), " ", "") != "" {
				t.Errorf("%s: %s", path, answer.body)
			}
		}
		var list struct {
			Totals struct{ Jobs, Crashed, Instances, Items, Running int }
		}
		if err := json.Unmarshal([]byte(ask(t, w, berta, orders+"/jobs").body), &list); err != nil || list.Totals.Jobs != 1 || list.Totals.Items != 2 || list.Totals.Crashed+list.Totals.Running != 0 || list.Totals.Instances != 1 {
			t.Errorf("totals %+v, %v", list.Totals, err)
		}
		var report struct {
			Jobs     int
			More     int
			Findings []struct{ Job string }
		}
		if err := json.Unmarshal([]byte(ask(t, w, berta, orders+"/findings").body), &report); err != nil || report.Jobs != 0 || len(report.Findings) == 0 {
			t.Errorf("findings %+v, %v", report, err)
		}
		if got := ask(t, w, berta, orders+"/servers").field(t, "jobs"); got != "1 1" {
			t.Errorf("servers with %s jobs", got)
		}
		for path, want := range map[string]int{
			"/history/executions":                             http.StatusForbidden, // of which job?
			"/history/executions?job=pay-out":                 http.StatusOK,
			"/history/executions?job=settle":                  http.StatusForbidden,
			"/history/executions?job=nothing":                 http.StatusForbidden, // as one that is there
			"/history/counts":                                 http.StatusForbidden,
			"/history/durations":                              http.StatusForbidden,
			"/history/events":                                 http.StatusForbidden,
			"/history/statuses":                               http.StatusForbidden,
			"/history/addresses":                              http.StatusForbidden,
			"/processes":                                      http.StatusForbidden,
			"/history/executions/" + execution:                http.StatusNotFound,
			"/history/executions/" + execution + "/lines":     http.StatusNotFound,
			"/history/executions/" + execution + "/chain":     http.StatusNotFound,
			"/history/executions/no-such-thing":               http.StatusNotFound,
			"/jobs/settle":                                    http.StatusForbidden,
			"/jobs/nothing":                                   http.StatusForbidden,
			"/jobs/pay-nothing":                               http.StatusNotFound,
			"/history/executions?instance=10.0.0.1&job=pay-x": http.StatusOK,
		} {
			if answer := ask(t, w, berta, orders+path); answer.status != want {
				t.Errorf("%s: %d %s", path, answer.status, answer.body)
			}
		}
		a, b := ask(t, w, berta, orders+"/history/executions/"+execution).body, ask(t, w, berta, orders+"/history/executions/no-such-thing").body
		if a != b {
			t.Errorf("an execution of another job is not as one that is not there:\n%s\n%s", a, b)
		}
	})
}

// Who may not is told which role he needs for what. It is the same whether there is such a job, or namespace, or not.
func TestDeniedSaysForWhat(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer, "settle")
		for _, tt := range []struct{ method, path, want string }{
			{"POST", orders + "/jobs/settle/pause", `operator, for job "settle" of namespace "orders"`},
			{"GET", orders + "/jobs/late", `viewer, for job "late" of namespace "orders"`},
			{"GET", orders + "/jobs/nothing", `viewer, for job "nothing" of namespace "orders"`},
			{"GET", orders + "/jobs/a%22b", `viewer, for job "a\"b" of namespace "orders"`},
			{"GET", orders + "/processes", `viewer, for all jobs of namespace "orders"`},
			{"GET", "/api/v1/namespaces/other/jobs", `viewer, for some jobs of namespace "other"`},
			{"GET", "/api/v1/namespaces/nowhere/jobs", `viewer, for some jobs of namespace "nowhere"`},
			{"GET", orders + "/history/executions", `the past of all jobs of namespace "orders"`},
			{"GET", orders + "/history/executions?job=late", `the past of job "late"`},
			{"GET", orders + "/history/executions?job=nothing", `the past of job "nothing"`},
		} {
			got := heard(t, w.Do(anna, tt.method, tt.path, ""))
			var p struct{ Detail string }
			if err := json.Unmarshal([]byte(got.body), &p); err != nil {
				t.Fatal(err)
			}
			if got.status != 403 || !strings.Contains(p.Detail, tt.want) {
				t.Errorf("%s %s: %d %s, want %s", tt.method, tt.path, got.status, p.Detail, tt.want)
			}
		}
	})
}
