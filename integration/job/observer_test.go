package job_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// witness is an observer that keeps what it is told of some kinds, in order.
type witness struct {
	mu     sync.Mutex
	events []job.Event
}

func (w *witness) add(e job.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

func (w *witness) observe(e job.Event) {
	switch e.Kind {
	case jobtype.EventConfigured, jobtype.EventPaused, jobtype.EventCommanded, jobtype.EventDue:
	default:
		w.add(e)
	}
}

func (w *witness) option() job.Option { return job.WithObserver(w.observe) }

// all are the events up to now. An observer is told in a goroutine of its own: that is
// waited for, in virtual time.
func (w *witness) all() []job.Event {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// of are the events of a kind, up to now.
func (w *witness) of(kind jobtype.EventKind) []job.Event {
	return slices.DeleteFunc(w.all(), func(e job.Event) bool { return e.Kind != kind })
}

// tale are the events in a line each, without what differs from run to run.
func (w *witness) tale(events ...job.Event) []string {
	var lines []string
	for _, e := range events {
		switch e.Kind {
		case jobtype.EventJoined:
			lines = append(lines, "joined")
		case jobtype.EventLeft:
			lines = append(lines, fmt.Sprintf("left: %v", e.Err))
		case jobtype.EventSession:
			lines = append(lines, fmt.Sprintf("session %v: %v", e.Session, e.Err != nil))
		case jobtype.EventLeads:
			lines = append(lines, fmt.Sprintf("leads: %v", !e.Over))
		case jobtype.EventItems:
			lines = append(lines, fmt.Sprintf("items: +%v -%v = %v", e.Gained, e.Lost, e.Items))
		case jobtype.EventClaimed:
			lines = append(lines, fmt.Sprintf("claimed: %d %v", e.Item, e.Source))
		case jobtype.EventReleased:
			lines = append(lines, fmt.Sprintf("released: %d %v", e.Item, e.Source))
		case jobtype.EventStarted:
			lines = append(lines, fmt.Sprintf("started: %d %v", e.Item, e.Source))
		case jobtype.EventRetried:
			lines = append(lines, fmt.Sprintf("retried: %d, %d: %v, %v", e.Item, e.Attempt, e.Err, e.Backoff))
		case jobtype.EventFinished:
			lines = append(lines, fmt.Sprintf("finished: %d %v %v, %d", e.Item, e.Source, e.Outcome, e.Attempt))
		case jobtype.EventFault:
			lines = append(lines, fmt.Sprintf("fault: %v, over: %v", e.Fault.Kind, e.Over))
		default:
			lines = append(lines, e.Kind.String())
		}
	}
	return lines
}

// expect compares what was told, but for faults, with what was to be.
func (w *witness) expect(t *testing.T, from int, want ...string) {
	t.Helper()
	got := slices.DeleteFunc(w.tale(w.all()[from:]...), func(line string) bool { return strings.HasPrefix(line, "fault:") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An instance joins, leads, gets items and runs them; and what ends when it leaves is told.
func TestObserverIsToldTheStory(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "0 * * * * ?", 1
		var w witness
		begin := time.Now()
		m := c.join("10.0.0.1", cfg, forAWhile(time.Second), w.option())
		id := m.Status().InstanceID
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}})
		c.pass(90 * time.Second)
		m.leave()
		w.expect(t, 0,
			"session connected: false", "joined", "leads: true", "items: +[0] -[] = [0]",
			"claimed: 0 NORMAL_TRIGGER", "started: 0 NORMAL_TRIGGER", "finished: 0 NORMAL_TRIGGER OK, 1",
			"leads: false", "items: +[] -[0] = []", "left: <nil>",
		)
		run := c.record.find(anything)[0]
		node := c.state().Item(0).Fired
		claimed, started, finished := w.of(jobtype.EventClaimed)[0], w.of(jobtype.EventStarted)[0], w.of(jobtype.EventFinished)[0]
		want := job.Execution{TaskID: run.TaskID, Item: 0, ScheduledTime: run.ScheduledTime, Source: job.SourceNormal, Token: node.Modified}
		for what, got := range map[string]job.Execution{"claimed": claimed.Execution, "started": started.Execution, "finished": finished.Execution} {
			if !got.ScheduledTime.Equal(want.ScheduledTime) {
				t.Errorf("%s: the tick %v, want %v", what, got.ScheduledTime, want.ScheduledTime)
			}
			got.ScheduledTime = want.ScheduledTime
			if got != want {
				t.Errorf("%s: %+v, want %+v", what, got, want)
			}
		}
		if finished.Took != time.Second || finished.Err != nil || !finished.Time.Equal(run.end) || !started.Time.Equal(run.begin) {
			t.Errorf("finished: %+v, started: %+v, run %v to %v", finished, started, run.begin, run.end)
		}
		for _, e := range w.all() {
			if e.JobName != "settle" || e.InstanceID != id || e.Time.Before(begin) || e.Time.After(time.Now()) {
				t.Errorf("%+v", e)
			}
		}
	})
}

// Items that move, and leadership that does, are told on both sides.
func TestObserverIsToldWhatMoves(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		var a, b witness
		first := c.join("10.0.0.1", cfg, nil, a.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.join("10.0.0.2", cfg, nil, b.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		first.leave()
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.pass(time.Second)
		a.expect(t, 0, "session connected: false", "joined", "leads: true", "items: +[0 1 2] -[] = [0 1 2]",
			"items: +[] -[1] = [0 2]", "leads: false", "items: +[] -[0 2] = []", "left: <nil>")
		b.expect(t, 0, "session connected: false", "joined", "items: +[1] -[] = [1]", "leads: true", "items: +[0 2] -[] = [0 1 2]")
	})
}

// A session that is suspended, comes back, and is lost: the observer is told of the state,
// and that the instance, and what it had, is no more. Another instance joins then. What ran
// is cut, and is run again under the same tick.
func TestObserverIsToldOfTheSession(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "", 1
		var w witness
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceFailover {
				return nil
			}
			return untilDone(ctx, sc)
		}, w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}})
		id := m.Status().InstanceID
		m.link.Cut()
		c.pass(500 * time.Millisecond)
		m.link.Heal()
		c.pass(500 * time.Millisecond)
		result := c.trigger(m)
		c.awaitRuns("it runs", 1, anything)
		m.link.Cut()
		m.awaitStatus("lost", func(s job.Status) bool { return s.Session == coord.Lost })
		c.pass(time.Minute)
		m.link.Heal()
		c.awaitRuns("again", 1, reruns)
		c.settled()
		c.pass(time.Minute)
		const manual, failover = "MANUAL", "FAILOVER"
		got := w.tale(w.all()...)
		want := []string{
			"session connected: false", "joined", "leads: true", "items: +[0] -[] = [0]",
			"session suspended: false", "session connected: false",
			"claimed: 0 " + manual, "started: 0 " + manual,
			"session suspended: false",
		}
		if len(got) < len(want) {
			t.Fatalf("got %q", got)
		}
		if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		// The handler returns in a goroutine of its own, so when that is told is not fixed.
		rest := slices.DeleteFunc(slices.Clone(got[len(want):]), func(line string) bool {
			return strings.HasPrefix(line, "finished: 0 MANUAL") || strings.HasPrefix(line, "fault:")
		})
		for i, line := range rest {
			if strings.HasPrefix(line, "left: ") {
				rest[i] = "left"
			}
		}
		if diff := cmp.Diff([]string{
			"session lost: true", "leads: false", "items: +[] -[0] = []", "left",
			"session connected: false", "joined", "leads: true", "recovered", "items: +[0] -[] = [0]",
		}, slices.DeleteFunc(slices.Clone(rest), func(line string) bool { return strings.Contains(line, failover) })); diff != "" {
			t.Errorf("(-want +got):\n%s\n%q", diff, rest)
		}
		finished := w.of(jobtype.EventFinished)
		if len(finished) != 2 {
			t.Fatalf("finished: %+v", finished)
		}
		cut, again := finished[0], finished[1]
		if cut.Outcome != job.OutcomeCut || cut.InstanceID != id || cut.RequestID != result.ID || !errors.Is(cut.Err, coord.ErrSessionLost) {
			t.Errorf("cut short: %+v", cut)
		}
		if again.Outcome != job.OutcomeOK || again.InstanceID == id || again.Source != job.SourceFailover ||
			!again.ScheduledTime.Equal(cut.ScheduledTime.Truncate(time.Millisecond)) || again.TaskID == cut.TaskID || again.Token <= cut.Token {
			t.Errorf("run again: %+v after %+v", again, cut)
		}
		left := w.of(jobtype.EventLeft)
		if len(left) != 1 || left[0].InstanceID != id || !errors.Is(left[0].Err, coord.ErrSessionLost) {
			t.Errorf("left: %+v", left)
		}
		recovered := w.of(jobtype.EventRecovered)
		if len(recovered) != 1 || recovered[0].From != id || !slices.Equal(recovered[0].Items, []int{0}) || !recovered[0].Failover || recovered[0].InstanceID == id {
			t.Errorf("recovered: %+v", recovered)
		}
		var faults []string
		for _, f := range w.of(jobtype.EventFault) {
			faults = append(faults, fmt.Sprint(f.Fault.Kind, " ", f.Over, " ", f.Fault.Err != nil && !f.Fault.Since.IsZero()))
		}
		if diff := cmp.Diff([]string{"store false true", "store true true"}, faults); diff != "" {
			t.Errorf("faults (-want +got):\n%s", diff)
		}
	})
}

// A fault that holds when the scheduler ends is over then.
func TestObserverIsToldThatFaultsEndWithTheScheduler(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		var w witness
		m := c.join("10.0.0.1", c.config(), nil, w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.configure(func(cfg *job.Config) { cfg.Strategy = "UNKNOWN" })
		m.awaitFault(jobtype.FaultConfig, "UNKNOWN")
		m.leave()
		all := w.all()
		faults := w.of(jobtype.EventFault)
		if len(faults) != 2 || faults[0].Over || !faults[1].Over || faults[1].Fault.Kind != jobtype.FaultConfig || faults[1].Fault.Err.Error() != faults[0].Fault.Err.Error() {
			t.Errorf("faults: %+v", faults)
		}
		if all[len(all)-1].Kind != jobtype.EventLeft {
			t.Errorf("the last event is %+v", all[len(all)-1])
		}
	})
}

// Attempts that fail are told with their number, error and pause, and the end with how many
// there were.
func TestObserverIsToldOfRetries(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "", 1
		cfg.Retry = job.Retry{Attempts: 2, InitialBackoff: time.Second, MaxBackoff: 90 * time.Second}
		var w witness
		m := c.join("10.0.0.1", cfg, func(_ context.Context, sc job.ShardingContext) error { return fmt.Errorf("no %d", sc.Attempt) }, w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}})
		before := len(w.all())
		c.trigger(m)
		c.awaitRuns("three", 3, func(e execution) bool { return !e.end.IsZero() })
		w.expect(t, before, "claimed: 0 MANUAL", "started: 0 MANUAL",
			"retried: 0, 1: no 1, 1s", "retried: 0, 2: no 2, 2s", "finished: 0 MANUAL FAILED, 3")
		finished := w.of(jobtype.EventFinished)[0]
		if finished.Err == nil || finished.Err.Error() != "no 3" || finished.Took != 3*time.Second {
			t.Errorf("finished: %+v", finished)
		}
		for _, r := range w.of(jobtype.EventRetried) {
			if r.Execution != finished.Execution || r.InstanceID != finished.InstanceID {
				t.Errorf("retried: %+v, finished: %+v", r, finished)
			}
		}
	})
}

// Without records executions are told all the same, with no token. What came while the item
// ran is made up for.
func TestObserverOfAJobWithoutRecords(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.MonitorExecution, cfg.Failover, cfg.Cron = 1, job.Off, false, "0 * * * * ?"
		var w witness
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceNormal {
				return elapse(ctx, 150*time.Second)
			}
			return nil
		}, w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}})
		before := len(w.all())
		c.pass(215 * time.Second) // the first tick comes after 60, and runs until 210
		w.expect(t, before, "claimed: 0 NORMAL_TRIGGER", "started: 0 NORMAL_TRIGGER", "finished: 0 NORMAL_TRIGGER OK, 1",
			"claimed: 0 MISFIRE", "made up", "started: 0 MISFIRE", "finished: 0 MISFIRE OK, 1")
		for _, e := range w.of(jobtype.EventFinished) {
			if e.Token != 0 || e.TaskID == "" || e.InstanceID != m.Status().InstanceID {
				t.Errorf("finished: %+v", e)
			}
		}
		if made := w.of(jobtype.EventMadeUp)[0]; made.Count != 1 || made.Item != 0 || made.ScheduledTime.IsZero() {
			t.Errorf("made up: %+v", made)
		}
	})
}

// Without records, ticks that no process has seen are counted, too: the clock was set.
func TestObserverOfTicksThatWereNotSeen(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.MonitorExecution, cfg.Failover, cfg.Cron = 1, job.Off, false, "0 0 * * * ?"
		var w witness
		var clock setClock
		c.join("10.0.0.1", cfg, nil, setup.Clock(clock.now), w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}})
		clock.set(3*time.Hour + 30*time.Minute)
		c.awaitRuns("made up", 1, func(e execution) bool { return e.Source == job.SourceMisfire })
		if made := w.of(jobtype.EventMadeUp); len(made) != 1 || made[0].Count != 3 {
			t.Errorf("made up: %+v", made)
		}
	})
}

// The count of ticks that are made up for, and the last of them. The log has one line about all items.
func TestObserverIsToldWhatIsMadeUp(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = "0 * * * * ?"
		a := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(time.Minute)
		c.awaitRuns("a tick", 3, anything)
		c.settled()
		a.leave()
		c.pass(10*time.Minute + 10*time.Second)
		var w witness
		logged, logs := newLogbook()
		b := c.join("10.0.0.2", cfg, nil, w.option(), logs)
		runs := c.awaitRuns("made up", 3, func(e execution) bool { return e.Source == job.SourceMisfire })
		c.settled()
		if lines := logged.says("made up"); len(lines) != 1 || lines[0]["ticks"] != int64(30) {
			t.Errorf("the log says %v, want 10 ticks of each of 3 items", lines)
		}
		made := w.of(jobtype.EventMadeUp)
		if len(made) != 3 {
			t.Fatalf("made up: %+v", made)
		}
		for i, e := range made {
			if e.Item != i || e.Count != 10 || !e.ScheduledTime.Equal(runs[0].ScheduledTime) || e.InstanceID != b.Status().InstanceID {
				t.Errorf("made up: %+v", e)
			}
		}
	})
}

// Each reason for which ticks are run by nobody.
func TestObserverIsToldWhatIsSkipped(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg  func(*job.Config)
		work job.HandlerFunc
		do   func(c *cluster, m *member) // after the first tick
		want jobtype.SkipReason
		says string
		item int
	}{
		"the item is disabled": {
			do:   func(c *cluster, m *member) { c.commit(coord.Put(c.job.ItemDisabled(1), nil)) },
			want: jobtype.SkipItemDisabled, says: "item disabled", item: 1,
		},
		"all servers are disabled": {
			do:   func(c *cluster, m *member) { c.commit(coord.Put(c.job.Server(m.ip), []byte(jobtree.Disabled))) },
			want: jobtype.SkipServersDisabled, says: "servers disabled",
		},
		"it was missed, and misfire is off": {
			cfg: func(cfg *job.Config) { cfg.Misfire = job.Off },
			do: func(c *cluster, m *member) {
				m.link.Cut()
				c.pass(80 * time.Second)
				m.link.Heal()
			},
			want: jobtype.SkipTooLate, says: "too late",
		},
		"it came while the item ran, and misfire is off": {
			cfg:  func(cfg *job.Config) { cfg.Misfire = job.Off },
			work: forAWhile(80 * time.Second),
			do:   func(*cluster, *member) {},
			want: jobtype.SkipWhileRunning, says: "while running",
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron = "0/30 * * * * ?"
			if tc.cfg != nil {
				tc.cfg(&cfg)
			}
			var w witness
			m := c.join("10.0.0.1", cfg, tc.work, w.option())
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			first := c.awaitRuns("a tick", 3, anything)[0].ScheduledTime
			tc.do(c, m)
			c.pass(3 * time.Minute)
			if cfg.Misfire == job.Off && c.state().Item(tc.item).Misfire {
				t.Error("it is flagged although misfire is off")
			}
			for _, e := range w.of(jobtype.EventSkipped) {
				if e.Item != tc.item {
					continue
				}
				if e.Reason != tc.want || e.Reason.String() != tc.says {
					t.Errorf("skipped because %v, want %v", e.Reason, tc.want)
				}
				if want := int(e.ScheduledTime.Sub(first) / (30 * time.Second)); e.Count < 1 || e.Count != want {
					t.Errorf("%d ticks up to %v, want %d", e.Count, e.ScheduledTime, want)
				}
				return
			}
			t.Errorf("not told: %q", w.tale(w.all()...))
		})
	}
}

// So is what the last words of an instance skip.
func TestObserverIsToldWhatIsSkippedInTheEnd(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Misfire = 1, job.Off
		var w witness
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return nil
		}, w.option())
		first := c.awaitRuns("a tick", 1, anything)[0].ScheduledTime
		c.pass(3*time.Second + 500*time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		// The end of the run fails, so that it is among the last words.
		fails := s.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpDeleteTree, Path: c.job.Running(0), Before: coord.ErrUnavailable, Times: 1})
		if err := m.Shutdown(ctx); err != nil || fails.Hits() != 1 {
			t.Error(err, fails.Hits())
		}
		passed := w.of(jobtype.EventSkipped)
		if len(passed) != 1 || passed[0].Count != 3 || passed[0].Reason != jobtype.SkipWhileRunning || !passed[0].ScheduledTime.Equal(first.Add(3*time.Second)) {
			t.Errorf("skipped: %+v", passed)
		}
	})
}

// A claim that gets no thread in time is released, and so is one that waits when its
// instance leaves.
func TestObserverIsToldWhatIsReleased(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Threads = "", 1
		release := make(chan struct{})
		var w witness
		// The first one ends at once, so the others are claimed although there is one thread.
		m := c.join("10.0.0.1", cfg, hangs(release, func(sc job.ShardingContext) bool { return sc.Item > 0 }), w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		result := c.trigger(m)
		c.pass(10 * time.Second)
		open := map[string]bool{}
		for _, e := range w.of(jobtype.EventClaimed) {
			open[e.TaskID] = true
		}
		back := w.of(jobtype.EventReleased)
		for _, e := range back {
			if !open[e.TaskID] || e.Source != job.SourceManual || e.RequestID != result.ID || e.InstanceID != m.Status().InstanceID {
				t.Errorf("released: %+v", e)
			}
			delete(open, e.TaskID)
		}
		for _, e := range w.of(jobtype.EventFinished) {
			delete(open, e.TaskID)
		}
		if len(back) == 0 || len(open) != 1 {
			t.Errorf("%d released, %d open: %q", len(back), len(open), w.tale(w.all()...))
		}
		close(release)
		c.awaitRuns("all", 3, func(e execution) bool { return !e.end.IsZero() })
	})
}

// A claim that waits for a thread when its session is lost, or its instance leaves, is
// released, too.
func TestObserverIsToldWhatIsReleasedInTheEnd(t *testing.T) {
	for name, end := range map[string]func(*cluster, *member){
		"lost": func(c *cluster, m *member) {
			m.link.BlackHole()
			c.pass(time.Minute)
			m.link.Heal()
		},
		"left": func(c *cluster, m *member) {
			c.ok(m.stop())
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			c.timeout = time.Second // so it is lost before the claim has waited for too long
			cfg := c.config()
			cfg.Cron, cfg.Threads = "", 1
			var w witness
			release := make(chan struct{})
			defer close(release)
			m := c.join("10.0.0.1", cfg, hangs(release, func(sc job.ShardingContext) bool { return sc.Item > 0 }), w.option())
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			id := m.Status().InstanceID
			c.trigger(m)
			c.pass(50 * time.Millisecond)
			end(c, m)
			back := w.of(jobtype.EventReleased)
			if len(back) == 0 || back[0].Item != 2 || back[0].InstanceID != id {
				t.Errorf("released: %+v: %q", back, w.tale(w.all()...))
			}
		})
	}
}
