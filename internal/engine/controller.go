package engine

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/assign"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
	"github.com/elasticjob-go/elasticjob/internal/engine/diagnose"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/engine/instance"
	"github.com/elasticjob-go/elasticjob/internal/engine/jvm"
	"github.com/elasticjob-go/elasticjob/internal/engine/once"
	"github.com/elasticjob-go/elasticjob/internal/engine/pace"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/schedule"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/module"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// controller runs one job in this process. One goroutine owns its state, except what is below mu. The
// controller is level-triggered: whatever wakes it, it reads the newest snapshot and runs the steps
// (decide.Steps). Package decide says what a step does, and touches nothing; the controller does it.
//
// No failure is silent. A commit that fails is tried again after a back-off (package commit). A failure
// that lasts becomes a fault (package diagnose). A controller that cannot go on leaves in order (leave.go).
type controller struct {
	// What it was started with. These fields do not change.
	reg           coord.Registry
	view          coord.View
	job           jobtree.Job
	options       *setup.Options
	given         jobtype.Config // the configuration of the program; the zero value if it has none of its own
	moduleVersion string         // the version of this module
	reporter      *health.Reporter
	guard         *health.Guard
	log           *zap.Logger
	started       func()          // publish calls it while this instance is in the tree; only the first call acts
	shutdown      context.Context // ends when a shutdown is asked for
	drainTime     context.Context // ends when the time to drain is over
	wake          chan struct{}   // wakes the loop: wakeUp
	pool          pool.Job        // what it shares with other jobs of the process
	seams         seams

	// Parts that own their state.
	commits       *commit.Committer   // sends the changes of steps
	assigner      *assign.Assigner    // asks the strategies
	diagnosis     *diagnose.Diagnosis // finds out what keeps the job from running
	flusher       *exec.Flusher       // has error handlers flushed
	calls         *once.Caller        // calls once-listeners
	schedule      *schedule.Follower  // follows calendars
	faults        *health.Faults      // what is wrong
	live          *health.Live        // what other goroutines see
	failoverQueue *jvm.Queue          // its place beside JVM members
	jvm           *jvm.Members        // what it remembers of them

	departure     departure       // how far it is on its way out
	resync        resync          // when the view is to catch up although nothing has changed
	recent        recentInstances // takes note of who is there
	discrepancies discrepancies   // between the view and what runs here

	// Groups of fields; each is in the file that has its type.
	viewState                        // look.go
	nextPass                         // next_pass.go
	identity                         // registration.go
	executions                       // execute.go
	triedOneCommit     bool          // it was tried to leave by one commit: leaveInOneCommit
	sawDrainEnd        bool          // the last full pass began after the time to drain was over: reconcile
	blocked            bool          // a step has changed what the later steps of a leader decide on: they wait for the next pass
	unrecordedEnds     []*decide.Run // runs for requests that have ended, in a job without records, whose ends are not in the tree: addUnrecordedEnd, afterCommit
	tooManyReportedFor time.Time     // the last tick that was reported with ErrTooManyTicks

	working sync.WaitGroup // the goroutines of handlers

	properties    atomic.Pointer[jobtype.Properties] // the effective ones: handlers read them
	declared      atomic.Pointer[jobtype.Config]     // what is to be given: Scheduler.Declare sets it, reconcile clears it
	fullRequested atomic.Bool                        // requestFullPass sets it, reconcile clears it
	timer         *time.Timer                        // of wait

	current decide.World // what the steps of this pass decide on: reconcile

	mu          sync.Mutex
	returned    []*run // runs whose handlers have returned: giveBackRun adds them, collect takes them
	handoverErr error  // why the handover at the end failed: setHandoverErr
}

// seams are where a test replaces chance or time.
type seams struct {
	newID        func() string          // returns the id of a new identity
	execute      func(*run)             // calls the handler of a run
	skips        func(step string) bool // reports whether passes skip a step; nil skips none
	afterPartial func()                 // is called after each partial pass, and if no pass was needed; may be nil
}

// newController returns a controller whose loop has not begun.
func newController(reg coord.Registry, view coord.View, s *setup.Settings, o *setup.Options, given jobtype.Config) *controller {
	labels := o.Labels
	if o.Weight > 0 {
		labels = append(labels[:len(labels):len(labels)], jobtree.WeightLabel(o.Weight))
	}
	c := &controller{
		reg: reg, view: view, job: jobtree.Job(s.Name), options: o, given: given, moduleVersion: module.Version(),
		log:        health.JobLogger(o.Logger, s.Name),
		wake:       make(chan struct{}, 1),
		viewState:  viewState{settings: s},
		identity:   identity{self: decide.Self{IP: o.IP, Labels: labels}},
		executions: executions{runs: map[int]*run{}, work: decide.NewWork(), claims: pace.Claims{Set: o.Lead}, unmonitored: decide.Unmonitored{Last: o.Now()}},
		recent:     recentInstances{},
	}
	c.properties.Store(&s.Properties)
	c.flusher = exec.NewFlusher(c.log, c.uses)
	c.commits = commit.New(commit.Config{
		Registry: reg, View: view, Log: c.log, Now: c.moment, WakeIn: c.wakeIn, Working: func() { c.live.SetWorking(true) },
		Committed: c.afterCommit, Unconfirmed: func(change decide.Change) { c.rememberUnconfirmed(&c.current, change) }, Conflicted: c.forgoCompletion,
	})
	c.failoverQueue = jvm.NewQueue(jvm.QueueConfig{Registry: reg, Job: c.job, Commits: c.commits, WakeIn: c.wakeIn, Wake: c.requestFullPass})
	c.jvm = &jvm.Members{Log: c.log, WakeIn: c.wakeIn}
	c.calls = once.New(once.Config{Log: c.log, Slog: o.Slog, Working: &c.working, Wake: c.requestFullPass, Commit: c.commits.Commit})
	c.guard = health.NewGuard(c.log)
	c.reporter = health.NewReporter(health.ReporterConfig{
		Job: c.job, Now: c.now, Observers: health.NewObservers(o.Observers, c.guard, c.log), Log: c.log, WakeIn: c.wakeIn, Changes: setup.Changes,
	})
	clock := health.Clock{Now: c.now, Moment: c.moment}
	c.live = health.NewLive(c.job, view, clock)
	c.faults = &health.Faults{View: view, Reporter: c.reporter, Log: c.log, Clock: clock, WakeIn: c.wakeIn}
	c.seams = seams{newID: func() string { return instance.NewID(o.IP) }, execute: c.execute}
	return c
}

// connect gives a controller what it shares with other jobs of the process, and the contexts
// that end when a shutdown is asked for and when the time to drain is over.
func (c *controller) connect(p pool.Job, shutdown, stopping context.Context) {
	c.pool, c.shutdown, c.drainTime = p, shutdown, stopping
	c.schedule = schedule.NewFollower(p.Calendars, c.log)
	c.diagnosis = diagnose.New(diagnose.Config{
		Registry: c.reg, View: c.view, Commits: c.commits, Faults: c.faults, Threads: p.Threads, Implementation: c.options.Implementation, Now: c.now, WakeIn: c.wakeIn, Grace: c.options.CancelGrace,
	})
	c.assigner = assign.New(assign.Config{Registry: c.reg, Pool: p, Shutdown: shutdown, WakeIn: c.wakeIn, Wake: c.requestFullPass})
}

// loop runs until this instance has left, and returns why it left. hasLeft is false if the
// controller could not go on; then this instance's nodes are still in the tree.
func (c *controller) loop() (hasLeft bool, err error) {
	for {
		if err := c.reconcile(); err != nil {
			return false, err
		}
		if c.departure.stage == terminated {
			return true, c.departure.err
		}
		if !c.commits.MaySync() {
			c.wait()
		}
	}
}

// reconcile makes one pass:
//
//  1. wait for a session if there is none
//  2. let the view catch up if it is known to be late, read it, and take in the configuration
//  3. take in the runs whose handlers have returned
//  4. begin to drain if a shutdown was asked for
//  5. go through the steps: of a full pass, of a partial one, or of none if nothing has changed
//  6. publish the status
//
// An error means that the controller cannot go on.
func (c *controller) reconcile() error {
	select {
	case <-c.wake: // this pass sees what it was for
	default:
	}
	c.commits.BeginPass()
	c.partialAt = clocks.Moment{}
	c.live.SetWorking(true)
	defer c.live.SetWorking(false)
	if err := c.enter(); err != nil || c.departure.stage == terminated {
		return err
	}
	c.commits.Sync()
	c.look()
	c.reporter.ConfirmSkips(c.state)
	if s := c.schedule.Apply(c.settings); s != c.settings {
		c.setSettings(s)
	}
	if given := c.declared.Swap(nil); given != nil {
		c.given = *given
		c.setSettings(c.settings)
	}
	c.collect()
	if c.isShutdown() {
		c.startDraining()
	}
	if c.fullRequested.Swap(false) {
		c.full = true
	}
	c.current = c.newWorld()
	w := &c.current
	c.reporter.Due(w)
	if c.partialSuffices(w) {
		if c.seams.afterPartial != nil {
			defer c.seams.afterPartial()
		}
		if w.Dirty = c.dirtyItems(); len(w.Dirty) == 0 && c.batchUntil.IsZero() {
			return nil
		}
	} else {
		c.full, c.fullAt = false, clocks.Moment{}
		c.sawDrainEnd = c.drainTime.Err() != nil
		c.countItems(w)
		c.reporter.Follow(health.Member{World: w, Config: &c.settings.Config, Zone: c.settings.Zone, Items: c.items(), Leaving: c.isLeaving()})
	}
	c.nextPass.dirty = c.nextPass.dirty[:0]
	c.runSteps(w)
	c.pool.Threads.Keep(len(c.queue))
	c.publish(w)
	return nil
}

// newWorld returns what the steps of this pass decide on. It also updates what depends on the
// clock: absent, leaderless, clocksAt and work.Begun.
func (c *controller) newWorld() decide.World {
	now := c.instant()
	if c.settings.StaticSharding {
		c.absent = decide.Absences(c.state, c.absent, now.Mono)
	}
	if now.Wall.Before(c.clocksAt.Wall) {
		// The clock was set back, so these ticks will come again: forget that they were begun.
		maps.DeleteFunc(c.work.Begun, func(_ int, tick time.Time) bool { return now.Wall.Before(tick) })
		c.full = true
	}
	w := decide.World{
		State: c.state, Job: c.job, Rules: &c.settings.Rules, Self: c.self, Now: now.Wall, Moment: now.Mono,
		Clock: clockAt(c.reg.Clock(), now.Wall), Slack: c.slack(now),
		Accepted: c.settings.Modified, Refused: c.refusal(), Revision: c.given.Revision, Differs: c.differs,
		Leaving: c.isLeaving() || c.registration == unsound, Absent: c.absent, UnansweredClaims: c.unansweredClaims, NodeID: c.pool.Announcement.ID(c.self.Session),
		ModuleVersion: c.moduleVersion,
	}
	if c.full || c.mixed != nil || c.isLeaving() {
		c.mixed = decide.Mix(c.state, c.mixed, now.Mono)
	}
	w.Mixed = c.mixed
	if c.claims.Set != nil || c.mixed == nil { // JVM members claim nothing early, so beside them the lead does not adapt
		w.Lead, w.NextLead = c.claims.Lead(), c.claims.NextLead()
	}
	w.Former = c.schedule.Former(&w, c.settings)
	w.Leaderless = c.leaderless.Track(!w.LeaderIsAlive(), now.Mono)
	return w
}

// clockAt compares the store's clock with the local one, which shows now.
func clockAt(clock coord.Clock, now time.Time) decide.Clock {
	if !clock.Known() {
		return decide.Clock{}
	}
	return decide.Clock{Known: true, Store: clock.Now(), Ahead: clock.Ahead(now)}
}

// now is the time of day by the local clock.
func (c *controller) now() time.Time { return c.options.Now() }

// moment is the reading of the monotonic clock.
func (c *controller) moment() clocks.Moment { return c.options.Moment() }

// instant is the reading of both clocks.
func (c *controller) instant() clocks.Instant { return clocks.Instant{Wall: c.now(), Mono: c.moment()} }

func (c *controller) isShutdown() bool { return c.shutdown.Err() != nil }

// lookForRemoval makes this instance leave if the whole job was removed. A view without a configuration
// may only be late, because the job was just set up: so the store is asked, but not again while handlers
// return, because it may not answer any more.
func (c *controller) lookForRemoval(w *decide.World) error {
	const step = "look for the configuration"
	switch {
	case w.Config != nil:
		c.wasLost = false
		return nil
	case c.departure.isForRemoval():
		c.leaveRemovedJob(w, c.departure.cause)
		return nil
	case !c.commits.MayAttempt(step):
		return nil
	}
	cause, err := c.whyGone()
	switch {
	case err != nil:
		c.commits.Failed(step, err)
	case cause != nil:
		c.leaveRemovedJob(w, cause)
	default: // the configuration is there: the view is late
		c.commits.ViewIsLate(step, "does not show the configuration, which is there")
	}
	return nil
}
