package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/ops/failed"
)

// read returns the body of an answer.
func read[T any](t *testing.T, s said) (body T) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.body), &body); err != nil || s.status != http.StatusOK {
		t.Fatalf("%d %s: %v", s.status, s.body, err)
	}
	return body
}

// What has failed is told of the jobs that somebody may see, and runs again for who may steer them.
func TestFailures(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		const since, path, body = "?from=1999-01-01T00:00:00Z", orders + "/failures", `{"from":"1999-01-01T00:00:00Z"}`
		listed := func(p *access.Principal) api.Failures { return read[api.Failures](t, ask(t, w, p, path+since)) }
		retried := func(p *access.Principal, body string) api.RetriedFailures {
			return read[api.RetriedFailures](t, heard(t, w.Do(p, "POST", path+"/retry", body)))
		}
		all := listed(apitest.May(access.Viewer))
		if len(all.Jobs) != 1 || all.NoHistory || all.Hidden || all.HistoryError != "" {
			t.Fatalf("%+v", all)
		}
		settle := all.Jobs[0]
		if run := settle.Runs[0]; settle.Job != "settle" || settle.Failed != 1 || settle.Older != 2 || run.Item != 1 || run.Error != "the bank is closed" || run.Server == "" || run.Execution == "" {
			t.Errorf("%+v", settle)
		}
		if got := listed(apitest.May(access.Viewer, "pay-*")); len(got.Jobs) != 0 || len(got.Elsewhere) != 0 {
			t.Errorf("others' failures: %+v", got)
		}
		both := apitest.May(access.Viewer)
		both.Grants = append(both.Grants, access.Grant{Role: access.Operator, Namespaces: []string{apitest.Namespace}, Jobs: []string{"pay-*"}})
		if got := retried(both, body); len(got.Begun) != 0 || len(got.Left) == 0 || slices.ContainsFunc(got.Left, func(p failed.Part) bool { return p.Why != failed.Denied }) {
			t.Errorf("by who may not steer it: %+v", got)
		}
		operator := apitest.May(access.Operator)
		got := retried(operator, body)
		if len(got.Begun) != 1 || got.Begun[0].Request == "" || got.Begun[0].IsBackfill || len(got.Changes) != 1 || len(got.Left) != 1 || got.Left[0].Why != failed.IsOlder {
			t.Errorf("%+v", got)
		}
		if state, err := w.Ops.Job("settle").Request(t.Context(), got.Begun[0].Request); err != nil || state.By != "berta" || state.Source != "RETRY" {
			t.Errorf("%+v, %v", state, err)
		}
		other := &access.Principal{Name: "carl", Grants: []access.Grant{{Role: access.Viewer, Namespaces: []string{apitest.Other}}}}
		if got := read[api.Failures](t, ask(t, w, other, "/api/v1/namespaces/"+apitest.Other+"/failures"+since)); !got.NoHistory || got.Jobs == nil || len(got.Jobs) > 0 {
			t.Errorf("without a history: %+v", got)
		}
	})
}
