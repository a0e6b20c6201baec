package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// pause pauses the job, and returns since when it is.
func (c *cluster) pause(makeUp bool) time.Time {
	c.Helper()
	p, err := c.ops().Pause(c.Context(), ops.PauseRequest{Why: "test", MakeUp: makeUp})
	if err != nil {
		c.Fatalf("pause: %v", err)
	}
	return p.Since
}

// resume ends the pause; makeUp is nil for what the pause says.
func (c *cluster) resume(makeUp *bool) {
	c.Helper()
	if err := c.ops().Resume(c.Context(), ops.ResumeRequest{MakeUp: makeUp}); err != nil {
		c.Fatalf("resume: %v", err)
	}
}

// elapseTicks waits until some ticks of every second have come.
func (c *cluster) elapseTicks(n int) {
	c.Helper()
	c.must(elapse(c.Context(), time.Duration(n)*time.Second))
}

// No tick begins during a pause, whatever happens to the processes. After it the ticks of the
// pause are made up once, or not, as the pause says, or who ends it, whatever misfire says.
func TestPause(t *testing.T) {
	for name, tc := range map[string]struct {
		makeUp  bool
		misfire job.Toggle
		isOther bool // who ends the pause says makeUp, and the pause has said otherwise
	}{
		"made up, misfire on": {true, job.On, false}, "made up, misfire off": {true, job.Off, false},
		"skipped, misfire on": {false, job.On, false}, "skipped, misfire off": {false, job.Off, false},
		"made up after all, misfire on": {true, job.On, true}, "made up after all, misfire off": {true, job.Off, true},
		"skipped after all, misfire on": {false, job.On, true}, "skipped after all, misfire off": {false, job.Off, true},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Misfire = tc.misfire
			m := c.join("10.0.0.1", cfg, nil)
			c.awaitRuns("the first ticks", 6, anything)
			since := c.pause(tc.makeUp != tc.isOther)
			c.sync()
			paused := c.state().Schedule.Modified // a tick that began before is none of the pause
			p := m.awaitStatus("the pause", func(s job.Status) bool { return !s.Paused.Since.IsZero() })
			if p.Paused.By != "anna" || p.Paused.Why != "test" || p.Paused.MakeUp != (tc.makeUp != tc.isOther) || !p.NextTick.IsZero() {
				t.Errorf("status %+v", p)
			}
			// Nobody is there for a while.
			m.leave()
			c.elapseTicks(2)
			c.join("10.0.0.2", cfg, nil)
			c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
			c.elapseTicks(2)
			var makeUp *bool
			if tc.isOther {
				makeUp = &tc.makeUp
			}
			c.resume(makeUp)
			// The end of the pause is when its operator looked at the clock: a tick that comes while that
			// is written is on time.
			c.sync()
			resumed := c.state().Schedule.Since
			if tc.makeUp {
				resumed = c.state().Schedule.MakeUpTo
			}
			c.awaitRuns("ticks after it", 9, func(e execution) bool { return e.ScheduledTime.After(resumed) && e.Source == job.SourceNormal })
			c.check()
			made := 0
			for _, e := range c.record.find(func(e execution) bool {
				return e.Token > paused && e.ScheduledTime.After(since) && !e.ScheduledTime.After(resumed)
			}) {
				made++
				if e.begin.Before(resumed.Add(-time.Second)) {
					t.Errorf("begun during the pause: %+v", e)
				}
			}
			if tc.makeUp && made != 3 || !tc.makeUp && made > 0 {
				t.Errorf("%d executions for ticks of the pause\n%s", made, c.record)
			}
		})
	}
}

// Executions that run come to their end in a pause, and are run again after a crash. Triggers
// run, too.
func TestRunsDuringAPause(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		cfg := c.cluster.config()
		crashes := c.join("10.0.0.1", cfg, c.work)
		c.awaitRuns("all items", 3, anything)
		c.pause(false)
		c.timeout = lasting
		other := c.join("10.0.0.2", cfg, c.work)
		crashes.crash()
		c.awaitRuns("they are taken over", 3, reruns)
		close(c.release)
		c.settled()
		c.trigger(other, 1)
		c.awaitRuns("a triggered item", 1, func(e execution) bool { return e.Source == job.SourceManual && !e.end.IsZero() })
		c.elapseTicks(2)
		if n := len(c.record.find(anything)); n != 7 {
			t.Errorf("%d executions, want 7\n%s", n, c.record)
		}
		c.check()
	})
}

// A pause is one commit, and so is its end. A change of the schedule does not end it.
func TestPauseStays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		c.join("10.0.0.1", cfg, nil)
		c.await("the schedule is in force", func(s *jobtree.State) bool { return s.Schedule != nil })
		c.pause(true)
		if _, err := c.ops().Pause(t.Context(), ops.PauseRequest{}); !errors.Is(err, ops.ErrPaused) {
			t.Errorf("a second pause: %v", err)
		}
		c.configure(func(cfg *job.Config) { cfg.Cron = "* * * * * ?" })
		c.await("the new schedule is in force", func(s *jobtree.State) bool { return s.Schedule.Cron == "* * * * * ?" })
		c.elapseTicks(2)
		if ran := c.record.find(anything); len(ran) > 0 {
			t.Errorf("has run: %+v", ran)
		}
		c.resume(nil)
		if err := c.ops().Resume(t.Context(), ops.ResumeRequest{}); !errors.Is(err, ops.ErrNotPaused) {
			t.Errorf("a second end: %v", err)
		}
		c.awaitRuns("it ticks", 3, anything)
	})
}

// A JVM member goes on during a pause, unless its server is disabled with it.
func TestPauseWithJVMMembers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		const jvm = "10.0.0.9@-@1234"
		reg, _ := c.store.dial(t, c.namespace, c.timeout)
		defer closeRegistry(t, reg)
		if _, err := reg.Commit(t.Context(), coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), []byte("ENABLED"))); err != nil {
			t.Fatal(err)
		}
		c.await("it is assigned items", func(s *jobtree.State) bool { return len(owners(s, 3)["10.0.0.9"]) > 0 })
		p, err := c.ops().Pause(t.Context(), ops.PauseRequest{DisableJVM: true})
		if err != nil || len(p.JVM) > 0 || len(p.Disabled) != 1 || p.Disabled[0] != "10.0.0.9" {
			t.Fatalf("%+v, %v", p, err)
		}
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.resume(nil)
		c.await("it has items again", func(s *jobtree.State) bool { return len(owners(s, 3)["10.0.0.9"]) > 0 })
		p, err = c.ops().Pause(t.Context(), ops.PauseRequest{})
		if err != nil || len(p.JVM) != 1 || p.JVM[0] != jvm || len(p.Disabled) > 0 {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
