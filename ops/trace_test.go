package ops_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// sink is a function that is a trace.Sink.
type sink func(context.Context, trace.Batch) error

func (s sink) Write(ctx context.Context, b trace.Batch) error { return s(ctx, b) }

// inMemory opens the simulator for one test.
func inMemory(t *testing.T) coord.Registry {
	t.Helper()
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	return open(t, func() (coord.Registry, error) { return store.Dial(t.Context(), memory.Config{Namespace: "ops"}) })
}

// The trace has each change once, as the audit has it, although some take several commits. A dry run
// has none.
func TestTrace(t *testing.T) {
	ctx := t.Context()
	var traced []trace.Event
	keeps := sink(func(_ context.Context, b trace.Batch) error {
		traced = append(traced, b.Events...)
		return nil
	})
	reg := inMemory(t)
	all := ops.New(reg, ops.WithTrace(keeps, func(c ops.Change, err error) { t.Errorf("%+v: %v", c, err) })).By("anna").From("10.1.1.1")
	config := settle()
	config.ShardingTotalCount, config.Description = 300, strings.Repeat("long. ", trace.MaxDocument/12)
	for _, o := range []*ops.Ops{all.DryRun(), all} {
		if err := o.Create(ctx, ops.CreateRequest{Config: config}); err != nil {
			t.Fatal(err)
		}
	}
	var items []int
	for i := range config.ShardingTotalCount {
		if _, err := reg.Commit(ctx, coord.Put("settle/sharding/"+strconv.Itoa(i)+"/fired", nil)); err != nil {
			t.Fatal(err)
		}
		items = append(items, i)
	}
	commits := 0
	if err := errors.Join(
		all.OnChange(func(ops.Change) { commits++ }).Job("settle").DisableItems(ctx, items...),
		all.Job("settle").Remove(ctx, ops.RemoveRequest{Why: "moved"}),
	); err != nil || commits < 2 {
		t.Fatalf("%d commits, %v", commits, err)
	}
	audit, err := all.Audit(ctx, ops.AuditQuery{})
	if err != nil || len(audit) != 3 || len(traced) != 3 {
		t.Fatalf("%d changes are kept and %d traced, %v", len(audit), len(traced), err)
	}
	slices.Reverse(audit)
	for i, c := range audit {
		want := trace.Event{
			ID: c.ID, Time: c.At, Kind: jobtype.EventOperated, Job: "settle", By: "anna", From: "10.1.1.1", What: string(c.Action),
			Detail: c.Detail, Why: c.Why, Before: c.Before, After: c.After,
		}
		got := traced[i]
		if got.Time.Sub(want.Time).Abs() > patience { // the audit has the time of the last commit, and the machine may stand still before and after
			t.Errorf("traced at %v, want %v", got.Time, want.Time)
		}
		got.Time = want.Time
		if !reflect.DeepEqual(got, want) {
			t.Errorf("traced is %+v, want %+v", got, want)
		}
	}
}

// A sink that fails, or does not answer, costs the operation five seconds at most and no success;
// somebody is told.
func TestTraceFails(t *testing.T) {
	down := errors.New("the database is down")
	for name, c := range map[string]struct {
		write  sink
		reason error
		took   time.Duration // of two operations at a time
	}{
		"fails":  {func(context.Context, trace.Batch) error { return down }, down, 0},
		"hangs":  {func(ctx context.Context, _ trace.Batch) error { <-ctx.Done(); return ctx.Err() }, context.DeadlineExceeded, 5 * time.Second},
		"is off": {func(ctx context.Context, _ trace.Batch) error { <-ctx.Done(); return down }, nil, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				failed := map[string]error{}
				all := ops.New(inMemory(t), ops.WithTrace(c.write, func(c ops.Change, err error) {
					mu.Lock()
					defer mu.Unlock()
					failed[c.Detail] = err
				}))
				begin := time.Now()
				var both sync.WaitGroup
				for _, name := range []string{"a", "b"} {
					both.Go(func() {
						_, err := all.PutCalendar(t.Context(), ops.PutCalendarRequest{Name: name, Document: []byte("timeZone: UTC\ndates: [2027-01-01]\n")})
						if err != nil {
							t.Error(err)
						}
					})
				}
				both.Wait()
				if took := time.Since(begin); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				for _, name := range []string{"calendar a", "calendar b"} {
					if failed[name] == nil || c.reason != nil && !errors.Is(failed[name], c.reason) {
						t.Errorf("%s: %v, want %v", name, failed[name], c.reason)
					}
				}
				if list, err := all.Audit(t.Context(), ops.AuditQuery{}); err != nil || len(list) != 2 {
					t.Errorf("%d changes, %v", len(list), err)
				}
			})
		})
	}
}

// What could not be traced is in the audit, and is traced from there.
func TestTraceAudit(t *testing.T) {
	ctx, reg := t.Context(), inMemory(t)
	refused := errors.New("refused")
	all := ops.New(reg, ops.WithTrace(sink(func(context.Context, trace.Batch) error { return refused }), func(ops.Change, error) {})).By("anna")
	for n := range 130 {
		if _, err := all.PutCalendar(ctx, ops.PutCalendarRequest{Name: "c" + strconv.Itoa(n), Document: []byte("timeZone: UTC\ndates: [2027-01-01]\n")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := reg.Commit(ctx, coord.Put("~elasticjob/audit/broken", []byte("- a"))); err != nil {
		t.Fatal(err)
	}
	var kept []trace.Event
	err := all.TraceAudit(ctx, sink(func(_ context.Context, b trace.Batch) error {
		kept = append(kept, b.Events...)
		return nil
	}))
	if err == nil || !strings.Contains(err.Error(), "change broken") {
		t.Errorf("of the entry that cannot be read: %v", err)
	}
	if len(kept) != 130 || kept[0].Detail != "calendar c0" || kept[129].Detail != "calendar c129" || kept[129].By != "anna" || kept[129].Kind != jobtype.EventOperated {
		t.Errorf("%d events are kept: %+v", len(kept), kept[max(0, len(kept)-1):])
	}
	if err := all.TraceAudit(ctx, sink(func(context.Context, trace.Batch) error { return refused })); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

func TestHistory(t *testing.T) {
	reg := inMemory(t)
	if _, err := ops.New(reg).History(); !errors.Is(err, ops.ErrNoHistory) {
		t.Errorf("got %v", err)
	}
	var reader struct{ history.Reader }
	if got, err := ops.New(reg, ops.WithHistory(reader)).By("anna").History(); err != nil || got != history.Reader(reader) {
		t.Errorf("got %v, %v", got, err)
	}
}
