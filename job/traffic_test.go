package job_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// counting counts what is sent to the store.
type counting struct {
	coord.Registry
	mu      sync.Mutex
	commits int
	others  []string
}

func (r *counting) count(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if call == "commit" {
		r.commits++
		return
	}
	r.others = append(r.others, call)
}

// take returns the counts since the last time.
func (r *counting) take() (commits int, others []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	commits, others = r.commits, r.others
	r.commits, r.others = 0, nil
	return commits, others
}

func (r *counting) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	r.count("commit")
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

func (r *counting) Now(ctx context.Context, path string) (time.Time, error) {
	r.count("now")
	return r.Registry.Now(ctx, path)
}

func (r *counting) View(ctx context.Context, path string) (coord.View, error) {
	v, err := r.Registry.View(ctx, path)
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

// A fire of 30 items costs an instance one commit to begin and one to finish.
func TestFireOfThirtyItemsCostsTwoCommits(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		cfg := c.config()
		cfg.Cron = "0/3 * * * * ?"
		cfg.ShardingTotalCount = 30
		cfg.Threads = 30
		m := c.dial("10.0.0.1")
		reg := &counting{Registry: m.reg}
		m.reg = reg
		// All items of a fire end together, as soon as the tree shows that they run.
		var together sync.Map
		begun := func(sc job.ShardingContext) *sync.WaitGroup {
			all := new(sync.WaitGroup)
			all.Add(30)
			there, _ := together.LoadOrStore(sc.ScheduledTime.Unix(), all)
			return there.(*sync.WaitGroup)
		}
		if err := m.schedule(t.Context(), cfg, func(_ context.Context, sc job.ShardingContext) error {
			all := begun(sc)
			all.Done()
			all.Wait()
			return nil
		}, job.WithLinger(patience)); err != nil {
			t.Fatal(err)
		}
		finished := func(n int) {
			c.awaitRuns("items", n, func(e execution) bool { return !e.end.IsZero() })
			c.settled()
		}
		finished(30)
		reg.take()
		finished(90)
		if commits, others := reg.take(); commits != 4 || len(others) > 0 {
			t.Errorf("two fires cost %d commits and %q, want 4 and nothing", commits, others)
		}
		c.check()
	})
}

// Jobs that have nothing to do send nothing.
func TestIdleJobsSendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const jobs = 1000
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		dialed, err := store.Dial(t.Context(), memory.Config{Namespace: "idle"})
		if err != nil {
			t.Fatal(err)
		}
		defer closeRegistry(t, dialed)
		reg := &counting{Registry: dialed}
		view, err := reg.View(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range jobs {
			s, err := job.Schedule(t.Context(), reg, job.Config{
				Name: fmt.Sprintf("job%d", i), Cron: rarely, ShardingTotalCount: 2, ReconcileInterval: -1,
			}, job.Func(untilDone), job.WithIP("10.0.0.1"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Shutdown(t.Context())
		}
		synctest.Wait()
		if dealt := jobtree.Read(view.Snapshot(), "job999"); len(dealt.Items) != 2 || dealt.Item(1).Owner == nil {
			t.Fatalf("not dealt: %+v", dealt)
		}
		reg.take()
		if err := elapse(t.Context(), 24*time.Hour); err != nil {
			t.Fatal(err)
		}
		if commits, others := reg.take(); commits+len(others) > 0 {
			t.Errorf("in a day %d idle jobs sent %d commits and %d other requests, such as %q", jobs, commits, len(others), others[:min(3, len(others))])
		}
		view.Close()
	})
}
