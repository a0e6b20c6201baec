package job_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// counting counts the requests to the store.
type counting struct {
	coord.Registry
	mu      sync.Mutex
	commits [][]coord.Op
	others  []string
}

func (r *counting) count(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others = append(r.others, call)
}

// take returns the counts since the last time.
func (r *counting) take() (commits [][]coord.Op, others []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	commits, others = r.commits, r.others
	r.commits, r.others = nil, nil
	return commits, others
}

func (r *counting) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	r.mu.Lock()
	r.commits = append(r.commits, ops)
	r.mu.Unlock()
	return r.Registry.Commit(ctx, ops...)
}

func (r *counting) Get(ctx context.Context, path string) (coord.Node, error) {
	r.count("get " + path)
	return r.Registry.Get(ctx, path)
}

func (r *counting) List(ctx context.Context, path string) ([]coord.Node, error) {
	r.count("list " + path)
	return r.Registry.List(ctx, path)
}

func (r *counting) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	v, err := r.Registry.View(ctx, path, depth, bounds...)
	return countingView{v, r}, err
}

type countingView struct {
	coord.View
	r *counting
}

func (v countingView) Sync(ctx context.Context) error {
	v.r.count("sync")
	return v.View.Sync(ctx)
}

// A fire of 30 items costs an instance one commit to begin and one to finish, also if the first items have ended before
// the view shows that they have begun; and one for both, where the commit that ends them claims them for their next tick.
func TestFireOfThirtyItemsCostsTwoCommits(t *testing.T) {
	for name, test := range map[string]struct {
		cron string
		lead time.Duration
		want int
	}{
		"claimed at the tick":            {"0/3 * * * * ?", 0, 2},
		"claimed with the end of before": {"* * * * * ?", time.Second, 1},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount, cfg.Threads = test.cron, 30, 30
			m, reg := c.counted("10.0.0.1")
			c.mustSchedule(m, cfg, func(ctx context.Context, sc job.ShardingContext) error {
				return elapse(ctx, time.Duration(sc.Item)*100*time.Microsecond)
			}, job.WithEarlyClaims(test.lead))
			m.link.(*memory.Link).Lag(time.Millisecond)
			ended := func(e execution) bool { return !e.end.IsZero() }
			c.awaitRuns("items", 30, ended)
			c.pass(time.Second / 2)
			reg.take()
			c.awaitRuns("items", 60, ended)
			c.pass(time.Second / 2)
			if commits, others := reg.take(); len(commits) != test.want || len(others) > 0 {
				t.Errorf("a fire cost %d commits and %q, want %d and nothing: %v", len(commits), others, test.want, commits)
			}
			c.check()
		})
	}
}

// Jobs that have nothing to do send no requests.
func TestIdleJobsSendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jobs = 300
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		dialed, err := store.Dial(t.Context(), memory.Config{Namespace: "idle"})
		if err != nil {
			t.Fatal(err)
		}
		defer closeRegistry(t, dialed)
		reg := &counting{Registry: dialed}
		view, err := reg.View(t.Context(), "", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			s, err := job.Schedule(t.Context(), reg, job.Config{
				Name: fmt.Sprintf("job%d", i), Cron: rarely, ShardingTotalCount: 2, ReconcileInterval: -1,
			}, job.HandlerFunc(untilDone), job.WithIP("10.0.0.1"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Shutdown(t.Context())
		}
		synctest.Wait()
		if dealt := jobtree.Read(view.Snapshot(), "job299"); len(dealt.Items) != 2 || dealt.Item(1).Owner == nil {
			t.Fatalf("not assigned: %+v", dealt)
		}
		reg.take()
		time.Sleep(time.Hour)
		if commits, others := reg.take(); len(commits)+len(others) > 0 {
			t.Errorf("in an hour %d idle jobs sent %d commits and %d other requests, such as %q", jobs, len(commits), len(others), others[:min(3, len(others))])
		}
		view.Close()
	})
}

// narrow is a registry that takes few operations in one commit.
type narrow struct {
	coord.Registry
	most    int
	refused atomic.Int64
}

func (r *narrow) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if len(ops) > r.most {
		r.refused.Add(1)
		return 0, fmt.Errorf("%w: %d operations", coord.ErrTooLarge, len(ops))
	}
	return r.Registry.Commit(ctx, ops...)
}

// A store may be configured to take fewer operations in one commit than others. Then commits
// are smaller.
func TestStoreThatTakesLittleInOneCommit(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const many = 100
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Threads = many, many
		m := c.dial("10.0.0.1")
		reg := &narrow{Registry: m.reg, most: 20}
		m.reg = reg
		c.mustSchedule(m, cfg, nil)
		c.ownedBy("10.0.0.1", many, many)
		for _, item := range []int{0, many / 2, many - 1} {
			c.awaitRuns("ticks", 2, of(item))
		}
		if reg.refused.Load() == 0 {
			t.Error("no commit was too large")
		}
		m.awaitSound()
		c.check()
	})
}

// An instance that leaves such a store hands over all that it runs, in as many commits as that takes: the
// leader finds nothing to recover.
func TestHandoverInSmallCommits(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const many = 100
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Threads, cfg.Failover = many, many, true
		m := c.dial("10.0.0.1")
		reg := &narrow{Registry: m.reg, most: 20}
		m.reg = reg
		c.mustSchedule(m, cfg, untilDone)
		c.ownedBy("10.0.0.1", many, many)
		c.awaitRuns("begun", many, anything)
		logged, logs := newLogbook()
		c.join("10.0.0.2", cfg, nil, logs)
		reg.refused.Store(0)
		c.must(m.stop())
		if reg.refused.Load() == 0 {
			t.Error("no commit was too large")
		}
		c.pass(30 * time.Second)
		if lines := logged.says("recovered"); len(lines) > 0 {
			t.Errorf("the leader has recovered %v", lines)
		}
		if lines := logged.says("took over"); len(lines) == 0 {
			t.Errorf("nothing was handed over: %q", logged.messages())
		}
	})
}
