package job_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// awaitBail waits until a scheduler that cannot go on has left, and checks that it left in
// order: its handlers' contexts have ended, nothing of it is in the tree except items that
// others shall run again, and the log has one line about it.
func (c *cutShort) awaitBail(m *member, id string, logs *observer.ObservedLogs) {
	c.Helper()
	m.awaitDone()
	if err := m.Shutdown(c.Context()); err == nil || !errors.Is(err, m.Err()) {
		c.Errorf("Shutdown said %v, and Err %v", err, m.Err())
	}
	for _, e := range c.record.find(func(e execution) bool { return e.InstanceID == id }) {
		if !errors.Is(e.cause, job.ErrShutdown) {
			c.Errorf("item %d ended at %s with %v", e.Item, e.end, e.cause)
		}
	}
	c.sync()
	s := c.state()
	if s.Instances[id].Created != 0 || s.Session(id).Created != 0 || s.Faults[id].Created != 0 || s.Leader.Is(id) {
		c.Errorf("it left this:\n%s", c.dump())
	}
	if status := m.Status(); status.Registered || status.Leader || len(status.Items) > 0 {
		c.Errorf("status %+v", status)
	}
	if n := logs.FilterMessage("the scheduler stops, because it cannot go on").Len(); n != 1 {
		c.Errorf("%d lines in the log say that it stops", n)
	}
}

// If the view of an instance ends, the instance leaves in order, and others go on.
func TestViewThatEnds(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = time.Hour // so that no session ends by itself
		core, logs := observer.New(zap.InfoLevel)
		m := c.join("10.0.0.1", c.config(), c.work, job.WithLogger(zap.New(core)))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(m)
		c.awaitRuns("its items", 2, func(e execution) bool { return e.Item != 1 })
		id := m.Status().InstanceID
		broken := errors.New("the view is broken")
		m.link.(*memory.Link).EndViews(broken)
		c.awaitBail(m, id, logs)
		if err := m.Err(); !errors.Is(err, broken) {
			t.Errorf("it stopped with %v", err)
		}
		c.awaitRuns("its items again", 2, reruns)
		close(c.release)
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.settled()
		c.check()
	})
}

// fragile is a registry whose view of a job can be broken.
type fragile struct {
	coord.Registry
	job  jobtree.Job
	last atomic.Pointer[fragileView]
}

// View opens a view that is whole.
func (r *fragile) View(ctx context.Context, prefix string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	v, err := r.Registry.View(ctx, prefix, depth, bounds...)
	if err != nil || prefix != r.job.Root() {
		return v, err
	}
	f := &fragileView{View: v}
	r.last.Store(f)
	return f, nil
}

// breakView breaks the view that was opened last. Who looks at it next finds that out.
func (r *fragile) breakView(err error) { r.last.Load().err.Store(&err) }

type fragileView struct {
	coord.View
	err atomic.Pointer[error]
}

func (v *fragileView) Err() error {
	if err := v.err.Load(); err != nil {
		return *err
	}
	return v.View.Err()
}

// A scheduler that cannot go on waits for a handler that does not return, but only for the
// grace time.
func TestBailDoesNotWaitForEver(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = time.Hour
		hang := make(chan struct{})
		defer close(hang)
		m := c.join("10.0.0.1", c.config(), func(context.Context, job.ShardingContext) error { <-hang; return nil }, job.WithCancelGrace(3*time.Second))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(m, 0)
		c.awaitRuns("item 0", 1, anything)
		begin := time.Now()
		m.link.(*memory.Link).EndViews(coord.ErrClosed)
		m.awaitDone()
		if took := time.Since(begin); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("it took %v, want 3 s and a little", took)
		}
		c.sync()
		if s := c.state(); len(s.Instances)+len(s.Sessions) > 0 || s.Leader != nil {
			t.Errorf("it left this:\n%s", c.dump())
		}
	})
}

// moody is a strategy that assigns, or panics, or ends its goroutine, as a test wants.
type moody struct {
	strategy.Strategy
	mood atomic.Pointer[func()]
}

func (m *moody) Assign(r strategy.Request) []string {
	if does := m.mood.Load(); does != nil {
		(*does)()
	}
	return m.Strategy.Assign(r)
}

// If a strategy panics, or ends its goroutine, the leader has a fault and goes on with
// everything else: items run where they are, and runs that were cut short are run again.
func TestStrategyThatDoesNotAnswer(t *testing.T) {
	for name, does := range map[string]func(){"panic": func() { panic("no mood") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
				fair, err := strategy.Lookup(strategy.AvgAllocation, nil)
				c.must(err)
				m := &moody{Strategy: fair}
				cfg := c.config()
				cfg.Strategy = "MOODY"
				c.timeout = lasting
				leads := c.join("10.0.0.1", cfg, c.work, job.WithStrategy("MOODY", m))
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
				c.crashes()
				other := c.join("10.0.0.2", cfg, c.work, job.WithStrategy("MOODY", m))
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
				c.trigger(other)
				c.awaitRuns("item 1", 1, of(1))
				m.mood.Store(&does)
				other.crash()
				leads.awaitFault(jobtype.FaultStrategy, "")
				c.awaitRuns("item 1 again", 1, reruns)
				c.trigger(leads, 0)
				c.awaitRuns("item 0", 1, of(0))
				m.mood.Store(nil)
				c.commit(coord.Put(c.job.Necessary(), nil)) // so that it is asked again
				leads.awaitFaultOver(jobtype.FaultStrategy)
				close(c.release)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
				c.await("nothing is to be done", func(s *jobtree.State) bool { return !s.Necessary })
				c.check()
			})
		})
	}
}
