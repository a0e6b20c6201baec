package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/module"
)

// controller runs one job in this process. One goroutine owns its state, except what is
// below mu. The controller is level-triggered: whatever wakes it, it reads the newest
// snapshot and goes through all steps (pass.go). Package decide says what a step
// does, and touches nothing; the controller does it.
//
// No failure is silent. A commit that fails is tried again after a back-off (backoffs). A
// failure that lasts becomes a fault (diagnose.go). A controller that cannot go
// on leaves in order (leave.go).
type controller struct {
	// What it was started with. These fields do not change.
	reg      coord.Registry
	view     coord.View
	job      jobtree.Job
	options  *Options
	revision int    // Config.Revision, as the program gave it
	release  string // the version of this module
	reporter *health.Reporter
	guard    *health.Guard
	log      *zap.Logger
	started  func()          // publish calls it while this instance is in the tree; only the first call acts
	shutdown context.Context // ends when a shutdown is asked for
	stopping context.Context // ends when the time to drain is over
	wake     chan struct{}   // wakes the loop; see poke
	pool     pool.Job        // what it shares with other jobs of the process
	seams    seams

	sight                   // look.go
	attention               // attention.go
	identity                // registration.go
	departure               // leave.go
	executions              // execute.go
	reporters               // flush.go
	doubts                  // finish.go
	requested               // request.go
	backoffs                // commit.go
	leadership              // lead.go
	onceCalls               // once.go
	diagnosis               // diagnose.go
	calendars  calendars    // calendars.go
	formerly   formerly     // former.go
	unsure     []unsureSkip // unsure.go
	latching                // latch.go
	beside                  // mixed.go
	mixedTold               // mixed.go
	logged     logState     // log_state.go
	reported   reported     // observe.go
	commands   commands     // command.go

	working sync.WaitGroup // the goroutines of handlers

	properties atomic.Pointer[Properties] // those in force: handlers read them
	prodded    atomic.Bool                // anything may have changed: poke sets it, once clears it
	timer      *time.Timer                // of wait

	turn decide.World // what the steps of this pass decide on: world

	mu       sync.Mutex
	returned []*run // runs whose handlers have returned: returns adds them, collect takes them
	untold   error  // why the store was not told everything in the end; setUntold changes it
	live     live   // status.go
}

// seams are where a test replaces chance or time.
type seams struct {
	newID    func() string                              // returns the id of a new identity
	execute  func(*run)                                 // calls the handler of a run
	call     func(*decide.World, decide.Call) *onceCall // begins a call of once-listeners
	omits    func(step string) bool                     // reports whether passes skip a step; nil skips none
	oneByOne bool                                       // commits and reads are sent one after the other
	narrowed func()                                     // is called after each narrow pass, and if no pass was needed; may be nil
}

// newController returns a controller whose loop has not begun.
func newController(reg coord.Registry, view coord.View, s *settings, o *Options, revision int) *controller {
	labels := o.Labels
	if o.Weight > 0 {
		labels = append(labels[:len(labels):len(labels)], jobtree.WeightLabel(o.Weight))
	}
	c := &controller{
		reg: reg, view: view, job: jobtree.Job(s.Name), options: o, revision: revision, release: module.Version(),
		log:        jobLogger(o.Logger, s.Name),
		wake:       make(chan struct{}, 1),
		sight:      sight{settings: s},
		identity:   identity{self: decide.Self{IP: o.IP, Labels: labels}},
		executions: executions{runs: map[int]*run{}, work: decide.NewWork(), unmonitored: decide.Unmonitored{Last: o.Now()}},
		requested:  requested{met: map[string]clocks.Moment{}},
		backoffs:   backoffs{troubles: troubles{}, heals: heals{}},
		leadership: leadership{questions: map[string]*question{}},
	}
	c.properties.Store(&s.properties)
	c.flushable, c.endFlushes = context.WithCancel(context.Background())
	c.guard = health.NewGuard(c.log)
	c.reporter = health.NewReporter(s.Name, c.now, health.NewObservers(o.Observers, c.guard, c.log), c.log)
	c.seams = seams{newID: func() string { return newInstanceID(o.IP) }, execute: c.execute, call: c.makeCall}
	return c
}

// loop runs until this instance has left, and returns why it left. through is false if the
// controller could not go on; then this instance's nodes are still in the tree.
func (c *controller) loop() (through bool, err error) {
	for {
		if err := c.once(); err != nil {
			return false, err
		}
		if c.stage == gone {
			return true, c.farewell
		}
		if !c.stale || !c.attempt("sync") {
			c.wait()
		}
	}
}

// once waits for a session if there is none, reads the snapshot, makes one pass and shows
// the result. An error means that the controller cannot go on.
func (c *controller) once() error {
	c.passes++
	c.narrowAt = clocks.Moment{}
	c.atWork(true)
	defer c.atWork(false)
	if err := c.enter(); err != nil || c.stage == gone {
		return err
	}
	if c.stale {
		c.catchUp()
	}
	c.look()
	c.tellUnsure()
	c.followCalendars()
	c.collect()
	if c.isShutdown() {
		c.beginToLeave()
	}
	if c.prodded.Swap(false) {
		c.whole = true
	}
	c.turn = c.world()
	w := &c.turn
	c.reportDue(w)
	if c.narrow(w) {
		if c.seams.narrowed != nil {
			defer c.seams.narrowed()
		}
		if w.Narrow = c.noticed(); len(w.Narrow) == 0 && c.lingering.IsZero() {
			return nil
		}
	} else {
		c.whole, c.wholeAt = false, clocks.Moment{}
		c.knowsOver = c.stopping.Err() != nil
		c.countItems(w)
		c.reportStanding(w)
	}
	c.attention.items = c.attention.items[:0]
	c.pass(w)
	c.pool.Threads.Keep(len(c.queue))
	c.publish(w)
	return nil
}

// world returns what the steps of this pass decide on. It also keeps up what depends on the
// clock: absent, leaderless, looked and work.Begun.
func (c *controller) world() decide.World {
	now := c.instant()
	if c.settings.StaticSharding {
		c.absent = decide.Absences(c.state, c.absent, now.mono)
	}
	if now.wall.Before(c.looked.wall) {
		// The clock was set back, so these ticks will come again: forget that they were begun.
		maps.DeleteFunc(c.work.Begun, func(_ int, tick time.Time) bool { return now.wall.Before(tick) })
		c.whole = true
	}
	w := decide.World{
		State: c.state, Job: c.job, Rules: &c.settings.rules, Self: c.self, Now: now.wall, Moment: now.mono,
		Clock: clockAt(c.reg.Clock(), now.wall), Slack: c.slack(now), Lead: c.options.Lead,
		Accepted: c.settings.modified, Refused: c.refusal(), Revision: c.revision,
		Leaving: c.isLeaving() || c.registration == unsound, Absent: c.absent, Strays: c.strays, NodeID: c.pool.Announcement.ID(c.self.Session),
		Release: c.release,
	}
	if c.whole || c.mixed != nil || c.isLeaving() {
		c.mixed = decide.Mix(c.state, c.mixed, now.mono)
	}
	w.Mixed = c.mixed
	w.Former = c.former(&w)
	w.Leaderless = c.leaderless.hold(!w.LeaderStands(), now.mono)
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
func (c *controller) instant() instant { return instant{wall: c.now(), mono: c.moment()} }

func (c *controller) isShutdown() bool { return c.shutdown.Err() != nil }

// reconcileIfDue makes the view catch up and the leader sweep once in each
// ReconcileInterval, although nothing has changed. The time varies by a tenth, so that the
// jobs of one process do not all do so at once.
func (c *controller) reconcileIfDue(w *decide.World) error {
	d := c.settings.ReconcileInterval
	if d <= 0 {
		return nil
	}
	next := func() clocks.Moment { return w.Moment.Add(d - d/10 + rand.N(d/5+1)) }
	if c.reconcile.IsZero() || c.reconcile.After(w.Moment.Add(2*d)) { // the interval was shortened
		c.reconcile = next()
	}
	if !w.Moment.Before(c.reconcile) {
		c.reconcile = next()
		c.stale, c.sweeping = true, true
	}
	c.wakeIn(c.reconcile.Sub(w.Moment))
	return nil
}

// lookForRemoval makes this instance leave if the whole job was removed. A view without a
// configuration may only be late: the job was just set up. So the store is asked, but not
// again while handlers return: it may not answer any more.
func (c *controller) lookForRemoval(w *decide.World) error {
	const step = "look for the configuration"
	switch {
	case w.Config != nil:
		return nil
	case errors.Is(c.cause, ErrJobRemoved):
		c.abandon(w)
		return nil
	case !c.attempt(step):
		return nil
	}
	_, err := c.reg.Get(c.session.Context(), c.job.Config())
	switch {
	case errors.Is(err, coord.ErrNoNode):
		c.abandon(w)
	case err != nil:
		c.failed(step, err)
	default: // the configuration is there: the view is late
		c.stale = true
		c.meet(step, fmt.Errorf("the view of the job does not show the configuration, which is there: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	}
	return nil
}
