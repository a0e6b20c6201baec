package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

const settleJob = orders + "/jobs/settle"

// asked is a request for a change. {request} stands for one of the job settle that has not ended.
type asked struct {
	pattern, path, body string // pattern without /api/v1/namespaces/{namespace}
	header              []string
	status              int        // 0 is 200
	action              ops.Action // "" if all is as it should be already
}

// changes has for each route that changes something a request that does, in an order in which they can be made.
var changes = []asked{
	{"PUT /jobs/{job}/settings", orders + "/jobs/fresh/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2}}`, []string{"If-None-Match", "*"}, 201, ops.ActionCreate},
	{"PUT /jobs/{job}/settings", orders + "/jobs/fresh/settings", `{"document":"jobName: fresh\ncron: 0 0 4 * * ?\nshardingTotalCount: 2\n"}`, []string{"If-Match", "*"}, 200, ops.ActionUpdate},
	{"PATCH /jobs/{job}/settings", orders + "/jobs/late/settings", `{"description":"comes late","props":{"overlap":"SKIP"}}`, []string{"If-Match", "*"}, 0, ops.ActionUpdate},
	{"POST /jobs/{job}/implement", orders + "/jobs/late/implement", `{"from":"com.example.Late","to":"com.example.Later"}`, nil, 0, ops.ActionImplement},
	{"POST /failures/retry", orders + "/failures/retry", `{"from":"1999-01-01T00:00:00Z"}`, nil, 0, ops.ActionRetry},
	{"POST /jobs/{job}/retry", settleJob + "/retry", ``, nil, 202, ops.ActionRetry},
	{"POST /jobs/{job}/trigger", settleJob + "/trigger", `{"items":[0],"parameter":"p"}`, nil, 202, ops.ActionTrigger},
	{"POST /jobs/{job}/backfill", settleJob + "/backfill", `{"from":"2000-01-01T00:00:00Z","to":"2000-01-01T00:01:00Z","items":[0]}`, nil, 202, ops.ActionBackfill},
	{"POST /jobs/{job}/requests/{request}/cancel", settleJob + "/requests/{request}/cancel", ``, nil, 0, ops.ActionCancel},
	{"POST /jobs/{job}/kill", settleJob + "/kill", `{"items":[2]}`, nil, 0, ops.ActionKill},
	{"POST /jobs/{job}/pause", settleJob + "/pause", `{"why":"the bank moves","makeUp":true}`, nil, 0, ops.ActionPause},
	{"POST /jobs/{job}/pause", settleJob + "/pause", `{"makeUp":true}`, nil, 0, ""},
	{"POST /jobs/{job}/resume", orders + "/jobs/pay-out/resume", ``, nil, 0, ops.ActionResume},
	{"POST /jobs/{job}/resume", orders + "/jobs/pay-out/resume", `{}`, nil, 0, ""},
	{"POST /jobs/{job}/reshard", settleJob + "/reshard", ``, nil, 0, ops.ActionReshard},
	{"POST /jobs/{job}/items/disable", settleJob + "/items/disable", `{"items":[0,1]}`, nil, 0, ops.ActionDisableItems},
	{"POST /jobs/{job}/items/{item}/disable", settleJob + "/items/2/disable", ``, nil, 0, ops.ActionDisableItems},
	{"POST /jobs/{job}/items/{item}/disable", settleJob + "/items/2/disable", ``, nil, 0, ""},
	{"POST /jobs/{job}/items/enable", settleJob + "/items/enable", `{"items":[0,2]}`, nil, 0, ops.ActionEnableItems},
	{"POST /jobs/{job}/items/{item}/enable", settleJob + "/items/1/enable", ``, nil, 0, ops.ActionEnableItems},
	{"PUT /jobs/{job}/items/{item}/pin", settleJob + "/items/0/pin", `{"address":"10.0.0.1"}`, nil, 0, ops.ActionPin},
	{"DELETE /jobs/{job}/items/{item}/pin", settleJob + "/items/0/pin", ``, nil, 0, ops.ActionUnpin},
	{"POST /jobs/{job}/servers/disable", settleJob + "/servers/disable", `{"servers":["10.0.0.1"]}`, nil, 0, ops.ActionDisableServers},
	{"POST /jobs/{job}/servers/disable", settleJob + "/servers/disable", `{"servers":["10.0.0.8"],"ahead":true}`, nil, 0, ops.ActionDisableServers},
	{"POST /jobs/{job}/servers/enable", settleJob + "/servers/enable", `{"all":true}`, nil, 0, ops.ActionEnableServers},
	{"POST /jobs/{job}/servers/remove", settleJob + "/servers/remove", `{"servers":["10.0.0.8"]}`, nil, 0, ops.ActionRemoveServers},
	{"POST /jobs/{job}/clear/misfires", settleJob + "/clear/misfires", ``, nil, 0, ""},
	{"POST /jobs/{job}/clear/failovers", settleJob + "/clear/failovers", ``, nil, 0, ""},
	{"POST /jobs/{job}/clear/servers", orders + "/jobs/pay-out/clear/servers", `{"disabled":true}`, nil, 0, ops.ActionClearServers},
	{"POST /jobs/{job}/clear/stale", settleJob + "/clear/stale", ``, nil, 0, ""},
	{"PUT /calendars/{calendar}", orders + "/calendars/holidays", `{"document":"timeZone: UTC\ndates: [2028-01-01]\n"}`, []string{"If-Match", `"0"`}, 0, ops.ActionPutCalendar},
	{"PUT /calendars/{calendar}", orders + "/calendars/more", `{"document":"timeZone: UTC\ndates: [2028-01-01]\n"}`, []string{"If-None-Match", "*"}, 0, ops.ActionPutCalendar},
	{"DELETE /calendars/{calendar}", orders + "/calendars/more", ``, []string{"If-Match", `"0"`}, 0, ops.ActionRemoveCalendar},
	{"POST /servers/{address}/disable", orders + "/servers/10.0.0.1/disable", ``, nil, 0, ops.ActionDisableServers},
	{"POST /servers/{address}/enable", orders + "/servers/10.0.0.1/enable", ``, nil, 0, ops.ActionEnableServers},
	{"POST /jobs:batch", orders + "/jobs:batch", `{"action":"disable","jobs":["pay-out"]}`, nil, 0, ops.ActionDisableServers},
	{"POST /jobs/{job}/shutdown", settleJob + "/shutdown", `{"servers":["10.0.0.2"],"why":"it is old"}`, nil, 0, ops.ActionShutdown},
	{"POST /servers/{address}/shutdown", orders + "/servers/10.0.0.1/shutdown?why=old", ``, nil, 0, ops.ActionShutdown},
	{"POST /servers/{address}/remove", orders + "/servers/10.0.0.1/remove", ``, nil, 0, ops.ActionRemoveServers},
	{"DELETE /jobs/{job}", orders + "/jobs/late?why=nobody+needs+it", ``, []string{"If-Match", "*"}, 0, ops.ActionRemove},
	{"POST /jobs/{job}/readmit", orders + "/jobs/old/readmit", ``, nil, 0, ops.ActionReadmit},
}

// do sends the request.
func (c asked) do(t *testing.T, w *apitest.World, p *access.Principal, header ...string) said {
	t.Helper()
	method, _, _ := strings.Cut(c.pattern, " ")
	path := c.path
	if strings.Contains(path, "{request}") {
		path = strings.ReplaceAll(path, "{request}", waiting(t, w))
	}
	return heard(t, w.Do(p, method, path, c.body, append(header, c.header...)...))
}

// made returns the changes of an answer.
func (s said) made(t *testing.T) []ops.Change {
	t.Helper()
	var body struct {
		Changes  []ops.Change
		Outcomes []struct{ Changes []ops.Change }
	}
	if err := json.Unmarshal([]byte(s.body), &body); err != nil {
		t.Fatalf("%d %s: %v", s.status, s.body, err)
	}
	for _, o := range body.Outcomes {
		body.Changes = append(body.Changes, o.Changes...)
	}
	return body.Changes
}

// code returns the code of a problem.
func (s said) code() string {
	var p struct{ Code string }
	if json.Unmarshal([]byte(s.body), &p) != nil {
		return "no JSON"
	}
	return p.Code
}

// written is all that stands in the jobs' trees, and when it was written.
func written(t *testing.T, w *apitest.World) []string {
	t.Helper()
	nodes, err := w.Ops.Audit(t.Context(), ops.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, n := range nodes {
		list = append(list, n.ID)
	}
	return list
}

// Each change is refused to who may not make it, is tried without making it, is made, and is in the audit with
// who has made it and from where. No route is left out.
func TestEveryChange(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		todo := map[string]route.Need{}
		for _, r := range w.Table.Routes() {
			if rest, ok := strings.CutPrefix(r.Pattern, "/api/v1/namespaces/{namespace}"); ok && r.Method != http.MethodGet && !strings.HasSuffix(rest, "plan") {
				todo[r.Method+" "+rest] = r.Need
			}
		}
		tried, looked := map[string]bool{}, map[string]bool{}
		for _, c := range changes {
			need, isRoute := todo[c.pattern]
			if !isRoute {
				t.Errorf("there is no route %s", c.pattern)
				continue
			}
			tried[c.pattern] = true
			if c.status == 0 {
				c.status = http.StatusOK
			}
			before := written(t, w)
			lower := apitest.May(need.Role - 1)
			elsewhere := &access.Principal{Name: "carl", Grants: []access.Grant{{Role: access.Admin, Namespaces: []string{apitest.Other}}}}
			for _, p := range []*access.Principal{lower, elsewhere} {
				if got := c.do(t, w, p); got.status != http.StatusForbidden {
					t.Errorf("%s by %s: %d %s", c.path, p.Name, got.status, got.body)
				}
			}
			if need.Scope == route.Job && !strings.Contains(c.path, "fresh") {
				other := c
				for _, name := range []string{"settle", "pay-out", "late", "old"} {
					other.path = strings.ReplaceAll(other.path, "/jobs/"+name, "/jobs/nothing")
				}
				if got := other.do(t, w, apitest.May(access.Admin)); got.status != http.StatusNotFound {
					t.Errorf("%s: %d %s", other.path, got.status, got.body)
				}
			}
			dry := c
			dry.path += map[bool]string{true: "&", false: "?"}[strings.Contains(c.path, "?")] + "dryRun=true"
			got := dry.do(t, w, apitest.May(need.Role))
			if made := got.made(t); got.status != c.status || (len(made) > 0) != (c.action != "") || len(made) > 0 && (made[0].ID != "" || made[0].Action != c.action) {
				t.Errorf("%s: %d %s", dry.path, got.status, got.body)
			}
			if after := written(t, w); !slices.Equal(before, after) {
				t.Errorf("%s: the audit has %d more", dry.path, len(after)-len(before))
			}
			got = c.do(t, w, apitest.May(need.Role))
			made := got.made(t)
			if got.status != c.status || (len(made) > 0) != (c.action != "") {
				t.Errorf("%s %s: %d %s", c.pattern, c.path, got.status, got.body)
				continue
			}
			for _, one := range made {
				if one.Action != c.action || one.By != "berta" || one.From != "192.0.2.9" || !slices.Contains(written(t, w), one.ID) {
					t.Errorf("%s: %+v", c.path, one)
				}
			}
			if want := len(before) + len(made); len(written(t, w)) != want {
				t.Errorf("%s: the audit has %d entries, want %d", c.path, len(written(t, w)), want)
			}
			method, _, _ := strings.Cut(c.pattern, " ")
			if look := seen[method+" "+c.path]; look != nil {
				if got, want, err := look(t.Context(), w); got != want || err != nil {
					t.Errorf("%s: the registry has %q, want %q; %v", c.path, got, want, err)
				}
				looked[method+" "+c.path] = true
			}
			w.Advance(0)
		}
		for what := range seen {
			if !looked[what] {
				t.Errorf("%s is not looked at", what)
			}
		}
		for pattern := range todo {
			if !tried[pattern] {
				t.Errorf("%s is not tried", pattern)
			}
		}
	})
}

// What a change must not be made for is refused, with a code, and nothing is written.
func TestChangesThatAreRefused(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		before := written(t, w)
		long := `{"items":[0],"parameter":"` + strings.Repeat("é", 40_000) + `"}`
		for _, c := range []struct {
			method, path, body string
			header             []string
			status             int
			code               string
		}{
			{"PUT", settleJob + "/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2}}`, nil, 428, "no-precondition"},
			{"PUT", settleJob + "/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2}}`, []string{"If-None-Match", "*"}, 412, "job-exists"},
			{"PUT", settleJob + "/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2}}`, []string{"If-Match", `"1"`}, 412, "config-changed"},
			{"PUT", settleJob + "/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2}}`, []string{"If-Match", `W/"1"`}, 412, "no-such-version"},
			{"PUT", settleJob + "/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2}}`, []string{"If-Match", `"1"`, "If-None-Match", "*"}, 422, "invalid"},
			{"PUT", settleJob + "/settings", `{"config":{"cron":"never","shardingTotalCount":0}}`, []string{"If-Match", "*"}, 422, "invalid-config"},
			{"PUT", settleJob + "/settings", `{"config":{"corn":"0 0 3 * * ?","shardingTotalCount":2}}`, []string{"If-Match", "*"}, 422, "invalid-config"},
			{"PUT", settleJob + "/settings", `{"config":{"jobName":"late","shardingTotalCount":2}}`, []string{"If-Match", "*"}, 422, "invalid"},
			{"PUT", settleJob + "/settings", `{"config":{"shardingTotalCount":2}}`, []string{"If-Match", "*"}, 409, "kind-conflict"},
			{"PUT", settleJob + "/settings", `{}`, []string{"If-Match", "*"}, 422, "invalid"},
			{"PUT", settleJob + "/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2},"implementation":"x"}`, []string{"If-Match", "*"}, 422, "invalid"},
			{"PUT", orders + "/jobs/nothing/settings", `{"config":{"cron":"0 0 3 * * ?","shardingTotalCount":2}}`, []string{"If-Match", "*"}, 404, "no-job"},
			{"PATCH", settleJob + "/settings", `{"description":"x"}`, nil, 428, "no-precondition"},
			{"PATCH", settleJob + "/settings", `{"description":"x"}`, []string{"If-Match", `"1"`}, 412, "config-changed"},
			{"PATCH", settleJob + "/settings", `{"cron":"never"}`, []string{"If-Match", `*`}, 422, "invalid-config"},
			{"PATCH", orders + "/jobs/broken/settings", `{"description":"x"}`, []string{"If-Match", `*`}, 409, "unreadable"},
			{"POST", orders + "/jobs/late/implement", `{"from":"x","to":"y"}`, nil, 412, "implementation-changed"},
			{"DELETE", orders + "/jobs/late", ``, nil, 428, "no-precondition"},
			{"DELETE", orders + "/jobs/late", ``, []string{"If-Match", `"1"`}, 412, "config-changed"},
			{"POST", settleJob + "/readmit", ``, nil, 404, "not-removed"},
			{"POST", settleJob + "/trigger", `{"items":[3]}`, nil, 404, "no-item"},
			{"POST", settleJob + "/trigger", `{"item":3}`, nil, 422, "invalid"},
			{"POST", settleJob + "/trigger", long, nil, 422, "invalid"},
			{"POST", settleJob + "/trigger", ``, []string{"Idempotency-Key", "a b"}, 422, "invalid"},
			{"POST", orders + "/jobs/late/trigger", ``, nil, 409, "nobody-runs-it"},
			{"POST", orders + "/jobs/late/retry", ``, nil, 409, "nothing-failed"},
			{"POST", settleJob + "/backfill", `{"from":"2000-01-01T00:00:00Z","to":"2030-01-01T00:00:00Z"}`, nil, 422, "invalid"},
			{"POST", settleJob + "/backfill", `{"from":"1999-01-01T00:00:00Z","to":"2000-01-01T00:00:00Z"}`, nil, 422, "bad-ticks"},
			{"POST", settleJob + "/backfill", ``, nil, 422, "invalid"},
			{"POST", settleJob + "/requests/x/cancel", ``, nil, 404, "no-request"},
			{"POST", orders + "/jobs/late/kill", ``, nil, 409, "not-running"},
			{"POST", orders + "/jobs/pay-out/pause", `{"makeUp":true}`, nil, 409, "paused"},
			{"POST", settleJob + "/shutdown", ``, nil, 422, "invalid"},
			{"POST", settleJob + "/shutdown", `{"servers":["10.0.0.77"]}`, nil, 404, "no-server"},
			{"POST", settleJob + "/items/disable", `{"items":[]}`, nil, 422, "invalid"},
			{"POST", settleJob + "/items/7/disable", ``, nil, 404, "no-item"},
			{"PUT", settleJob + "/items/0/pin", `{}`, nil, 422, "invalid"},
			{"POST", settleJob + "/servers/disable", ``, nil, 422, "invalid"},
			{"POST", settleJob + "/servers/disable", `{"servers":["10.0.0.77"]}`, nil, 404, "no-server"},
			{"POST", settleJob + "/servers/disable", `{"servers":["a/b"],"ahead":true}`, nil, 422, "invalid"},
			{"PUT", orders + "/calendars/holidays", `{"document":"x"}`, []string{"If-Match", `*`}, 422, "invalid"},
			{"PUT", orders + "/calendars/holidays", `{"document":"timeZone: UTC\n"}`, nil, 428, "no-precondition"},
			{"PUT", orders + "/calendars/holidays", `{"document":"timeZone: UTC\n"}`, []string{"If-Match", `"7"`}, 412, "calendar-changed"},
			{"PUT", orders + "/calendars/nothing", `{"document":"timeZone: UTC\n"}`, []string{"If-Match", `*`}, 404, "no-calendar"},
			{"DELETE", orders + "/calendars/holidays", ``, nil, 428, "no-precondition"},
			{"DELETE", orders + "/calendars/holidays?force=true", ``, []string{"If-Match", `"7"`}, 412, "calendar-changed"},
			{"DELETE", orders + "/calendars/holidays", ``, []string{"If-Match", `"0"`}, 409, "calendar-used"},
			{"DELETE", orders + "/calendars/nothing", ``, []string{"If-Match", `*`}, 404, "no-calendar"},
			{"POST", orders + "/servers/10.0.0.77/disable", ``, nil, 404, "no-server"},
			{"POST", orders + "/jobs:batch", `{"action":"remove","jobs":["a"]}`, nil, 422, "invalid"},
			{"POST", orders + "/jobs:batch", `{"action":"pause","jobs":[]}`, nil, 422, "invalid"},
			{"POST", orders + "/jobs:batch", fmt.Sprintf(`{"action":"pause","jobs":["a"%s]}`, strings.Repeat(`,"a"`, 1000)), nil, 422, "invalid"},
		} {
			got := heard(t, w.Do(apitest.May(access.Admin), c.method, c.path, c.body, c.header...))
			if got.status != c.status || got.code() != c.code {
				t.Errorf("%s %s %.100s: %d %s, want %d %s", c.method, c.path, c.body, got.status, got.body, c.status, c.code)
			}
		}
		if after := written(t, w); !slices.Equal(before, after) {
			t.Errorf("the audit has %d more", len(after)-len(before))
		}
	})
}

// Settings go to and fro: what was read may be written, if nobody has changed it since.
func TestSettingsToAndFro(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		admin, path := apitest.May(access.Admin), orders+"/jobs/pay-out/settings"
		read := func() (etag string, config map[string]any) {
			got := ask(t, w, admin, path)
			var s struct{ Config map[string]any }
			if err := json.Unmarshal([]byte(got.body), &s); err != nil {
				t.Fatal(err)
			}
			return got.header.Get("ETag"), s.Config
		}
		etag, config := read()
		put := func(etag string) said {
			body, err := json.Marshal(map[string]any{"config": config})
			if err != nil {
				t.Fatal(err)
			}
			return heard(t, w.Do(admin, "PUT", path, string(body), "If-Match", etag))
		}
		if got := put(etag); got.status != http.StatusOK || len(got.made(t)) != 0 {
			t.Errorf("as it is: %d %s", got.status, got.body)
		}
		config["label"] = "green"
		if got := put(etag); got.status != http.StatusOK || len(got.made(t)) != 1 {
			t.Errorf("another label: %d %s", got.status, got.body)
		}
		config["label"] = "red"
		if got := put(etag); got.status != http.StatusPreconditionFailed {
			t.Errorf("on what was read before: %d %s", got.status, got.body)
		}
		etag, config = read()
		if config["label"] != "green" {
			t.Errorf("%v", config)
		}
		got := heard(t, w.Do(admin, "PATCH", path, `{"label":null,"description":"pays","props":{"overlap":"SKIP"}}`, "If-Match", etag))
		if _, config = read(); got.status != http.StatusOK || config["label"] != nil || config["description"] != "pays" || config["cron"] != "0 0 3 * * ?" {
			t.Errorf("patched: %d %s, %v", got.status, got.body, config)
		}
	})
}

// A trigger with a key is made once for a user, however often it is sent.
func TestIdempotencyKey(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna, berta := apitest.May(access.Operator), apitest.May(access.Operator)
		anna.Name = "anna"
		type request struct {
			ID       string
			WasThere bool
		}
		trigger := func(p *access.Principal, key, body string) (request, said) {
			got := heard(t, w.Do(p, "POST", settleJob+"/trigger", body, "Idempotency-Key", key))
			var r request
			if err := json.Unmarshal([]byte(got.body), &r); err != nil {
				t.Fatal(err)
			}
			return r, got
		}
		first, said := trigger(anna, "k", `{"items":[0]}`)
		if said.status != http.StatusAccepted || first.WasThere || said.header.Get("Location") != settleJob+"/requests/"+first.ID {
			t.Errorf("first: %+v %v", first, said)
		}
		if again, said := trigger(anna, "k", `{"items":[0]}`); again.ID != first.ID || !again.WasThere || len(said.made(t)) != 0 {
			t.Errorf("again: %+v %v", again, said)
		}
		if _, said := trigger(anna, "k", `{"items":[1]}`); said.status != http.StatusUnprocessableEntity || said.code() != "key-used" {
			t.Errorf("something else: %v", said)
		}
		if other, said := trigger(berta, "k", `{"items":[1]}`); said.status != http.StatusAccepted || other.ID == first.ID {
			t.Errorf("of somebody else: %v", said)
		}
		var state struct {
			Ended   string
			Results []struct{ Outcome string }
		}
		got := ask(t, w, anna, settleJob+"/requests/"+first.ID+"?wait=25")
		if err := json.Unmarshal([]byte(got.body), &state); err != nil || len(state.Results) != 1 || state.Results[0].Outcome != "OK" {
			t.Errorf("its end: %v, %s", err, got.body)
		}
	})
}

// Of many jobs each has an outcome, and those that are not the caller's are denied.
func TestBatch(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		p := apitest.May(access.Operator, "settle", "nothing", "late")
		p.Grants = append(p.Grants, apitest.May(access.Viewer, "pay-out").Grants...)
		for action, want := range map[string]string{
			"pause": "settle:0 late:0 nothing:404 pay-out:403", "resume": "settle:0 late:0 nothing:404 pay-out:403",
			"trigger": "settle:0 late:409 nothing:404 pay-out:403", "disable": "settle:0 late:0 nothing:404 pay-out:403", "enable": "settle:0 late:0 nothing:404 pay-out:403",
		} {
			got := heard(t, w.Do(p, "POST", orders+"/jobs:batch?dryRun=true", `{"action":"`+action+`","jobs":["settle","late","nothing","pay-out"]}`))
			var body struct {
				Failed   int
				Outcomes []struct {
					Job   string
					Error struct{ Status int }
				}
			}
			if err := json.Unmarshal([]byte(got.body), &body); err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, o := range body.Outcomes {
				text += fmt.Sprintf(" %s:%d", o.Job, o.Error.Status)
			}
			if text != " "+want || body.Failed != strings.Count(want, ":4") {
				t.Errorf("%s: %s, %d failed: %s", action, text, body.Failed, got.body)
			}
		}
	})
}
