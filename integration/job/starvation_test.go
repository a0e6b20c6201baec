package job_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// stubborn is a handler that does not return from some executions until it is released, even
// if its context ends.
type stubborn struct {
	on      atomic.Bool
	release chan struct{}
}

func newStubborn() *stubborn { return &stubborn{release: make(chan struct{})} }

func (s *stubborn) handler(hangs func(job.ShardingContext) bool) job.HandlerFunc {
	return func(_ context.Context, sc job.ShardingContext) error {
		if s.on.Load() && hangs(sc) {
			<-s.release
		}
		return nil
	}
}

func item0(sc job.ShardingContext) bool { return sc.Item == 0 }

func everyItem(job.ShardingContext) bool { return true }

// There are two instances, and something keeps an item from running. There is a fault until
// the item runs again.
func TestItemsThatStandStill(t *testing.T) {
	type pair struct {
		*cluster
		a, b *member // a is the leader
		hang *stubborn
	}
	remove := func(p pair, path string) func() { return func() { p.commit(coord.DeleteTree(path)) } }
	for name, tc := range map[string]struct {
		cfg  func(*job.Config)
		on   func(job.ShardingContext) bool // which executions hang
		do   func(pair) (mend func())
		by   func(pair) *member
		says string
	}{
		"a handler hangs while its instance drains": {
			on: item0,
			do: func(p pair) func() {
				p.hang.on.Store(true)
				p.pass(1500 * time.Millisecond)
				left := make(chan struct{})
				go func() { defer close(left); p.a.leave() }()
				return func() { close(p.hang.release); <-left }
			},
			by: func(p pair) *member { return p.b }, says: "is not through",
		},
		"and says so itself": {
			on: item0,
			do: func(p pair) func() {
				p.hang.on.Store(true)
				p.pass(1500 * time.Millisecond)
				p.commit(coord.DeleteTree(p.job.Instance(p.a.Status().InstanceID)))
				return func() { close(p.hang.release) }
			},
			by: func(p pair) *member { return p.a }, says: "is not through",
		},
		"a run of somebody who lives and knows nothing of it": {
			do: func(p pair) func() {
				p.commit(coord.CreateEphemeral(p.job.Session("stranger"), nil), coord.Put(p.job.Running(1), []byte("stranger")))
				return remove(p, p.job.Running(1))
			},
			by: func(p pair) *member { return p.a }, says: "at stranger is not through",
		},
		"a failover of a JVM member that lives and knows nothing of it": {
			cfg: func(c *job.Config) { c.Cron = "" },
			do: func(p pair) func() {
				const jvm = "10.0.0.9@-@1234"
				p.commit(coord.Put(p.job.Server("10.0.0.9"), []byte("DISABLED")), coord.CreateEphemeral(p.job.Instance(jvm), nil),
					coord.Put(p.job.Failovering(0), []byte(jvm)), coord.Put(p.job.FailoverItem(0), nil))
				return remove(p, p.job.Failovering(0))
			},
			by: func(p pair) *member { return p.a }, says: "waits to be run again until",
		},
		"a trigger behind a run that hangs": {
			cfg: func(c *job.Config) { c.Cron = "" },
			on:  item0,
			do: func(p pair) func() {
				p.hang.on.Store(true)
				for range 2 {
					if _, err := p.a.Trigger(p.Context(), job.TriggerRequest{}); err != nil {
						p.Fatal(err)
					}
					p.pass(time.Second)
				}
				return func() { close(p.hang.release) }
			},
			by: func(p pair) *member { return p.a }, says: "waits for it: its execution",
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			hang := newStubborn()
			on := tc.on
			if on == nil {
				on = func(job.ShardingContext) bool { return false }
			}
			cfg := c.config()
			if tc.cfg != nil {
				tc.cfg(&cfg)
			}
			a := c.join("10.0.0.1", cfg, hang.handler(on))
			a.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
			b := c.join("10.0.0.2", cfg, hang.handler(on))
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
			p := pair{c, a, b, hang}
			mend := tc.do(p)
			tc.by(p).awaitFault(jobtype.FaultStarvation, tc.says)
			hang.on.Store(false)
			mend()
			b.awaitSound()
			if cfg.Cron == "" {
				return
			}
			n := len(c.record.find(of(0)))
			c.awaitRuns("item 0 again", n+2, of(0))
		})
	}
}

// No instance has the label of the configuration. Then one joins that has it.
func TestLabelThatNobodyHas(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Label = "gpu"
		a := c.join("10.0.0.1", cfg, nil)
		a.awaitFault(jobtype.FaultStarvation, `no instance has the label "gpu"`)
		b := c.join("10.0.0.2", cfg, nil, job.WithLabels("gpu"))
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		a.awaitSound()
		b.leave()
		a.awaitFault(jobtype.FaultStarvation, `no instance has the label "gpu"`)
	})
}

// blockingCore logs nothing. While a test wants it, it blocks whoever logs.
type blockingCore struct {
	zapcore.Core
	on    *atomic.Bool
	block chan struct{}
}

func (c blockingCore) Enabled(zapcore.Level) bool { return true }

func (c blockingCore) With([]zapcore.Field) zapcore.Core { return c }

func (c blockingCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return ce.AddCore(e, c)
}

func (c blockingCore) Write(zapcore.Entry, []zapcore.Field) error {
	if c.on.Load() {
		<-c.block
	}
	return nil
}

// The leader's scheduler stands still, because something that it has called does not return.
// Its own status has a fault, and so has that of an instance that watches one of its items.
func TestSchedulerThatStandsStill(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		core := blockingCore{zapcore.NewNopCore(), new(atomic.Bool), make(chan struct{})}
		a := c.join("10.0.0.1", c.config(), nil, job.WithLogger(zap.New(core)))
		a.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		b := c.join("10.0.0.2", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		core.on.Store(true)
		c.configure(func(c *job.Config) { c.Description = "new" })
		b.awaitFault(jobtype.FaultStarvation, "is there and does not begin it")
		if err := faultOf(a.Status(), jobtype.FaultStarvation); err == nil {
			t.Error("its own status does not say that it stands still")
		}
		core.on.Store(false)
		close(core.block)
		a.awaitSound()
		b.awaitSound()
		c.check()
	})
}

// A fault that comes and goes does not fill the log. A fault whose reason ends during a
// shutdown is over, and after the shutdown all are.
func TestFaultsThatComeAndGo(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		logged, logs := newLogbook()
		slow := func(ctx context.Context, sc job.ShardingContext) error {
			return elapse(context.WithoutCancel(ctx), 7*time.Second) // over six ticks
		}
		m := c.join("10.0.0.1", c.config(), slow, logs)
		c.pass(time.Minute)
		before := logged.Len()
		c.pass(10 * time.Minute)
		if n := logged.Len() - before; n > 15 {
			t.Errorf("%d lines in ten minutes: %q", n, logged.messages()[before:])
		}
		refusal := s.Inject(memory.Fault{Method: memory.Commit, Before: coord.ErrDenied})
		m.awaitFault(jobtype.FaultStore, "")
		left := make(chan struct{})
		go func() { defer close(left); m.leave() }()
		c.pass(20 * time.Second)
		refusal.Remove()
		<-left
		if err := m.Status().Fault(); err != nil {
			t.Errorf("it has ended, and is at fault: %v", err)
		}
	})
}
