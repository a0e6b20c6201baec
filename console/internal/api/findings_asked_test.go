package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// leave writes a node that belongs to no job: a finding of the namespace, and of none of its jobs.
func leave(t *testing.T, w *apitest.World, path string) {
	t.Helper()
	reg, err := w.Store().Dial(t.Context(), memory.Config{Namespace: "jobtest"})
	if err == nil {
		_, err = reg.Commit(t.Context(), coord.Put(path, []byte("x")))
	}
	if err == nil {
		err = reg.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Who may see all jobs gets what is wrong with the namespace too, and of all only what he has asked for.
func TestFindingsThatAreAskedFor(t *testing.T) {
	apitest.Run(t, nil, func(t *testing.T, w *apitest.World) {
		leave(t, w, "ghost/left")
		type finding struct{ Severity, Job, Path string }
		type report struct {
			Jobs, More int
			Findings   []finding
		}
		get := func(query string) (r report) {
			t.Helper()
			got := ask(t, w, apitest.May(access.Viewer), orders+"/findings"+query)
			if err := json.Unmarshal([]byte(got.body), &r); err != nil || got.status != http.StatusOK {
				t.Fatalf("%s: %d %s, %v", query, got.status, got.body, err)
			}
			return r
		}
		all := get("")
		if all.Jobs == 0 || all.More != 0 || !slices.ContainsFunc(all.Findings, func(f finding) bool { return f.Job == "" && f.Path == "ghost" }) {
			t.Errorf("all: %+v", all)
		}
		of := func(holds func(finding) bool) (some []finding) {
			for _, f := range all.Findings {
				if holds(f) {
					some = append(some, f)
				}
			}
			return some
		}
		for query, want := range map[string][]finding{
			"?severity=warning":               of(func(f finding) bool { return f.Severity != "info" }),
			"?severity=critical":              of(func(f finding) bool { return f.Severity == "critical" }),
			"?job=pay-out":                    of(func(f finding) bool { return f.Job == "pay-out" }),
			"?job=broken&severity=critical":   of(func(f finding) bool { return f.Job == "broken" && f.Severity == "critical" }),
			"?limit=1":                        all.Findings[:1],
			"?limit=1&severity=info&job=late": of(func(f finding) bool { return f.Job == "late" })[:1],
		} {
			got := get(query)
			if !slices.Equal(got.Findings, want) || len(want) == 0 || len(want) == len(all.Findings) {
				t.Errorf("%s: %+v, want %+v", query, got.Findings, want)
			}
			if more := len(all.Findings) - 1; query == "?limit=1" && got.More != more {
				t.Errorf("%s: %d more, want %d", query, got.More, more)
			}
		}
	})
}
