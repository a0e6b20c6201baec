package job_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// changeling is a strategy that assigns in equal parts until a test wants something else.
type changeling struct {
	mood  atomic.Pointer[func(strategy.Request) []string]
	asked atomic.Int64
}

func (m *changeling) Assign(r strategy.Request) []string {
	m.asked.Add(1)
	if mood := m.mood.Load(); mood != nil {
		return (*mood)(r)
	}
	return dealFairly(r)
}

func (m *changeling) turn(mood func(strategy.Request) []string) { m.mood.Store(&mood) }

func dealFairly(r strategy.Request) []string {
	owners := make([]string, r.Total)
	for i := range owners {
		owners[i] = r.Instances[i%len(r.Instances)].ID
	}
	return owners
}

// withChangeling returns the configuration of a job with such a strategy.
func (c *cluster) withChangeling() (job.Config, *changeling, job.Option) {
	cfg, m := c.config(), &changeling{}
	cfg.Strategy = "CHANGELING"
	return cfg, m, job.WithStrategy("CHANGELING", m)
}

// If a strategy never returns, the leader has a fault. The strategy is not asked again, ticks
// run on time, and a shutdown does not wait for it.
func TestStrategyThatNeverReturns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		release := make(chan struct{})
		defer close(release)
		cfg, s, known := c.withChangeling()
		a := c.join("10.0.0.1", cfg, nil, known)
		b := c.join("10.0.0.2", cfg, nil, known)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		s.turn(func(strategy.Request) []string { <-release; return nil })
		asked := s.asked.Load()
		c.commit(coord.Put(c.job.Necessary(), nil))
		a.awaitFault(jobtype.FaultStrategy, "has not answered within 5s")
		since := time.Now()
		c.pass(time.Minute)
		if n := len(c.record.find(func(e execution) bool { return e.begin.After(since) })); n < 3*59 {
			t.Errorf("%d executions in a minute", n)
		}
		if n := s.asked.Load() - asked; n > 2 { // each of two instances may ask once
			t.Errorf("it was asked %d times", n)
		}
		for _, m := range []*member{a, b} {
			begin := time.Now()
			m.leave()
			if took := time.Since(begin); took > time.Second {
				t.Errorf("shutdown took %v", took)
			}
		}
		c.check()
	})
}

// The configuration names another strategy while the first one has not returned. The new one
// is asked, and the fault is over.
func TestStrategyThatNeverReturnsIsReplaced(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		release := make(chan struct{})
		defer close(release)
		cfg, s, known := c.withChangeling()
		s.turn(func(strategy.Request) []string { <-release; return nil })
		m := c.join("10.0.0.1", cfg, nil, known)
		m.awaitFault(jobtype.FaultStrategy, "CHANGELING has not answered")
		c.configure(func(cfg *job.Config) { cfg.Strategy = "" })
		m.awaitSound()
		c.awaitRuns("all", 3, anything)
		c.check()
	})
}

// A slow strategy: its answer is used when it comes, and ticks do not wait for it.
func TestSlowStrategy(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		over := make(chan struct{})
		defer close(over) // so that a leader returns from the strategy when the test ends
		cfg, s, known := c.withChangeling()
		s.turn(func(r strategy.Request) []string {
			select {
			case <-time.After(20 * time.Second):
			case <-over:
			}
			return dealFairly(r)
		})
		a := c.join("10.0.0.1", cfg, nil, known)
		a.awaitFault(jobtype.FaultStrategy, "has not answered within 5s")
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(time.Minute)
		a.awaitSound()
		since, asked := time.Now(), s.asked.Load()
		c.pass(10 * time.Minute)
		if n := len(c.record.find(func(e execution) bool { return e.begin.After(since) })); n < 3*599 {
			t.Errorf("%d executions in ten minutes", n)
		}
		if n := s.asked.Load() - asked; n > 0 {
			t.Errorf("it was asked %d times about the same", n)
		}
		c.join("10.0.0.2", cfg, nil, known)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.pass(time.Minute)
		a.awaitSound()
		c.check()
	})
}

// A strategy that gives another answer each time is a fault and is not followed for ever, whether it returns a new
// slice or changes the one that it has returned. The fault does not end if it gives the same answer twice now and then.
func TestStrategyWithASliceOfItsOwn(t *testing.T) {
	for _, reuses := range []bool{false, true} {
		runInVirtualTime(t, fmt.Sprint(reuses), func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg, s, known := c.withChangeling()
			cfg.Cron = rarely
			var own [3]string
			s.turn(func(r strategy.Request) []string {
				n := int(s.asked.Load())
				if n > 20_000 { // so that the test ends
					return dealFairly(r)
				}
				if n > 100 {
					n = n * 2 / 3 // of three in a row, two are the same
				}
				answer := own[:]
				if !reuses {
					answer = make([]string, len(own))
				}
				for i := range answer {
					answer[i] = r.Instances[(i+n)%len(r.Instances)].ID
				}
				return answer
			})
			m, counts := c.counted("10.0.0.1")
			logged, logs := newLogbook()
			c.mustSchedule(m, cfg, nil, known, logs)
			c.join("10.0.0.2", cfg, nil, known)
			m.awaitFault(jobtype.FaultStrategy, "another answer each time")
			counts.take()
			c.pass(10 * time.Minute)
			if commits, others := counts.take(); len(commits)+len(others) > 100 {
				t.Errorf("%d commits and %d other requests in ten minutes", len(commits), len(others))
			}
			if n := logged.of(atFault, jobtype.FaultStrategy); n != 1 {
				t.Errorf("%d lines say that it is at fault", n)
			}
		})
	}
}

// Only the leader has the fault of a strategy: once it is not the leader any more, it has none.
func TestStrategyFaultEndsWithLeadership(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg, s, known := c.withChangeling()
		a := c.join("10.0.0.1", cfg, nil, known)
		a.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		b := c.join("10.0.0.2", cfg, nil, known)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		s.turn(func(strategy.Request) []string { return nil })
		c.commit(coord.Put(c.job.Necessary(), nil))
		a.awaitFault(jobtype.FaultStrategy, "")
		c.commit(coord.Put(c.job.Server("10.0.0.1"), []byte("DISABLED")))
		b.awaitFault(jobtype.FaultStrategy, "")
		a.awaitFaultOver(jobtype.FaultStrategy)
	})
}
