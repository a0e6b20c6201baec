package job_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// deadID is the id of an instance that has ended.
const deadID = "10.9.9.9@-@1-dead"

// commitInChunks commits many operations, some in each commit.
func (c *cluster) commitInChunks(each int, ops []coord.Op) {
	c.Helper()
	for chunk := range slices.Chunk(ops, each) {
		c.commit(chunk...)
	}
}

// orphans writes n orphans of a dead instance. The two nodes of each record are of one commit,
// or, if they are torn, of two.
func (c *cluster) orphans(n int, torn bool) {
	c.Helper()
	tick := jobtree.EncodeFired(time.Now().Add(-time.Minute))
	var records, rest []coord.Op
	for i := range n {
		records = append(records, coord.Put(c.job.Running(i), []byte(deadID)), coord.Put(c.job.Fired(i), tick))
		if torn {
			rest = append(rest, coord.Set(c.job.Fired(i), tick))
		}
	}
	c.commitInChunks(100, records)
	c.commitInChunks(100, rest)
}

// confirming counts the reads of items before the first commit by which one of them is run
// again.
type confirming struct {
	coord.Registry
	job   jobtree.Job
	again atomic.Bool
	reads atomic.Int64
}

func (r *confirming) Get(ctx context.Context, path string) (coord.Node, error) {
	if !r.again.Load() && coord.Within(path, r.job.Sharding()) {
		r.reads.Add(1)
	}
	return r.Registry.Get(ctx, path)
}

func (r *confirming) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if slices.ContainsFunc(ops, func(op coord.Op) bool {
		return op.Kind == coord.OpDeleteTree && coord.Within(op.Path, r.job.FailoverItems())
	}) {
		r.again.Store(true)
	}
	return r.Registry.Commit(ctx, ops...)
}

// Many runs that were cut short are run again. Their records are not read again first,
// except if the nodes of a record are of different commits.
func TestManyOrphans(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		const many = 300
		c := newCluster(t, s, "settle")
		c.orphans(many, false)
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.Threads = rarely, many, 60
		m := c.dial("10.0.0.1")
		counts := &confirming{Registry: m.reg, job: c.job}
		m.reg = counts
		begin := time.Now()
		c.mustSchedule(m, cfg, nil)
		first := c.awaitRuns("the first again", 1, reruns)[0]
		c.awaitRuns("all of them again", many, func(e execution) bool { return reruns(e) && !e.end.IsZero() })
		c.settled()
		t.Logf("the first after %v, all after %v", first.begin.Sub(begin), time.Since(begin))
		if n := counts.reads.Load(); n > 20 {
			t.Errorf("%d reads before the first of %d orphans was run again", n, many)
		}
		c.check()
	})
}

// A run was cut short and is being run again. The view of the leader shows the old record
// beside the new claim. The leader does not take the new run for one that was cut short,
// although the new record has the same version as the old one.
func TestOldRecordBesideANewClaim(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		leads := c.dial("10.0.0.1")
		reg := newBlind(leads.reg)
		leads.reg = reg
		c.mustSchedule(leads, c.config(), c.work)
		leads.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		crashes := c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(crashes, 1)
		c.awaitRuns("item 1", 1, of(1))
		before := c.state().Item(1).Running
		reg.freeze(before.Node)
		takes := c.join("10.0.0.3", c.config(), c.work)
		crashes.crash()
		c.awaitRuns("item 1 again", 1, reruns)
		if now := c.state().Item(1).Running; !now.Is(takes.Status().InstanceID) || now.Version != before.Version {
			t.Fatalf("the record is %+v, and was %+v", now, before)
		}
		c.pass(10 * time.Minute)
		if s := c.state(); !s.Item(1).Running.Is(takes.Status().InstanceID) || len(s.FailoverItems) > 0 || len(c.record.find(of(1))) != 2 {
			t.Errorf("the run that goes on was taken for an old one:\n%s%s", c.dump(), c.record)
		}
		reg.freeze()
		close(c.release)
		c.settled()
		c.check()
	})
}

// With round trips of 10 ms the first of them is run again soon, even if each record has to be
// read first because its nodes are of different commits.
func TestFirstOfManyOrphansIsSoon(t *testing.T) {
	for name, torn := range map[string]bool{"of one commit": false, "torn": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const many = 1000
				c := newCluster(t, newMemoryStore(t), "settle")
				c.orphans(many, torn)
				cfg := c.config()
				cfg.Cron, cfg.ShardingTotalCount, cfg.Threads = rarely, many, 64
				m := c.dial("10.0.0.1")
				m.link.(*memory.Link).Delay(5 * time.Millisecond)
				begin := time.Now()
				c.mustSchedule(m, cfg, nil)
				first := c.awaitRuns("the first again", 1, reruns)[0]
				c.awaitRuns("all of them again", many, reruns)
				soon := 1500 * time.Millisecond
				if torn {
					soon = 3 * time.Second
				}
				if took := first.begin.Sub(begin); took > soon {
					t.Errorf("the first was run again after %v, all after %v", took, time.Since(begin))
				}
				t.Logf("the first after %v, all after %v", first.begin.Sub(begin), time.Since(begin))
				c.settled()
				c.check()
			})
		})
	}
}

// outcomes counts the commits and the conflicts of many registries.
type outcomes struct{ commits, conflicts atomic.Int64 }

// counted is a registry that counts the outcomes of its commits.
type counted struct {
	coord.Registry
	*outcomes
}

func (r *counted) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	revision, err := r.Registry.Commit(ctx, ops...)
	r.commits.Add(1)
	if errors.Is(err, coord.ErrConflict) {
		r.conflicts.Add(1)
	}
	return revision, err
}

func (o *outcomes) join(c *cluster, ip string, delay time.Duration, cfg job.Config, h job.HandlerFunc) *member {
	c.Helper()
	m := c.dial(ip)
	m.reg = &counted{m.reg, o}
	m.link.(*memory.Link).Delay(delay)
	c.must(m.schedule(c.Context(), cfg, h))
	return m
}
