package job

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// storePatience is how long requests may fail before the store is at fault.
	storePatience = 2 * time.Second
	// treePatience is how long something in the tree may be in the way before it is a
	// fault: it may be somebody else who is faster.
	treePatience = 4 * time.Second
)

// diagnosis is what is wrong, and how much of it was told. diagnose and report change it;
// enter and look tell of a fault, too.
type diagnosis struct {
	faults [faultKinds]Fault
	calms  [faultKinds]calm
	signs  signs
	told   toldFaults
}

// signs are what a controller watches to know that its job runs. Whatever keeps it from
// doing so, known or not, shows in them: items that do not begin.
type signs struct {
	suspended    since
	leaderless   since
	outOfForce   since
	unregistered since
	late         map[int]lateness // of the items that should have begun
	watched      time.Time        // when they were looked at last
	waiting      []Waiting
}

// diagnose finds out what keeps the job from running.
func (c *controller) diagnose(w *decide.World) error {
	c.fault(FaultStore, c.storeFault(w))
	c.fault(FaultClock, c.clockFault(w))
	c.fault(FaultTree, c.treeFault(w))
	c.watch(w)
	if c.refused == 0 {
		c.fault(FaultConfig, c.scheduleFault(w))
	}
	return nil
}

// track notes whether something holds, and reports whether it has for long enough. It
// wakes up when it will have.
func (c *controller) track(s *since, holds bool, now time.Time, patience time.Duration) bool {
	held := s.hold(holds, now)
	if holds && held < patience {
		c.wakeIn(patience - held)
	}
	return holds && held >= patience
}

func (c *controller) storeFault(w *decide.World) error {
	state, _ := c.session.State() // the other value tells of a change
	c.observeSession(state, nil)
	suspended := c.track(&c.signs.suspended, state == coord.Suspended, w.Now, storePatience/2)
	if err := c.troubleFault(w.Now, storePatience, ofStore); err != nil {
		return err
	}
	if suspended {
		return suspendedUntil(c.session.Deadline())
	}
	if c.track(&c.signs.unregistered, !w.IsRegistered() && !c.isLeaving(), w.Now, 2*treePatience) {
		return fmt.Errorf("%w: this instance is not in the registry, or the view of the job does not show it", coord.ErrUnavailable)
	}
	if err := c.view.Fault(); err != nil && kindOfViewFault(err) == FaultStore {
		return err
	}
	return nil
}

// troubleFault is the oldest of the troubles that have lasted.
func (c *controller) troubleFault(now time.Time, patience time.Duration, kind func(error) bool) error {
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

func (c *controller) treeFault(w *decide.World) error {
	if err := c.troubleFault(w.Now, treePatience, ofTree); err != nil {
		return err
	}
	if err := c.view.Fault(); err != nil && kindOfViewFault(err) == FaultTree {
		return err
	}
	// Somebody who may lead is there: this instance, at least.
	if c.track(&c.signs.leaderless, !w.LeaderStands() && w.MayLead(), w.Now, treePatience) {
		return fmt.Errorf("job %s: nobody leads, so items are not dealt, nor recovered", c.job)
	}
	if id, version := w.NewerProtocol(); id != "" {
		return fmt.Errorf("job %s: instance %s shares the tree by protocol %d, and this program knows %d at most; update this program", c.job, short(id), version, jobtree.Protocol)
	}
	if w.UnusableNodes > 0 {
		return fmt.Errorf("job %s: %d nodes have names that cannot be used, and are not looked at, such as %q", c.job, w.UnusableNodes, w.Unusable)
	}
	return nil
}

// scheduleFault is a schedule that has come to its end, or that the leader has not put in
// force.
func (c *controller) scheduleFault(w *decide.World) error {
	if c.settings.rules.Ticks != nil && c.settings.rules.Ticks.Next(w.Now).IsZero() {
		return fmt.Errorf("job %s: the cron expression %q has no tick to come", c.job, short(c.settings.Cron))
	}
	missing := c.settings.rules.Ticks != nil && w.Config != nil && !w.IsInForce() && w.IsActive()
	if !c.track(&c.signs.outOfForce, missing, w.Now, treePatience) {
		return nil
	}
	return fmt.Errorf("job %s: the leader has not put the schedule %q in force; it may have refused the configuration", c.job, short(c.settings.Cron))
}
