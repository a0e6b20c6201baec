package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

// What cannot be done is a problem with a code, and says which part of the request is wrong without
// repeating its value.
func TestProblems(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer)
		both := &access.Principal{Name: "carl", Grants: []access.Grant{{Role: access.Viewer}}}
		secret := "hunter2"
		for _, tt := range []struct {
			who                *access.Principal
			method, path, body string
			status             int
			code, fields       string
		}{
			{nil, "GET", "/api/v1", "", 401, "not-logged-in", ""},
			{anna, "GET", "/api/v1/nothing", "", 404, "no-route", ""},
			{anna, "DELETE", "/api/v1", "", 405, "method-not-allowed", ""},
			{anna, "GET", "/api/v1/namespaces/other/jobs", "", 403, "denied", ""},
			{anna, "GET", "/api/v1/namespaces/nowhere/jobs", "", 403, "denied", ""},
			{both, "GET", "/api/v1/namespaces/nowhere/jobs", "", 404, "no-namespace", ""},
			{both, "GET", "/api/v1/namespaces/other/history/executions", "", 404, "no-history", ""},
			{anna, "GET", orders + "/jobs/nothing", "", 404, "no-job", ""},
			{anna, "GET", orders + "/jobs/nothing/settings", "", 404, "no-job", ""},
			{anna, "GET", orders + "/jobs/nothing/dump", "", 404, "no-job", ""},
			{anna, "GET", orders + "/calendars/nothing", "", 404, "no-calendar", ""},
			{anna, "GET", orders + "/history/executions/nothing", "", 404, "no-execution", ""},
			{anna, "GET", orders + "/jobs?" + secret + "=hunter2", "", 422, "invalid", "query." + secret},
			{anna, "GET", orders + "/jobs?serch=hunter2", "", 422, "invalid", "query.serch"},
			{anna, "GET", orders + "/jobs?status=OK&status=CRASHED", "", 422, "invalid", "query.status"},
			{anna, "GET", orders + "/jobs?search=%zz", "", 422, "invalid", "query"},
			{apitest.May(access.Operator), "POST", orders + "/jobs/settle/trigger?dryRun=", "{}", 422, "invalid", "query.dryRun"},
			{anna, "GET", orders + "/jobs?search=a;b", "", 422, "invalid", "query"},
			{anna, "GET", orders + "/jobs?limit=0", "", 422, "invalid", "query.limit"},
			{anna, "GET", orders + "/jobs?limit=1001", "", 422, "invalid", "query.limit"},
			{anna, "GET", orders + "/jobs?limit=hunter2", "", 422, "invalid", "query.limit"},
			{anna, "GET", orders + "/jobs?after=hunter2", "", 422, "invalid", "query.after"},
			{anna, "GET", orders + "/jobs?status=hunter2", "", 422, "invalid", "query.status[0]"},
			{anna, "GET", orders + "/jobs?paused=perhaps", "", 422, "invalid", "query.paused"},
			{anna, "GET", orders + "/jobs?search=" + strings.Repeat("x", 300), "", 422, "invalid", "query.search"},
			{anna, "GET", orders + "/audit?from=yesterday", "", 422, "invalid", "query.from"},
			{anna, "GET", orders + "/history/executions?outcomes=BAD", "", 422, "invalid", "query.outcomes[0]"},
			{anna, "GET", orders + "/history/executions?from=2027-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", "", 422, "invalid", ""},
			{anna, "GET", orders + "/history/events?kinds=hunter2", "", 422, "invalid", "query.kinds"},
			{anna, "GET", orders + "/history/counts?from=1970-01-01T00:00:00Z", "", 422, "invalid", ""},
			{anna, "GET", orders + "/history/counts?timeZone=Nowhere", "", 422, "invalid", "query.timeZone"},
			{anna, "GET", "/api/v1/cron", "", 422, "invalid", "query.expression"},
			{anna, "GET", "/api/v1/cron?expression=0+0", "", 422, "invalid", "query.expression"},
			{anna, "GET", "/api/v1/cron?expression=0+0+0+30+2+?", "", 422, "invalid", "query.expression"},
			{anna, "GET", "/api/v1/cron?expression=@daily&timeZone=../etc", "", 422, "invalid", "query.timeZone"},
			{anna, "POST", orders + "/jobs/settle/plan", "", 400, "bad-body", ""},
			{anna, "POST", orders + "/jobs/settle/plan", "{", 400, "bad-body", "body"},
			{anna, "POST", orders + "/jobs/settle/plan", "{}", 422, "invalid", "body"},
			{anna, "POST", orders + "/jobs/settle/plan", `{"document":"x","pasword":"hunter2"}`, 422, "invalid", "body.pasword"},
			{anna, "POST", orders + "/jobs/settle/plan", `{"document":1}`, 422, "invalid", "body.document"},
			{anna, "POST", orders + "/jobs/settle/plan", `{"document":"jobName: other\nshardingTotalCount: 1\n"}`, 422, "invalid", "jobName"},
			{anna, "POST", orders + "/jobs/settle/plan", `{"document":"jobName: settle\ncron: hunter\nshardingTotalCount: 0\n"}`, 422, "invalid-config", "cron shardingTotalCount"},
			{anna, "POST", orders + "/jobs/settle/plan", `{"config":{"jobName":"settle","cron":"0 0 3 * * ?","shardingTotalCount":-5,"timeZone":"Moon"}}`, 422, "invalid-config", "timeZone shardingTotalCount"},
			{anna, "POST", orders + "/jobs/settle/plan", `{"config":{"jobName":"settle","cron":"0 0 3 * * ?","shardingTotalCount":5},"version":1}`, 412, "config-changed", ""},
			{anna, "POST", orders + "/jobs/nothing/plan", `{"config":{"shardingTotalCount":5},"version":1}`, 404, "no-job", ""},
		} {
			answer := heard(t, w.Do(tt.who, tt.method, tt.path, tt.body))
			if answer.status != tt.status {
				t.Errorf("%s %s %s: %d %s", tt.method, tt.path, tt.body, answer.status, answer.body)
				continue
			}
			var p api.Problem
			if err := json.Unmarshal([]byte(answer.body), &p); err != nil {
				t.Errorf("%s: %v: %s", tt.path, err, answer.body)
			}
			var fields []string
			for _, f := range p.Errors {
				if fields = append(fields, f.Field); f.Reason == "" {
					t.Errorf("%s: no reason: %s", tt.path, answer.body)
				}
			}
			if p.Status != tt.status || p.Code != tt.code || p.Type != "urn:problem-type:elasticjob:"+tt.code || p.Title != http.StatusText(tt.status) || p.Detail == "" || strings.Join(fields, " ") != tt.fields {
				t.Errorf("%s %s %s: %s; want %s of %q", tt.method, tt.path, tt.body, answer.body, tt.code, tt.fields)
			}
			if answer.header.Get("Content-Type") != "application/problem+json" || (tt.status == 401) != (answer.header.Get("WWW-Authenticate") != "") {
				t.Errorf("%s: %v", tt.path, answer.header)
			}
			if strings.Contains(answer.body, secret) && !strings.Contains(tt.fields, secret) || len(answer.body) > 8<<10 {
				t.Errorf("%s: %s", tt.path, answer.body)
			}
		}
	})
}

// Of several errors the first with a code counts, and before a time that is over. What has no code is a defect.
func TestProblemOf(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("%w: %w", ops.ErrStoreAway, coord.ErrDenied), 503, "store-away"},
		{&coord.ConflictError{Reason: coord.ErrDenied}, 502, "store-denies"},
		{&coord.ConflictError{Reason: coord.ErrVersion}, 500, "internal"},
		{fmt.Errorf("%w: %w", ops.ErrBusy, coord.ErrUnknownOutcome), 409, "busy"},
		{fmt.Errorf("%w: %w", access.ErrLocked, context.DeadlineExceeded), 503, "file-locked"},
		{fmt.Errorf("%w: %w", context.DeadlineExceeded, coord.ErrConflict), 504, "out-of-time"},
		{context.Canceled, 503, "cancelled"},
		{access.ErrNoFile, 500, "internal"},
	} {
		if p := api.ProblemOf(tt.err); p.Status != tt.status || p.Code != tt.code {
			t.Errorf("%v: %d %s, want %d %s", tt.err, p.Status, p.Code, tt.status, tt.code)
		}
	}
}

// Who asks for a namespace that there is not is told those that he may see, and of no other.
func TestNamespacesThatThereAre(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		for want, namespaces := range map[string][]string{
			`those that you may see are \"orders\", \"other\""`: nil,
			`those that you may see are \"orders\""`:            {"orders", "nowhere"},
			`there is none that you may see"`:                   {"nowhere"},
		} {
			p := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer, Namespaces: namespaces}}}
			if answer := heard(t, w.Do(p, "GET", "/api/v1/namespaces/nowhere/jobs", "")); !strings.Contains(answer.body, want) {
				t.Errorf("%q: %s, want %s", namespaces, answer.body, want)
			}
		}
	})
}

// A media type that is not JSON is refused, and so is a store that is away.
func TestRefused(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer)
		answer := heard(t, w.Do(anna, "POST", orders+"/jobs/settle/plan", "document: x", "Content-Type", "application/yaml"))
		if answer.status != http.StatusUnsupportedMediaType || !strings.Contains(answer.body, `"media-type"`) {
			t.Errorf("%d %s", answer.status, answer.body)
		}
		w.StoreAway(time.Hour)
		for _, path := range []string{"/jobs", "/jobs/settle", "/servers", "/audit", "/findings", "/calendars"} {
			answer := ask(t, w, anna, orders+path)
			if answer.status != http.StatusServiceUnavailable && answer.status != http.StatusGatewayTimeout {
				t.Errorf("%s: %d %s", path, answer.status, answer.body)
			}
		}
		w.Advance(2 * time.Hour) // so that all can end
	})
}

// A plan tells what would change, and the settings have the version and both forms of the configuration.
func TestPlanAndSettings(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer)
		answer := ask(t, w, anna, orders+"/jobs/settle/settings")
		var settings struct {
			Version  json.Number
			Document string
			Config   map[string]any
		}
		if err := json.Unmarshal([]byte(answer.body), &settings); err != nil || answer.header.Get("ETag") != `"`+settings.Version.String()+`"` || settings.Config["shardingTotalCount"] != 3.0 {
			t.Fatalf("%v: %v %s", err, answer.header, answer.body)
		}
		settings.Config["shardingTotalCount"] = 5
		body, err := json.Marshal(map[string]any{"config": settings.Config, "ticks": 1})
		if err != nil {
			t.Fatal(err)
		}
		plan := heard(t, w.Do(anna, "POST", orders+"/jobs/settle/plan", string(body)))
		if plan.status != http.StatusOK || !strings.Contains(plan.body, `"changes":[{"field":"shardingTotalCount","before":"3","after":"5"}]`) {
			t.Errorf("%d %s", plan.status, plan.body)
		}
		same, err := json.Marshal(map[string]any{"document": settings.Document})
		if err != nil {
			t.Fatal(err)
		}
		plan = heard(t, w.Do(anna, "POST", orders+"/jobs/settle/plan", string(same)))
		if plan.status != http.StatusOK || !strings.Contains(plan.body, `"changes":[]`) {
			t.Errorf("%d %s", plan.status, plan.body)
		}
	})
}
