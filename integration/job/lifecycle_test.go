package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

func TestShutdownDrains(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		a := c.join("10.0.0.1", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(a)
		c.awaitRuns("all items", 3, anything)
		c.join("10.0.0.2", c.config(), c.work)
		left := make(chan struct{})
		go func() { defer close(left); a.leave() }()
		c.await("it is out of the tree, and its session stands", func(s *jobtree.State) bool {
			return len(s.Instances) == 1 && len(s.Sessions) == 2 && s.Item(0).Running != nil
		})
		select {
		case <-left:
			t.Error("it left before its items ended")
		default:
		}
		close(c.release)
		<-left
		c.settled()
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		if again := c.record.find(reruns); len(again) > 0 {
			t.Errorf("a graceful stop ran items again:\n%s", c.record)
		}
		for _, e := range c.record.find(anything) {
			if e.err != nil {
				t.Errorf("item %d was cut short: %v", e.Item, e.err)
			}
		}
		c.check()
	})
}

func TestShutdownWithAShortDeadlineHandsOver(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceFailover {
				return nil
			}
			return c.work(ctx, sc)
		}
		a := c.join("10.0.0.1", c.config(), work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(a)
		c.awaitRuns("all items", 3, anything)
		c.join("10.0.0.2", c.config(), work)
		if err := a.stop(); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		again := c.awaitRuns("all items elsewhere", 3, reruns)
		for _, e := range c.record.find(on("10.0.0.1")) {
			if !errors.Is(e.cause, job.ErrShutdown) {
				t.Errorf("item %d ended with %v", e.Item, e.cause)
			}
			for _, r := range again {
				if r.Item == e.Item && r.begin.Before(e.end) {
					t.Errorf("item %d began elsewhere before it ended here\n%s", e.Item, c.record)
				}
			}
		}
		c.settled()
		c.check()
	})
}

func TestOperatorRemovesAnInstance(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		a := c.join("10.0.0.1", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(a, 0)
		c.awaitRuns("item 0", 1, of(0))
		c.commit(coord.Delete(c.job.Instance(a.Status().InstanceID)))
		c.await("its idle item goes, what runs stays", func(s *jobtree.State) bool {
			got := owners(s, 3)
			return len(got["10.0.0.2"]) == 2 && s.Item(0).Running != nil
		})
		close(c.release)
		a.awaitDone()
		if err := a.Err(); !errors.Is(err, job.ErrInstanceRemoved) {
			t.Errorf("it stopped with %v, want ErrInstanceRemoved", err)
		}
		if again := c.record.find(reruns); len(again) > 0 {
			t.Errorf("what ran there was run again:\n%s", c.record)
		}
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		// The same process can start the job again.
		c.mustSchedule(a, c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.check()
	})
}

func TestJobRemovedWhileItRuns(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCutShort(t, s)
		c.timeout = lasting
		a := c.join("10.0.0.1", c.config(), c.work)
		b := c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(a)
		c.awaitRuns("all items", 3, anything)
		c.commit(coord.DeleteTree(c.job.Root()))
		for _, m := range []*member{a, b} {
			m.awaitDone()
			if err := m.Err(); !errors.Is(err, job.ErrJobRemoved) {
				t.Errorf("it stopped with %v, want ErrJobRemoved", err)
			}
		}
		for _, e := range c.record.find(anything) {
			if !errors.Is(e.cause, job.ErrJobRemoved) && !errors.Is(e.cause, job.ErrItemLost) {
				t.Errorf("item %d ended with %v", e.Item, e.cause)
			}
		}
		c.sync()
		if s := c.state(); s.Config != nil || len(s.Instances)+len(s.Sessions)+len(s.Items) > 0 {
			t.Errorf("nodes were made again:\n%s", c.dump())
		}
	})
}

// A disconnect that is shorter than the session changes nothing for anybody. (In ElasticJob
// the instance removes its own node and others take that for a crash, defect B-13; or it stops
// for good, B-32; or its server is disabled, B-33.)
func TestShortDisconnectChangesNothing(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCutShort(t, s)
		c.timeout = lasting
		a := c.join("10.0.0.1", c.config(), c.work)
		c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.trigger(a)
		before := c.awaitRuns("all items", 3, anything)
		c.await("the triggers are taken", func(s *jobtree.State) bool { return len(s.Triggers) == 0 })
		tree := c.state()
		a.link.Cut()
		c.pass(time.Second)
		a.link.Heal()
		close(c.release)
		c.settled()
		after := c.state()
		for id := range tree.Instances {
			if _, ok := after.Instances[id]; !ok {
				t.Errorf("instance %s is gone", id)
			}
		}
		if !after.Leader.Is(tree.Leader.ID) || after.Leader.Created != tree.Leader.Created {
			t.Error("the leader changed")
		}
		for i := range 3 {
			if after.Item(i).Owner.Version != tree.Item(i).Owner.Version {
				t.Errorf("item %d was assigned again", i)
			}
		}
		for ip, server := range after.Servers {
			if !server.Enabled {
				t.Errorf("server %s is disabled", ip)
			}
		}
		if all := c.record.find(anything); len(all) != len(before) {
			t.Errorf("something ran again:\n%s", c.record)
		}
		for _, e := range c.record.find(anything) {
			if e.err != nil {
				t.Errorf("item %d was cut short: %v", e.Item, e.err)
			}
		}
		c.check()
	})
}

// If a disconnect is longer than the session, the contexts of handlers end before the store
// drops the session. When the link heals, the process takes part again, as a new instance.
func TestLongDisconnect(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCutShort(t, s)
		machine := watchMachine(t)
		work := func(ctx context.Context, sc job.ShardingContext) error {
			err := c.work(ctx, sc)
			if _, ok := c.state().Sessions[sc.InstanceID]; err != nil && !ok && !machine.stoodStill(100*time.Millisecond) {
				t.Error("the store dropped the session before the handler's context ended")
			}
			return err
		}
		a := c.join("10.0.0.1", c.config(), work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		old := a.Status().InstanceID
		c.trigger(a, 0)
		c.awaitRuns("item 0", 1, of(0))
		a.link.Cut()
		cut := c.awaitRuns("its context ends", 1, func(e execution) bool { return !e.end.IsZero() })[0]
		if !errors.Is(cut.cause, coord.ErrSessionLost) {
			t.Errorf("it ended with %v", cut.cause)
		}
		c.await("the store drops the session", func(s *jobtree.State) bool { return len(s.Sessions) == 0 })
		a.link.Heal()
		again := c.awaitRuns("item 0 again", 1, reruns)[0]
		if again.InstanceID == old || again.ip != "10.0.0.1" {
			t.Errorf("run again by %s", again.InstanceID)
		}
		close(c.release)
		c.settled()
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.check()
	})
}

// A store refuses writes while sessions live on. Shutdown returns all the same when its time
// is over.
func TestShutdownWhileTheStoreRefusesWrites(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		a := c.join("10.0.0.1", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		refused := s.Inject(memory.Fault{Method: memory.Commit, Before: coord.ErrUnavailable})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		if err := a.Shutdown(ctx); !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("shutdown: got %v, want ErrUnavailable", err)
		}
		if took := time.Since(begin); took > time.Minute+10*time.Second {
			t.Errorf("it took %v", took)
		}
		refused.Remove()
	})
}

// The store carries a registration out after the instance has left. The node must not stay:
// otherwise items would be assigned to nobody as long as the process keeps its session.
func TestLateRegistrationOfOneThatHasLeft(t *testing.T) {
	for name, test := range map[string]struct{ late, deregister time.Duration }{
		"after it has deregistered":  {late: 10 * time.Second},
		"just before it deregisters": {late: 500 * time.Millisecond, deregister: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
				c.join("10.0.0.1", c.config(), nil)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
				lost := s.Inject(memory.Fault{
					Method: memory.Commit, Kind: coord.OpCreateEphemeral, Path: "settle/instances/*",
					Times: 1, Before: coord.ErrUnknownOutcome, Late: test.late,
				})
				slow := s.Inject(memory.Fault{
					Method: memory.Commit, Kind: coord.OpCreateEphemeral, Path: "settle/sessions/*",
					Times: 1, Delay: test.deregister,
				})
				refused := s.Inject(memory.Fault{
					Method: memory.Commit, Kind: coord.OpCreateEphemeral, Path: "settle/instances/*", Before: coord.ErrUnavailable,
				})
				b := c.dial("10.0.0.2")
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
				defer cancel()
				if err := b.schedule(ctx, c.config(), nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("schedule: got %v, want that it ran out of time", err)
				}
				refused.Remove()
				if lost.Hits() != 1 || slow.Hits() != 1 {
					t.Fatalf("the registration was lost %d times and fenced %d times", lost.Hits(), slow.Hits())
				}
				c.pass(time.Minute)
				if state := c.state(); len(state.Instances) != 1 {
					t.Errorf("an instance that has left is in the tree:\n%s", c.dump())
				}
				if err := b.schedule(t.Context(), c.config(), nil); err != nil {
					t.Fatalf("schedule again: %v", err)
				}
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
			})
		})
	}
}

// The store carries an election out while the instance is leaving in a hurry. The node must
// not stay: otherwise there would be no leader as long as the process keeps its session.
func TestLateElectionOfOneThatLeaves(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		lost := s.Inject(memory.Fault{
			Method: memory.Commit, Kind: coord.OpCreateEphemeral, Path: "settle/leader/election/instance",
			Times: 1, Before: coord.ErrUnknownOutcome, Late: 500 * time.Millisecond,
		})
		a := c.join("10.0.0.1", c.config(), nil)
		s.Inject(memory.Fault{Method: memory.Commit, Times: 1, Delay: time.Second})
		over, cancel := context.WithCancel(t.Context())
		cancel()
		c.ok(a.Shutdown(over))
		if lost.Hits() != 1 {
			t.Fatal("the election was not lost")
		}
		c.pass(time.Minute)
		if leader := c.state().Leader; leader != nil {
			t.Errorf("%s leads, and has left", leader.ID)
		}
	})
}

// A handler that calls Shutdown does not wait for itself: it gets an error, and the scheduler
// shuts down when its runs have ended.
func TestShutdownByAHandler(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		told := make(chan error, 1)
		m := c.dial("10.0.0.1")
		started := make(chan struct{})
		work := func(ctx context.Context, sc job.ShardingContext) error {
			<-started
			derived, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			told <- m.Shutdown(derived)
			return nil
		}
		c.mustSchedule(m, c.config(), work)
		close(started)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.trigger(m, 1)
		if err := <-told; !errors.Is(err, job.ErrInHandler) {
			t.Errorf("got %v, want ErrInHandler", err)
		}
		m.awaitDone()
		if err := m.Err(); err != nil {
			t.Errorf("it stopped with %v", err)
		}
		if runs := c.record.find(func(e execution) bool { return e.cause != nil }); len(runs) > 0 {
			t.Errorf("a run was cut short:\n%s", c.record)
		}
		c.await("it is out of the tree", func(s *jobtree.State) bool { return len(s.Instances)+len(s.Sessions) == 0 })
	})
}
