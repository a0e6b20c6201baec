package job_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Some triggers have names that no request can have, and one has a child. The leader goes on
// with its other steps: runs that were cut short are run again.
func TestNamesThatCannotBeRemoved(t *testing.T) {
	onEtcd(t, func(t *testing.T, s store, vandalize func(*cluster, string, string)) {
		c := newCutShort(t, s)
		c.timeout = 10 * time.Second // it is on etcd with the race detector, too, which starves it
		crashes := c.join("10.0.0.1", c.config(), c.work)
		c.timeout = lasting
		stays := c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(crashes, 0)
		c.awaitRuns("item 0 runs", 1, of(0))
		for _, name := range []string{"a\x01b", "..", "a\xff", strings.Repeat("n", 1100), "parent/child"} {
			vandalize(c.cluster, c.job.Trigger(name), "")
		}
		crashes.crash()
		c.awaitRuns("item 0 again", 1, reruns)
		stays.awaitFault(jobtype.FaultTree, "")
		close(c.release)
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.check()
	})
}

// An external writer has written nodes below every node of an instance. When the instance ends, its
// leadership, its items and the runs that it has begun go to another one all the same.
func TestNodesBelowThoseOfAnInstance(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCutShort(t, s)
		crashes := c.join("10.0.0.1", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}}) // it leads
		c.timeout = lasting
		c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(crashes)
		c.awaitRuns("its items run", 2, func(e execution) bool { return e.Item != 1 })
		id := crashes.Status().InstanceID
		crashes.crash()
		c.litter(
			c.job.Running(0)+"/x", c.job.FailoverItem(0)+"/x", c.job.Running(2)+"/x/y", c.job.Fired(2)+"/x", c.job.ItemInstance(0)+"/x",
			c.job.Instance(id)+"/x", c.job.Session(id)+"/x", c.job.Faults(id)+"/x", c.job.LeaderInstance()+"/x",
		)
		c.awaitRuns("its items run again", 2, reruns)
		close(c.release)
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.await("all is tidy", func(s *jobtree.State) bool { return len(s.Debris) == 0 })
		c.settled()
		c.check()
	})
}

// An external writer has written nodes below paths at which there is no node yet. Instances join, fire
// and leave all the same.
func TestNodesBelowThoseThatAreNotThere(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		c.litter(
			c.job.Server("10.0.0.1")+"/x", c.job.Schedule()+"/x", c.job.LeaderInstance()+"/x", c.job.Necessary()+"/x",
			c.job.ItemInstance(0)+"/x", c.job.Running(1)+"/x", c.job.Fired(2)+"/x", c.job.FailoverItem(0)+"/x",
			c.job.Instance(deadID)+"/x", c.job.Session(deadID)+"/x", c.job.Trigger(deadID)+"/x", c.job.Faults(deadID)+"/x",
		)
		m := c.join("10.0.0.1", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		for item := range 3 {
			c.awaitRuns("ticks", 2, of(item))
		}
		c.await("all is tidy", func(s *jobtree.State) bool { return len(s.Debris) == 0 })
		m.awaitSound()
		m.leave()
		c.check()
	})
}

// Such nodes do not keep an instance from leaving.
func TestShutdownWithNodesBelowItsOwn(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCutShort(t, s)
		c.timeout = lasting
		m, counts := c.counted("10.0.0.1")
		c.mustSchedule(m, c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(m)
		c.awaitRuns("all run", 3, anything)
		id := m.Status().InstanceID
		c.litter(c.job.Running(0)+"/x", c.job.Instance(id)+"/x", c.job.Session(id)+"/x", c.job.LeaderInstance()+"/x", c.job.Faults(id)+"/x")
		counts.take()
		if err := m.stopWithin(100 * time.Millisecond); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if commits, others := counts.take(); len(commits) > 15 || len(others) > 30 {
			t.Errorf("it took %d commits and %d other requests", len(commits), len(others))
		}
		c.sync()
		if s := c.state(); len(s.Instances)+len(s.Sessions)+len(s.Faults) > 0 || s.Leader != nil || len(s.FailoverItems) != 3 {
			t.Errorf("it left this:\n%s", c.dump())
		}
	})
}

// obstinate is a registry that refuses to remove one node, as if the node were the reason.
type obstinate struct {
	coord.Registry
	path  string
	tries atomic.Int64
}

func (r *obstinate) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	r.tries.Add(1)
	for i, op := range ops {
		if op.Kind == coord.OpDeleteTree && op.Path == r.path {
			return 0, &coord.ConflictError{Index: i, Op: op, Reason: coord.ErrDenied}
		}
	}
	return r.Registry.Commit(ctx, ops...)
}

// A node that can never be removed does not hold a shutdown up, does not keep it from handing
// over the rest, once, and costs few requests.
func TestShutdownWithARecordThatStays(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = 10 * time.Second
		m, counts := c.counted("10.0.0.1")
		reg := &obstinate{Registry: counts, path: c.job.Running(1)}
		m.reg = reg
		c.mustSchedule(m, c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(m)
		c.awaitRuns("all run", 3, anything)
		reg.tries.Store(0)
		counts.take()
		begin := time.Now()
		err := m.stopWithin(5 * time.Second)
		if took := time.Since(begin); took > 11*time.Second || reg.tries.Load() > 40 {
			t.Errorf("it took %v and %d commits", took, reg.tries.Load())
		}
		if !errors.Is(err, coord.ErrConflict) || !strings.Contains(err.Error(), c.job.Running(1)) {
			t.Errorf("got %v, want a conflict about %s", err, c.job.Running(1))
		}
		commits, _ := counts.take()
		for _, item := range []int{0, 2} {
			told := slices.DeleteFunc(slices.Clone(commits), func(ops []coord.Op) bool { return !slices.ContainsFunc(ops, writes(c.job.FailoverItem(item))) })
			if len(told) != 1 {
				t.Errorf("item %d was handed over %d times", item, len(told))
			}
		}
		c.sync()
		if s := c.state(); len(s.Instances)+len(s.Sessions) > 0 || s.Leader != nil || len(s.FailoverItems) != 2 || s.Item(0).Running != nil || s.Item(1).Running == nil {
			t.Errorf("it left this:\n%s", c.dump())
		}
	})
}
