package job

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// storePatience is how long requests may fail before the store is at fault.
	storePatience = 2 * time.Second
	// treePatience is how long something in the tree may be in the way before it is a
	// fault: it may be somebody else who is faster.
	treePatience = 4 * time.Second
)

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
func (c *controller) diagnose(w *world) {
	c.fault(FaultStore, c.storeFault(w))
	c.fault(FaultClock, c.clockFault(w))
	c.fault(FaultTree, c.treeFault(w))
	c.watch(w)
	if c.refused == 0 {
		c.fault(FaultConfig, c.scheduleFault(w))
	}
}

// lasts reports whether something has held for long enough, and wakes up when it will
// have.
func (c *controller) lasts(s *since, holds bool, now time.Time, patience time.Duration) bool {
	held := s.hold(holds, now)
	if holds && held < patience {
		c.wakeIn(patience - held)
	}
	return holds && held >= patience
}

func (c *controller) storeFault(w *world) error {
	state, _ := c.session.State()
	suspended := c.lasts(&c.signs.suspended, state == coord.Suspended, w.now, storePatience/2)
	if err := c.troubleFault(w.now, storePatience, ofStore); err != nil {
		return err
	}
	if suspended {
		return suspendedUntil(c.session.Deadline())
	}
	if c.lasts(&c.signs.unregistered, !w.registered() && c.leaving == nil, w.now, 2*treePatience) {
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

func (c *controller) clockFault(w *world) error {
	ahead := w.clock.Ahead(c.now()) // a pass may have taken long
	how := "ahead of"
	diff := ahead
	if ahead < 0 {
		how, diff = "behind", -ahead
	}
	switch {
	case w.clockOff:
		return fmt.Errorf("job %s: %w: %v %s it, at most %v are allowed; this instance runs nothing, and others have its items", c.job, ErrClock, diff.Round(time.Second), how, c.settings.MaxTimeDiff)
	case w.clockStops():
		return fmt.Errorf("job %s: %w: %v %s it; this instance runs nothing, and others, whose clocks are right, have its items", c.job, ErrClock, diff.Round(time.Second), how)
	case diff > clockTolerance:
		return fmt.Errorf("job %s: %w: %v %s it", c.job, ErrClock, diff.Round(time.Second), how)
	case c.settings.MaxTimeDiff > 0 && !w.clock.Known() && w.clock.Err() != nil:
		return fmt.Errorf("job %s: the store's clock cannot be compared with this host's, though MaxTimeDiff is set: %w", c.job, w.clock.Err())
	}
	return w.timesFault()
}

func (c *controller) treeFault(w *world) error {
	if err := c.troubleFault(w.now, treePatience, ofTree); err != nil {
		return err
	}
	if err := c.view.Fault(); err != nil && kindOfViewFault(err) == FaultTree {
		return err
	}
	// Somebody who may lead is there: this instance, at least.
	if c.lasts(&c.signs.leaderless, !w.leaderStands() && w.mayLead(), w.now, treePatience) {
		return fmt.Errorf("job %s: nobody leads, so items are not dealt, nor recovered", c.job)
	}
	if w.UnusableNodes > 0 {
		return fmt.Errorf("job %s: %d nodes have names that cannot be used, and are not looked at, such as %q", c.job, w.UnusableNodes, w.Unusable)
	}
	return nil
}

// scheduleFault is a schedule that has come to its end, or that the leader has not put in
// force.
func (c *controller) scheduleFault(w *world) error {
	if c.settings.schedule != nil && c.settings.schedule.Next(w.now).IsZero() {
		return fmt.Errorf("job %s: the cron expression %q has no tick to come", c.job, short(c.settings.Cron))
	}
	missing := c.settings.schedule != nil && w.Config != nil && !w.inForce() && w.active()
	if !c.lasts(&c.signs.outOfForce, missing, w.now, treePatience) {
		return nil
	}
	return fmt.Errorf("job %s: the leader has not put the schedule %q in force; it may have refused the configuration", c.job, short(c.settings.Cron))
}

// toldFaults is what stands in this instance's faults node.
type toldFaults struct {
	when time.Time
	text string
}

// tellEvery is how often the faults node is rewritten at most.
const tellEvery = 5 * time.Second

// report writes the faults of this instance into the tree, for operators.
func (c *controller) report(w *world) {
	var records []jobtree.FaultRecord
	text := ""
	for _, f := range c.faults {
		if f.Err != nil {
			r := jobtree.FaultRecord{Kind: f.Kind.String(), Cause: f.Err.Error(), Since: f.Since}
			records = append(records, r)
			text += r.Kind + "\x00" + r.Cause + "\x00"
		}
	}
	node, there := w.Faults[c.self.id]
	if text == c.told.text && there == (text != "") {
		return
	}
	if waited := w.now.Sub(c.told.when); waited >= 0 && waited < tellEvery && text != "" {
		c.wakeIn(tellEvery - waited)
		return
	}
	path := c.job.Faults(c.self.id)
	cm := commit{step: "report", ops: []coord.Op{w.mine()}}
	if text == "" {
		cm.ops = append(cm.ops, coord.DeleteTree(path))
	} else {
		document, err := jobtree.EncodeFaults(records)
		if err != nil {
			c.log.Error("faults not written")
			return
		}
		if there {
			cm.ops = append(cm.ops, coord.SetAt(path, document, node.Version))
		} else {
			cm.ops = append(cm.ops, coord.CreateEphemeral(path, document))
		}
	}
	if c.commit(cm) {
		c.told = toldFaults{when: w.now, text: text}
	}
}
