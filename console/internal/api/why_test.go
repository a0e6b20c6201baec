package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/why"
)

// What operators and runs do is told of the ticks of that time: from the store and a history that recorders have written.
func TestWhy(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		anna := apitest.May(access.Viewer)
		j := w.Ops.By("anna").Together().Job("settle") // as an action on several jobs
		// tick passes the next tick, and returns it.
		tick := func() time.Time {
			at := time.Now().Truncate(30 * time.Second).Add(30 * time.Second)
			w.AdvanceTo(at.Add(15 * time.Second))
			return at
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ran := tick()
		_, err := j.Pause(t.Context(), ops.PauseRequest{Why: "the bank moves"})
		do(err)
		paused := tick()
		do(j.Resume(t.Context(), ops.ResumeRequest{}))
		do(j.DisableItems(t.Context(), 0))
		disabled := tick()
		do(j.EnableItems(t.Context(), 0))
		w.Advance(time.Hour)

		for _, tt := range []struct {
			name, query string
			verdict     why.Verdict
			cause       string // the first one: kind, who, why, whether it is over
			runs        int
		}{
			{"in time", at(ran, 0), why.Ran, "", 1},
			{"later", at(ran.Add(10*time.Second), 0), why.NotDue, "between   over", 1},
			{"failed", at(ran, 1), why.Ran, "failed   over", 1},
			{"still running", at(ran, 2), why.Skipped, "still-running   over", 0},
			{"paused", at(paused, 0), why.Skipped, "paused anna the bank moves over", 0},
			{"paused, all items", "?at=" + url.QueryEscape(paused.Format(time.RFC3339)), why.Skipped, "paused anna the bank moves over", 0},
			{"disabled", at(disabled, 0), why.Skipped, "item-disabled anna  over", 0},
			{"enabled", at(disabled, 1), why.Ran, "failed   over", 1},
		} {
			a := explained(t, w, anna, tt.query)
			cause := ""
			if len(a.Causes) > 0 {
				c := a.Causes[0]
				cause = fmt.Sprintf("%s %s %s", c.Kind, c.By, c.Why)
				if !c.Until.IsZero() {
					cause += " over"
				}
			}
			if a.Verdict != tt.verdict || cause != tt.cause || len(a.Runs) != tt.runs || len(a.Unseen) > 0 {
				t.Errorf("%s: %+v; want %s, %q, %d runs", tt.name, a, tt.verdict, tt.cause, tt.runs)
			}
		}
		var told api.CausesInfo
		got := ask(t, w, anna, orders+"/jobs/settle/causes?from="+url.QueryEscape(ran.Format(time.RFC3339)))
		if err := json.Unmarshal([]byte(got.body), &told); err != nil || len(told.Unseen) > 0 {
			t.Fatalf("%d %s, %v", got.status, got.body, err)
		}
		var spans []string
		for _, c := range told.Causes {
			spans = append(spans, fmt.Sprintf("%s %v %s %s %v", c.Kind, c.Items, c.By, c.Why, c.Until.Sub(c.Since).Round(30*time.Second)))
		}
		if want := "paused [] anna the bank moves 30s, item-disabled [0] anna  30s"; strings.Join(spans, ", ") != want {
			t.Errorf("causes: %q, want %q", spans, want)
		}
		if got := ask(t, w, anna, orders+"/jobs/settle/causes?from=1999-01-01T00:00:00Z"); got.status != 422 {
			t.Errorf("too long a time: %d %s", got.status, got.body)
		}
		if got := ask(t, w, anna, orders+"/jobs/settle/why?item=3"); got.status != http.StatusNotFound {
			t.Errorf("an item that is not there: %d %s", got.status, got.body)
		}
		// Who sees only some jobs does not see what calendars were.
		if a := explained(t, w, apitest.May(access.Viewer, "settle"), at(ran, 0)); len(a.Unseen) != 1 || a.Verdict != why.Ran {
			t.Errorf("of one job: %+v", a)
		}
		if got := ask(t, w, apitest.May(access.Viewer, "pay-out"), orders+"/jobs/settle/why"); got.status != http.StatusForbidden {
			t.Errorf("another's job: %d %s", got.status, got.body)
		}
	})
}

func at(tick time.Time, item int) string {
	return fmt.Sprintf("?item=%d&at=%s", item, url.QueryEscape(tick.Format(time.RFC3339)))
}

func explained(t *testing.T, w *apitest.World, p *access.Principal, query string) (a why.Answer) {
	t.Helper()
	got := ask(t, w, p, orders+"/jobs/settle/why"+query)
	if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s, %v", got.status, got.body, err)
	}
	return a
}
