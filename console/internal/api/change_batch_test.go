package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// outcome is what has become of a job of a batch.
type outcome struct {
	Job, Request string
	Changes      []struct{ ID string }
	Error        struct{ Code, Detail string }
}

// batch does something with many jobs, and returns what has become of each.
func batch(t *testing.T, w *apitest.World, p *access.Principal, body string, header ...string) (all []outcome) {
	t.Helper()
	said := heard(t, w.Do(p, "POST", orders+"/jobs:batch", body, header...))
	var out struct{ Outcomes []outcome }
	if err := json.Unmarshal([]byte(said.body), &out); err != nil || said.status != http.StatusOK || len(out.Outcomes) == 0 {
		t.Fatalf("%s: %d %s, %v", body, said.status, said.body, err)
	}
	return out.Outcomes
}

// A trigger of many jobs with a key makes one request of each for a user, however often it is sent.
func TestIdempotencyKeyOfABatch(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna, berta := apitest.May(access.Operator), apitest.May(access.Operator)
		anna.Name = "anna"
		const body = `{"action":"trigger","jobs":["settle","pay-out"],"parameter":"p"}`
		trigger := func(p *access.Principal, key, body string) []outcome {
			return batch(t, w, p, body, "Idempotency-Key", key)
		}
		first := trigger(anna, "k", body)
		for i, one := range trigger(anna, "k", body) {
			if one.Error.Code != "" || one.Request == "" || one.Request != first[i].Request || len(first[i].Changes) != 1 || len(one.Changes) != 0 {
				t.Errorf("again: %+v, was %+v", one, first[i])
			}
		}
		var single struct{ ID string }
		got := heard(t, w.Do(anna, "POST", settleJob+"/trigger", `{"parameter":"p"}`, "Idempotency-Key", "k"))
		if err := json.Unmarshal([]byte(got.body), &single); err != nil || single.ID != first[0].Request {
			t.Errorf("settle alone: %d %s, %v; want request %s", got.status, got.body, err, first[0].Request)
		}
		for _, one := range trigger(anna, "k", strings.ReplaceAll(body, `"p"`, `"q"`)) {
			if one.Error.Code != "key-used" {
				t.Errorf("something else: %+v", one)
			}
		}
		for name, others := range map[string][]outcome{"of somebody else": trigger(berta, "k", body), "another key": trigger(anna, "l", body), "none": batch(t, w, anna, body)} {
			for i, one := range others {
				if one.Error.Code != "" || one.Request == "" || one.Request == first[i].Request {
					t.Errorf("%s: %+v, is as %+v", name, one, first[i])
				}
			}
		}
		tooLong := `{"action":"trigger","jobs":["settle"],"parameter":"` + strings.Repeat("é", jobtype.MaxTriggerParameter/2+1) + `"}`
		if got := heard(t, w.Do(anna, "POST", orders+"/jobs:batch", tooLong)); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "body.parameter") {
			t.Errorf("a long parameter: %d %s", got.status, got.body)
		}
	})
}

// Jobs are paused as is said, and one that is as it should be is no failure.
func TestBatchIsMade(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		p := apitest.May(access.Operator)
		for i, body := range []string{
			`{"action":"pause","jobs":["settle"],"why":"the bank moves","makeUp":true}`, `{"action":"resume","jobs":["settle"]}`,
		} {
			for again := range 2 {
				if one := batch(t, w, p, body)[0]; one.Error.Code != "" || len(one.Changes) != 1-again {
					t.Errorf("%s: %+v", body, one)
				}
				info, err := w.Ops.Job("settle").Info(t.Context())
				if err != nil || i == 0 && (info.Paused.Why != "the bank moves" || !info.Paused.MakeUp || info.Paused.By != "berta") || i == 1 && !info.Paused.Since.IsZero() {
					t.Errorf("%s: %+v, %v", body, info.Paused, err)
				}
			}
		}
	})
}

// A batch has one entry of the audit, and who may see some of its jobs sees these in it.
func TestBatchHasOneEntry(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		for _, one := range batch(t, w, apitest.May(access.Operator), `{"action":"pause","jobs":["settle","shell","late"],"why":"the shop moves"}`) {
			if one.Error.Code != "" || len(one.Changes) != 1 {
				t.Errorf("%+v", one)
			}
		}
		for pattern, want := range map[string]string{"*": "late settle shell", "s*": "settle shell", "pay-*": ""} {
			var page struct {
				Rows []struct {
					Job, Why string
					Jobs     []string
				}
			}
			said := ask(t, w, apitest.May(access.Viewer, pattern), orders+"/audit?action=pause")
			if err := json.Unmarshal([]byte(said.body), &page); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range page.Rows {
				if row.Why == "the shop moves" {
					if got = append(got, row.Jobs...); row.Job != "" || len(got) != len(row.Jobs) {
						t.Errorf("%s: %+v", pattern, page.Rows)
					}
				}
			}
			if slices.Sort(got); strings.Join(got, " ") != want {
				t.Errorf("who may see %s sees %q, want %q", pattern, got, want)
			}
		}
	})
}

// What takes long on a store ends before its request has to: a batch says of each job what was not done.
func TestStoreThatHangs(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		defer w.Store().Inject(memory.Fault{Delay: time.Minute}).Remove()
		begun := time.Now()
		body := `{"action":"pause","jobs":["settle"`
		for i := range 19 {
			body += `,"` + strings.Repeat("a", i+1) + `"`
		}
		tried, not := 0, 0
		for _, one := range batch(t, w, apitest.May(access.Operator), body+"]}") {
			switch {
			case strings.Contains(one.Error.Detail, "not tried"):
				not++
			case one.Error.Code != "":
				tried++
			}
		}
		if took := time.Since(begun); tried != 8 || not != 12 || took != 25*time.Second {
			t.Errorf("%d tried, %d not, after %v", tried, not, took)
		}
		begun = time.Now()
		got := ask(t, w, apitest.May(access.Viewer), orders+"/findings")
		if took := time.Since(begun); got.status != http.StatusGatewayTimeout || took != 25*time.Second {
			t.Errorf("findings: %d %s, after %v", got.status, got.body, took)
		}
	})
}
