package job

import (
	"errors"
	"fmt"
	"slices"
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
	// startPatience is how long after its tolerance a tick may wait for its run before
	// that is a fault: for an instance's own items, and for those that a leader looks at.
	startPatience  = 4 * time.Second
	leaderPatience = 8 * time.Second
	// maxWaiting bounds Status.Waiting.
	maxWaiting = 100
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

// lateness is since when an item should have begun, without having got on since.
type lateness struct {
	since time.Time
	mark  int64 // of the last claim: an item that gets on has another
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
	ahead := w.clock.Ahead(w.now)
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
	var future []int
	for i := range min(c.settings.ShardingTotalCount, len(w.Items)) {
		if fired := w.Items[i].Fired; fired != nil && w.fromFuture(fired.Tick) {
			future = append(future, i)
		}
	}
	if len(future) > 0 {
		return fmt.Errorf("job %s: the last ticks of items %s are from the future, as a clock that is ahead leaves them; the leader corrects them", c.job, listItems(future))
	}
	return nil
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

// scheduleFault is a schedule that the leader has not put in force.
func (c *controller) scheduleFault(w *world) error {
	missing := c.settings.schedule != nil && w.Config != nil && !w.inForce() && w.active()
	if !c.lasts(&c.signs.outOfForce, missing, w.now, treePatience) {
		return nil
	}
	return fmt.Errorf("job %s: the leader has not put the schedule %q in force; it may have refused the configuration", c.job, short(c.settings.Cron))
}

// watchEvery is how often all items are looked at, at most: a wide job is looked at often
// while it begins.
const watchEvery = 500 * time.Millisecond

// watch looks after items that should have begun.
func (c *controller) watch(w *world) {
	if waited := w.now.Sub(c.signs.watched); waited >= 0 && waited < watchEvery {
		c.wakeIn(2*watchEvery - waited)
		return
	}
	c.signs.watched = w.now
	c.fault(FaultStarvation, c.starvation(w))
}

// starvation lists the items that should have begun and did not, and says so once that
// has lasted.
func (c *controller) starvation(w *world) error {
	late := map[int]string{}
	patience := c.settings.tolerance + startPatience
	if w.registered() && w.Config != nil && c.leaving == nil {
		c.ownLate(w, late)
		if w.leads() {
			others := map[int]string{}
			w.lateElsewhere(others)
			for i, why := range others {
				if _, own := late[i]; !own {
					late[i] = why
				}
			}
		}
	}
	var overdue []int
	c.signs.waiting = nil
	before := c.signs.late
	c.signs.late = make(map[int]lateness, len(late))
	for i, why := range late {
		at, mark := w.now, c.mark(w, i)
		if l, ok := before[i]; ok && l.mark == mark && !w.now.Before(l.since) {
			at = l.since
		}
		c.signs.late[i] = lateness{since: at, mark: mark}
		bound := patience
		if !w.Item(i).Owner.Is(c.self.id) {
			bound = c.settings.tolerance + leaderPatience
		}
		if lasted := w.now.Sub(at); lasted < bound {
			c.wakeIn(bound - lasted)
			continue
		}
		overdue = append(overdue, i)
		c.signs.waiting = append(c.signs.waiting, Waiting{Item: i, Since: at, Why: why})
	}
	if len(overdue) == 0 {
		return nil
	}
	slices.Sort(overdue)
	slices.SortFunc(c.signs.waiting, func(a, b Waiting) int { return a.Item - b.Item })
	first := c.signs.waiting[0]
	c.signs.waiting = c.signs.waiting[:min(len(c.signs.waiting), maxWaiting)]
	return fmt.Errorf("job %s: items %s should have begun; item %d since %s: %s", c.job, listItems(overdue), first.Item, first.Since.Format(time.TimeOnly), first.Why)
}

// mark is what changes when an item gets on.
func (c *controller) mark(w *world, i int) int64 {
	if r := c.runs[i]; r != nil && r.token == 0 {
		return r.tick.UnixMilli()
	}
	if fired := w.Item(i).Fired; fired != nil {
		return fired.Modified
	}
	return 0
}

// ownLate finds the items of this instance that should have begun.
func (c *controller) ownLate(w *world, late map[int]string) {
	busy := ""
	threads := func() string {
		if busy == "" {
			busy = c.whyBusy(w.now)
		}
		return busy
	}
	if w.clockStops() {
		return // which is a fault of its own, and others have the items
	}
	for _, d := range w.due() {
		late[d.item] = threads()
	}
	for i := range c.triggers {
		if w.runs[i] == nil && w.Item(i).Owner.Is(c.self.id) && w.Item(i).Running == nil {
			late[i] = "it was triggered, and " + threads()
		}
	}
	for _, r := range c.queue {
		late[r.item] = threads()
	}
	tick := w.lastTick()
	for i, r := range c.runs {
		if r.phase == executing && tick.After(r.last) && tick.After(r.tick) && w.Item(i).Owner.Is(c.self.id) && !w.Item(i).Disabled {
			late[i] = fmt.Sprintf("its execution of %s is not through", r.tick.In(c.settings.zone).Format(time.DateTime))
		}
	}
}

// whyBusy says what keeps this instance from beginning an item.
func (c *controller) whyBusy(now time.Time) string {
	if c.executing < c.settings.threads {
		if _, t, _ := c.troubles.oldest(now, 0, func(error) bool { return true }); t != nil {
			return short("its claim does not succeed: " + t.err.Error())
		}
		return "its claim does not succeed"
	}
	var oldest *run
	for _, r := range c.runs {
		if r.phase == executing && (oldest == nil || r.begun.Before(oldest.begun)) {
			oldest = r
		}
	}
	if oldest == nil {
		return fmt.Sprintf("all %d threads are busy", c.settings.threads)
	}
	return fmt.Sprintf("all %d threads are busy, one of them with item %d since %s", c.settings.threads, oldest.item, oldest.begun.Format(time.DateTime))
}

// lateElsewhere finds the items of all that should have begun, as far as the tree tells.
func (w *world) lateElsewhere(late map[int]string) {
	if len(w.available()) == 0 {
		return // nobody may have them
	}
	tick := w.lastTick()
	for i := range w.settings.ShardingTotalCount {
		item := w.Item(i)
		if item.Disabled {
			continue
		}
		if item.Running != nil {
			if id := w.runner(item); w.dead(id) {
				late[i] = fmt.Sprintf("its instance %s has ended, and it is not recovered", short(id))
			}
			continue
		}
		if why := w.whyUnowned(item); why != "" {
			late[i] = why
			continue
		}
		if item.Owner.Is(w.self.id) {
			continue // which it knows better by itself
		}
		if w.settings.monitor && !tick.IsZero() && item.Fired != nil && tick.After(item.Fired.Tick) {
			late[i] = fmt.Sprintf("its instance %s is there and does not begin it", short(item.Owner.ID))
		}
	}
	for _, f := range w.claimableFailovers() {
		late[f.Item] = "it waits to be run again, and no instance has a free thread for it"
	}
}

// whyUnowned says why an item has no owner that may run it; "" if it has one.
func (w *world) whyUnowned(item jobtree.Item) string {
	if item.Owner == nil {
		return "it has no owner"
	}
	id := item.Owner.ID
	in, ok := w.Instances[id]
	switch {
	case !ok && w.settings.StaticSharding && !w.abandoned(id):
		return "" // it is to stay where it is
	case !ok:
		return fmt.Sprintf("its instance %s is gone, and it is not dealt again", short(id))
	case !w.eligible(in):
		return fmt.Sprintf("its instance %s may not have it now, and it is not dealt again", short(id))
	}
	return ""
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

// errHandedBack is the outcome of a run that was claimed and given back.
var errHandedBack = errors.New("job: claim handed back")
