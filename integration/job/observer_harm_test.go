package job_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	observerPanicked = "an observer panicked"
	observerIsSlow   = "an observer was not told everything, because it is slow"
)

// Those that block for ever harm nobody: the job goes on, others are told, and Shutdown
// returns after a second, however many they are. Nothing is left once it returns: the bubble sees to that.
func TestObserverThatBlocks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		release := make(chan struct{})
		var calls atomic.Int64
		blocks := job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventClaimed {
				calls.Add(1)
				<-release
			}
		})
		blocksAtOnce := job.WithObserver(func(job.Event) { <-release })
		var w witness
		logged, logs := newLogbook()
		m := c.join("10.0.0.1", c.config(), nil, blocks, blocksAtOnce, w.option(), logs)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(time.Minute)
		synctest.Wait()
		runs := len(c.record.find(anything))
		if finished := len(w.of(jobtype.EventFinished)); runs < 3*58 || finished != runs {
			t.Errorf("%d executions, and the other observer was told of %d", runs, finished)
		}
		begin := time.Now()
		m.leave()
		if took := time.Since(begin); took > 1100*time.Millisecond {
			t.Errorf("Shutdown took %v", took)
		}
		if lines := logged.says(observerIsSlow); len(lines) != 2 || lines[0]["events"].(int64) < int64(runs)-10 {
			t.Errorf("the log says %v", lines)
		}
		if events := w.all(); calls.Load() != 1 || len(w.of(jobtype.EventLeft)) != 1 {
			t.Errorf("it was called %d times, the other was told %d events", calls.Load(), len(events))
		}
		close(release)
		synctest.Wait()
		if n := calls.Load(); n != 1 {
			t.Errorf("after the end it was called %d times", n)
		}
	})
}

// One that panics, or ends its goroutine, is told the next event all the same, and so are
// others. The log says of panics once a minute how many there were.
func TestObserverThatFails(t *testing.T) {
	for name, tc := range map[string]struct {
		fail  func()
		lines int
	}{
		"panic":  {func() { panic("no") }, 2},
		"goexit": {runtime.Goexit, 0},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			var calls atomic.Int64
			fails := job.WithObserver(func(e job.Event) {
				if e.Kind == jobtype.EventClaimed {
					calls.Add(1)
					tc.fail()
				}
			})
			var w witness
			logged, logs := newLogbook()
			m := c.join("10.0.0.1", c.config(), nil, fails, w.option(), logs)
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			c.pass(90 * time.Second)
			m.leave()
			claims := len(w.of(jobtype.EventClaimed))
			if runs := len(c.record.find(anything)); runs < 3*85 || claims != runs || calls.Load() != int64(runs) {
				t.Errorf("%d executions; it was called %d times, the other %d times", runs, calls.Load(), claims)
			}
			lines := logged.says(observerPanicked)
			if len(lines) != tc.lines {
				t.Fatalf("the log says %v", lines)
			}
			if tc.lines > 0 && (lines[0]["panic"] != "no" || lines[1]["times"].(int64) < 100) {
				t.Errorf("the log says %v", lines)
			}
		})
	}
}

// What the functions of an observer ask of the scheduler is answered: none of its locks is
// held then.
func TestObserverThatAsksTheScheduler(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		self := make(chan *job.Scheduler, 1)
		var scheduler *job.Scheduler // of the observer's goroutine
		left := make(chan error, 1)
		m := c.join("10.0.0.1", cfg, nil, job.WithObserver(func(e job.Event) {
			switch e.Kind {
			case jobtype.EventJoined:
				scheduler = <-self
				if status := scheduler.Status(); status.InstanceID != e.InstanceID {
					t.Errorf("the status is %+v", status)
				}
				scheduler.Changed()
			case jobtype.EventItems:
				if len(e.Gained) == 0 {
					return
				}
				if _, err := scheduler.Trigger(t.Context(), job.TriggerRequest{Items: []int{1}}); err != nil {
					t.Error(err)
				}
			case jobtype.EventFinished:
				go func() { left <- scheduler.Shutdown(context.Background()) }()
			}
		}))
		self <- m.Scheduler
		c.awaitRuns("item 1", 1, of(1))
		c.ok(<-left)
	})
}

// One that waits for the end of the scheduler that tells it holds it up for a second.
func TestObserverThatShutsDown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		self := make(chan *job.Scheduler, 1)
		left := make(chan error, 1)
		m := c.join("10.0.0.1", c.config(), nil, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventJoined {
				s := <-self
				left <- s.Shutdown(context.Background())
			}
		}))
		begin := time.Now()
		self <- m.Scheduler
		c.ok(<-left)
		if took := time.Since(begin); took > 1100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// One that is more than 10,000 events behind misses the newest, and is told how many: each
// event is told, or counted.
func TestObserverThatIsFarBehind(t *testing.T) {
	const (
		most  = 10_000
		items = 1000
		times = 4 // that they run in a round
	)
	for name, pauses := range map[string]bool{"and catches up at once": false, "and falls behind again": true} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount, cfg.Threads, cfg.MonitorExecution, cfg.Failover = "", items, items, job.Off, false
			first, second := make(chan struct{}), make(chan struct{})
			var slow witness
			started := 0
			observer := func(e job.Event) {
				if e.Kind == jobtype.EventJoined {
					<-first
				}
				slow.add(e)
				if e.Kind != jobtype.EventStarted {
					return
				}
				if started++; started == 200 && pauses {
					<-second
				}
			}
			m := c.join("10.0.0.1", cfg, nil, job.WithObserver(observer))
			c.ownedBy("10.0.0.1", items, items)
			rounds := 0
			round := func() {
				t.Helper()
				rounds++
				for range times {
					c.trigger(m)
					c.pass(time.Second)
				}
				synctest.Wait()
			}
			round()
			close(first)
			synctest.Wait()
			if pauses {
				round()
			}
			close(second)
			all := slow.all()
			if all[len(all)-1].Kind != jobtype.EventMissed {
				t.Errorf("the last that it is told is %+v", all[len(all)-1])
			}
			var at []int
			missed := 0
			for i, event := range all {
				if e := event; e.Kind == jobtype.EventMissed {
					at = append(at, i)
					missed += e.Count
					if e.JobName != "settle" || e.Time.IsZero() || e.Count < 1000 {
						t.Errorf("missed: %+v", e)
					}
				}
			}
			if len(at) != rounds {
				t.Fatalf("%d times it is told that it has missed some, want %d", len(at), rounds)
			}
			// Connected, joined, configured, leads, items; of each request that it is made; and of each execution that
			// it is claimed, started and finished.
			if got, want := len(all)-len(at)+missed, 5+rounds*times*(1+items*3); got != want {
				t.Errorf("%d were told or missed, of %d", got, want)
			}
			// It is told of between what came before and what came after.
			if at[0] < most || at[0] > most+2 {
				t.Errorf("it was told as event %d", at[0])
			}
			m.leave()
			if all = slow.all(); all[len(all)-1].Kind != jobtype.EventLeft {
				t.Error("it was not told the end")
			}
		})
	}
}

// A handler that does not return while its scheduler ends has nobody left to tell.
func TestObserverOfAHandlerThatDoesNotReturn(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "", 1
		release := make(chan struct{})
		var w witness
		m := c.join("10.0.0.1", cfg, func(context.Context, job.ShardingContext) error {
			<-release
			return errors.New("too late")
		}, w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}})
		c.trigger(m)
		c.awaitRuns("it", 1, anything)
		if err := m.stop(); err == nil {
			t.Error("nothing is said of the handler")
		}
		n := len(w.all())
		close(release)
		synctest.Wait()
		c.await("it is put up for others", func(s *jobtree.State) bool { return len(s.FailoverItems) == 1 })
		if got := len(w.all()); got != n {
			t.Errorf("%d events after the end: %q", got-n, w.tale(w.all()[n:]...))
		}
	})
}
