package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const year = 365 * 24 * time.Hour

// The clock of a host is a year ahead for some seconds, and it is the one that sets the job up. Afterwards all items
// run, and no tick begins twice.
func TestHostThatIsAYearAheadForAWhile(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		clock := &setClock{}
		clock.set(year)
		wrong := c.join("10.0.0.1", c.config(), nil, setup.Clock(clock.now))
		c.join("10.0.0.2", c.config(), nil)
		wrong.awaitFault(jobtype.FaultClock, "ahead of")
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.pass(5 * time.Second)
		clock.set(0)
		right := time.Now()
		wrong.awaitSound()
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.pass(5 * time.Second)
		for item := range 3 {
			runs := c.record.find(func(e execution) bool { return e.Item == item && e.begin.After(right) })
			if len(runs) < 3 {
				t.Errorf("item %d ran %d times in the 5 s after the clock was right\n%s%s", item, len(runs), c.dump(), c.record)
			}
		}
		for _, e := range c.record.find(anything) {
			if early := e.ScheduledTime.Sub(e.begin); early > 10*time.Second && e.begin.After(right) {
				t.Errorf("item %d began %v before its tick", e.Item, early)
			}
		}
		c.check()
	})
}

// If an external writer writes times from the future, they are corrected.
func TestRecordsFromTheFutureAreCorrected(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.join("10.0.0.1", c.config(), nil)
		c.awaitRuns("all items", 3, anything)
		far := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		for name, write := range map[string]func(){
			"fired": func() { c.commit(coord.Put(c.job.Fired(1), jobtree.EncodeFired(far))) },
			"since": func() {
				document := c.state().Schedule.ScheduleDocument
				document.Since = far
				value, err := jobtree.EncodeSchedule(document)
				c.must(err)
				c.commit(coord.Put(c.job.Schedule(), value))
			},
		} {
			c.settled()
			write()
			n := len(c.record.find(of(1)))
			c.awaitRuns("item 1 after "+name+" of the year 9999", n+3, of(1))
		}
		c.check()
	})
}

// Without MaxTimeDiff a clock that is off by more than 5 s is a fault, but all items run.
func TestClockThatIsOffIsAFault(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		logged, logs := newLogbook()
		clock := &setClock{}
		m := c.join("10.0.0.1", c.config(), nil, logs, setup.Clock(clock.now))
		for _, offset := range []time.Duration{6 * time.Second, -6 * time.Second} {
			clock.set(offset)
			if status := m.awaitFault(jobtype.FaultClock, "the store's"); !errors.Is(status.Fault(), job.ErrClock) {
				t.Errorf("the fault is %v, want ErrClock", status.Fault())
			}
			n := len(c.record.find(anything))
			c.awaitRuns("ticks", n+9, anything)
			clock.set(4 * time.Second)
			m.awaitSound()
		}
		if begun, over := logged.of(atFault, jobtype.FaultClock), logged.of(faultOver, jobtype.FaultClock); begun != 2 || over != 2 {
			t.Errorf("%d lines say that it began, and %d that it is over, want 2 each: %q", begun, over, logged.messages())
		}
		c.check()
	})
}

// A clock is set forward or back before a rare tick. The tick is run, although timers do not
// notice that, and missed ticks are not made up for.
func TestClockIsSteppedBeforeARareTick(t *testing.T) {
	for name, test := range map[string]struct {
		before, by time.Duration // how long before the tick the clock is set, and by how much
		store      bool          // whether the store's clock is set, too
	}{
		"and the store has the right time":  {before: time.Minute, by: 50 * time.Second},
		"just before, with the store's":     {before: time.Minute, by: 50 * time.Second, store: true},
		"long before, with the store's":     {before: time.Hour, by: 50 * time.Minute, store: true},
		"back, long before, with the store": {before: time.Hour, by: -time.Hour, store: true},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, s *memory.Store) {
			clock := &setClock{}
			cfg := c.config()
			cfg.Cron, cfg.TimeZone, cfg.Misfire, cfg.ReconcileInterval = "0 0 3 * * ?", "UTC", job.Off, -1
			c.join("10.0.0.1", cfg, nil, setup.Clock(clock.now))
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			c.pass(3*time.Hour - test.before - time.Since(time.Now().Truncate(24*time.Hour)))
			clock.set(test.by)
			if test.store {
				s.SetClockOffset(test.by)
			}
			c.pass(3 * time.Hour)
			if runs := c.record.find(anything); len(runs) != 3 {
				t.Errorf("%d executions, want one of each item\n%s", len(runs), c.record)
			}
			c.check()
		})
	}
}

// An instance whose clock is off by more than MaxTimeDiff gives its items to others, and gets
// them back when its clock is right.
func TestInstanceWithAWrongClockGivesItsItemsAway(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.MaxTimeDiff = 3 * time.Second
		clock := &setClock{}
		a := c.join("10.0.0.1", cfg, nil, setup.Clock(clock.now))
		c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		clock.set(time.Minute)
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		a.awaitFault(jobtype.FaultClock, "others have its items")
		c.await("the other leads", func(s *jobtree.State) bool { return jobtree.InstanceIP(s.Leader.ID) == "10.0.0.2" })
		moved := time.Now()
		for item := range 3 {
			c.firedAt(item, moved)
		}
		clock.set(0)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		a.awaitSound()
		back := time.Now()
		for item := range 3 {
			c.firedAt(item, back)
		}
		if early := c.record.find(func(e execution) bool { return e.ScheduledTime.After(e.begin) }); len(early) > 0 {
			t.Errorf("it ran by the wrong clock:\n%s", c.record)
		}
		c.check()
	})
}

// darkClock is a registry that cannot read the store's clock.
type darkClock struct{ coord.Registry }

func (darkClock) Clock() coord.Clock {
	return coord.Clock{}.Failed(coord.ErrUnavailable)
}

// joinInTheDark starts an instance that cannot read the store's clock.
func (c *cluster) joinInTheDark(ip string, cfg job.Config, opts ...job.Option) *member {
	c.Helper()
	m := c.dial(ip)
	m.reg = darkClock{m.reg}
	c.mustSchedule(m, cfg, nil, opts...)
	return m
}

// While the store's clock is unknown, a job with MaxTimeDiff runs, and has a fault.
func TestUnknownClockRuns(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.MaxTimeDiff = 3 * time.Second
		m := c.joinInTheDark("10.0.0.1", cfg)
		c.awaitRuns("ticks", 9, anything)
		if status := m.awaitFault(jobtype.FaultClock, "MaxTimeDiff"); !errors.Is(status.Fault(), coord.ErrUnavailable) {
			t.Errorf("the fault is %v, want why it is not known", status.Fault())
		}
		c.check()
	})
}

// beganOnce checks that no tick of an item has begun twice.
func (c *cluster) beganOnce(match func(execution) bool) {
	c.Helper()
	type tick struct {
		item int
		at   int64
	}
	times := map[tick]int{}
	for _, e := range c.record.find(match) {
		times[tick{e.Item, e.ScheduledTime.UnixMilli()}]++
	}
	for tick, n := range times {
		if n > 1 {
			c.Errorf("tick %v of item %d began %d times", time.UnixMilli(tick.at), tick.item, n)
		}
	}
}

// The clock of an instance is ahead, and it cannot read the store's. It begins each tick
// once, although the leader takes the tick back, and has a fault. The others run their items.
func TestAheadInTheDark(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		leader := c.join("10.0.0.1", c.config(), nil)
		c.awaitRuns("all items", 3, anything)
		again := time.NewTicker(10 * time.Millisecond) // nothing signals that the clock is known
		defer again.Stop()
		for !leader.reg.Clock().Known() {
			<-again.C
		}
		clock := &setClock{}
		clock.set(30 * time.Second)
		m := c.joinInTheDark("10.0.0.2", c.config(), setup.Clock(clock.now))
		dark := func(e execution) bool { return e.ip == m.ip }
		m.awaitFault(jobtype.FaultClock, "taken back")
		c.awaitRuns("ticks ahead of time", 4, dark)
		others := len(c.record.find(of(0, 2)))
		c.awaitRuns("ticks of the others", others+4, of(0, 2))
		// Items are assigned although records are corrected all the time.
		c.join("10.0.0.3", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}, "10.0.0.2": {1}, "10.0.0.3": {2}})
		c.beganOnce(dark)
	})
}

// If nobody can read the store's clock, records from the future may be right and the local
// clock wrong. So nothing is corrected, and all instances have a fault.
func TestFutureInTheDark(t *testing.T) {
	for name, test := range map[string]struct {
		config func(*job.Config)
		happen func(*cluster, *setClock)
		says   string
	}{
		"the local clock is set back": {
			happen: func(_ *cluster, clock *setClock) { clock.set(-time.Hour) },
			says:   "items 0, 1, 2 are later than this host's clock",
		},
		"without records of runs": {
			config: func(cfg *job.Config) { cfg.MonitorExecution, cfg.Failover = job.Off, false },
			happen: func(_ *cluster, clock *setClock) { clock.set(-time.Hour) },
			says:   "the schedule is in force is later than this host's clock",
		},
		"a hand has written a record": {
			happen: func(c *cluster, _ *setClock) {
				c.commit(coord.Put(c.job.Fired(1), []byte("9999-01-01T00:00:00.000Z")))
			},
			says: "items 1 are later than this host's clock",
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			if test.config != nil {
				test.config(&cfg)
			}
			clock := &setClock{}
			m := c.joinInTheDark("10.0.0.1", cfg, setup.Clock(clock.now))
			c.awaitRuns("all items", 3, anything)
			c.pass(500 * time.Millisecond)
			test.happen(c, clock)
			if status := m.awaitFault(jobtype.FaultClock, test.says); !errors.Is(status.Fault(), coord.ErrUnavailable) {
				t.Errorf("the fault is %v, want why the clock is not known", status.Fault())
			}
			c.pass(time.Minute)
			m.awaitFault(jobtype.FaultClock, test.says)
		})
	}
}

// With MonitorExecution off: once a clock that was far ahead is right, all items run; and
// after a clock was set back a little, no tick begins twice.
func TestUnmonitoredClockIsSetBack(t *testing.T) {
	for _, test := range []struct{ by, waits time.Duration }{
		{time.Hour, time.Second},
		{10 * time.Second, 11 * time.Second},
	} {
		runInVirtualTime(t, test.by.String(), func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.MonitorExecution, cfg.Failover = job.Off, false
			clock := &setClock{}
			m := c.join("10.0.0.1", cfg, nil, setup.Clock(clock.now))
			c.awaitRuns("all items", 3, anything)
			clock.set(test.by)
			c.pass(3 * time.Second)
			clock.set(0)
			set := time.Now()
			m.awaitSound()
			n := len(c.record.find(anything))
			c.awaitRuns("ticks", n+3, anything)
			if waited := time.Since(set); waited > test.waits+time.Second {
				t.Errorf("nothing ran for %v, want about %v", waited, test.waits)
			}
			c.awaitRuns("ticks", n+9, anything)
			c.beganOnce(of(1))
		})
	}
}

// A pass that takes long, because the store is slow, does not look like a wrong clock.
func TestSlowStoreIsNoClockFault(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		c.timeout = 40 * time.Second
		logged, logs := newLogbook()
		c.join("10.0.0.1", c.config(), nil, logs)
		c.awaitRuns("all items", 3, anything)
		s.Inject(memory.Fault{Method: memory.Commit, Delay: 7 * time.Second})
		c.pass(time.Minute)
		if n := logged.of(atFault, jobtype.FaultClock); n > 0 {
			t.Errorf("%d lines about clocks, which are right: %q", n, logged.messages())
		}
	})
}
