package job_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ledger has the calls of the once-listeners of all instances, and checks them.
type ledger struct {
	*minutes
	mu      sync.Mutex
	results map[time.Time][]job.TickResult
	// What the calls do besides; nil is nothing. Set before the instances join.
	onStarted   func(context.Context, job.Tick) error
	onCompleted func(context.Context, job.TickResult) error
}

func newLedger() *ledger {
	return &ledger{minutes: newMinutes(), results: map[time.Time][]job.TickResult{}}
}

// option gives an instance the listener ONCE.
func (l *ledger) option(times job.OnceTimes) job.Option {
	return job.WithOnceListener("ONCE", job.OnceListenerFuncs{
		OnStarted: func(ctx context.Context, tick job.Tick) error {
			l.add("started %s %v again %v", tick.ScheduledTime.UTC().Format(time.TimeOnly), tick.Items, tick.Again)
			if l.onStarted == nil {
				return nil
			}
			err := l.onStarted(ctx, tick)
			l.add("begun %s", tick.ScheduledTime.UTC().Format(time.TimeOnly))
			return err
		},
		OnCompleted: func(ctx context.Context, r job.TickResult) error {
			l.mu.Lock()
			l.results[r.ScheduledTime.UTC()] = append(l.results[r.ScheduledTime.UTC()], r)
			l.mu.Unlock()
			l.add("completed %s again %v: %v %v", r.ScheduledTime.UTC().Format(time.TimeOnly), r.Again, r.Outcomes, r.Err)
			if l.onCompleted == nil {
				return nil
			}
			return l.onCompleted(ctx, r)
		},
	}, times)
}

// completed returns the results of a tick.
func (l *ledger) completed(tick time.Time) []job.TickResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.results[tick.UTC()])
}

// awaitCompleted waits for the first result with so many members, or any if n is 0.
func (l *ledger) awaitCompleted(t *testing.T, n int) (r job.TickResult) {
	t.Helper()
	l.await(t, fmt.Sprintf("a tick of %d members is completed", n), func([]string) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, results := range l.results {
			if n == 0 || len(results[0].Items) == n {
				r = results[0]
				return true
			}
		}
		return false
	})
	return r
}

// once checks that no tick was begun or completed twice.
func (l *ledger) once(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, line := range l.all() {
		what, rest, _ := strings.Cut(line, " ")
		tick, _, _ := strings.Cut(rest, " ")
		if key := what + tick; seen[key] {
			t.Errorf("twice: %s\n%s", key, strings.Join(l.all(), "\n"))
		} else {
			seen[key] = true
		}
	}
}

// onceConfig is that of a job with the listener ONCE, which fires every other second.
func (c *cluster) onceConfig(items int) job.Config {
	cfg := c.config()
	cfg.Cron, cfg.ShardingTotalCount, cfg.Listeners, cfg.ErrorHandler = "0/2 * * * * ?", items, []string{"ONCE"}, "IGNORE"
	cfg.MisfireTolerance = 10 * time.Second
	return cfg
}

// pauseAfter ends the ticks of a job, so that nothing comes in between.
func (c *cluster) lastTick() {
	c.Helper()
	c.configure(func(cfg *job.Config) { cfg.Cron = rarely })
}

// Around each tick, over three instances: Started before the first handler, Completed when all
// have ended, with how they have. A disabled item is no member. Nothing is left in the tree.
func TestOnceListeners(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		l := newLedger()
		// What is wrong with a run is so if its item is a member of its tick. On a busy machine it may run still
		// when the tick comes.
		type run struct {
			item  int
			tick  time.Time
			wrong string
		}
		var mu sync.Mutex
		var wrong []run
		members := map[time.Time][]int{}
		work := func(_ context.Context, sc job.ShardingContext) error {
			mu.Lock()
			defer mu.Unlock()
			tick := sc.ScheduledTime.UTC()
			if !has("begun " + tick.Format(time.TimeOnly))(l.all()) {
				wrong = append(wrong, run{sc.Item, tick, "it began before Started had returned"})
			}
			if len(l.completed(tick)) > 0 {
				wrong = append(wrong, run{sc.Item, tick, "it runs after Completed"})
			}
			if sc.Item == 7 {
				return errors.New("no disk")
			}
			return nil
		}
		l.onStarted = func(_ context.Context, tick job.Tick) error {
			mu.Lock()
			defer mu.Unlock()
			members[tick.ScheduledTime.UTC()] = tick.Items
			return errors.New("does not matter")
		}
		cfg := c.onceConfig(100)
		cfg.Cron, cfg.Threads = rarely, 100 // no member waits for a thread until a later tick comes: it would be skipped
		for n := range 3 {
			c.join(fmt.Sprintf("10.0.0.%d", n+1), cfg, work, l.option(job.OnceTimes{}))
		}
		c.ownedBy("10.0.0.1", 100, 34)
		c.ownedBy("10.0.0.3", 100, 33)
		c.commit(coord.Put(c.job.ItemDisabled(3), nil))
		c.configure(func(cfg *job.Config) { cfg.Cron = "0/6 * * * * ?" })
		r := l.awaitCompleted(t, 0)
		c.lastTick()
		if len(r.Items) != 99 || slices.Contains(r.Items, 3) || len(r.Outcomes) != 99 || r.Err != nil || r.Again {
			t.Errorf("%d members, %d outcomes: %+v", len(r.Items), len(r.Outcomes), r)
		}
		for i, outcome := range r.Outcomes {
			if want := map[bool]job.Outcome{false: job.OutcomeOK, true: job.OutcomeFailed}[i == 7]; outcome != want {
				t.Errorf("item %d: %v", i, outcome)
			}
		}
		c.await("nothing is left", func(s *jobtree.State) bool { return len(s.Guarantees) == 0 })
		mu.Lock()
		defer mu.Unlock()
		for _, r := range wrong {
			if slices.Contains(members[r.tick], r.item) {
				t.Errorf("item %d, tick %s: %s\n%s", r.item, r.tick.Format(time.TimeOnly), r.wrong, strings.Join(l.all(), "\n"))
			}
		}
		l.once(t)
		c.check()
	})
}

// An instance dies in the middle of a tick. With failover its items end elsewhere, and their
// tick is completed then; without it they are cut. Either way that happens once.
func TestOnceListenersWhenAnInstanceDies(t *testing.T) {
	for name, tc := range map[string]struct {
		failover bool
		want     job.Outcome
	}{"failover": {true, job.OutcomeOK}, "no failover": {false, job.OutcomeCut}} {
		t.Run(name, func(t *testing.T) {
			inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
				l := newLedger()
				cfg := c.onceConfig(9)
				cfg.Cron, cfg.Failover = rarely, tc.failover
				var members []*member
				for n := range 3 {
					members = append(members, c.join(fmt.Sprintf("10.0.0.%d", n+1), cfg, c.work, l.option(job.OnceTimes{})))
					c.timeout = lasting
				}
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}, "10.0.0.2": {3, 4, 5}, "10.0.0.3": {6, 7, 8}})
				c.configure(func(cfg *job.Config) { cfg.Cron = "0/2 * * * * ?" })
				all := c.awaitRuns("all items", 9, anything)
				c.lastTick()
				members[0].crash() // it leads, and it was the one to call Completed
				if tc.failover {
					c.awaitRuns("failover", 3, reruns)
				}
				c.await("recovered", func(s *jobtree.State) bool { return len(s.Instances) == 2 && len(s.FailoverItems) == 0 })
				if done := l.completed(all[0].ScheduledTime); len(done) > 0 {
					t.Errorf("completed before all have ended: %+v", done)
				}
				close(c.release)
				r := l.awaitCompleted(t, 9)
				for i, outcome := range r.Outcomes {
					if want := map[bool]job.Outcome{true: tc.want, false: job.OutcomeOK}[i < 3]; outcome != want {
						t.Errorf("item %d: %v, want %v", i, outcome, want)
					}
				}
				if len(r.Outcomes) != 9 || r.Err != nil || r.InstanceID == members[0].Status().InstanceID {
					t.Errorf("%+v", r)
				}
				c.await("nothing is left", func(s *jobtree.State) bool { return len(s.Guarantees) == 0 })
				l.once(t)
				c.check()
			})
		})
	}
}

// The caller of Started or of Completed dies in the middle of the call: another one calls again,
// and says so.
func TestOnceListenersWhenTheCallerDies(t *testing.T) {
	for _, call := range []string{"started", "completed"} {
		t.Run(call, func(t *testing.T) {
			inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
				l := newLedger()
				callers := make(chan string, 10)
				hang := func(ctx context.Context, tick job.Tick) error {
					callers <- tick.InstanceID
					if tick.Again {
						return nil
					}
					<-ctx.Done()
					return ctx.Err()
				}
				if call == "started" {
					l.onStarted = hang
				} else {
					l.onCompleted = func(ctx context.Context, r job.TickResult) error { return hang(ctx, r.Tick) }
				}
				close(c.release)
				cfg := c.onceConfig(6)
				cfg.Cron = rarely
				members := []*member{c.join("10.0.0.1", cfg, c.work, l.option(job.OnceTimes{})), c.join("10.0.0.2", cfg, c.work, l.option(job.OnceTimes{}))}
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}, "10.0.0.2": {3, 4, 5}})
				c.configure(func(cfg *job.Config) { cfg.Cron = "0/2 * * * * ?" })
				id := <-callers
				c.lastTick()
				for _, m := range members {
					if m.Status().InstanceID == id {
						m.crash()
					}
				}
				l.await(t, "called again", func(lines []string) bool {
					return slices.ContainsFunc(lines, func(line string) bool {
						return strings.HasPrefix(line, call) && strings.Contains(line, "again true")
					})
				})
				l.awaitCompleted(t, 6)
				c.await("nothing is left", func(s *jobtree.State) bool { return len(s.Guarantees) == 0 })
				c.check()
			})
		})
	}
}

// All instances end in the middle of a tick, and others come up: the state in the tree is enough.
func TestOnceListenersAfterARestartOfAll(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		l := newLedger()
		cfg := c.onceConfig(4)
		cfg.Cron = rarely
		a := c.join("10.0.0.1", cfg, c.work, l.option(job.OnceTimes{}))
		c.timeout = lasting
		b := c.join("10.0.0.2", cfg, c.work, l.option(job.OnceTimes{}))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1}, "10.0.0.2": {2, 3}})
		c.configure(func(cfg *job.Config) { cfg.Cron = "0/2 * * * * ?" })
		c.awaitRuns("all items", 4, anything)
		c.lastTick()
		a.crash()
		_ = b.stop() // it hands over what it runs
		close(c.release)
		c.join("10.0.0.3", cfg, c.work, l.option(job.OnceTimes{}))
		r := l.awaitCompleted(t, 4)
		if want := map[int]job.Outcome{0: job.OutcomeOK, 1: job.OutcomeOK, 2: job.OutcomeOK, 3: job.OutcomeOK}; !maps.Equal(r.Outcomes, want) || r.Err != nil {
			t.Errorf("%+v", r)
		}
		c.await("nothing is left", func(s *jobtree.State) bool { return len(s.Guarantees) == 0 })
		l.once(t)
	})
}

// A shutdown waits for a call, so that nobody calls again.
func TestShutdownWaitsForOnceListeners(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		l := newLedger()
		entered, release := make(chan struct{}), make(chan struct{})
		enter := sync.OnceFunc(func() { close(entered) }) // a machine that stands still may let another tick come
		l.onCompleted = func(context.Context, job.TickResult) error {
			enter()
			<-release
			return nil
		}
		cfg := c.onceConfig(2)
		m := c.join("10.0.0.1", cfg, nil, l.option(job.OnceTimes{}))
		<-entered
		left := make(chan error, 1)
		go func() { left <- m.Shutdown(t.Context()) }()
		c.await("it leaves", func(s *jobtree.State) bool { return len(s.Instances) == 0 })
		c.lastTick()
		select {
		case err := <-left:
			t.Errorf("it did not wait: %v", err)
		default:
		}
		close(release)
		c.ok(<-left)
		if s := c.state(); len(s.Guarantees) != 0 {
			t.Errorf("left: %+v", s.Guarantees[0])
		}
		l.once(t)
	})
}

// Started takes too long: the handlers begin without it, and the error names the caller. Members
// that do not end in time are named, with their instances; what they do later is told to nobody.
func TestOnceListenersTakeTheirTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		l := newLedger()
		l.onStarted = func(ctx context.Context, tick job.Tick) error {
			<-ctx.Done()
			<-time.After(30 * time.Second) // it does not watch its context
			return nil
		}
		release := make(chan struct{})
		cfg := c.onceConfig(2)
		cfg.Cron, cfg.ErrorHandler, cfg.Misfire = "0 0/10 * * * ?", "LOG", job.Off
		m := c.join("10.0.0.1", cfg, func(_ context.Context, sc job.ShardingContext) error {
			l.add("item %d", sc.Item)
			if sc.Item == 1 {
				<-release
			}
			return nil
		}, l.errorsTo(), l.option(job.OnceTimes{Call: 10 * time.Second, Tick: 3 * time.Minute}))
		id := m.Status().InstanceID
		for len(l.all()) == 0 {
			c.pass(time.Second)
		}
		l.await(t, "an item begins", has("item"))
		tick := l.all()[0][len("started ") : len("started ")+8]
		begun, err := time.Parse(time.TimeOnly, tick)
		c.must(err)
		now := time.Now().UTC()
		if late := now.Sub(time.Date(now.Year(), now.Month(), now.Day(), begun.Hour(), begun.Minute(), begun.Second(), 0, time.UTC)); late < 10*time.Second || late > 12*time.Second {
			t.Errorf("the handlers began %v after the tick", late)
		}
		l.await(t, "the error", has(`error of -1: job: listener "ONCE": Started on `+id+": job: listener did not return in time: the call is left behind"))
		c.pass(4 * time.Minute)
		r := l.awaitCompleted(t, 2)
		var missing *job.MissingError
		if !errors.As(r.Err, &missing) || !maps.Equal(missing.Instances, map[int]string{1: id}) || missing.After != 3*time.Minute || !maps.Equal(r.Outcomes, map[int]job.Outcome{0: job.OutcomeOK}) {
			t.Errorf("%+v", r)
		}
		if want := "job: 1 items have not ended 3m0s after the start of their tick: 1 on " + id; r.Err.Error() != want {
			t.Errorf("%q, want %q", r.Err, want)
		}
		close(release)
		c.pass(time.Second)
		if s := c.state(); len(s.Guarantees) != 0 || s.Item(1).Running != nil {
			t.Errorf("left: %+v", s.Guarantees)
		}
		c.pass(time.Minute)
		l.once(t)
	})
}

// A once-listener needs records. Where it is taken out of the configuration in the middle of a tick,
// that is forgotten, and nothing waits for it; put in again, it is told of later ticks.
func TestOnceListenersComeAndGo(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		l := newLedger()
		l.onStarted = func(context.Context, job.Tick) error { return nil }
		cfg := c.onceConfig(2)
		cfg.MonitorExecution, cfg.Failover = job.Off, false
		if err := c.dial("10.0.0.9").schedule(t.Context(), cfg, nil, l.option(job.OnceTimes{})); err == nil || !strings.Contains(err.Error(), `jobListenerTypes "ONCE": it is told of whole ticks, and needs monitorExecution`) {
			t.Errorf("without records: %v", err)
		}
		cfg = c.onceConfig(2)
		c.join("10.0.0.1", cfg, c.work, l.option(job.OnceTimes{}))
		c.awaitRuns("a tick", 2, anything)
		c.configure(func(cfg *job.Config) { cfg.Listeners = nil })
		c.await("it is forgotten", func(s *jobtree.State) bool { return len(s.Guarantees) == 0 })
		close(c.release)
		n := len(l.all())
		c.awaitRuns("later ticks", 6, anything)
		if later := l.all(); len(later) > n || has("completed")(later) {
			t.Errorf("told of\n%s", strings.Join(later, "\n"))
		}
		c.configure(func(cfg *job.Config) { cfg.Listeners = []string{"ONCE"} })
		l.awaitCompleted(t, 0)
		l.once(t)
		c.check()
	})
}

// An item that still runs when a tick comes is no member. What it makes up then is a tick of its
// own, if nobody was told of that yet, and otherwise belongs to none.
func TestMakeUpsAndOnceListeners(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		l := newLedger()
		cfg := c.onceConfig(3)
		cfg.Cron = "0 * * * * ?"
		long := true
		var mu sync.Mutex
		c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			mu.Lock()
			isLong := long && sc.Item == 1
			if isLong {
				long = false
			}
			mu.Unlock()
			if isLong { // over the next tick
				return elapse(ctx, 90*time.Second)
			}
			return nil
		}, l.option(job.OnceTimes{}))
		c.pass(4*time.Minute + 30*time.Second)
		mu.Lock()
		defer mu.Unlock()
		var members []string
		for _, line := range l.all() {
			if strings.HasPrefix(line, "started") {
				members = append(members, line[len("started 00:00:00 "):])
			}
		}
		if want := []string{"[0 1 2] again false", "[0 2] again false", "[0 1 2] again false", "[0 1 2] again false"}; !slices.Equal(members, want) {
			t.Errorf("members %q, want %q\n%s\n%s", members, want, strings.Join(l.all(), "\n"), c.record)
		}
		if made := c.record.find(func(e execution) bool { return e.Source == job.SourceMisfire }); len(made) != 1 || made[0].Item != 1 {
			t.Errorf("made up: %v\n%s", made, c.record)
		}
		l.once(t)
	})
}

// A tick is killed: a member that has not begun was not cut short, it is skipped.
func TestOnceListenersAndAKillOfATick(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		l := newLedger()
		cfg := c.onceConfig(2)
		cfg.Threads = 1
		first := make(chan struct{}, 1)
		first <- struct{}{}
		c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			select {
			case <-first:
				<-ctx.Done()
			default:
			}
			return context.Cause(ctx)
		}, l.option(job.OnceTimes{}))
		begun := c.awaitRuns("one of two items", 1, anything)[0]
		if killed := c.kill(ops.KillRequest{Tick: begun.ScheduledTime}); len(killed) != 2 {
			t.Errorf("killed %+v", killed)
		}
		r := l.awaitCompleted(t, 2)
		if want := map[int]job.Outcome{begun.Item: job.OutcomeKilled, 1 - begun.Item: job.OutcomeSkipped}; !maps.Equal(r.Outcomes, want) {
			t.Errorf("outcomes %v, want %v", r.Outcomes, want)
		}
	})
}

// What a tick costs does not grow with its items: one commit fixes the members, one says that
// Started has ended, one that Completed is called, and one removes the rest. What the claims and
// the ends of the items cost is as without a listener.
func TestOnceListenersCostFourCommitsATick(t *testing.T) {
	for name, tc := range map[string]struct {
		listeners []string
		extra     int
	}{"without": {nil, 0}, "with": {[]string{"ONCE"}, 4}} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.onceConfig(100)
			cfg.Cron, cfg.Threads, cfg.Listeners = "0 * * * * ?", 100, tc.listeners
			var regs []*counting
			for n := range 3 {
				m := c.dial(fmt.Sprintf("10.0.0.%d", n+1))
				reg := &counting{Registry: m.reg}
				m.reg, regs = reg, append(regs, reg)
				c.mustSchedule(m, cfg, nil, newLedger().option(job.OnceTimes{}))
			}
			c.ownedBy("10.0.0.3", 100, 33)
			c.pass(90 * time.Second)
			for _, reg := range regs {
				reg.take()
			}
			c.pass(time.Minute)
			ofItems, ofTick := 0, 0
			for _, reg := range regs {
				commits, _ := reg.take()
				for _, ops := range commits {
					if slices.ContainsFunc(ops, func(op coord.Op) bool {
						return op.Kind.Writes() && strings.HasPrefix(op.Path, c.job.Sharding())
					}) {
						ofItems++
					} else {
						ofTick++
					}
				}
			}
			// An instance claims up to 30 items in a commit, and each has a few more. The other
			// two may try in vain to be the first in the tick.
			if ofItems != 12 || ofTick < tc.extra || ofTick > tc.extra+tc.extra/2 {
				t.Errorf("%d commits of items and %d others, want 12 and %d", ofItems, ofTick, tc.extra)
			}
		})
	}
}
