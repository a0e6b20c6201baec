package job_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// refusing is a registry that refuses commits which do something, once that is set.
type refusing struct {
	coord.Registry
	refuses atomic.Pointer[refusal]
	refused atomic.Int64
}

// refusal says which operations of a commit are refused, and how.
type refusal struct {
	op  func(coord.Op) bool
	how func(i int, op coord.Op) error
}

func (r *refusing) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if no := r.refuses.Load(); no != nil {
		if i := slices.IndexFunc(ops, no.op); i >= 0 {
			r.refused.Add(1)
			return 0, no.how(i, ops[i])
		}
	}
	return r.Registry.Commit(ctx, ops...)
}

// writes matches what writes a node, or removes it.
func writes(path string) func(coord.Op) bool {
	return func(op coord.Op) bool { return op.Kind.Writes() && op.Path == path }
}

// removes matches what removes a node.
func removes(path string) func(coord.Op) bool {
	return func(op coord.Op) bool {
		return (op.Kind == coord.OpDelete || op.Kind == coord.OpDeleteTree) && op.Path == path
	}
}

// A step whose commits fail for good, whatever the reason, keeps no other step from its
// turn: items fire, triggers are obeyed, runs that were cut short are run again, items are
// assigned, and the instance leaves when it is told to.
func TestAStepThatFailsForGood(t *testing.T) {
	type scene struct {
		*cluster
		id string // of the leader, whose commits are refused
	}
	// Item 0 always runs over its next tick, and 9 is disabled.
	const long, idle = 0, 9
	for _, tc := range []struct {
		name    string
		refused func(scene) func(coord.Op) bool
		provoke func(scene)
		// Its commits hold nothing else, so they may fail as a whole.
		alone bool
		// What the step is needed for.
		items   []int
		noTicks bool
		unseen  bool // others may be faster, so that nothing is refused
		lasts   time.Duration
	}{
		{name: "restore", refused: func(c scene) func(coord.Op) bool {
			return func(op coord.Op) bool { return op.Path == c.job.Running(long) && op.Kind == coord.OpCreate }
		}, provoke: func(c scene) { c.commit(coord.DeleteTree(c.job.Running(long))) }},
		{name: "finish", items: []int{2}, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Running(2)) }},
		{name: "finish, how it ended", refused: func(c scene) func(coord.Op) bool { return writes(c.job.Completion(2)) }},
		{name: "announce", alone: true, refused: func(c scene) func(coord.Op) bool { return writes(c.job.Session(c.id)) },
			provoke: func(c scene) { c.configure(func(cfg *job.Config) { cfg.JobParameter = "another" }) }},
		{name: "take trigger", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Trigger(c.id)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Trigger(c.id), nil)) }},
		{name: "claim requested", refused: func(c scene) func(coord.Op) bool {
			return func(op coord.Op) bool { return op.Path == c.job.Progress("1-x", 2) }
		}, provoke: func(c scene) {
			c.commit(coord.Put(c.job.Request("1-x"), []byte("items: \"2\"\nsource: MANUAL\n")))
		}},
		{name: "end requests", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Request("x")) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Request("x"), []byte("items: all"))) }},
		{name: "adopt trigger", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Trigger(deadID)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Trigger(deadID), nil)) }},
		{name: "fire", items: []int{2}, refused: func(c scene) func(coord.Op) bool { return writes(c.job.Fired(2)) }},
		{name: "mark misfire", refused: func(c scene) func(coord.Op) bool { return writes(c.job.Misfire(long)) }},
		{name: "skip", refused: func(c scene) func(coord.Op) bool { return writes(c.job.Fired(idle)) }},
		{name: "settle", alone: true, refused: func(c scene) func(coord.Op) bool { return writes(c.job.Running(idle)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Running(idle), nil)) }}, // which nobody has claimed
		{name: "tidy", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Instance(deadID)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Instance(deadID), nil)) }},
		{name: "record schedule", alone: true, noTicks: true, refused: func(c scene) func(coord.Op) bool { return writes(c.job.Schedule()) },
			provoke: func(c scene) { c.configure(func(cfg *job.Config) { cfg.Cron = "0/2 * * * * ?" }) }},
		{name: "mark for failover", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Running(idle)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Running(idle), []byte(deadID))) }},
		{name: "unmark", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Failovering(idle)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Failovering(idle), []byte(c.id))) }},
		{name: "rewind", alone: true, refused: func(c scene) func(coord.Op) bool { return writes(c.job.Fired(idle)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Fired(idle), jobtree.EncodeFired(time.Now().Add(year)))) }},
		{name: "clean", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Kill(idle)) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Kill(idle), []byte("token: 1"))) }},
		{name: "sweep", alone: true, lasts: 75 * time.Second, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Server("10.9.9.9")) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Server("10.9.9.9"), []byte(jobtree.Enabled))) }},
		{name: "assign", refused: func(c scene) func(coord.Op) bool { return writes(c.job.ItemInstance(idle)) },
			provoke: func(c scene) { c.commit(coord.DeleteTree(c.job.ItemInstance(idle))) }},
		{name: "assign, what JVM members ask for", alone: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Necessary()) },
			provoke: func(c scene) { c.commit(coord.Put(c.job.Necessary(), nil)) }},
		{name: "fail over", unseen: true, refused: func(c scene) func(coord.Op) bool { return writes(c.job.Failovering(6)) }},
		{name: "report", alone: true, refused: func(c scene) func(coord.Op) bool { return writes(c.job.Faults(c.id)) },
			provoke: func(c scene) { c.configure(func(cfg *job.Config) { cfg.ErrorHandler = "UNKNOWN" }) }},
		{name: "resign", alone: true, unseen: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Instance(c.id)) }},
		{name: "deregister", alone: true, unseen: true, refused: func(c scene) func(coord.Op) bool { return removes(c.job.Session(c.id)) }},
	} {
		for way, how := range map[string]func(int, coord.Op) error{
			"a node that is denied": func(i int, op coord.Op) error { return &coord.ConflictError{Index: i, Op: op, Reason: coord.ErrDenied} },
			"a conflict":            func(_ int, op coord.Op) error { return &coord.ConflictError{Op: op, Reason: coord.ErrVersion} },
			"unavailable":           func(int, coord.Op) error { return coord.ErrUnavailable },
			"unknown outcome":       func(int, coord.Op) error { return coord.ErrUnknownOutcome },
		} {
			if way != "a node that is denied" && !tc.alone {
				continue
			}
			runInVirtualTime(t, tc.name+"/"+way, func(t *testing.T, c *cluster, _ *memory.Store) {
				c.timeout = 5 * time.Second
				cfg := c.config()
				cfg.ShardingTotalCount, cfg.ReconcileInterval = 10, time.Minute
				work := func(ctx context.Context, sc job.ShardingContext) error {
					if sc.Item == long {
						return elapse(ctx, 1500*time.Millisecond)
					}
					return nil
				}
				m := c.dial("10.0.0.1")
				reg := &refusing{Registry: m.reg}
				m.reg = reg
				c.mustSchedule(m, cfg, work)
				m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
				other := c.join("10.0.0.2", cfg, work)
				crashes := c.join("10.0.0.3", cfg, untilDone)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2, idle}, "10.0.0.2": {3, 4, 5}, "10.0.0.3": {6, 7, 8}})
				c.commit(coord.Put(c.job.ItemDisabled(idle), nil))
				for _, item := range []int{long, 6, 7, 8} {
					c.awaitRuns("one that goes on", 1, of(item))
				}
				sc := scene{cluster: c, id: m.Status().InstanceID}
				reg.refuses.Store(&refusal{tc.refused(sc), how})
				if tc.provoke != nil {
					tc.provoke(sc)
				}
				c.pass(max(tc.lasts, 4*time.Second))
				if reg.refused.Load() == 0 && !tc.unseen {
					t.Errorf("nothing was refused\n%s", c.dump())
				}
				begun := time.Now()
				for _, item := range []int{1, 2, 3, 4, 5} {
					if !tc.noTicks && !slices.Contains(tc.items, item) {
						c.firedAt(item, begun)
					}
				}
				crashes.crash()
				for _, item := range []int{6, 7, 8} {
					c.awaitRuns("again what was cut short", 1, func(e execution) bool { return reruns(e) && e.Item == item })
				}
				c.await("its items are assigned again", func(s *jobtree.State) bool {
					got := owners(s, idle)
					return len(got["10.0.0.1"])+len(got["10.0.0.2"]) == idle
				})
				c.trigger(other, 1)
				c.awaitRuns("item 1 that is triggered", 1, func(e execution) bool { return e.Item == 1 && e.Source == job.SourceManual })
				leaves := time.Now()
				_ = m.stopWithin(2 * time.Second) // which says what it could not tell
				if took := time.Since(leaves); took > 9*time.Second {
					t.Errorf("it left after %v", took)
				}
				c.check()
			})
		}
	}
}

// Where the tree may not be told how an item's executions end, the item runs on, the log
// says so now and then, and a shutdown leaves no record behind.
func TestHowItEndedMayNotBeWritten(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const unsaid = "the tree cannot be told how runs have ended"
		m := c.dial("10.0.0.1")
		reg := &refusing{Registry: m.reg}
		m.reg = reg
		reg.refuses.Store(&refusal{writes(c.job.Completion(1)), func(i int, op coord.Op) error {
			return &coord.ConflictError{Index: i, Op: op, Reason: coord.ErrDenied}
		}})
		logged, logs := newLogbook()
		goesOn := make(chan struct{})
		c.mustSchedule(m, c.config(), func(ctx context.Context, sc job.ShardingContext) error {
			select {
			case <-goesOn:
				<-ctx.Done() // and it has done its work all the same
			default:
			}
			return nil
		}, logs)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(time.Minute)
		if runs := c.record.find(of(1)); len(runs) < 59 {
			t.Errorf("item 1 ran %d times in a minute", len(runs))
		}
		if n := len(logged.says(unsaid)); n < 1 || n > 2 {
			t.Errorf("the log says %d times that it cannot be told", n)
		}
		m.awaitSound()
		close(goesOn)
		running := time.Now()
		for item := range 3 {
			c.firedAt(item, running)
		}
		if err := m.stop(); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		c.sync()
		s := c.state()
		for i := range 3 {
			if s.Item(i).Running != nil || (s.Item(i).Completed != nil) != (i != 1) {
				t.Errorf("it left this of item %d:\n%s", i, c.dump())
			}
		}
		if len(s.FailoverItems) > 0 {
			t.Errorf("items are to be run again that have finished:\n%s", c.dump())
		}
		c.check()
	})
}

// A leader that gives leadership up does nothing more as one, although its snapshot still
// says that it leads.
func TestALeaderThatAbdicatesIsDone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		m := c.dial("10.0.0.1")
		var o outcomes
		m.reg = &counted{m.reg, &o}
		c.mustSchedule(m, cfg, nil)
		m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.pass(time.Second)
		o.conflicts.Store(0)
		c.commit(coord.Set(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled))) // so its items are to move
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		m.awaitStatus("it leads no more", func(s job.Status) bool { return !s.Leader })
		if n := o.conflicts.Load(); n > 0 {
			t.Errorf("%d of its commits conflicted", n)
		}
	})
}

// An item whose claim was denied for some time goes on soon after that: it waits for a part
// of that time only.
func TestAnItemGoesOnSoonAfterADenial(t *testing.T) {
	for _, lasts := range []time.Duration{6 * time.Second, time.Minute, 10 * time.Minute} {
		runInVirtualTime(t, lasts.String(), func(t *testing.T, c *cluster, _ *memory.Store) {
			m := c.dial("10.0.0.1")
			reg := &refusing{Registry: m.reg}
			m.reg = reg
			c.mustSchedule(m, c.config(), nil)
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			reg.refuses.Store(&refusal{writes(c.job.Running(1)), func(i int, op coord.Op) error {
				return &coord.ConflictError{Index: i, Op: op, Reason: coord.ErrDenied}
			}})
			c.pass(lasts)
			reg.refuses.Store(nil)
			allowed := time.Now()
			tried := reg.refused.Load()
			first := c.awaitRuns("item 1 after the denial", 1, func(e execution) bool { return e.Item == 1 && !e.begin.Before(allowed) })[0]
			if late, most := first.begin.Sub(allowed), min(lasts/4, 30*time.Second)+2*time.Second; late > most {
				t.Errorf("it went on %v after a denial of %v, want %v at most", late, lasts, most)
			}
			if tried > 60 {
				t.Errorf("%d attempts in %v", tried, lasts)
			}
			c.check()
		})
	}
}
