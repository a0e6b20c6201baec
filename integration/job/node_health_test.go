package job_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// run calls Run, until the test ends.
func (h host) run() {
	go func() { _ = h.Node.Run(h.Context()) }() // the test looks at the errors of jobs
	synctest.Wait()
}

// isFit checks that the node is live and ready.
func (h host) isFit(when string) {
	h.Helper()
	if live, ready := h.Live(), h.Ready(); live != nil || ready != nil {
		h.Errorf("%s: live: %v; ready: %v", when, live, ready)
	}
}

// isDead checks that the node is not live, because of one job, and says so.
func (h host) isDead(when string, says ...string) {
	h.Helper()
	err := h.Live()
	for _, want := range append(says, "cannot go on without a restart; job a:") {
		if err == nil || !strings.Contains(err.Error(), want) {
			h.Errorf("%s: live: %v, want %q in it", when, err, want)
		}
	}
	if err := h.Ready(); err != nil {
		h.Errorf("%s: ready: %v", when, err)
	}
}

// A store that was put back to a state without a job has forgotten it. That is no operator's wish: the scheduler stops
// with an error that says so, and a restart of the process sets the job up again. So it is if the session had ended
// before, and if the store comes back empty.
func TestForgottenJob(t *testing.T) {
	t.Run("at once", func(t *testing.T) { onNode(t, job.NodeConfig{}, func(h host) { h.forgets(false) }) })
	t.Run("after the end of the session", func(t *testing.T) { onNode(t, job.NodeConfig{}, func(h host) { h.forgets(true) }) })
}

func (h host) forgets(isLost bool) {
	before := h.store.Save()
	s := h.schedule("a", func(context.Context, job.ShardingContext) error { return nil })
	h.run()
	h.isFit("before")
	link := h.reg.(*memory.Registry).Link()
	if isLost {
		session, err := h.reg.Session(h.Context())
		h.must(err)
		link.BlackHole()
		<-session.Context().Done()
		synctest.Wait()
	}
	h.store.Restore(before)
	link.Heal()
	<-s.Done()
	if err := s.Err(); !errors.Is(err, coord.ErrRestored) || errors.Is(err, job.ErrJobRemoved) {
		h.Errorf("it stopped with %v", err)
	}
	h.isDead("the store has forgotten the job", "earlier state", "a restart of the process sets it up again")
	if err := h.Health(); !errors.Is(err, coord.ErrRestored) {
		h.Errorf("health: %v", err)
	}
}

// What a restart does not help for, and what all processes see at the same time, makes a node
// neither dead nor unready. It is a fault.
func TestTroubleOfOthersIsNoneOfTheProcess(t *testing.T) {
	for name, trouble := range map[string]func(host, *job.Scheduler){
		"the store is away":        func(h host, _ *job.Scheduler) { h.store.Down() },
		"the session is lost":      func(h host, _ *job.Scheduler) { h.reg.(*memory.Registry).Link().BlackHole() },
		"a configuration is wrong": func(h host, _ *job.Scheduler) { h.commit(coord.Set(jobtree.Job("a").Config(), []byte("x: ["))) },
		"the instance was removed": func(h host, s *job.Scheduler) {
			h.commit(coord.Delete(jobtree.Job("a").Instance(s.Status().InstanceID)))
		},
		"the job was removed": func(h host, _ *job.Scheduler) { h.commit(coord.DeleteTree("a")) },
		"a handler does not return": func(h host, s *job.Scheduler) {
			h.commit(coord.Put(jobtree.Job("a").Trigger(s.Status().InstanceID), nil))
		},
		"the store refuses to write": func(h host, _ *job.Scheduler) {
			h.store.Inject(memory.Fault{Method: memory.Commit, Before: coord.ErrDenied})
		},
	} {
		t.Run(name, func(t *testing.T) {
			onNode(t, job.NodeConfig{}, func(h host) {
				h.run()
				release := make(chan struct{})
				defer close(release)
				s := h.schedule("a", func(context.Context, job.ShardingContext) error { <-release; return nil }, cron("0 * * * * ?"))
				h.isFit("at first")
				trouble(h, s)
				for range 30 {
					h.pass(10 * time.Second)
					h.isFit("after a while")
				}
				faults := maps.Collect(h.Faults())
				if faults["a"] == nil || h.Health() == nil {
					h.Errorf("faults %v, health %v", faults, h.Health())
				}
			})
		})
	}
}

// A scheduler that has stopped by itself makes its node dead, until it is started again, or shut
// down.
func TestSchedulerThatCannotGoOn(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		reg := &fragile{Registry: h.reg, job: "a"}
		n, err := job.NewNode(reg, job.NodeConfig{})
		h.must(err)
		h.Node = n
		h.run()
		end := func(s *job.Scheduler) {
			reg.breakView(errors.New("broken"))
			h.commit(coord.Put(jobtree.Job("a").Trigger(s.Status().InstanceID), nil)) // so that it looks
			<-s.Done()
			h.isDead("with a broken view", "broken")
			if faults := maps.Collect(h.Faults()); !errors.Is(faults["a"], s.Err()) {
				h.Errorf("faults %v", faults)
			}
		}
		end(h.schedule("a", untilDone))
		again := h.schedule("a", untilDone)
		h.isFit("started again")
		end(again)
		if err := again.Shutdown(h.Context()); !errors.Is(err, again.Err()) {
			h.Error(err)
		}
		h.isFit("shut down")
		last := h.schedule("a", untilDone)
		closeRegistry(h.T, reg)
		<-last.Done()
		h.isDead("without a registry", coord.ErrClosed.Error())
		if err := h.Shutdown(h.Context()); !errors.Is(err, coord.ErrClosed) || h.Live() != nil {
			h.Errorf("shut down: %v, live %v", err, h.Live())
		}
	})
}

// A scheduler that stands still makes its node dead after a minute, wherever it stands still:
// in a pass, while there is no session, or on its way out.
func TestSchedulerThatGetsNoFurther(t *testing.T) {
	for name, begin := range map[string]func(host, *job.Scheduler){
		"in a pass":         func(h host, _ *job.Scheduler) { h.commit(coord.Set(jobtree.Job("a").Config(), []byte("x: ["))) },
		"without a session": func(h host, _ *job.Scheduler) { h.store.Down() },
		"on its way out":    func(h host, _ *job.Scheduler) { h.reg.(*memory.Registry).Link().EndViews(errors.New("broken")) },
	} {
		t.Run(name, func(t *testing.T) {
			onNode(t, job.NodeConfig{}, func(h host) {
				core := blockingCore{zapcore.NewNopCore(), new(atomic.Bool), make(chan struct{})}
				n, err := job.NewNode(h.reg, job.NodeConfig{Options: []job.Option{job.WithLogger(zap.New(core))}})
				h.must(err)
				h.Node = n
				h.run()
				s := h.schedule("a", untilDone)
				core.on.Store(true)
				begin(h, s)
				h.pass(50 * time.Second)
				h.isFit("for a while")
				h.pass(30 * time.Second)
				h.isDead("for long", "has got no further for 1m")
				core.on.Store(false)
				close(core.block)
				if err := s.Shutdown(h.Context()); err != nil && !errors.Is(err, s.Err()) {
					h.Error(err)
				}
				h.isFit("in the end")
			})
		})
	}
}

// A store that is so slow that one pass takes minutes does not make a node dead.
func TestSlowStoreIsNoStandstill(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		h.run()
		const items = 10_000
		s := h.schedule("a", func(context.Context, job.ShardingContext) error { return nil }, func(c *job.Config) {
			c.ShardingTotalCount, c.Threads = items, items
		})
		h.store.Inject(memory.Fault{Method: memory.Commit, Path: "a/**", Delay: 2900 * time.Millisecond})
		h.commit(coord.Put(jobtree.Job("a").Trigger(s.Status().InstanceID), nil))
		for began := time.Now(); len(s.Status().Running) < items*4/5; {
			h.pass(time.Second)
			h.isFit("with a slow store")
			if time.Since(began) > 10*time.Minute {
				h.Fatal("it does not get on")
			}
		}
	})
}

// A node is not ready before Run is called, and while a job starts for the first time: until it
// has started, or was refused. One that starts again does not matter.
func TestReadyWhenStarted(t *testing.T) {
	onNode(t, job.NodeConfig{Options: []job.Option{job.WithStartRetry()}}, func(h host) {
		if err := h.Ready(); err == nil || !strings.Contains(err.Error(), "Run was not called") {
			h.Errorf("ready before Run: %v", err)
		}
		h.run()
		h.isFit("without jobs")
		h.store.Down()
		started := make(chan *job.Scheduler, 1)
		start := func() { started <- h.schedule("a", untilDone) }
		go start()
		h.pass(time.Minute)
		if err := h.Ready(); err == nil || !strings.Contains(err.Error(), "1 of 1 jobs are not ready; job a: it starts") || h.Live() != nil {
			h.Errorf("while it starts: %v, live: %v", err, h.Live())
		}
		h.store.Up()
		s := <-started
		h.isFit("started")
		if _, err := h.Schedule(h.Context(), job.Config{Name: "wrong", Cron: rarely, ShardingTotalCount: 1, Strategy: "NONE"}, job.HandlerFunc(untilDone)); err == nil {
			h.Error("a wrong configuration was not refused")
		}
		h.isFit("a job was refused")
		h.commit(coord.Delete(jobtree.Job("a").Instance(s.Status().InstanceID)))
		<-s.Done()
		h.store.Down()
		go start()
		h.pass(time.Minute)
		h.isFit("while it starts again")
		h.store.Up()
		<-started
	})
}

// While a node shuts down it is live, so that nothing ends it, and not ready.
func TestDrainingIsLive(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		release := make(chan struct{})
		h.schedule("a", func(context.Context, job.ShardingContext) error { <-release; return nil }, cron("* * * * * ?"))
		h.pass(2 * time.Second)
		done := make(chan error, 1)
		go func() { done <- h.Shutdown(h.Context()) }()
		for range 30 {
			h.pass(10 * time.Second)
			if err := h.Live(); err != nil {
				h.Error(err)
			}
			if err := h.Ready(); !errors.Is(err, job.ErrNodeClosed) {
				h.Errorf("ready: %v", err)
			}
		}
		close(release)
		if err := <-done; err != nil || h.Live() != nil {
			h.Errorf("shutdown: %v, live: %v", err, h.Live())
		}
		synctest.Wait()
	})
}

// With WithStartFault a job that cannot start is a fault of the node until it does, and keeps no other one from running.
func TestAJobThatDoesNotStartIsAFault(t *testing.T) {
	onNode(t, job.NodeConfig{Options: []job.Option{job.WithStartFault()}}, func(h host) {
		var ran atomic.Int64
		h.schedule("a", func(context.Context, job.ShardingContext) error { ran.Add(1); return nil }, func(c *job.Config) { c.Cron = "* * * * * ?" })
		removed := h.schedule("b", func(context.Context, job.ShardingContext) error { return nil })
		of := ops.New(h.reg).Job("b")
		h.must(errors.Join(removed.Shutdown(h.Context()), of.Remove(h.Context(), ops.RemoveRequest{})))
		h.run()
		faults := func() map[string]error { return maps.Collect(h.Faults()) }
		for range 2 {
			_, err := h.Schedule(h.Context(), job.Config{Name: "b", Cron: rarely, ShardingTotalCount: 1}, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
			if !errors.Is(err, job.ErrJobRemoved) {
				h.Fatal(err)
			}
			fault, _ := errors.AsType[job.Fault](faults()["b"])
			if fault.Err != err || fault.Kind != jobtype.FaultConfig || fault.Since.IsZero() || !errors.Is(h.Health(), job.ErrJobRemoved) {
				h.Errorf("faults %v, health %v", faults(), h.Health())
			}
			h.pass(time.Minute)
			h.isFit("one did not start")
		}
		if ran.Load() == 0 {
			h.Error("the other one does not run")
		}
		h.must(ops.New(h.reg).Readmit(h.Context(), "b", ops.ReadmitRequest{}))
		h.schedule("b", func(context.Context, job.ShardingContext) error { return nil })
		if len(faults()) > 0 || h.Health() != nil {
			h.Errorf("faults %v, health %v", faults(), h.Health())
		}
	})
}
