package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// controller runs one job in this process. One goroutine owns all of its state but what
// stands below mu. It is level-triggered: whatever wakes it, it looks at the newest
// snapshot and goes through all steps (controller_pass.go). What a step wants done is
// decided by package decide, which touches nothing; the controller does it.
//
// Nothing that can go wrong ends in silence: a step that fails is tried again with a
// back-off of its own (backoffs), what lasts becomes a fault (controller_diagnose.go), and
// a controller that cannot go on leaves in order (controller_leave.go).
type controller struct {
	// What it was started with. Nothing of it changes.
	reg      coord.Registry
	view     coord.View
	job      jobtree.Job
	handler  Handler
	options  *options
	revision int // of the configuration that the program has brought
	watchers *observers
	log      *zap.Logger
	started  func()          // called once this instance is in the tree
	shutdown context.Context // ends when a shutdown is asked for
	stopping context.Context // ends when the time to drain is over
	wake     chan struct{}   // holds one
	seams    seams

	sight      // controller_look.go
	identity   // controller_join.go
	departure  // controller_leave.go
	executions // controller_execute.go
	doubts     // controller_finish.go
	requests   // controller_trigger.go
	backoffs   // controller_commit.go
	leadership // controller_lead.go
	diagnosis  // controller_diagnose.go
	story      story
	wakeAt     time.Time // by the monotonic clock; zero if nothing is waited for. Whoever waits sets it, in each pass

	working sync.WaitGroup // handlers

	mu       sync.Mutex
	returned []*run // whose handlers have, since collect took them in last
	untold   error  // what the store could not be told in the end
	live     live
}

// seams are where a test stands in for what chance or time would do.
type seams struct {
	newID    func() string          // names a new identity
	execute  func(*run)             // begins a run
	omits    func(step string) bool // leaves a step out of a pass; nil leaves out none
	oneByOne bool                   // commits of a step follow each other
}

// newController returns a controller that has not begun.
func newController(reg coord.Registry, view coord.View, h Handler, s *settings, o *options, revision int) *controller {
	labels := o.labels
	if o.weight > 0 {
		labels = append(labels[:len(labels):len(labels)], jobtree.WeightLabel(o.weight))
	}
	c := &controller{
		reg: reg, view: view, job: jobtree.Job(s.Name), handler: h, options: o, revision: revision,
		log:        o.logger.With(zap.String("job", s.Name)),
		wake:       make(chan struct{}, 1),
		sight:      sight{settings: s},
		identity:   identity{self: decide.Self{IP: o.ip, Labels: labels}},
		executions: executions{runs: map[int]*run{}, work: decide.NewWork(), unmonitored: decide.Unmonitored{Last: o.now()}},
		requests:   requests{pending: map[int]decide.Pending{}, met: map[string]time.Time{}},
		backoffs:   backoffs{troubles: troubles{}, heals: heals{}},
		leadership: leadership{questions: map[string]*question{}},
	}
	c.watchers = newObservers(o.observers, c.log)
	c.seams = seams{newID: func() string { return newInstanceID(o.ip) }, execute: c.execute}
	return c
}

// loop runs until this instance has left, and returns why it did. It is not through if it
// could not go on, and what it has is still in the tree.
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

// once looks at how things stand and does what is to be done about it. An error means that
// the controller cannot go on.
func (c *controller) once() error {
	c.wakeAt = time.Time{}
	c.passes++
	if err := c.enter(); err != nil || c.stage == gone {
		return err
	}
	c.atWork(true)
	defer c.atWork(false)
	if c.stale {
		c.catchUp()
	}
	c.look()
	c.collect()
	if c.isShutdown() {
		c.beginToLeave()
	}
	w := c.world()
	c.pass(w)
	c.publish(w)
	return nil
}

// world is what the steps of this pass decide on.
func (c *controller) world() *decide.World {
	now := c.now()
	if c.settings.StaticSharding {
		c.absent = decide.Absences(c.state, c.absent, now)
	}
	// By a clock that was set back, these have not come yet.
	maps.DeleteFunc(c.work.Begun, func(_ int, tick time.Time) bool { return now.Before(tick) })
	w := &decide.World{
		State: c.state, Job: c.job, Rules: &c.settings.rules, Self: c.self, Now: now,
		Clock: clockAt(c.reg.Clock(), now), Slack: c.slack(now),
		Accepted: c.settings.modified, Refused: c.refused, Revision: c.revision,
		Leaving: c.isLeaving(), Absent: c.absent,
	}
	w.Leaderless = c.leaderless.hold(!w.LeaderStands(), now)
	return w
}

// clockAt is how the store's clock stands to the local one, which shows now.
func clockAt(clock coord.Clock, now time.Time) decide.Clock {
	if !clock.Known() {
		return decide.Clock{}
	}
	return decide.Clock{Known: true, Store: clock.Now(), Ahead: clock.Ahead(now)}
}

// now is the local time.
func (c *controller) now() time.Time { return c.options.now() }

func (c *controller) isShutdown() bool { return c.shutdown.Err() != nil }

// reconcileIfDue makes the controller look at the whole tree although it saw no change.
// Jobs of one process do so at different times.
func (c *controller) reconcileIfDue(w *decide.World) error {
	d := c.settings.ReconcileInterval
	if d <= 0 {
		return nil
	}
	next := func() time.Time { return w.Now.Add(d - d/10 + rand.N(d/5+1)) }
	if c.reconcile.IsZero() || c.reconcile.After(w.Now.Add(2*d)) { // the clock was set back
		c.reconcile = next()
	}
	if !w.Now.Before(c.reconcile) {
		c.reconcile = next()
		c.stale, c.sweeping = true, true
	}
	c.wakeIn(c.reconcile.Sub(w.Now))
	return nil
}

// lookForRemoval leaves if the whole job was removed. The view is right about it, but may
// not have seen yet that it was just set up. Once the store has said so, it is not asked
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
	default: // it is there: the view has to catch up
		c.stale = true
		c.meet(step, fmt.Errorf("the view of the job does not show the configuration, which is there: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	}
	return nil
}
