package job_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// landing is a registry that loses the answer to the first registration. It is carried out
// just before a node of instances is read, so between that read and the one before it.
type landing struct {
	coord.Registry
	job  jobtree.Job
	held []coord.Op // only the scheduler's own goroutine registers and looks after it
	lost bool
}

func (r *landing) isInstance(path string) bool {
	return coord.Parent(path) == coord.Parent(r.job.Instance("x"))
}

func (r *landing) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	registers := func(op coord.Op) bool { return op.Kind == coord.OpCreateEphemeral && r.isInstance(op.Path) }
	if !r.lost && slices.ContainsFunc(ops, registers) {
		r.held, r.lost = ops, true
		return 0, coord.ErrUnknownOutcome
	}
	return r.Registry.Commit(ctx, ops...)
}

func (r *landing) Get(ctx context.Context, path string) (coord.Node, error) {
	if r.held != nil && r.isInstance(path) {
		ops := r.held
		r.held = nil
		if _, err := r.Registry.Commit(ctx, ops...); err != nil {
			return coord.Node{}, err
		}
	}
	return r.Registry.Get(ctx, path)
}

// A registration whose answer was lost is carried out while the instance looks for it. That
// is nobody's interference: the instance is registered under that id, and what it runs is
// nobody else's, also when an operator removes it later.
func TestRegistrationThatComesWhileItIsLookedFor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = time.Minute
		cfg := c.config()
		cfg.Cron = ""
		m := c.dial("10.0.0.1")
		m.reg = &landing{Registry: m.reg, job: c.job}
		logged, logs := newLogbook()
		c.mustSchedule(m, cfg, untilDone, logs)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(m)
		c.awaitRuns("all run", 3, anything)
		c.join("10.0.0.2", cfg, nil)
		c.commit(coord.Delete(c.job.Instance(m.Status().InstanceID)))
		c.pass(30 * time.Second)
		if runs := c.record.find(anything); len(runs) != 3 {
			t.Errorf("items run twice:\n%s", c.record)
		}
		c.check()
		if said := logged.messages(); slices.Contains(said, "taking another identity: somebody else has removed or replaced this instance's nodes") {
			t.Errorf("the log says %q", said)
		}
		if err := m.stop(); !errors.Is(err, job.ErrInstanceRemoved) {
			t.Errorf("shutdown: %v", err)
		}
		c.awaitRuns("all again", 3, reruns)
		c.check()
	})
}

// holding is a registry that loses the answers to its first commits by which nodes of
// sessions are created. The test carries them out.
type holding struct {
	coord.Registry
	job  jobtree.Job
	most int
	held chan []coord.Op
}

func (r *holding) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	registers := func(op coord.Op) bool {
		return op.Kind == coord.OpCreateEphemeral && coord.Parent(op.Path) == coord.Parent(r.job.Session("x"))
	}
	if r.most > 0 && slices.ContainsFunc(ops, registers) {
		r.most--
		r.held <- ops
		return 0, coord.ErrUnknownOutcome
	}
	return r.Registry.Commit(ctx, ops...)
}

// An identity that somebody has tampered with is left, and begins nothing before, although
// its nodes are complete again: a request of its own that was taken for lost has made the
// one that was missing.
func TestTamperedIdentityIsLeftAlthoughItIsCompleteAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = time.Minute
		cfg := c.config()
		cfg.Misfire = job.On
		c.join("10.0.0.2", cfg, nil).leave() // which has set the job up
		m := c.dial("10.0.0.1")
		reg := &holding{Registry: m.reg, job: c.job, most: 2, held: make(chan []coord.Op, 2)}
		m.reg = reg
		land := func(ops []coord.Op) {
			if _, err := reg.Registry.Commit(t.Context(), ops...); err != nil {
				t.Error(err)
			}
		}
		var fences []coord.Op
		go func() {
			registers := <-reg.held
			fences = <-reg.held // it has looked for the registration, and given it up
			land(registers)
		}()
		var first atomic.Value // its id
		c.mustSchedule(m, cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.InstanceID != first.Load() {
				return nil
			}
			<-ctx.Done()
			return elapse(context.WithoutCancel(ctx), 700*time.Millisecond) // then it has done its work
		})
		before := m.Status().InstanceID
		first.Store(before)
		c.awaitRuns("all run", 3, anything)
		c.pass(1500 * time.Millisecond) // a tick is missed
		c.commit(coord.Delete(c.job.Session(before)))
		tampered := time.Now()
		c.pass(200 * time.Millisecond) // it has seen that, and its handlers return
		land(fences)
		m.awaitStatus("it has another identity", func(s job.Status) bool { return s.Registered && s.InstanceID != before })
		c.pass(10 * time.Second)
		for _, e := range c.record.find(anything) {
			if e.InstanceID == before && e.begin.After(tampered) {
				t.Errorf("item %d began at %s under the identity that was to be left\n%s", e.Item, e.begin, c.record)
			}
		}
		c.check()
	})
}

// The answers to a registration, and to what fences it, are lost, and the store does not let what is
// left of it go for a while. The instance does not ask the store again and again meanwhile.
func TestForestalledRegistrationThatCannotBeGivenUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		c.join("10.0.0.1", c.config(), nil) // so that the second one does not found the job
		sessions := c.job.Sessions() + "/*"
		s.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpCreateEphemeral, Path: sessions, Times: 1, Before: coord.ErrUnknownOutcome})
		s.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpCreateEphemeral, Path: sessions, Times: 1, After: coord.ErrUnknownOutcome})
		s.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpDeleteTree, Path: c.job.Instances() + "/*", Times: 4, Before: coord.ErrUnavailable})
		m := c.dial("10.0.0.2")
		reads := &impatient{Registry: m.reg}
		m.reg = reads
		c.mustSchedule(m, c.config(), nil)
		c.awaitRuns("the second one runs, too", 1, on("10.0.0.2"))
		if n := reads.gets.Load(); n > 50 {
			t.Errorf("%d reads", n)
		}
	})
}

// impatient counts reads, and stops a scheduler that reads for ever.
type impatient struct {
	coord.Registry
	gets atomic.Int64
}

func (r *impatient) Get(ctx context.Context, path string) (coord.Node, error) {
	if r.gets.Add(1) > 10_000 {
		panic("10,000 reads")
	}
	return r.Registry.Get(ctx, path)
}

// A job was removed, and nobody knows whether a start has registered. It leaves nothing in the tree
// of a job that is gone, not even for the time of its session, and the registration cannot come.
func TestLostRegistrationInARemovedJob(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.commit(coord.Put(c.job.Removal(), jobtree.EncodeRemoval(jobtree.RemovalDocument{By: "anna", Why: "moved"})))
		m := c.dial("10.0.0.1")
		reg := &holding{Registry: m.reg, job: c.job, most: 1, held: make(chan []coord.Op, 1)}
		m.reg = reg
		if err := m.schedule(t.Context(), c.config(), nil); !errors.Is(err, job.ErrJobRemoved) {
			t.Fatalf("schedule: %v", err)
		}
		if _, err := reg.Registry.Commit(t.Context(), <-reg.held...); !errors.Is(err, coord.ErrConflict) {
			t.Errorf("the registration comes late: %v", err)
		}
		c.sync()
		if nodes := c.dump(); nodes != "" {
			t.Errorf("the start has left\n%s", nodes)
		}
	})
}
