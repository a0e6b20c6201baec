package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Of a namespace there is one examination at a time, whose report all get who ask meanwhile and soon after.
func TestExaminationsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e examinations
		begun := 0
		examine := func(ctx context.Context) (doctor.Report, error) {
			begun++
			sleep.For(ctx, 5*time.Second)
			return doctor.Report{Looks: begun}, nil
		}
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				sleep.For(t.Context(), time.Duration(i)*time.Second)
				if r, err := e.of(t.Context(), "a", examine); r.Looks != 1 || err != nil {
					t.Errorf("%d: %+v, %v", i, r, err)
				}
			})
		}
		all.Wait()
		if r, err := e.of(t.Context(), "b", examine); r.Looks != 2 || err != nil {
			t.Errorf("another namespace: %+v, %v", r, err)
		}
		pass(keepReport)
		if r, err := e.of(t.Context(), "a", examine); r.Looks != 3 || err != nil {
			t.Errorf("later: %+v, %v", r, err)
		}
		if len(e.known) != 1 {
			t.Errorf("%d reports are kept", len(e.known))
		}
	})
}

// If whoever has begun goes away, another one who waits begins anew; an error is for all who wait, and not kept.
func TestExaminationsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e examinations
		gone, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := e.of(gone, "a", func(ctx context.Context) (doctor.Report, error) {
				<-ctx.Done()
				return doctor.Report{}, context.Cause(ctx)
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("who goes away: %v", err)
			}
		})
		synctest.Wait()
		broken := errors.New("broken")
		examine := func(ctx context.Context) (doctor.Report, error) {
			sleep.For(ctx, time.Second)
			return doctor.Report{}, broken
		}
		for range 3 {
			all.Go(func() {
				if _, err := e.of(t.Context(), "a", examine); !errors.Is(err, broken) {
					t.Errorf("who waits: %v", err)
				}
			})
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := e.of(short, "a", examine); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who does not wait for long: %v", err)
		}
		leave()
		all.Wait()
		if r, err := e.of(t.Context(), "a", func(context.Context) (doctor.Report, error) { return doctor.Report{Looks: 1}, nil }); r.Looks != 1 || err != nil {
			t.Errorf("afterwards: %+v, %v", r, err)
		}
	})
}

// forgetful is the history of a job that has missed many ticks.
type forgetful struct{ history.Reader }

func (forgetful) Events(context.Context, history.EventFilter) (history.Page[trace.Event], error) {
	return history.Page[trace.Event]{Rows: []trace.Event{{Job: "pay"}}}, nil
}

func (forgetful) Missed(_ context.Context, q history.CountQuery) ([]history.Missed, error) {
	return []history.Missed{{Start: q.To.Truncate(time.Hour), MadeUp: 1000}}, nil
}

// missing are namespaces of which each has the job, and two have their history in one database.
type missing struct {
	shared
	ops *ops.Ops
}

func (m missing) Ops(context.Context, string) (*ops.Ops, error) { return m.ops, nil }

// What only the history knows of a job is for those who may see the past of jobs of its name.
func TestFindingsOfTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		reg, err := store.Dial(t.Context(), memory.Config{Namespace: "a"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reg.Close(context.Background()) }() // the test is over
		if _, err := reg.Commit(t.Context(), coord.Put("pay/config", []byte("jobName: pay\ncron: 0 0 3 * * ?\nshardingTotalCount: 1\n"))); err != nil {
			t.Fatal(err)
		}
		for namespaces, want := range map[string]int{"a": 0, "a b": 1} {
			anna := &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer, Namespaces: strings.Fields(namespaces), Jobs: []string{"pay"}}}}
			table := &route.Table{Fail: Fail, Who: func(*http.Request) (*access.Principal, error) { return anna, nil }}
			if _, err := Add(table, Options{Connections: missing{ops: ops.New(reg, ops.WithHistory(forgetful{}))}}); err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			table.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/a/findings", nil))
			if text := w.Body.String(); !strings.Contains(text, string(doctor.NoInstance)) || strings.Count(text, string(doctor.TicksMissed)) != want {
				t.Errorf("who may see the job in %s: %d %s", namespaces, w.Code, text)
			}
		}
	})
}
