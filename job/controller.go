package job

import (
	"context"
	"errors"
	"fmt"
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
	refused  int64           // Modified of the last configuration that was refused

	session coord.Session
	self    self
	asked   bool // self has tried to register
	seen    bool // an instance of this session was in a snapshot
	// forestalled is set once the registration of self is given up, or may be.
	forestalled bool

	runs      map[int]*run
	queue     []*run // claimed and waiting for a slot
	executing int
	ended     map[int]int64
	triggers  map[int]manual
	localTick time.Time    // the last tick that was fired without records
	missed    map[int]bool // items that a tick without records found running

	gone       map[string]time.Time
	lingering  time.Time // when runs that are done wait no longer for the others
	unseen     time.Time // since when the view lacks the claim of a run that is done
	unsettled  time.Time // since when the tree has leftovers
	yielding   time.Time // since when a JVM leader deals
	suspicious bool      // a commit of ours may have happened unseen
	stale      bool      // a commit met a conflict: the view has to catch up
	conflicts  int       // in a row
	syncs      int
	retryAt    time.Time
	retryIn    time.Duration
	reconciled time.Time
	faults     [faultKinds]error
	sweeping   bool      // servers that nobody uses are to be removed
	skipped    time.Time // the tick that a wrong clock kept from running
	leaving    error     // why, once it is on its way out
	grace      time.Time // until when handlers may take to return

	inTurn   bool            // commits of a step follow each other; for tests
	stopping context.Context // ends when the time to drain is over
	wake     chan struct{}   // holds one
	started  func()          // called once this instance is in the tree
	working  sync.WaitGroup

	mu       sync.Mutex
	returned []*run
	shutdown bool
	status   Status
}

// loop runs until this instance has left, and returns why it did.
func (c *controller) loop() error {
	for {
		if gone, err := c.enter(); gone || err != nil {
			return err
		}
		if c.stale && !c.pausing() {
			c.catchUp()
		}
		c.look()
		c.collect()
		w := c.world()
		gone, err := c.pass(w)
		c.publish(w)
		if gone || err != nil {
			return err
		}
		if !c.stale || c.pausing() {
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
	if c.state.Config == nil || c.state.Config.Modified <= c.settings.modified || c.state.Config.Modified == c.refused {
		return
	}
	document := c.state.Config
	config, err := DecodeConfig(document.Value)
	var next *settings
	if err == nil {
		next, err = c.settings.follow(config, c.options, document.Modified)
	}
	if err != nil {
		c.refused = document.Modified
		c.fault(faultConfig, fmt.Errorf("job %s: the configuration in the registry is refused, the last good one stays in force: %w", c.job, err))
		return
	}
	if c.settings.Cron != next.Cron || c.settings.TimeZone != next.TimeZone {
		c.localTick = c.options.now()
	}
	c.settings = next
	c.refused = 0
	c.fault(faultConfig, nil)
	c.log.Info("configuration changed", zap.Int64("revision", document.Modified))
}

func (c *controller) world() *world {
	now := c.now()
	if c.settings.StaticSharding {
		c.gone = absences(c.state, c.gone, now)
	}
	return &world{
		State: c.state, job: c.job, settings: c.settings, self: c.self, now: now,
		runs: c.runs, ended: c.ended, free: c.free(), leaving: c.leaving != nil, gone: c.gone,
	}
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
	if c.pausing() {
		return false, nil
	}
	if c.removed() {
		return c.abandon(w, ErrJobRemoved), c.why()
	}
	if c.isShutdown() && c.leaving == nil {
		c.leaving = ErrShutdown
		w.leaving = true
	}
	c.cancelLost(w)
	c.finish(w)
	if c.leaving != nil {
		return c.leave(w)
	}
	if !w.registered() {
		return false, c.register(w)
	}
	c.seen = true
	c.obey(w)
	c.fire(w)
	w.free = c.free()
	c.commitAll(w.takeOver())
	c.settle(w)
	return false, c.lead(w)
}

// removed reports whether the whole job was removed. The view is right about it, but
// may not have seen yet that it was just set up.
func (c *controller) removed() bool {
	if c.state.Config != nil {
		return false
	}
	_, err := c.reg.Get(c.session.Context(), c.job.Config())
	if errors.Is(err, coord.ErrNoNode) {
		return true
	}
	if err != nil {
		c.failed("look", err)
	}
	c.stale = true // it is there: the view has to catch up
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
