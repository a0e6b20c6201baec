package job_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ofTheJob is an observer that is told of the job, but of no executions.
func (w *witness) ofTheJob() job.Option {
	return job.WithObserver(func(e job.Event) {
		switch e.Kind {
		case jobtype.EventJoined, jobtype.EventConfigured, jobtype.EventPaused, jobtype.EventCommanded, jobtype.EventDue:
			w.add(e)
		}
	})
}

// jobTale are the events of ofTheJob in a line each; due ticks by their minutes.
func (w *witness) jobTale() (lines []string) {
	for _, e := range w.all() {
		switch e.Kind {
		case jobtype.EventJoined:
			lines = append(lines, "joined")
		case jobtype.EventConfigured:
			lines = append(lines, fmt.Sprintf("configured: %d %v %q", e.Revision, e.Version > 0, e.Changes))
		case jobtype.EventPaused:
			lines = append(lines, fmt.Sprintf("paused by %s: %s, %v, over: %v", e.Pause.By, e.Pause.Why, e.Pause.Since.IsZero(), e.Over))
		case jobtype.EventCommanded:
			lines = append(lines, fmt.Sprintf("%v over: %v, %v %s%s %v by %s", e.Command, e.Over, e.Items, e.Target.Server, e.Target.Label, e.RequestID != "", e.By))
		case jobtype.EventDue:
			lines = append(lines, fmt.Sprintf("due: %s, %d", e.ScheduledTime.Format("15:04"), e.Count))
		}
	}
	return lines
}

func (w *witness) tells(t *testing.T, want ...string) {
	t.Helper()
	if got := w.jobTale(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("told\n%q, want\n%q", got, want)
	}
}

// Each instance tells of the configuration that it goes by, of ticks, but for those of a pause, and of
// pauses: also one that comes later.
func TestObserverIsToldOfTheJob(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Revision = "0 * * * * ?", 7
		var first, second witness
		begin := time.Now()
		c.join("10.0.0.1", cfg, nil, first.ofTheJob())
		c.pass(90 * time.Second)
		c.configure(func(cfg *job.Config) { cfg.Description, cfg.Revision = "new", 8 })
		c.pass(60 * time.Second)
		c.pause(false)
		c.pass(90 * time.Second)
		late := c.join("10.0.0.2", cfg, nil, second.ofTheJob())
		c.pass(60 * time.Second)
		c.resume(nil)
		c.pass(60 * time.Second)
		const configured, paused, resumed = "configured: 8 true", "paused by anna: test, false, over: false", "paused by anna: test, false, over: true"
		first.tells(t, "joined", "configured: 7 true []", "due: 00:01, 1", configured+` ["description: \"\" → \"new\"" "props: revision: \"7\" → \"8\""]`, "due: 00:02, 1",
			paused, resumed, "due: 00:06, 1")
		second.tells(t, "joined", configured+" []", paused, resumed, "due: 00:06, 1")
		due := first.of(jobtype.EventDue)[0]
		if want := begin.Add(time.Minute); !due.ScheduledTime.Equal(want) || !due.Time.Equal(want) || due.JobName != "settle" || due.InstanceID == "" {
			t.Errorf("the first tick is told as %+v", due)
		}
		late.leave()
	})
}

// Ticks that come while a process has no session are told when it is an instance again. What it has
// told before is not told again.
func TestObserverIsToldOfTicksAfterAGap(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = "0 * * * * ?"
		var w witness
		m := c.join("10.0.0.1", cfg, nil, w.ofTheJob())
		c.pass(90 * time.Second)
		m.link.Cut()
		c.pass(4 * time.Minute)
		m.link.Heal()
		c.pass(time.Minute)
		w.tells(t, "joined", "configured: 0 true []", "due: 00:01, 1", "joined", "due: 00:05, 4", "due: 00:06, 1")
	})
}

// Ticks that would have come before the schedule was in force are none.
func TestObserverIsToldOfNoOtherTicks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = "0 0 * * * ?"
		var w witness
		c.join("10.0.0.1", cfg, nil, w.ofTheJob())
		c.pass(30*time.Minute + 30*time.Second)
		c.configure(func(cfg *job.Config) { cfg.Cron = "0 * * * * ?" })
		c.pass(time.Minute)
		if got := w.of(jobtype.EventDue); len(got) != 1 || got[0].ScheduledTime.Minute() != 31 || got[0].Count != 1 {
			t.Errorf("told %+v", got)
		}
	})
}

// One instance tells what operators ask for: the leader, or whoever it concerns.
func TestObserverIsToldOfCommands(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		var leads, runs witness
		c.join("10.0.0.1", cfg, untilDone, leads.ofTheJob())
		c.join("10.0.0.2", cfg, untilDone, runs.ofTheJob())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		o := c.ops()
		do := func(err error) {
			t.Helper()
			c.must(err)
			c.pass(2 * time.Second)
		}
		ctx := t.Context()
		r, err := o.Trigger(ctx, job.TriggerRequest{Items: []int{1}})
		do(err)
		c.kill(ops.KillRequest{Items: []int{1}})
		c.pass(time.Second)
		c.awaitOutcomes("", jobtree.OutcomeKilled, "")
		_, err = o.Retry(ctx, ops.RetryRequest{Items: []int{1}})
		do(err)
		second, err := o.Trigger(ctx, job.TriggerRequest{Items: []int{0, 1}})
		do(err)
		do(o.Cancel(ctx, second.ID))
		c.kill(ops.KillRequest{})
		c.pass(time.Second)
		do(o.DisableItems(ctx, 0, 2))
		do(o.EnableItems(ctx, 2))
		do(o.DisableServers(ctx, "10.0.0.2"))
		do(o.EnableServers(ctx, "10.0.0.2"))
		do(o.Pin(ctx, 1, ops.PinRequest{Label: "big"}))
		do(o.Unpin(ctx, 1))
		do(o.Reshard(ctx))
		leads.tells(t, "joined", "configured: 0 true []",
			"trigger over: false, [1]  true by anna",
			"retry over: false, [1]  true by anna",
			"trigger over: false, [0 1]  true by anna",
			"cancel over: false, [0 1]  true by ",
			"kill over: false, [0]  false by anna",
			"disable items over: false, [0 2]  false by ",
			"disable items over: true, [2]  false by ",
			"disable server over: false, [] 10.0.0.2 false by ",
			"disable server over: true, [] 10.0.0.2 false by ",
			"pin over: false, [1] big false by anna",
			"pin over: true, [1]  false by ",
			"reshard over: false, []  false by ",
		)
		runs.tells(t, "joined", "configured: 0 true []", "kill over: false, [1]  false by anna", "kill over: false, [1]  false by anna")
		told := leads.of(jobtype.EventCommanded)
		if told[0].RequestID != r.ID {
			t.Errorf("the trigger %s is told as %+v", r.ID, told[0])
		}
		cut := c.record.find(of(1))[0]
		if kill := runs.of(jobtype.EventCommanded)[0]; kill.Token != cut.Token || kill.InstanceID != cut.InstanceID {
			t.Errorf("the kill of %+v is told as %+v", cut, kill)
		}
	})
}

// What is asked for while nobody leads is told by the next leader.
func TestNextLeaderTellsOfCommands(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		var w witness
		m := c.join("10.0.0.1", cfg, nil, w.ofTheJob())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		m.link.Cut()
		c.pass(20 * time.Second)
		c.commit(coord.Put(c.job.ItemDisabled(1), nil))
		m.link.Heal()
		c.pass(20 * time.Second)
		w.tells(t, "joined", "configured: 0 true []", "joined", "disable items over: false, [1]  false by ")
	})
}

func TestObserverIsToldOfARemovedInstance(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		var w, whole witness
		m := c.join("10.0.0.1", c.config(), nil, w.ofTheJob(), whole.option())
		id := m.Status().InstanceID
		c.commit(coord.Delete(c.job.Instance(id)))
		m.awaitDone()
		if err := m.Err(); !errors.Is(err, job.ErrInstanceRemoved) {
			t.Errorf("it has stopped with %v", err)
		}
		if left := whole.of(jobtype.EventLeft); len(left) != 1 || !errors.Is(left[0].Err, job.ErrInstanceRemoved) {
			t.Errorf("left: %+v", left)
		}
		got := w.of(jobtype.EventCommanded)
		if len(got) != 1 || got[0].Command != jobtype.CommandRemoveInstance || got[0].Target.Instance != id || got[0].InstanceID != id {
			t.Errorf("told %+v", got)
		}
	})
}

func TestCommandsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for c := jobtype.CommandKill; c <= jobtype.CommandRemoveInstance; c++ {
		seen[c.String()] = true
	}
	if len(seen) != int(jobtype.CommandRemoveInstance) || seen["unknown"] || jobtype.Command(99).String() != "unknown" {
		t.Errorf("%v", seen)
	}
}

// The snapshot is what this process sees of the tree; after the end, what it saw last.
func TestSnapshot(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), nil)
		c.awaitRuns("some", 3, anything)
		synctest.Wait()
		if n, isThere := m.Snapshot().Get(c.job.Instance(m.Status().InstanceID)); !isThere || n.Owner == 0 {
			t.Errorf("its own node is %+v, %v", n, isThere)
		}
		m.leave()
		if _, isThere := m.Snapshot().Get(c.job.Config()); !isThere {
			t.Error("after the end there is nothing")
		}
	})
}
