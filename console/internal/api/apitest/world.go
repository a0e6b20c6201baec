package apitest

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	_ "modernc.org/sqlite" // the driver of the history

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Namespace is that of a World by the name that the console has for it. Other is one in which nothing is,
// and which has no history.
const (
	Namespace = "orders"
	Other     = "other"
)

// World is a console with a namespace in which everything happens. Its time is virtual.
//
//	settle    3 items: 0 is well, 1 fails and has missed ticks, 2 runs for an hour; has had output, lines, a calendar
//	pay-out   2 items: paused, item 1 disabled, item 0 pinned, server 10.0.0.9 disabled ahead; a request waits
//	late      nobody runs it
//	broken    a configuration that cannot be read
//	shell     served by a Runner
//	old       was removed
type World struct {
	*jobtest.Cluster
	Table *route.Table
	API   *api.API
	Ops   *ops.Ops // of Namespace
	Check *Checker
	t     *testing.T
}

// Run runs a test in a bubble with a World. more adds routes of other packages; it may be nil.
func Run(t *testing.T, more func(*testing.T, *World), test func(*testing.T, *World)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) {
		w := &World{t: t}
		w.build(file)
		if more != nil {
			more(t, w)
		}
		var err error
		if w.Check, err = NewChecker(w.Table); err != nil {
			t.Fatal(err)
		}
		test(t, w)
	})
}

func (w *World) build(file string) {
	t := w.t
	t.Helper()
	db, err := sql.Open("sqlite", file)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	db.SetMaxOpenConns(1)
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	must(t, err)
	t.Cleanup(tracer.Close)
	must(t, tracer.Migrate(t.Context()))
	recorder, err := trace.New(tracer, trace.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, recorder.Close(context.WithoutCancel(t.Context()))) })

	w.Cluster = jobtest.NewCluster(t)
	reg := w.dial("jobtest")
	w.Ops = ops.New(reg, ops.WithHistory(tracer), ops.WithTrace(tracer, nil))
	book := connection.Fixed(map[string]*ops.Ops{Namespace: w.Ops, Other: ops.New(w.dial("elsewhere"))})
	w.Table = &route.Table{Who: who, Fail: api.Fail}
	w.API, err = api.Add(w.Table, api.Options{Connections: book, Version: "test"})
	must(t, err)
	w.happen(reg, recorder)
	must(t, tracer.Write(t.Context(), trace.Batch{Events: []trace.Event{{ // before the recorder was there
		ID: "01990000-0000-7000-8000-000000000001", Time: time.Now().Add(-5 * time.Minute), Kind: jobtype.EventSkipped, Job: "settle", Instance: "10.0.0.1@-@1@-@a",
		Execution: jobtype.Execution{Item: 1, ScheduledTime: time.Now().Add(-6 * time.Minute)}, Ticks: 3, What: jobtype.SkipTooLate.String(),
	}}}))
}

// who takes the principal that Do has put into the context.
func who(r *http.Request) (*access.Principal, error) { return access.From(r.Context()), nil }

func (w *World) dial(namespace string) coord.Registry {
	w.t.Helper()
	reg, err := w.Store().Dial(w.t.Context(), memory.Config{Namespace: namespace})
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, reg.Close(context.WithoutCancel(w.t.Context()))) })
	return reg
}

// happen lets everything happen.
func (w *World) happen(reg coord.Registry, recorder *trace.Recorder) {
	t, ctx := w.t, w.t.Context()
	anna := w.Ops.By("anna").From("192.0.2.1")
	_, err := anna.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: []byte("timeZone: UTC\ndates: [2027-01-01]\n")})
	must(t, err)
	settle := jobtype.Config{
		Name: "settle", Cron: "0/30 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 3, ShardingItemParameters: "0=north,1=south,2=west", JobParameter: "eur",
		Description: "settles orders", Failover: true, Misfire: jobtype.On, Calendars: []string{"holidays"},
	}
	handler := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		job.Logger(ctx).Info("settles", "item", sc.Item)
		job.SetOutput(ctx, []byte("settled\n"))
		switch sc.Item {
		case 1:
			return errors.New("the bank is closed")
		case 2:
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Hour):
			}
		}
		return nil
	})
	a, b := w.Process("10.0.0.1", recorder.Option()), w.Process("10.0.0.2", recorder.Option())
	a.Schedule(settle, handler)
	b.Schedule(settle, handler)
	payOut := jobtype.Config{Name: "pay-out", Cron: "0 0 3 * * ?", TimeZone: "UTC", ShardingTotalCount: 2, Label: "blue"}
	well := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	b.Schedule(payOut, well, job.WithLabels("blue"))
	w.Runner("10.0.0.3", map[string]job.Handler{"com.example.Shell": well}, recorder.Option())
	must(t, anna.Create(ctx, ops.CreateRequest{Config: jobtype.Config{Name: "shell", Cron: "0/10 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 1}, Implementation: "com.example.Shell"}))
	must(t, anna.Create(ctx, ops.CreateRequest{Config: jobtype.Config{Name: "late", Cron: "0 0 4 * * ?", TimeZone: "UTC", ShardingTotalCount: 1}, Implementation: "com.example.Late"}))
	must(t, anna.Create(ctx, ops.CreateRequest{Config: jobtype.Config{Name: "old", Cron: "0 0 4 * * ?", TimeZone: "UTC", ShardingTotalCount: 1}, Implementation: "com.example.Old"}))
	must(t, anna.Job("old").Remove(ctx, ops.RemoveRequest{Why: "nobody needs it"}))
	_, err = reg.Commit(ctx, coord.Put("broken/config", []byte("jobName: broken\ncron: never\nshardingTotalCount: -1\n")))
	must(t, err)
	w.Advance(95 * time.Second)

	p := anna.Job("pay-out")
	must(t, p.DisableItems(ctx, 1))
	must(t, p.Pin(ctx, 0, ops.PinRequest{Address: "10.0.0.2"}))
	must(t, p.DisableServersAhead(ctx, "10.0.0.9"))
	_, err = p.Pause(ctx, ops.PauseRequest{Why: "the bank moves"})
	must(t, err)
	_, err = p.Trigger(ctx, jobtype.TriggerRequest{Items: []int{0}})
	must(t, err)
	_, err = anna.Job("settle").Trigger(ctx, jobtype.TriggerRequest{Items: []int{0, 2}, Parameter: "again"})
	must(t, err)
	w.Advance(10 * time.Second)
}

// Do sends a request of a principal, and checks the answer against the document. A body of "" is none.
func (w *World) Do(p *access.Principal, method, path, body string, header ...string) *http.Response {
	w.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(access.With(w.t.Context(), p), method, path, content)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	w.Table.ServeHTTP(recorder, r)
	answer := recorder.Result()
	if r.Pattern != "" {
		if err := w.Check.Check(r, r.Pattern, answer); err != nil {
			w.t.Error(err)
		}
	}
	return answer
}

// May returns a principal with a role in Namespace, for jobs that fit patterns; for all if there are none.
func May(role access.Role, jobs ...string) *access.Principal {
	return &access.Principal{Name: "berta", Key: "berta", Address: "192.0.2.9", Grants: []access.Grant{{Role: role, Namespaces: []string{Namespace}, Jobs: jobs}}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
