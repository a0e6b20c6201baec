package engine

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// storePatience is how long requests may fail before the store is at fault.
	storePatience = 2 * time.Second
	// treePatience is how long commits may conflict, or the leader be missing, before the
	// tree is at fault: conflicts may only mean that others are faster.
	treePatience = 4 * time.Second
)

// diagnosis is what is wrong with the job, as far as this instance knows.
type diagnosis struct {
	// By kind; nil until the first of its kind. fault changes them; diagnose, look, elect,
	// assign and awaitSession call it.
	faults [jobtype.FaultCalendar + 1]*recurring
	signs  signs      // the step diagnose
	told   toldFaults // the step report
}

// signs are what a controller watches to see whether its job runs. Whatever the reason is,
// known or not: if the job does not run, there are items that do not begin.
type signs struct {
	suspended    since            // the session is not renewed
	leaderless   since            // nobody leads
	outOfForce   since            // the schedule is not in force
	outdated     since            // the job has another implementation
	itemless     since            // this instance has no item of a broadcast job
	unregistered since            // this instance is not in the tree
	late         map[int]lateness // items that should have begun
	watched      clocks.Moment    // when items were looked at last
	waiting      []Waiting        // the items that are late for too long, for Status
}

// diagnose looks for what keeps the job from running. (look reports a configuration that is
// refused.)
func (c *controller) diagnose(w *decide.World) error {
	c.fault(jobtype.FaultStore, c.storeFault(w))
	c.fault(jobtype.FaultClock, c.clockFault(w))
	c.fault(jobtype.FaultTree, c.treeFault(w))
	c.fault(jobtype.FaultCalendar, c.calendarFault())
	c.watch(w)
	c.tellMixed(w)
	if c.refused == 0 {
		err := c.scheduleFault(w)
		if err == nil {
			err = c.broadcastFault(w)
		}
		if err == nil {
			err = c.expiryFault(w)
		}
		if err == nil {
			err = c.implementationFault(w)
		}
		c.fault(jobtype.FaultConfig, err)
	} else {
		c.wakeIn(max(c.reconsider.Sub(w.Moment), firstPause))
	}
	return nil
}

// track notes whether something holds, and reports whether it has held for patience. If it
// holds for less, the controller will look again when that time is over.
func (c *controller) track(s *since, holds bool, now clocks.Moment, patience time.Duration) bool {
	held := s.hold(holds, now)
	if holds && held < patience {
		c.wakeIn(patience - held)
	}
	return holds && held >= patience
}

// storeFault returns what is wrong with the store or the session; nil if nothing is.
func (c *controller) storeFault(w *decide.World) error {
	state, _ := c.session.State() // nobody waits here for its change
	if state != coord.Lost {      // enter tells of that, with the reason
		c.reporter.Session(c.self.ID, state, nil)
	}
	suspended := c.track(&c.signs.suspended, state == coord.Suspended, w.Moment, storePatience/2)
	if err := c.troubleFault(w.Moment, storePatience, ofStore); err != nil {
		return err
	}
	if suspended {
		return suspendedUntil(c.session.Deadline())
	}
	if c.track(&c.signs.unregistered, !w.IsRegistered() && !c.isLeaving(), w.Moment, 2*treePatience) {
		return fmt.Errorf("%w: this instance is not in the registry, or the view of the job does not show it", coord.ErrUnavailable)
	}
	if err := c.view.Fault(); err != nil && health.KindOfView(err) == jobtype.FaultStore {
		return err
	}
	return nil
}

// troubleFault returns the oldest trouble of a kind, with how many more there are, if it
// has lasted for patience.
func (c *controller) troubleFault(now clocks.Moment, patience time.Duration, kind func(error) bool) error {
	name, t, n := c.troubles.oldest(now, patience, kind)
	if t == nil {
		if _, young, _ := c.troubles.oldest(now, 0, kind); young != nil {
			c.wakeIn(patience - now.Sub(young.since))
		}
		return nil
	}
	if n > 1 {
		return fmt.Errorf("%s (and %d more): %w", short(name), n-1, t.err)
	}
	return fmt.Errorf("%s: %w", short(name), t.err)
}

// treeFault returns what is in the way in the tree; nil if nothing is.
func (c *controller) treeFault(w *decide.World) error {
	if err := c.troubleFault(w.Moment, treePatience, ofTree); err != nil {
		return err
	}
	if err := c.view.Fault(); err != nil && health.KindOfView(err) == jobtype.FaultTree {
		return err
	}
	// If this instance may lead, somebody should.
	if c.track(&c.signs.leaderless, !w.LeaderStands() && w.MayLead(), w.Moment, treePatience) {
		return fmt.Errorf("job %s: nobody leads, so items are not dealt, nor recovered", c.job)
	}
	if id, version := w.NewerProtocol(); id != "" {
		return fmt.Errorf("job %s: instance %s shares the tree by protocol %d, and this program knows %d at most; update this program", c.job, short(id), version, jobtree.Protocol)
	}
	if id, what := w.OldMember(); id != "" {
		return fmt.Errorf("job %s: instance %s shares the tree by protocol %d, and %s; update its program", c.job, short(id), w.Session(id).Protocol, what)
	}
	if w.UnusableNodes > 0 {
		return fmt.Errorf("job %s: %d nodes have names that cannot be used, and are not looked at, such as %q", c.job, w.UnusableNodes, w.Unusable)
	}
	return nil
}

// implementationFault returns an error if the job was given to another implementation: this one runs on,
// so that nothing stops while its programs are replaced, but does not start again. A Runner leaves
// instead, at once.
func (c *controller) implementationFault(w *decide.World) error {
	is := w.Implementation
	if !c.track(&c.signs.outdated, is != "" && is != c.options.Implementation && !c.isLeaving(), w.Moment, treePatience) {
		return nil
	}
	return fmt.Errorf("job %s: %w: the registry has %s now, this is %s; it runs on, and will not start again under this name", c.job, ErrImplementationConflict, quote(is), quote(c.options.Implementation))
}

// scheduleFault returns an error if the schedule has no tick to come, or if the leader has
// not put it in force.
func (c *controller) scheduleFault(w *decide.World) error {
	if c.settings.rules.Ticks != nil && !c.settings.rules.Expires() && c.settings.rules.Ticks.Next(w.Now).IsZero() {
		if !c.settings.ticks.Next(w.Now).IsZero() {
			return fmt.Errorf("job %s: its calendars leave out all ticks to come of the cron expression %q", c.job, short(c.settings.Cron))
		}
		return fmt.Errorf("job %s: the cron expression %q has no tick to come", c.job, short(c.settings.Cron))
	}
	missing := c.settings.rules.Ticks != nil && w.Config != nil && !w.IsInForce() && w.IsActive() && w.Rules.KnowsCalendars()
	if !c.track(&c.signs.outOfForce, missing, w.Moment, treePatience) {
		return nil
	}
	return fmt.Errorf("job %s: the leader has not put the schedule %q in force; it may have refused the configuration", c.job, short(c.settings.Cron))
}
