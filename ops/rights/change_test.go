package rights_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops/rights"
)

// ticks records which ticks of which items have run.
type ticks struct {
	mu   sync.Mutex
	runs map[int][]job.ShardingContext // by item
	more chan struct{}                 // closed at the next run
}

func newTicks() *ticks {
	return &ticks{runs: map[int][]job.ShardingContext{}, more: make(chan struct{})}
}

func (r *ticks) Execute(_ context.Context, sc job.ShardingContext) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[sc.Item] = append(r.runs[sc.Item], sc)
	close(r.more)
	r.more = make(chan struct{})
	return nil
}

// await waits until each item has run once more.
func (r *ticks) await(t *testing.T, items int) {
	t.Helper()
	ctx := within(t)
	var before []int
	for {
		r.mu.Lock()
		more, done := r.more, true
		for i := range items {
			if len(before) < items {
				before = append(before, len(r.runs[i]))
			}
			done = done && len(r.runs[i]) >= before[i]+1
		}
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatal("an item does not run")
		}
	}
}

// check checks that no item has run for a tick twice, nor stood for long. A run stands for the ticks
// before it that a slow machine has missed while an item went to another owner.
func (r *ticks) check(t *testing.T, items int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range items {
		runs := r.runs[i]
		slices.SortFunc(runs, func(a, b job.ShardingContext) int { return a.ScheduledTime.Compare(b.ScheduledTime) })
		for n := range runs[1:] {
			if gap := runs[n+1].ScheduledTime.Sub(runs[n].ScheduledTime); gap <= 0 || gap > 30*time.Second {
				t.Errorf("item %d: %v after %v, %v", i, runs[n+1].ScheduledTime, runs[n].ScheduledTime, runs[n+1].Source)
			}
		}
		if len(runs) < 5 {
			t.Errorf("item %d has run %d times", i, len(runs))
		}
	}
}

// The user of a namespace changes while two processes run a job each second: no item stands, and
// nothing is denied to any of them.
func TestChangeOfUserWhileJobsRun(t *testing.T) {
	t.Parallel()
	server := zkserver.Start(t, zkserver.Config{})
	const oldDigest, newDigest = "jobs:old", "jobs:new"
	base := zk.Config{Servers: []string{server.Addr()}, Namespace: "shop"}
	core, logged := observer.New(zapcore.WarnLevel)
	base.Logger = zap.New(core)
	former, both, renewed := base, base, base
	former.Digest, both.Digest, both.OtherDigests, renewed.Digest = oldDigest, newDigest, []string{oldDigest}, newDigest

	const items = 3
	record := newTicks()
	cfg := job.Config{Name: "nightly", Cron: "* * * * * ?", ShardingTotalCount: items, Failover: true}
	var processes [2]*job.Scheduler
	restart := func(i int, as zk.Config) {
		t.Helper()
		if s := processes[i]; s != nil {
			must(t, s.Shutdown(within(t)))
		}
		s, err := job.Schedule(within(t), dialZK(t, as), cfg, record, job.WithIP(fmt.Sprintf("10.0.0.%d", i+1)), job.WithLogger(base.Logger))
		must(t, err)
		processes[i] = s
		await(t, s, "items", func(s job.Status) bool { return len(s.Items) > 0 })
		record.await(t, items)
		for _, s := range processes {
			if s != nil && len(s.Status().Faults) > 0 {
				t.Errorf("faults %v", s.Status().Faults)
			}
		}
	}
	restart(0, former)
	restart(1, former)

	change := rights.Change{From: identity(t, oldDigest), To: identity(t, newDigest)}
	lists := dialZK(t, both)
	step := func(do func(context.Context, rights.Lists, rights.Options) (rights.Report, error), o rights.Options, want error, ok func(rights.Report) bool) {
		t.Helper()
		if r, err := do(within(t), lists, o); !errors.Is(err, want) || !ok(r) {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	// Too early: it does what it can, and says who is in the way.
	step(change.Add, rights.Options{}, nil, func(r rights.Report) bool {
		return r.Changed > 10 && r.Waiting.Count >= 4 && slices.ContainsFunc(r.Waiting.Paths, func(p string) bool { return strings.HasPrefix(p, "nightly/instances/10.0.0.1@-@") })
	})
	restart(0, both)
	restart(1, both)
	step(change.Remove, rights.Options{}, rights.ErrInUse, func(r rights.Report) bool { return r.Changed == 0 && r.Waiting.Count >= 4 && r.Ephemeral.Both >= 4 })
	step(change.Add, rights.Options{}, nil, func(r rights.Report) bool { return r.Waiting.Count == 0 && r.Lasting.Former == 0 })
	step(change.Add, rights.Options{}, nil, func(r rights.Report) bool { return r.Changed == 0 && r.Passes == 1 })
	restart(0, renewed)
	restart(1, renewed)
	// A console that nobody has restarted.
	_, err := dialZK(t, former).Commit(within(t), coord.Put("other/config", nil))
	must(t, err)
	step(change.Remove, rights.Options{DryRun: true}, nil, func(r rights.Report) bool { return r.Changed > 10 && r.Lasting.Former == 2 })
	step(change.Remove, rights.Options{}, nil, func(r rights.Report) bool { return r.Changed > 10 && r.Lasting == rights.Count{New: r.Lasting.New} })
	step(change.Remove, rights.Options{}, nil, func(r rights.Report) bool { return r.Changed == 0 })
	record.await(t, items)
	for _, s := range processes {
		must(t, s.Shutdown(within(t)))
	}
	record.check(t, items)

	_, err = zk.Dial(within(t), former)
	refused(t, err, "shop")
	for _, err := range dialZK(t, renewed).Walk(within(t), "") {
		must(t, err)
	}
	for _, e := range logged.All() {
		if text := fmt.Sprint(e.Message, e.ContextMap()); strings.Contains(text, "denied") || strings.Contains(text, "not authenticated") {
			t.Errorf("logged: %s", text)
		}
	}
}
