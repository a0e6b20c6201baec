package engine

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// attention says what the next pass has to look at. Most passes come because an execution
// has begun or ended. Then a narrow pass is enough: it looks only at the items that have
// changed, and leaves out the steps that items do not matter to. So what an execution costs
// does not grow with the number of items.
//
//	                     nothing has changed ──► no pass
//	look, collect ──►    only records of items ──► a narrow pass
//	                     anything else ──► a whole pass
//
// A pass is whole if anything but records of items has changed (outlook, the tree), if there are JVM
// members, whose records we write, if a step waits or has trouble, and when the time comes that a step has asked for (wakeIn).
type attention struct {
	// Anything may have changed. look, prodded, wait and what a step has left out set it; once clears
	// it.
	whole bool
	// The items whose records have changed in the tree, or whose runs have ended here. look
	// and collect add; a pass clears.
	items []int
	// When a whole pass is due; zero if no step waits. wakeIn sets it, a whole pass clears it.
	wholeAt clocks.Moment
	// When a narrow pass is due; zero if none is. finish sets it, each pass clears it.
	narrowAt clocks.Moment
	// What the last pass went by.
	outlook outlook
	// Items that are due, in their order, for which no thread was free. fire changes it.
	backlog []int
	// The tick for which all items of this instance were claimed early; zero if there is none.
	// cover sets it.
	covered time.Time
}

// outlook is what a pass depends on beside the tree.
type outlook struct {
	session  coord.SessionID
	id       string
	settings *settings
	refused  int64
	tick     time.Time // the last one
	slot     int       // of the jitter: how many of its delays are over for it
	early    time.Time // the next one, if items are claimed for it already
	active   bool
	stops    bool // the clock stops this instance
	clock    bool // the store's clock is known
	isToGo   bool // the job has expired, and nothing is left but to remove it
}

func (c *controller) outlookOf(w *decide.World) outlook {
	early, _ := w.EarlyTick()
	return outlook{
		early:   early,
		session: c.self.Session, id: c.self.ID, settings: c.settings, refused: c.refusal(),
		tick: w.LastTick(), slot: w.Slot(), active: w.IsActive(), stops: w.ClockStops(), clock: w.Clock.Known,
		isToGo: w.Leads() && w.IsToGo(c.work),
	}
}

// narrow reports whether a narrow pass is enough. It notes what the pass goes by.
func (c *controller) narrow(w *decide.World) bool {
	now := c.outlookOf(w)
	isSame := now == c.outlook
	before := c.attention.outlook
	c.attention.outlook = now
	if before.tick, before.slot, before.early = now.tick, now.slot, now.early; before != now || c.whole {
		c.dealt.rests = false
	}
	if now.tick.Equal(c.covered) && now.early.IsZero() {
		isSame = before == now // all that this tick makes due was claimed before
	}
	return isSame && !c.whole && w.Slack == 0 && (c.wholeAt.IsZero() || c.moment().Before(c.wholeAt)) &&
		c.role(w)&asMember != 0 && c.rests()
}

// rests reports whether no step waits for anything that has no time.
func (c *controller) rests() bool {
	mayTakeOver := len(c.state.FailoverItems) > 0 && c.idle() > 0
	return c.mixed == nil && !c.stale && !c.suspicious && len(c.troubles) == 0 && len(c.unended) == 0 && c.strays == 0 && !c.turn.HasRequests() && !c.dealt.open && !mayTakeOver &&
		c.settings.rules.Monitor && !c.isShutdown()
}

// notice notes that an item has changed.
func (c *controller) notice(item int) { c.attention.items = append(c.attention.items, item) }

// noticeAll notes that the tree has other records of items than before.
func (c *controller) noticeAll(items []int) {
	for _, i := range items {
		switch r := c.runs[i]; {
		case c.isOwnNews(i):
			if len(c.state.Guarantees) > 0 {
				c.notice(i) // it may be the last member of a tick that has ended
			}
		case r != nil && r.phase == done:
			c.notice(i) // now it may be finished
		case r != nil, c.state.Items[i].Owner.Is(c.self.ID):
			c.whole = true // somebody else has changed what is ours
		default:
			c.notice(i)
		}
	}
}

// noticed returns the items that a narrow pass looks at, ascending: those that have changed,
// and as many of the backlog as may begin now.
func (c *controller) noticed() []int {
	items := c.attention.items
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

// isOwnNews reports whether what the tree shows of an item is what this process has
// committed last: then nothing follows from it.
func (c *controller) isOwnNews(i int) bool {
	item := &c.state.Items[i]
	switch r := c.runs[i]; {
	case item.Fired == nil || item.Misfire || item.Failovering != nil:
		return false
	case r != nil:
		return r.phase != done && item.Running != nil && item.Fired.Modified == r.Token && item.Running.Modified == r.Token && r.Instance == c.self.ID
	}
	return item.Running == nil && item.Fired.Modified == c.work.Ended[i] && !c.attention.outlook.tick.After(item.Fired.Tick)
}

// setAside keeps the items that are due and could not begin, in their order. A whole pass has
// found all of them, a narrow one some more.
func (c *controller) setAside(due []decide.Due, free int) {
	for _, d := range due[min(max(free, 0), len(due)):] {
		c.backlog = append(c.backlog, d.Item)
	}
}
