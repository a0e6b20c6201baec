package engine

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
)

// nextPass says what the next pass has to look at. Most passes are made because an execution has begun or ended.
// Then a partial pass is enough: it runs only the steps that are about items ([decide.Step.Partial]), for the
// items that have changed. So the cost of an execution does not grow with the number of items.
//
//	                     nothing has changed ──► no pass
//	look, collect ──►    only records of items ──► a partial pass
//	                     anything else ──► a full pass
//
// A pass is full if anything but records of items has changed (in the tree or in passInputs), if a step
// waits or fails (isQuiescent is false), and when the time has come that a step has asked for (wakeIn).
type nextPass struct {
	// The next pass is a full one. reconcile clears it.
	full bool
	// The items whose records have changed in the tree, or whose runs have ended here. look
	// and collect add; a pass clears.
	dirty []int
	// When a full pass is due; zero if no step waits. wakeIn sets it, a full pass clears it.
	fullAt clocks.Moment
	// When a partial pass is due; zero if none is. finish sets it, each pass clears it.
	partialAt clocks.Moment
	// The inputs of the last pass.
	inputs passInputs
	// Items that are due, in their order, for which no thread was free. fire changes it.
	backlog []int
	// The tick for which all items of this instance were claimed early; zero if there is none.
	// noteAllClaimed sets it.
	allClaimedFor time.Time
}

// passInputs are what a pass depends on beside the tree. A change of any of them makes the next pass full.
type passInputs struct {
	session     coord.SessionID
	id          string
	settings    *setup.Settings
	refused     int64
	tick        time.Time // the last one
	slot        int       // how many of the delays of Jitter are over for it: decide.World.ElapsedSlots
	earlyTick   time.Time // the next one, if items are claimed for it already
	active      bool
	clockStops  bool // the clock stops this instance
	clockKnown  bool // the store's clock is known
	isRemovable bool // the job has expired, and nothing is left but to remove it
}

func (c *controller) inputsOf(w *decide.World) passInputs {
	early, _ := w.EarlyTick()
	return passInputs{
		earlyTick: early,
		session:   c.self.Session, id: c.self.ID, settings: c.settings, refused: c.refusal(),
		tick: w.LastTick(), slot: w.ElapsedSlots(), active: w.IsActive(), clockStops: w.ClockStops(), clockKnown: w.Clock.Known,
		isRemovable: w.Leads() && w.IsRemovable(c.work),
	}
}

// partialSuffices reports whether a partial pass is enough. It remembers the inputs of the pass.
func (c *controller) partialSuffices(w *decide.World) bool {
	now := c.inputsOf(w)
	isSame := now == c.inputs
	before := c.nextPass.inputs
	c.nextPass.inputs = now
	if before.tick, before.slot, before.earlyTick = now.tick, now.slot, now.earlyTick; before != now || c.full {
		c.assigner.Invalidate()
	}
	if all := c.allClaimedFor; !all.IsZero() && (now.tick.Equal(all) && now.earlyTick.IsZero() || now.earlyTick.Equal(all)) {
		isSame = before == now // all that this tick makes due was claimed before
	}
	return isSame && !c.full && w.Slack == 0 && (c.fullAt.IsZero() || c.moment().Before(c.fullAt)) &&
		c.role(w)&decide.Member != 0 && c.isQuiescent()
}

// isQuiescent reports whether no step waits for something that neither the tree nor a timer tells. It is
// false beside JVM members, because nothing tells that they have begun a tick.
func (c *controller) isQuiescent() bool {
	mayTakeOver := len(c.state.FailoverItems) > 0 && c.idle() > 0
	return c.mixed == nil && !c.commits.IsStale() && !c.commits.IsUnconfirmed() && !c.commits.HasFailures() && len(c.unrecordedEnds) == 0 && c.unansweredClaims == 0 && !c.current.HasRequests() && !c.assigner.HasPending() && !mayTakeOver &&
		c.settings.Rules.Monitor && !c.isShutdown()
}

// markDirty adds an item to those that the next partial pass looks at.
func (c *controller) markDirty(item int) { c.nextPass.dirty = append(c.nextPass.dirty, item) }

// noteChangedItems marks items dirty whose records have changed in the tree. Records that this process has
// committed itself need no pass; records that somebody else has changed though the item is owned or run here need a full one.
func (c *controller) noteChangedItems(items []int) {
	for _, i := range items {
		switch r := c.runs[i]; {
		case c.isOwnCommit(i):
			if len(c.state.Guarantees) > 0 {
				c.markDirty(i) // it may be the last member of a tick that has ended
			}
		case r != nil && r.phase == exec.Done:
			c.markDirty(i) // now it may be finished
		case r != nil, c.state.Items[i].Owner.Is(c.self.ID):
			c.full = true // somebody else has changed what is ours
		default:
			c.markDirty(i)
		}
	}
}

// dirtyItems returns the items that a partial pass looks at, ascending: those that have changed,
// and as many of the backlog as may be claimed now, which it takes out of the backlog.
func (c *controller) dirtyItems() []int {
	items := c.nextPass.dirty
	if len(c.backlog) > 0 {
		next := min(max(c.claimable(), 0), len(c.backlog))
		items = append(items, c.backlog[:next]...)
		c.backlog = c.backlog[next:]
	}
	if items == nil {
		return []int{} // nil would be all
	}
	slices.Sort(items)
	return slices.Compact(items)
}

// isOwnCommit reports whether the tree shows of an item just what this process has committed last, so that
// nothing is left to be done.
func (c *controller) isOwnCommit(i int) bool {
	item := &c.state.Items[i]
	switch r := c.runs[i]; {
	case item.Fired == nil || item.Misfire || item.Failovering != nil:
		return false
	case r != nil:
		return r.phase != exec.Done && item.Running != nil && item.Fired.Modified == r.Token && item.Running.Modified == r.Token && r.Instance == c.self.ID
	}
	last := c.nextPass.inputs
	return item.Running == nil && item.Fired.Modified == c.work.Ended[i] && !last.tick.After(item.Fired.Tick) && !last.earlyTick.After(item.Fired.Tick)
}

// addToBacklog keeps the items that are due and for which no thread was free, in their order. A full pass
// starts the backlog anew, a partial one adds to it.
func (c *controller) addToBacklog(due []decide.Due, free int) {
	for _, d := range due[min(max(free, 0), len(due)):] {
		c.backlog = append(c.backlog, d.Item)
	}
}
