package job_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// strategyFunc makes a strategy of a function.
type strategyFunc func(strategy.Request) []string

func (f strategyFunc) Assign(r strategy.Request) []string { return f(r) }

// counted dials a process whose requests are counted.
func (c *cluster) counted(ip string) (*member, *counting) {
	c.Helper()
	m := c.dial(ip)
	reg := &counting{Registry: m.reg}
	m.reg = reg
	return m, reg
}

func (c *cluster) mustSchedule(m *member, cfg job.Config, h job.HandlerFunc, opts ...job.Option) {
	c.Helper()
	if err := m.schedule(c.Context(), cfg, h, opts...); err != nil {
		c.Fatal(err)
	}
}

// In a rolling deployment the leader does not know the strategy of a new configuration, and
// others do. It gives leadership up, and the items go to instances that follow the change.
func TestLeaderThatRefusesTheConfiguration(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		reversed := job.WithStrategy("REVERSED", strategyFunc(func(r strategy.Request) []string {
			owners := make([]string, r.Total)
			for i := range owners {
				owners[i] = r.Instances[len(r.Instances)-1-i%len(r.Instances)].ID
			}
			return owners
		}))
		cfg := c.config()
		cfg.ShardingTotalCount = 4
		old := c.join("10.0.0.1", cfg, nil)
		old.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		c.join("10.0.0.2", cfg, nil, reversed)
		c.join("10.0.0.3", cfg, nil, reversed)
		c.await("three instances", func(s *jobtree.State) bool { return len(s.Instances) == 3 })
		c.configure(func(cfg *job.Config) { cfg.Strategy = "REVERSED" })
		old.awaitFault(jobtype.FaultConfig, "REVERSED")
		c.awaitOwners(map[string][]int{"10.0.0.2": {1, 3}, "10.0.0.3": {0, 2}})
		old.awaitStatus("it leads no more", func(s job.Status) bool { return !s.Leader })
		moved := time.Now()
		for item := range 4 {
			c.firedAt(item, moved)
		}
		c.configure(func(cfg *job.Config) { cfg.Strategy = "" })
		old.awaitSound()
		c.await("it has items again", func(s *jobtree.State) bool { return len(owners(s, 4)["10.0.0.1"]) > 0 })
		c.check()
	})
}

// While the store refuses every commit, a few requests a second are sent, and the log has one
// line about it. When the store takes commits again, everything goes on at once.
func TestStoreRefusesEveryCommitForAnHour(t *testing.T) {
	for name, refusal := range map[string]error{"denied": coord.ErrDenied, "unavailable": coord.ErrUnavailable, "in conflict": &coord.ConflictError{Reason: coord.ErrDenied}} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, s *memory.Store) {
			logged, logs := newLogbook()
			m, reg := c.counted("10.0.0.1")
			c.mustSchedule(m, c.config(), nil, logs)
			m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader && len(s.Items) == 3 && len(s.Faults) == 0 })
			c.awaitRuns("ticks", 3, anything)
			c.settled()
			refused := s.Inject(memory.Fault{Method: memory.Commit, Before: refusal})
			begun := time.Now()
			reg.take()
			lines := logged.Len()
			m.awaitStatus("a fault", func(s job.Status) bool {
				return faultOf(s, jobtype.FaultStore) != nil || faultOf(s, jobtype.FaultTree) != nil
			})
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it was said after %v", took)
			}
			m.awaitFault(jobtype.FaultStarvation, "its claim does not succeed")
			c.pass(time.Hour)
			commits, others := reg.take()
			if n := len(commits) + len(others); n > 4*3600 {
				t.Errorf("%d requests in an hour, more than 4 a second", n)
			} else {
				t.Logf("%d commits and %d other requests in an hour", len(commits), len(others))
			}
			if lines := logged.Len() - lines; lines > 3 {
				t.Errorf("%d lines in an hour: %q", lines, logged.messages())
			}
			refused.Remove()
			healed := time.Now()
			c.firedAt(0, healed)
			if took := time.Since(healed); took > 5*time.Second {
				t.Errorf("it ran again after %v", took)
			}
			m.awaitSound()
			if took := time.Since(healed); took > 45*time.Second {
				t.Errorf("the faults were over after %v", took)
			}
			if lines := logged.Len() - lines; lines > 8 {
				t.Errorf("%d lines: %q", lines, logged.messages())
			}
			c.check()
		})
	}
}

// Log lines about triggers are short, even with many items and long values.
func TestTriggersOfManyItems(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const many = 100
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.Threads = rarely, many, many
		release := make(chan struct{})
		defer close(release)
		logged, logs := newLogbook()
		m := c.join("10.0.0.1", cfg, hangs(release, everyItem), logs)
		c.ownedBy("10.0.0.1", many, many)
		request := "request: " + strings.Repeat("x", 255) + "\n"
		ask := func() {
			c.commit(coord.Put(c.job.Trigger(m.Status().InstanceID), []byte(request)))
			c.await("it is taken", func(s *jobtree.State) bool { return len(s.Triggers) == 0 })
			c.pass(time.Second)
		}
		ask()
		c.awaitRuns("all run", many, anything)
		ask() // and wait until they have ended
		before := logged.Len()
		ask()
		c.commit(coord.Set(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled)))
		c.pass(time.Second)
		ask()
		said := logged.messages()[before:]
		for _, want := range []string{"trigger not obeyed"} {
			if !slices.Contains(said, want) {
				t.Errorf("the log says %q, and not %q", said, want)
			}
		}
		for i, size := range logged.sizes()[before:] {
			if size > 250 {
				t.Errorf("%q has %d bytes", said[i], size)
			}
		}
	})
}

// What an operator has disabled does not make up for ticks of that time, even if all processes
// were restarted meanwhile.
func TestDisabledAndStartedAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = "0 * * * * ?"
		a := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(time.Minute)
		c.awaitRuns("a tick", 3, anything)
		c.settled()
		c.commit(coord.Set(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled)))
		c.pass(90 * time.Second)
		a.leave()
		c.pass(5 * time.Minute)
		c.join("10.0.0.1", cfg, nil)
		c.pass(75 * time.Second) // to the middle of a minute
		n := len(c.record.find(anything))
		c.commit(coord.Set(c.job.Server("10.0.0.1"), []byte(jobtree.Enabled)))
		enabled := time.Now()
		runs := c.awaitRuns("ticks", n+3, anything)
		for _, e := range runs[n:] {
			if e.Source != job.SourceNormal || e.ScheduledTime.Before(enabled) {
				t.Errorf("item %d: %v for %v, enabled at %v\n%s", e.Item, e.Source, e.ScheduledTime, enabled, c.record)
			}
		}
		if n != 3 {
			t.Errorf("it ran while it was disabled:\n%s", c.record)
		}
		c.check()
	})
}

// MonitorExecution is switched while the job runs: no tick is run again, and no item stops.
func TestMonitoringIsSwitched(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.TimeZone, cfg.Failover = "0 0 3 * * ?", "UTC", false
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		day := 24 * time.Hour
		for n, monitored := range []job.Toggle{job.Off, job.On, job.Off} {
			c.awaitDaily(3 * (n + 1))
			c.pass(12 * time.Hour)
			c.configure(func(cfg *job.Config) { cfg.MonitorExecution = monitored })
			c.pass(time.Hour)
			if runs := c.record.find(anything); len(runs) != 3*(n+1) {
				t.Fatalf("switching it made items run again:\n%s", c.record)
			}
			m.awaitSound()
		}
		c.pass(day)
		if runs := c.record.find(anything); len(runs) != 12 {
			t.Errorf("%d executions, want 12\n%s", len(runs), c.record)
		}
		seen := map[int][]time.Time{}
		for _, e := range c.record.find(anything) {
			if slices.Contains(seen[e.Item], e.ScheduledTime) {
				t.Errorf("item %d ran twice for %v", e.Item, e.ScheduledTime)
			}
			seen[e.Item] = append(seen[e.Item], e.ScheduledTime)
		}
	})
}

// awaitDaily waits for the executions of a daily job.
func (c *cluster) awaitDaily(n int) {
	c.Helper()
	for range 25 {
		if len(c.record.find(anything)) >= n {
			return
		}
		c.pass(time.Hour)
	}
	c.Fatalf("no more than %d executions:\n%s", len(c.record.find(anything)), c.record)
}

// A shutdown that waits for a handler does not spin: it seldom looks at the clock or asks the
// store.
func TestShutdownDoesNotSpin(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		var looks atomic.Int64
		clock := func() time.Time { looks.Add(1); return time.Now() }
		release := make(chan struct{})
		m, reg := c.counted("10.0.0.1")
		c.mustSchedule(m, c.config(), hangs(release, item0), setup.Clock(clock))
		c.awaitRuns("all items", 3, anything)
		// The other runs have just ended, and the view does not show that yet.
		m.link.(*memory.Link).Lag(50 * time.Millisecond)
		c.awaitRuns("more", 7, anything)
		reg.take()
		looks.Store(0)
		left := make(chan struct{})
		go func() { defer close(left); m.leave() }()
		c.pass(7 * time.Second)
		commits, others := reg.take()
		if n := looks.Load(); n > 2000 || len(commits)+len(others) > 50 {
			t.Errorf("in 7 s it looked at the clock %d times, and sent %d commits and %q", n, len(commits), others)
		} else {
			t.Logf("in 7 s it looked at the clock %d times, and sent %d commits and %d other requests", n, len(commits), len(others))
		}
		close(release)
		<-left
		c.check()
	})
}
