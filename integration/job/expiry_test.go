package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// awaitRemoved waits until members have stopped because the job was removed, and checks that nothing
// is left of it but the note.
func (c *cluster) awaitRemoved(members ...*member) {
	c.Helper()
	for _, m := range members {
		m.awaitDone()
		if err := m.Err(); !errors.Is(err, job.ErrJobRemoved) {
			c.Errorf("%s stopped with %v", m.ip, err)
		}
	}
	c.sync()
	if left := c.dump(); left != "" {
		c.Errorf("there is left\n%s", left)
	}
	list, err := ops.New(c.admin).Removed(c.Context())
	if err != nil || len(list) != 1 || list[0].Name != "settle" || !list[0].Expired {
		c.Errorf("removed are %+v, %v", list, err)
	}
}

// A job of three ticks is run by two processes, three times, and is gone. It stays gone.
func TestJobThatExpiresAndGoes(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Expiry = job.Expiry{Ticks: 3, Remove: true}
		cfg.Revision = 2
		a := c.join("10.0.0.1", cfg, nil)
		b := c.join("10.0.0.2", cfg, nil)
		c.awaitRemoved(a, b)
		if n := len(c.record.find(anything)); n != 9 {
			t.Errorf("%d executions\n%s", n, c.record)
		}
		c.check()
		if err := c.dial("10.0.0.3").schedule(t.Context(), cfg, nil); !errors.Is(err, job.ErrJobRemoved) || !strings.Contains(err.Error(), "had expired") || !strings.Contains(err.Error(), "above 2") {
			t.Errorf("started again: %v", err)
		}
	})
}

// After its end a job begins no tick, and that is no fault. It runs for requests. When the end
// is moved, it goes on, and makes nothing up.
func TestJobThatExpires(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.pass(300 * time.Millisecond)
		end := time.Now().Truncate(time.Second).Add(3 * time.Second)
		cfg := c.config()
		cfg.Expiry.At = end
		a, b := c.join("10.0.0.1", cfg, nil), c.join("10.0.0.2", cfg, nil)
		if s := a.Status(); s.Expired || s.NextTick.IsZero() {
			t.Errorf("at first %+v", s)
		}
		c.awaitRuns("until the end", 3, func(e execution) bool { return e.ScheduledTime.Equal(end) })
		for _, m := range []*member{a, b} {
			m.awaitStatus("it has expired", func(s job.Status) bool { return s.Expired && s.NextTick.IsZero() && s.LastTick.Equal(end) })
		}
		c.pass(2 * time.Minute)
		if late := c.record.find(after(end)); len(late) > 0 {
			t.Errorf("after the end\n%s", c.record)
		}
		for _, m := range []*member{a, b} {
			if err := m.Status().Fault(); err != nil {
				t.Errorf("%s: %v", m.ip, err)
			}
		}
		request := c.trigger(a)
		if results, err := request.Wait(t.Context()); err != nil || len(results) != 3 || results[2].Outcome != job.OutcomeOK {
			t.Errorf("triggered: %+v, %v", results, err)
		}
		if _, err := c.ops().Backfill(t.Context(), ops.BackfillRequest{From: end.Add(time.Second), To: time.Now()}); !errors.Is(err, ops.ErrTicks) {
			t.Errorf("backfill after the end: %v", err)
		}
		backfill, err := c.ops().Backfill(t.Context(), ops.BackfillRequest{From: end, To: time.Now()})
		if err != nil || len(backfill.Ticks) != 1 {
			t.Errorf("backfill: %+v, %v", backfill, err)
		}
		c.pass(time.Second)

		c.join("10.0.0.3", cfg, nil) // who comes later begins nothing either
		c.pass(10 * time.Second)
		moved := time.Now()
		c.configure(func(cfg *job.Config) { cfg.Expiry.At = moved.Add(time.Hour).Truncate(time.Second) })
		c.awaitRuns("it goes on", 3, after(moved))
		a.awaitStatus("it has not expired", func(s job.Status) bool { return !s.Expired && !s.NextTick.IsZero() })
		if made := c.record.find(func(e execution) bool { return e.Source == job.SourceMisfire }); len(made) > 0 {
			t.Errorf("made up\n%s", c.record)
		}
		c.check()
	})
}

// What was missed before the end is made up after it, and what was cut short is run again. Only
// then the job goes.
func TestWhatExpiryWaitsFor(t *testing.T) {
	expires := func(c *cluster, ticks int) job.Config {
		cfg := c.config()
		cfg.Expiry = job.Expiry{Ticks: ticks, Remove: true}
		return cfg
	}
	remains := func(c *cluster, m *member, d time.Duration) {
		c.Helper()
		c.pass(d)
		select {
		case <-m.Done():
			c.Fatalf("it has gone: %v", m.Err())
		default:
		}
	}
	runInVirtualTime(t, "a run that is late", func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", expires(c, 4), func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				return elapse(ctx, 10*time.Second)
			}
			return nil
		})
		remains(c, m, 18*time.Second)
		c.awaitRemoved(m)
		if runs := c.record.find(of(1)); len(runs) != 2 || runs[1].Source != job.SourceMisfire || runs[1].err != nil {
			t.Errorf("item 1\n%s", c.record)
		}
	})
	runInVirtualTime(t, "a run of another instance", func(t *testing.T, c *cluster, _ *memory.Store) {
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				return elapse(ctx, 7*time.Second)
			}
			return nil
		}
		a, b := c.join("10.0.0.1", expires(c, 1), work), c.join("10.0.0.2", expires(c, 1), work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		c.awaitRemoved(a, b)
		if last := c.record.find(of(1)); len(last) != 1 || last[0].err != nil || time.Since(last[0].end) > time.Second {
			t.Errorf("it goes at %s\n%s", time.Now(), c.record)
		}
	})
	runInVirtualTime(t, "a process that was away", func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", expires(c, 10), nil)
		c.awaitRuns("two ticks", 6, anything)
		m.leave()
		c.pass(time.Minute)
		before := len(c.record.find(anything))
		again := c.join("10.0.0.2", expires(c, 10), nil)
		c.awaitRemoved(again)
		if made := c.record.find(anything)[before:]; len(made) != 3 || made[0].Source != job.SourceMisfire {
			t.Errorf("made up\n%s", c.record)
		}
		c.check()
	})
	runInVirtualTime(t, "a crash", func(t *testing.T, c *cluster, _ *memory.Store) {
		a := c.join("10.0.0.1", expires(c, 1), untilDone)
		b := c.join("10.0.0.2", expires(c, 1), nil)
		c.awaitRuns("all", 3, anything)
		remains(c, b, 5*time.Second)
		a.crash()
		c.awaitRemoved(b)
		if again := c.record.find(func(e execution) bool { return e.Source == job.SourceFailover }); len(again) != 2 {
			t.Errorf("run again\n%s", c.record)
		}
	})
	runInVirtualTime(t, "a pause", func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", expires(c, 5), nil)
		c.awaitRuns("two ticks", 6, anything)
		c.pause(true)
		remains(c, m, time.Minute)
		c.resume(nil)
		c.awaitRemoved(m)
		if n := len(c.record.find(anything)); n != 9 {
			t.Errorf("%d executions\n%s", n, c.record)
		}
	})
	runInVirtualTime(t, "a request", func(t *testing.T, c *cluster, _ *memory.Store) {
		finish := make(chan struct{})
		m := c.join("10.0.0.1", expires(c, 1), func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceManual {
				select {
				case <-finish:
				case <-ctx.Done():
				}
			}
			return nil
		})
		request := c.trigger(m, 2)
		c.awaitRuns("all but a tick of item 2", 3, anything)
		remains(c, m, time.Minute)
		close(finish)
		remains(c, m, time.Minute) // its result is kept for those who wait
		if results, err := request.Wait(t.Context()); err != nil || results[0].Outcome != job.OutcomeOK {
			t.Errorf("%+v, %v", results, err)
		}
		c.pass(time.Hour)
		c.awaitRemoved(m)
	})
	runInVirtualTime(t, "a JVM member", func(t *testing.T, c *cluster, _ *memory.Store) {
		const jvm = "10.0.0.9@-@1234"
		m := c.join("10.0.0.1", expires(c, 3), nil)
		c.commit(coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), []byte("ENABLED")))
		m.awaitFault(jobtype.FaultConfig, "JVM member "+jvm)
		remains(c, m, time.Minute)
		c.commit(coord.DeleteTree(c.job.Instance(jvm)))
		c.awaitRemoved(m)
	})
}

// A job whose expression has no tick any more goes, too, if its configuration says so. If not,
// that is a fault.
func TestExpressionThatHasNoTickAnyMore(t *testing.T) {
	for _, remove := range []bool{true, false} {
		runInVirtualTime(t, fmt.Sprint(remove), func(t *testing.T, c *cluster, _ *memory.Store) {
			at := time.Now().Add(10 * time.Second).Truncate(time.Second)
			cfg := c.config()
			cfg.Cron, cfg.TimeZone = at.UTC().Format("5 4 15 2 1 ? 2006"), "UTC"
			cfg.Expiry.Remove = remove
			m := c.join("10.0.0.1", cfg, nil)
			c.awaitRuns("once", 3, anything)
			if remove {
				c.awaitRemoved(m)
				if took := time.Since(at); took > time.Second {
					t.Errorf("it goes %v after its last tick", took)
				}
				return
			}
			m.awaitFault(jobtype.FaultConfig, "no tick to come")
			if m.Status().Expired {
				t.Error("it has expired")
			}
		})
	}
}

// A one-off job goes at its time.
func TestOneOffJobThatExpires(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		cfg.Expiry = job.Expiry{At: time.Now().Add(2 * time.Hour).Truncate(time.Second), Remove: true}
		m := c.join("10.0.0.1", cfg, nil)
		c.pass(time.Hour)
		m.awaitSound()
		c.awaitTime(cfg.Expiry.At)
		c.pass(time.Second)
		c.awaitRemoved(m)
	})
}

// The count of ticks goes on when a calendar changes, and begins anew with another expression.
func TestWhatBeginsTheCountAnew(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.putCalendar("c", nothingOut)
		cfg := c.calendarConfig("c")
		cfg.Expiry.Ticks = 10
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitRuns("some", 6, anything)
		first := c.state().Schedule
		// The next three ticks are left out: so the tenth comes three seconds later.
		from := time.Now().Truncate(time.Second).Add(time.Second)
		c.putCalendar("c", leavingOut(t, from, from.Add(3*time.Second)))
		c.await("the calendar is in force", func(s *jobtree.State) bool { return s.Schedule.Calendars != first.Calendars })
		if s := c.state().Schedule; !s.Counted.Equal(first.Counted) || !s.Until.Equal(first.Until.Add(3*time.Second)) {
			t.Errorf("before: %+v\nnow: %+v", first.ScheduleDocument, s.ScheduleDocument)
		}
		m.awaitStatus("it has expired", func(s job.Status) bool { return s.Expired })
		c.pass(10 * time.Second)
		if n := len(c.record.find(anything)); n != 30 {
			t.Errorf("%d executions\n%s", n, c.record)
		}
		changed := time.Now()
		c.configure(func(cfg *job.Config) { cfg.Cron = "0/2 * * * * ?" })
		c.pass(time.Minute)
		if n := len(c.record.find(after(changed))); n != 30 {
			t.Errorf("%d more executions\n%s", n, c.record)
		}
	})
}

// A job with many items goes in parts. If its leader dies halfway, the next one goes on; if somebody
// moves the end instead, it goes on as a job.
func TestWideJobThatExpires(t *testing.T) {
	const items = 300
	wide := func(c *cluster) job.Config {
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Threads = items, items
		cfg.Expiry = job.Expiry{Ticks: 1, Remove: true}
		return cfg
	}
	halfway := func(s *jobtree.State) bool {
		n := 0
		for i := range s.Items {
			if s.Items[i].Exists {
				n++
			}
		}
		return n > 0 && n < items-100
	}
	// held keeps the last hundred items from being removed.
	held := func(s *memory.Store) *memory.Injection {
		return s.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpDeleteTree, Path: "settle/sharding/2??", Before: coord.ErrUnavailable})
	}
	runInVirtualTime(t, "its leader dies", func(t *testing.T, c *cluster, s *memory.Store) {
		held := held(s)
		a := c.join("10.0.0.1", wide(c), nil)
		b := c.join("10.0.0.2", wide(c), nil)
		c.await("it is halfway", halfway)
		a.crash()
		c.pass(time.Minute)
		b.awaitFault(jobtype.FaultStore, "expire")
		held.Remove()
		c.awaitRemoved(b)
		for i := range items {
			if n := len(c.record.find(of(i))); n != 1 {
				t.Errorf("item %d has run %d times", i, n)
			}
		}
	})
	runInVirtualTime(t, "its end is moved", func(t *testing.T, c *cluster, s *memory.Store) {
		held(s)
		a := c.join("10.0.0.1", wide(c), nil)
		c.await("it is halfway", halfway)
		moved := time.Now()
		c.configure(func(cfg *job.Config) { cfg.Expiry = job.Expiry{} })
		c.awaitRuns("it goes on", items, after(moved.Add(5*time.Second)))
		a.awaitSound()
	})
}

// The store refuses to remove the job. That is a fault, and the job goes on for requests, also
// of items whose process has ended.
func TestRemovalThatIsRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Expiry = job.Expiry{Ticks: 2, Remove: true}
		m := c.dial("10.0.0.1")
		reg := &refusing{Registry: m.reg}
		reg.refuses.Store(&refusal{writes(c.job.Removal()), func(i int, op coord.Op) error {
			return &coord.ConflictError{Index: i, Op: op, Reason: coord.ErrDenied}
		}})
		m.reg = reg
		c.mustSchedule(m, cfg, nil)
		other := c.join("10.0.0.2", cfg, nil)
		c.awaitRuns("all", 6, anything)
		m.awaitFault(jobtype.FaultTree, "expire")
		if tried := reg.refused.Load(); tried > 20 {
			t.Errorf("tried %d times", tried)
		}
		other.leave()
		request := c.trigger(m)
		if results, err := request.Wait(t.Context()); err != nil || results[1].Outcome != job.OutcomeOK {
			t.Errorf("triggered: %+v, %v", results, err)
		}
		reg.refuses.Store(nil)
		c.pass(time.Hour) // the result of the request is kept
		c.awaitRemoved(m)
	})
}
