package job_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// blind is a registry whose views can hide some nodes, or show old ones in their place.
type blind struct {
	coord.Registry
	mu      sync.Mutex
	hidden  map[string]bool
	old     map[string]coord.Node
	changed chan struct{}
}

func newBlind(reg coord.Registry) *blind { return &blind{Registry: reg, changed: make(chan struct{})} }

func (b *blind) hide(paths ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden = map[string]bool{}
	for _, path := range paths {
		b.hidden[path] = true
	}
	b.signal()
}

// freeze makes views show these nodes, even if the store has others at their paths.
func (b *blind) freeze(nodes ...coord.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.old = map[string]coord.Node{}
	for _, n := range nodes {
		b.old[n.Path] = n
	}
	b.signal()
}

func (b *blind) signal() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *blind) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	v, err := b.Registry.View(ctx, path, depth, bounds...)
	if err != nil {
		return nil, err
	}
	shown := &blindView{View: v, b: b}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	shown.end = sync.OnceFunc(func() { cancel(); shown.following.Wait(); v.Close() })
	shown.renew()
	shown.following.Go(func() { shown.follow(ctx) })
	return shown, nil
}

// blindView also reports a change when nodes are hidden or shown again.
type blindView struct {
	coord.View
	b         *blind
	end       func()
	following sync.WaitGroup
	mu        sync.Mutex
	changed   chan struct{}
}

func (v *blindView) Close() { v.end() }

func (v *blindView) follow(ctx context.Context) {
	for {
		v.b.mu.Lock()
		hides := v.b.changed
		v.b.mu.Unlock()
		changed := v.View.Changed()
		v.renew()
		select {
		case <-hides:
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (v *blindView) renew() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed != nil {
		close(v.changed)
	}
	v.changed = make(chan struct{})
}

func (v *blindView) Changed() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changed
}

func (v *blindView) Snapshot() coord.Snapshot {
	v.b.mu.Lock()
	hidden, old := v.b.hidden, v.b.old
	v.b.mu.Unlock()
	s := v.View.Snapshot()
	if len(hidden)+len(old) == 0 {
		return s
	}
	tree := coord.NewTree()
	for n := range s.All("") {
		if !hidden[n.Path] {
			tree.Put(n)
		}
	}
	for _, n := range old {
		tree.Put(n)
	}
	return tree.Snapshot()
}

// The store has a configuration, and a view does not show it. Whether the store answers or
// not: nothing panics, there is a fault, few requests are sent, and items run on until the
// view shows it again.
func TestViewWithoutTheConfiguration(t *testing.T) {
	for name, failing := range map[string]error{"the store has it": nil, "the store cannot be asked": coord.ErrUnavailable} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newMemoryStore(t)
				c := newCutShort(t, s)
				c.timeout = time.Hour
				m := c.dial("10.0.0.1")
				reg := newBlind(m.reg)
				counts := &counting{Registry: reg}
				m.reg = counts
				c.mustSchedule(m, c.config(), c.work)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
				c.trigger(m, 0)
				c.awaitRuns("item 0", 1, of(0))
				var fault *memory.Injection
				if failing != nil {
					fault = s.(memoryStore).Inject(memory.Fault{Method: memory.Get, Path: c.job.Config(), Before: failing})
				}
				m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
				synctest.Wait() // so that no request is under way
				counts.take()
				reg.hide(c.job.Config())
				m.awaitFault(jobtype.FaultStore, "")
				c.pass(10 * time.Minute)
				if commits, others := counts.take(); len(commits) > 0 || len(others) > 1300 {
					t.Errorf("in ten minutes: %d commits and %d other requests: %v", len(commits), len(others), commits)
				}
				if !m.Status().Leader || c.state().Leader == nil {
					t.Error("it leads no more")
				}
				if running := c.record.find(func(e execution) bool { return e.end.IsZero() }); len(running) != 1 {
					t.Errorf("its run did not go on:\n%s", c.record)
				}
				if fault != nil {
					fault.Remove()
				}
				reg.hide()
				m.awaitFaultOver(jobtype.FaultStore)
				close(c.release)
				c.settled()
				c.trigger(m, 1)
				c.awaitRuns("item 1", 1, of(1))
				c.check()
				m.leave()
			})
		})
	}
}

// A scheduler shuts down in order while its view does not show the configuration.
func TestShutdownWithoutTheConfiguration(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = time.Hour
		m := c.dial("10.0.0.1")
		reg := newBlind(m.reg)
		m.reg = reg
		c.mustSchedule(m, c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(m, 0)
		c.awaitRuns("item 0", 1, of(0))
		reg.hide(c.job.Config())
		if err := m.stopWithin(time.Second); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		c.sync()
		if s := c.state(); len(s.Instances)+len(s.Sessions) > 0 || s.Item(0).Running != nil || len(s.FailoverItems) != 1 {
			t.Errorf("it left this:\n%s", c.dump())
		}
	})
}

// A view may hide any part of the tree: nothing panics, and there is no fault when it shows
// that part again.
func TestViewWithHoles(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = time.Hour
		m := c.dial("10.0.0.1")
		reg := newBlind(m.reg)
		m.reg = reg
		if err := m.schedule(t.Context(), c.config(), func(ctx context.Context, sc job.ShardingContext) error {
			return elapse(ctx, time.Duration(sc.Item)*700*time.Millisecond)
		}); err != nil {
			t.Fatal(err)
		}
		c.join("10.0.0.2", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		var paths []string
		for n := range c.view.Snapshot().All("") {
			paths = append(paths, n.Path)
		}
		for _, path := range append(paths, c.job.Running(0), c.job.Running(2)) {
			if path == c.job.Instance(m.Status().InstanceID) || path == c.job.Session(m.Status().InstanceID) {
				continue // other tests are about these
			}
			reg.hide(path)
			c.pass(3 * time.Second)
			reg.hide()
			select {
			case <-m.Done():
				t.Fatalf("without %s it ended: %v", path, m.Err())
			default:
			}
		}
		n := len(c.record.find(anything))
		c.awaitRuns("more of it", n+6, anything)
		c.check()
	})
}

// Only the configuration is deleted while an item runs: the scheduler stops and removes its
// nodes, and the job can be created again in the same process.
func TestConfigurationIsDeletedWhileAnItemRuns(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		returns := make(chan struct{})
		logged, logs := newLogbook()
		m := c.join("10.0.0.1", c.config(), func(ctx context.Context, sc job.ShardingContext) error {
			if err := c.work(ctx, sc); err != nil {
				<-returns
				return err
			}
			return nil
		}, logs)
		other := c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(m, 0)
		c.awaitRuns("item 0", 1, of(0))
		c.commit(coord.Delete(c.job.Config()))
		other.awaitDone()
		close(returns)
		for _, left := range []*member{m, other} {
			left.awaitDone()
			if err := left.Err(); !errors.Is(err, job.ErrJobRemoved) {
				t.Errorf("it stopped with %v", err)
			}
		}
		if lines := logged.says("the scheduler stops, because it cannot go on"); len(lines) > 0 {
			t.Errorf("it did not leave by itself: %v", lines)
		}
		c.sync()
		if s := c.state(); len(s.Instances)+len(s.Sessions) > 0 || s.Leader != nil {
			t.Errorf("it left this:\n%s", c.dump())
		}
		close(c.release)
		cfg := c.cluster.config()
		c.mustSchedule(m, cfg, nil)
		c.await("the job fires again", func(s *jobtree.State) bool {
			return len(c.record.find(func(e execution) bool { return e.Source == job.SourceNormal })) >= 3
		})
		c.check()
	})
}
