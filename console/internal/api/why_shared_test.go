package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// stored are namespaces that share a database, with a store.
type stored struct {
	shared
	ops *ops.Ops
}

func (s stored) Ops(context.Context, string) (*ops.Ops, error) { return s.ops, nil }

// Who may not see the past of a job, because others share the database, is told so, and gets the rest. The history,
// which answers no questions about events here, is not asked.
func TestWhyWithoutTheSharedPast(t *testing.T) {
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	reg, err := store.Dial(t.Context(), memory.Config{Namespace: "a"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reg.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	o := ops.New(reg)
	if err := o.Create(t.Context(), ops.CreateRequest{Config: job.Config{Name: "settle", Cron: "0 0 * * * ?", TimeZone: "UTC", ShardingTotalCount: 1}, Implementation: "x"}); err != nil {
		t.Fatal(err)
	}
	anna := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer, Namespaces: []string{"a"}}}}
	table := &route.Table{Fail: Fail, Who: func(*http.Request) (*access.Principal, error) { return anna, nil }}
	if _, err := Add(table, Options{Connections: stored{shared{reader: names{}}, o}}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	table.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/jobs/settle/why", nil))
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, "You may not see the history") || !strings.Contains(body, `"kind":"created"`) {
		t.Errorf("%d %s", w.Code, body)
	}
}
