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
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// controller runs one job in this process. One goroutine owns all of its state but
// what stands below mu. It is level-triggered: whatever wakes it, it looks at the
// newest snapshot and asks the steps what is to be done. The steps are functions of a
// [world] that decide and touch nothing, in the files that bear their names; the files
// controller_*.go carry out what they decide.
//
// Nothing that can go wrong ends in silence: a step that fails is tried again with a
// back-off of its own (troubles), what lasts becomes a fault (controller_diagnose.go),
// and a controller that cannot go on leaves in order (controller_depart.go).
type controller struct {
	reg     coord.Registry
	view    coord.View
	job     jobtree.Job
	handler Handler
	options *options
	log     *zap.Logger

	settings *settings
	state    *jobtree.State
	changed  <-chan struct{} // closed when the view has something newer than state
	refused  int64           // Modified of the last configuration that was refused; 0 if it was not

	session coord.Session
	self    self
	asked   bool // self has tried to register
	seen    bool // an instance of this session was in a snapshot
	// forestalled is set once the registration of self is given up, or may be.
	forestalled bool
	signedOff   bool // nothing of self is in the tree any more
	// unsound is why others cannot rely on this identity any more; nil while they can.
	unsound error

	runs      map[int]*run
	queue     []*run // claimed and waiting for a thread
	executing int
	pace      pace
	ended     map[int]int64
	triggers  map[int]manual
	met       map[string]time.Time // instances that were there, and when they were seen last
	lost      []jobtree.Trigger    // of instances that have ended, until the leader takes them
	waiting   map[int]time.Time    // see world.waiting
	begun     map[int]time.Time    // see world.begun
	localTick time.Time            // the last tick that was fired without records
	missed    map[int]bool         // items that a tick without records found running

	gone       map[string]time.Time
	lingering  time.Time // when runs that are done wait no longer for the others
	unseen     since     // the view lacks the claim of a run that has begun
	unmended   since     // the view lacks the record of a run, but not its claim
	unsettled  since     // the tree has leftovers
	yielding   since     // a JVM leader deals
	leaderless since
	suspicious bool // a commit of ours may have happened unseen
	stale      bool // a commit met a conflict: the view has to catch up
	syncs      int
	troubles   troubles
	heals      heals
	passes     int
	reconcile  time.Time // when to look at the whole tree again
	sweeping   bool      // servers that nobody uses are to be removed
	dealt      dealt
	questions  map[string]*question // to strategies that have not answered in time, by their names
	looked     look
	leaving    error // why, once it is on its way out
	grace      since // the contexts of handlers have ended

	faults [faultKinds]Fault
	calms  [faultKinds]calm
	signs  signs
	told   toldFaults
	story  story
	wakeAt time.Time // by the monotonic clock; zero if nothing is waited for

	inTurn   bool            // commits of a step follow each other; for tests
	executes func(*run)      // begins a run
	stopping context.Context // ends when the time to drain is over
	wake     chan struct{}   // holds one
	started  func()          // called once this instance is in the tree
	working  sync.WaitGroup

	mu       sync.Mutex
	returned []*run
	shutdown bool
	untold   error // what the store could not be told in the end
	live     live
}

// look is when the controller has looked last, by the wall clock and the monotonic one.
type look struct{ wall, mono time.Time }

// loop runs until this instance has left, and returns why it did. It is not through if it
// could not go on, and what it has is still in the tree.
func (c *controller) loop() (through bool, err error) {
	for {
		c.wakeAt = time.Time{}
		c.passes++
		if gone, err := c.enter(); gone || err != nil {
			return gone, err
		}
		c.atWork(true)
		if c.stale {
			c.catchUp()
		}
		c.look()
		c.collect()
		w := c.world()
		gone, err := c.pass(w)
		c.publish(w)
		c.atWork(false)
		if gone || err != nil {
			return gone, err
		}
		if !c.stale || !c.mayTry("sync") {
			c.wait()
		}
	}
}

// look decodes the view if it has changed, and follows the configuration.
func (c *controller) look() {
	select {
	case <-c.changed:
	default:
		if c.changed != nil {
			return
		}
	}
	c.changed = c.view.Changed() // before the snapshot: nothing is missed between them
	c.state = jobtree.Reread(c.view.Snapshot(), c.job, c.state)
	document := c.state.Config
	if document == nil || document.Modified <= c.settings.modified || document.Modified == c.refused {
		return
	}
	config, err := DecodeConfig(document.Value)
	var next *settings
	if err == nil {
		next, err = c.settings.follow(config, c.options, document.Modified)
	}
	if err != nil {
		c.refused = document.Modified
		c.fault(FaultConfig, fmt.Errorf("job %s: the configuration in the registry is refused, the last good one stays in force: %w", c.job, err))
		return
	}
	before := c.settings
	if before.Cron != next.Cron || before.TimeZone != next.TimeZone || before.monitor != next.monitor {
		c.localTick = c.now()
		clear(c.waiting)
	}
	c.settings = next
	c.refused = 0
	c.fault(FaultConfig, nil)
	if changes := before.Config.differences(next.Config); len(changes) > 0 {
		c.log.Info("configuration changed", zap.Int64("revision", document.Modified), zap.Strings("fields", changes))
	}
}

func (c *controller) world() *world {
	now := c.now()
	if c.settings.StaticSharding {
		c.gone = absences(c.state, c.gone, now)
	}
	// By a clock that was set back, these have not come yet.
	maps.DeleteFunc(c.begun, func(_ int, tick time.Time) bool { return now.Before(tick) })
	w := &world{
		State: c.state, job: c.job, settings: c.settings, self: c.self, now: now,
		runs: c.runs, ended: c.ended, waiting: c.waiting, begun: c.begun, leaving: c.leaving != nil, gone: c.gone,
		clock: c.reg.Clock(), slack: c.slack(now), refused: c.refused, ask: c.ask,
	}
	w.clockOff, w.clockFar = w.compareClocks(c.settings.MaxTimeDiff)
	w.leaderless = c.leaderless.hold(!w.leaderStands(), now)
	return w
}

// maxSlack bounds the slack after a suspended host or a clock that was set.
const maxSlack = 30 * time.Second

// slack says how late a tick may be seen because the wall clock has not gone as timers
// do since the last look: it was set, or the host was suspended.
func (c *controller) slack(now time.Time) time.Duration {
	before, mono := c.looked, time.Now()
	c.looked = look{wall: now, mono: mono}
	if before.mono.IsZero() {
		return 0
	}
	elapsed := mono.Sub(before.mono)
	jumped := now.Sub(before.wall) - elapsed
	const usual = 100 * time.Millisecond
	if jumped < usual && jumped > -usual {
		return 0
	}
	return min(elapsed, maxSlack) + min(max(jumped, 0), maxSlack)
}

// absences keeps since when each owner has been missing.
func absences(s *jobtree.State, before map[string]time.Time, now time.Time) map[string]time.Time {
	var gone map[string]time.Time
	for i := range s.Items {
		owner := s.Items[i].Owner
		if owner == nil {
			continue
		}
		if _, ok := s.Instances[owner.ID]; ok {
			continue
		}
		if gone == nil {
			gone = map[string]time.Time{}
		}
		gone[owner.ID] = now
		if since, ok := before[owner.ID]; ok {
			gone[owner.ID] = since
		}
	}
	return gone
}

// pass asks every step once. gone is true when nothing is left to be done here.
func (c *controller) pass(w *world) (gone bool, err error) {
	defer c.endPass(w.now)
	c.reconcileIfDue(w.now)
	if w.Config == nil {
		if c.removed() {
			gone := c.abandon(w, ErrJobRemoved)
			if !gone {
				return false, nil
			}
			return true, c.why()
		}
		if c.leaving == nil && !c.isShutdown() {
			c.diagnose(w)
			return false, nil // the view has to catch up: steps need a configuration
		}
	}
	if c.isShutdown() && c.leaving == nil {
		c.leaving = ErrShutdown
		w.leaving = true
		c.log.Info("leaving", zap.Int("running", len(c.runs)))
	}
	c.lookAfterRuns(w)
	c.finish(w)
	if c.leaving != nil {
		gone, err := c.leave(w)
		if !gone {
			c.diagnose(w)
			c.report(w)
		}
		return gone, err
	}
	if !w.registered() {
		err := c.register(w)
		c.diagnose(w)
		return false, err
	}
	c.seen = true
	if err := c.announce(w); err != nil {
		return false, err
	}
	c.takeOver(w)
	c.obey(w)
	c.fire(w)
	c.handBack(w)
	c.settle(w)
	err = c.lead(w)
	c.diagnose(w)
	c.report(w)
	return false, err
}

// endPass forgets what is past.
func (c *controller) endPass(now time.Time) {
	c.heals.endPass(c.troubles, c.passes, now)
	c.troubles.endPass(c.passes)
}

// removed reports whether the whole job was removed. The view is right about it, but
// may not have seen yet that it was just set up.
func (c *controller) removed() bool {
	const step = "look for the configuration"
	if !c.mayTry(step) {
		return false
	}
	_, err := c.reg.Get(c.session.Context(), c.job.Config())
	switch {
	case errors.Is(err, coord.ErrNoNode):
		return true
	case err != nil:
		c.failed(step, err)
	default: // it is there: the view has to catch up
		c.stale = true
		c.meet(step, fmt.Errorf("the view of the job does not show the configuration, which is there: %w", coord.ErrUnavailable), firstPause, lastPause, 1)
	}
	return false
}

func (c *controller) now() time.Time { return c.options.now() }

func (c *controller) isShutdown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shutdown
}

// why is what loop returns in the end: nil after a Shutdown that was asked for.
func (c *controller) why() error {
	if c.leaving == nil || errors.Is(c.leaving, ErrShutdown) {
		return nil
	}
	return fmt.Errorf("job %s: %w", c.job, c.leaving)
}

// reconcileIfDue makes the controller look at the whole tree although it saw no change.
// Jobs of one process do so at different times.
func (c *controller) reconcileIfDue(now time.Time) {
	d := c.settings.ReconcileInterval
	if d <= 0 {
		return
	}
	next := func() time.Time { return now.Add(d - d/10 + rand.N(d/5+1)) }
	if c.reconcile.IsZero() || c.reconcile.After(now.Add(2*d)) { // the clock was set back
		c.reconcile = next()
	}
	if !now.Before(c.reconcile) {
		c.reconcile = next()
		c.stale, c.sweeping = true, true
	}
	c.wakeIn(c.reconcile.Sub(now))
}
