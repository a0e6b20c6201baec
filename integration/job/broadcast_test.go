package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// broadcast returns the configuration of a broadcast job.
func (c *cluster) broadcast() job.Config {
	return job.Config{Name: string(c.job), Cron: "* * * * * ?", Broadcast: true}
}

// awaitSpread waits until instances have their items: hosts are in the order of the items, with
// "" for one that has no owner.
func (c *cluster) awaitSpread(hosts ...string) {
	c.Helper()
	c.await(fmt.Sprintf("items of %q", hosts), func(s *jobtree.State) bool {
		for i := range max(len(hosts), len(s.Items)) {
			want := ""
			if i < len(hosts) {
				want = hosts[i]
			}
			got := ""
			if owner := s.Item(i).Owner; owner != nil {
				got = jobtree.InstanceIP(owner.ID)
			}
			if got != want {
				return false
			}
		}
		return true
	})
}

// checkBroadcast fails if an instance has begun a tick twice.
func (c *cluster) checkBroadcast() {
	c.Helper()
	c.check()
	begun := map[string]bool{}
	for _, e := range c.record.find(ofSchedule) {
		key := e.ip + " " + e.ScheduledTime.String()
		if begun[key] {
			c.Errorf("%s has begun %s twice\n%s", e.ip, e.ScheduledTime, c.record)
		}
		begun[key] = true
	}
}

func ofSchedule(e execution) bool {
	return e.Source == job.SourceNormal || e.Source == job.SourceMisfire
}

func on(ip string) func(execution) bool { return func(e execution) bool { return e.ip == ip } }

// Every instance runs the ticks, with an item of its own, which it keeps when others come and go.
func TestBroadcast(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		first := c.join("10.0.0.1", c.broadcast(), nil)
		c.awaitSpread("10.0.0.1")
		second := c.join("10.0.0.2", c.broadcast(), nil)
		c.awaitSpread("10.0.0.1", "10.0.0.2")
		c.join("10.0.0.3", c.broadcast(), nil)
		c.awaitSpread("10.0.0.1", "10.0.0.2", "10.0.0.3")
		begun := time.Now()
		for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
			c.awaitRuns("ticks of three", 2, func(e execution) bool { return e.ip == ip && e.Total == 3 && e.ScheduledTime.After(begun) })
		}
		second.leave()
		c.awaitSpread("10.0.0.1", "", "10.0.0.3")
		c.awaitRuns("ticks of two", 2, func(e execution) bool { return e.ip == "10.0.0.3" && e.Total == 2 && e.Item == 2 })
		first.leave() // the leader
		c.awaitSpread("", "", "10.0.0.3")
		c.join("10.0.0.4", c.broadcast(), nil)
		c.awaitSpread("10.0.0.4", "", "10.0.0.3")
		last := c.awaitRuns("ticks", 2, on("10.0.0.4"))
		if got := last[0]; got.Item != 0 || got.ItemParameter != "" {
			t.Errorf("%+v", got)
		}
		c.checkBroadcast()
	})
}

// Each tick is run once by every instance that is there when it comes, and by nobody else: not
// by one that comes just afterwards, and not for one that has ended before.
func TestBroadcastMembersAreFixedWhenTheTickComes(t *testing.T) {
	for name, o := range map[string]struct {
		monitor job.Toggle
		misfire job.Toggle
		opts    []job.Option
	}{
		"as usual":     {job.On, job.On, nil},
		"no misfire":   {job.On, job.Off, nil},
		"early claims": {job.On, job.On, []job.Option{job.WithEarlyClaims(2 * time.Second)}},
		"no records":   {job.Off, job.On, nil},
		"neither":      {job.Off, job.Off, nil},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.broadcast()
			cfg.Cron, cfg.TimeZone, cfg.MonitorExecution, cfg.Misfire = "0 * * * * ?", "UTC", o.monitor, o.misfire
			runsOf := func(ip string) (minutes []int) {
				for _, e := range c.record.find(on(ip)) {
					minutes = append(minutes, e.ScheduledTime.Minute())
				}
				return minutes
			}
			minute := func(n int, after time.Duration) {
				t.Helper()
				c.pass(time.Until(time.Date(2000, 1, 1, 0, n, 0, 0, time.UTC).Add(after)))
			}
			minute(0, 10*time.Second)
			c.join("10.0.0.1", cfg, nil, o.opts...)
			second := c.join("10.0.0.2", cfg, nil, o.opts...)
			minute(1, 300*time.Millisecond)
			c.join("10.0.0.3", cfg, nil, o.opts...) // the tick of minute 1 would be on time
			minute(2, 30*time.Second)
			second.crash()
			minute(2, 55*time.Second)
			c.join("10.0.0.4", cfg, nil, o.opts...) // gets the item of the one that is gone
			minute(3, 30*time.Second)
			last := c.join("10.0.0.5", cfg, nil, o.opts...)
			c.pass(time.Second)
			last.leave()
			minute(5, 30*time.Second)
			for ip, want := range map[string][]int{
				"10.0.0.1": {1, 2, 3, 4, 5}, "10.0.0.2": {1, 2}, "10.0.0.3": {2, 3, 4, 5}, "10.0.0.4": {3, 4, 5}, "10.0.0.5": nil,
			} {
				got := runsOf(ip)
				if ip == "10.0.0.2" {
					got = got[:min(len(got), 2)] // it does not know that it has crashed
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: minutes %v, want %v\n%s", ip, got, want, c.record)
				}
			}
			if o.monitor == job.On {
				c.checkBroadcast()
			}
		})
	}
}

// An instance makes up for its own ticks, and goes on after a new session.
func TestBroadcastMisfireAndSessions(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.join("10.0.0.1", c.broadcast(), longItem(2500*time.Millisecond))
		c.timeout = 4 * time.Second
		cut := c.join("10.0.0.2", c.broadcast(), nil)
		c.awaitSpread("10.0.0.1", "10.0.0.2")
		c.awaitRuns("made up", 2, func(e execution) bool { return e.ip == "10.0.0.1" && e.Source == job.SourceMisfire })
		c.awaitRuns("beside it", 3, on("10.0.0.2"))
		before := cut.Status().InstanceID
		cut.link.Cut()
		c.await("it is gone", func(s *jobtree.State) bool { return len(s.Instances) == 1 })
		cut.link.Heal()
		c.awaitRuns("as a new instance", 2, func(e execution) bool { return e.ip == "10.0.0.2" && e.InstanceID != before })
		c.checkBroadcast()
	})
}

// After all have ended, those that come begin anew: nobody makes up for another instance.
func TestBroadcastRestartOfEverything(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.broadcast()
		cfg.ErrorHandler = "IGNORE"
		moves := func(ctx context.Context, _ job.ShardingContext) error {
			if at, err := job.Cursor(ctx); at != "" || err != nil {
				return errors.Join(fmt.Errorf("it has the cursor %q", at), err)
			}
			return nil
		}
		leaves := func(ctx context.Context, _ job.ShardingContext) error {
			return errors.Join(job.MoveCursor(ctx, "here"), errors.New("failed"))
		}
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			c.join(ip, cfg, leaves)
		}
		c.awaitSpread("10.0.0.1", "10.0.0.2")
		c.awaitRuns("a tick", 1, on("10.0.0.2"))
		for _, m := range c.members {
			m.leave()
		}
		left := time.Now()
		c.pass(3 * time.Second)
		came := time.Now()
		for _, ip := range []string{"10.0.0.3", "10.0.0.4"} {
			c.join(ip, cfg, moves)
		}
		c.awaitSpread("10.0.0.3", "10.0.0.4")
		for _, ip := range []string{"10.0.0.3", "10.0.0.4"} {
			first := c.awaitRuns("a tick", 1, func(e execution) bool { return e.ip == ip && !e.end.IsZero() })[0]
			if first.Source != job.SourceNormal || first.ScheduledTime.Before(came.Add(-time.Second)) || first.err != nil {
				t.Errorf("left at %s, and %s has begun with %+v", left, ip, first)
			}
		}
		if _, err := c.ops().Retry(t.Context(), ops.RetryRequest{}); !errors.Is(err, ops.ErrNothingFailed) {
			t.Errorf("retry of what others have failed in: %v", err)
		}
		c.checkBroadcast()
	})
}

// Requests are for the items that have an instance, and end if it does.
func TestBroadcastRequests(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		cfg := c.broadcast()
		cfg.Cron = ""
		c.timeout = lasting
		first := c.join("10.0.0.1", cfg, nil)
		c.awaitSpread("10.0.0.1")
		c.crashes()
		second := c.join("10.0.0.2", cfg, c.work)
		c.awaitSpread("10.0.0.1", "10.0.0.2")
		all, err := first.Trigger(t.Context(), job.TriggerRequest{})
		if err != nil || !slices.Equal(all.Items, []int{0, 1}) {
			t.Fatalf("all: %+v, %v", all, err)
		}
		c.awaitRuns("it begins", 1, on("10.0.0.2"))
		behind := c.trigger(first, 1, 7)
		if _, err := first.Trigger(t.Context(), job.TriggerRequest{Instances: []string{"nobody"}}); !errors.Is(err, job.ErrNobodyRunsIt) {
			t.Errorf("of an instance that is not there: %v", err)
		}
		second.crash()
		if got, want := resultsOf(c.wait(all)), []job.Outcome{job.OutcomeOK, job.OutcomeCut}; !slices.Equal(got, want) {
			t.Errorf("its instance ends in the middle: %v, want %v", got, want)
		}
		for _, r := range c.wait(behind) {
			if r.Outcome != job.OutcomeSkipped || r.Error != "no instance has the item" {
				t.Errorf("its instance ends before it begins, or is not there: %+v", r)
			}
		}
		close(c.release)
		c.timeout = lasting
		c.join("10.0.0.3", cfg, nil)
		c.awaitSpread("10.0.0.1", "10.0.0.3")
		c.settled()
		if runs := c.record.find(on("10.0.0.3")); len(runs) > 0 {
			t.Errorf("a new instance runs %+v", runs)
		}
	})
}

// A job may become a broadcast job and back. No tick begins twice on an instance, and none that
// came before is made up.
func TestBroadcastComesAndGoes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Failover = false
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			c.join(ip, cfg, nil)
		}
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.awaitRuns("ticks", 3, anything)
		c.configure(func(cfg *job.Config) { cfg.Broadcast = true })
		c.awaitSpread("10.0.0.1", "10.0.0.2")
		c.await("it is in force", func(s *jobtree.State) bool { return s.Schedule.Broadcast })
		begun := time.Now()
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			c.awaitRuns("ticks", 3, func(e execution) bool { return e.ip == ip && e.Total == 2 && e.ScheduledTime.After(begun) })
		}
		ticks := map[string]int{}
		for _, e := range c.record.find(func(e execution) bool { return ofSchedule(e) && e.ScheduledTime.After(begun) }) {
			if ticks[e.ip+e.ScheduledTime.String()]++; ticks[e.ip+e.ScheduledTime.String()] > 1 || e.Item == 2 {
				t.Errorf("as a broadcast job: %+v\n%s", e, c.record)
			}
		}
		c.configure(func(cfg *job.Config) { cfg.Broadcast = false })
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		back := time.Now()
		again := c.awaitRuns("item 2", 2, func(e execution) bool { return e.Item == 2 && e.begin.After(back) })
		if again[0].ScheduledTime.Before(back.Add(-2 * time.Second)) {
			t.Errorf("item 2 makes up %+v", again[0])
		}
		c.check()
	})
}

// What is wrong with a broadcast job is a fault, and items without an instance are not.
func TestBroadcastFaults(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.broadcast()
		cfg.ShardingTotalCount = 2
		m := c.join("10.0.0.1", cfg, nil)
		c.join("10.0.0.2", cfg, nil)
		c.awaitSpread("10.0.0.1", "10.0.0.2")
		if err := c.ops().Pin(t.Context(), 0, ops.PinRequest{Label: "gpu"}); !errors.Is(err, ops.ErrBroadcast) {
			t.Errorf("pin: %v", err)
		}
		third := c.join("10.0.0.3", cfg, nil)
		m.awaitFault(jobtype.FaultConfig, "3 instances are to run it, and it has 2 items")
		third.awaitFault(jobtype.FaultConfig, "3 instances are to run it, and it has 2 items")
		c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 9 })
		c.awaitSpread("10.0.0.1", "10.0.0.2", "10.0.0.3")
		m.awaitSound()
		c.commit(coord.Put(c.job.Pin(1), jobtree.EncodePin(jobtree.PinDocument{Label: "gpu", Strict: true})))
		m.awaitFault(jobtype.FaultConfig, "items 1 are pinned")
		c.commit(coord.DeleteTree(c.job.Pin(1)))
		m.awaitFaultOver(jobtype.FaultConfig)

		c.must(c.ops().DisableServers(t.Context(), "10.0.0.2"))
		c.awaitSpread("10.0.0.1", "", "10.0.0.3")
		c.commit(coord.Put(c.job.ItemDisabled(1), nil))
		c.must(c.ops().EnableServers(t.Context(), "10.0.0.2"))
		c.awaitSpread("10.0.0.1", "", "10.0.0.3", "10.0.0.2") // a disabled item would be of no use
		c.commit(coord.Put(c.job.ItemDisabled(3), nil))
		c.await("it is skipped", func(s *jobtree.State) bool {
			return s.Item(3).Fired.Run.After(time.Now().Add(-2*time.Second)) && s.Item(3).Running == nil
		})
		last := time.Now()
		c.awaitRuns("others go on", 2, func(e execution) bool { return e.ip == "10.0.0.3" && e.begin.After(last) })
		if ran := c.record.find(func(e execution) bool { return e.ip == "10.0.0.2" && e.begin.After(last) }); len(ran) > 0 {
			t.Errorf("a disabled item runs: %+v", ran)
		}

		const jvm = "10.0.0.9@-@1234"
		reg, _ := c.store.dial(t, c.namespace, c.timeout)
		defer closeRegistry(t, reg)
		if _, err := reg.Commit(t.Context(), coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), []byte("ENABLED"))); err != nil {
			t.Fatal(err)
		}
		m.awaitFault(jobtype.FaultConfig, "JVM member "+jvm)
		c.checkBroadcast()
	})
}

// Items that have no instance are no fault, however long.
func TestBroadcastIsSound(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.broadcast()
		cfg.Cron = "0 * * * * ?"
		c.pass(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 10*time.Second)))
		m := c.join("10.0.0.1", cfg, nil)
		other := c.join("10.0.0.2", cfg, nil)
		third := c.join("10.0.0.3", cfg, nil)
		c.awaitSpread("10.0.0.1", "10.0.0.2", "10.0.0.3")
		third.leave()
		c.pass(time.Hour + time.Second)
		for _, m := range []*member{m, other} {
			if s := m.Status(); len(s.Faults) > 0 || len(s.Waiting) > 0 {
				t.Errorf("%+v", s)
			}
			if n := len(c.record.find(on(m.ip))); n != 60 {
				t.Errorf("%s: %d runs in an hour", m.ip, n)
			}
		}
		if n := len(c.state().Items); n != 3 {
			t.Errorf("%d items are in the tree", n)
		}
	})
}

// A tick costs two commits for each instance; to join costs one and one of the leader, and so
// does leaving.
func TestBroadcastCosts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.broadcast()
		cfg.Cron, cfg.ReconcileInterval = "0 * * * * ?", -1
		c.pass(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 10*time.Second)))
		var all []*counting
		join := func(ip string) *member {
			m := c.dial(ip)
			reg := &counting{Registry: m.reg}
			m.reg, all = reg, append(all, reg)
			c.mustSchedule(m, cfg, nil)
			c.pass(time.Second)
			return m
		}
		costs := func(what string, want ...int) {
			t.Helper()
			for n, reg := range all {
				if commits, _ := reg.take(); len(commits) != want[n] {
					t.Errorf("%s: instance %d: %d commits, want %d: %v", what, n, len(commits), want[n], commits)
				}
			}
		}
		join("10.0.0.1")
		costs("the first one", 1)
		join("10.0.0.2")
		costs("a join", 1, 1)
		third := join("10.0.0.3")
		costs("a join", 1, 0, 1)
		c.pass(time.Minute)
		costs("a tick", 2, 2, 2)
		third.leave()
		c.pass(time.Second)
		costs("it leaves", 1, 0, 1)
	})
}

// An instance that should have an item and gets none says so.
func TestBroadcastInstanceWithoutAnItem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.broadcast()
		cfg.ShardingTotalCount = 2
		first := c.join("10.0.0.1", cfg, nil)
		c.awaitSpread("10.0.0.1")
		c.commit(coord.Put(c.job.ItemDisabled(1), nil))
		second := c.join("10.0.0.2", cfg, nil)
		second.awaitFault(jobtype.FaultStarvation, "this instance has no item")
		if s := first.Status(); len(s.Faults) > 0 {
			t.Errorf("%+v", s)
		}
		c.commit(coord.DeleteTree(c.job.ItemDisabled(1)))
		c.awaitSpread("10.0.0.1", "10.0.0.2")
		second.awaitFaultOver(jobtype.FaultStarvation)
	})
}
