package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// These are how long an item may be late, beyond the tolerance of its tick, before that is
	// a fault: startPatience for items of this instance, leaderPatience for items of others
	// that a leader watches, followerPatience for those that any other instance watches.
	startPatience    = 4 * time.Second
	leaderPatience   = 8 * time.Second
	followerPatience = 16 * time.Second
	// streamPatience is how long a streaming execution may go without a word.
	streamPatience = time.Minute
	// maxWaiting bounds Status.Waiting.
	maxWaiting = 100
)

// lateness is since when an item should have begun and has not.
type lateness struct {
	since    instant
	progress int64 // of the item, then: if it has changed, the item has begun since
}

// watchEvery is the shortest time between two looks at all items. While a job with many
// items begins, there are many passes.
const watchEvery = 500 * time.Millisecond

// watch looks for items that should have begun, once in watchEvery.
func (c *controller) watch(w *decide.World) {
	if waited := w.Moment.Sub(c.signs.watched); waited < watchEvery {
		c.wakeIn(2*watchEvery - waited)
		return
	}
	c.signs.watched = w.Moment
	err := c.starvation(w)
	if itemless := c.itemlessFault(w); err == nil {
		err = itemless
	}
	c.fault(jobtype.FaultStarvation, err)
}

// starvation returns an error that names the items that should have begun, have not, and
// are late for too long. Status.Waiting shows them, too. Only the reasons that are shown
// become texts: many items may be late.
func (c *controller) starvation(w *decide.World) error {
	late := c.late(w)
	items := c.overdue(w, late)
	c.signs.waiting = nil
	whyBusy := sync.OnceValue(func() string { return c.whyBusy(w.Moment) })
	for _, i := range items[:min(len(items), maxWaiting)] {
		c.signs.waiting = append(c.signs.waiting, Waiting{Item: i, Since: c.signs.late[i].since.wall, Why: c.whyNot(late[i], whyBusy)})
	}
	// An operator who has disabled all servers wants items to wait: that shows only in Status.
	items = slices.DeleteFunc(items, func(i int) bool { return late[i].elsewhere.Reason == decide.AllDisabled })
	if len(items) == 0 {
		return nil
	}
	first := Waiting{Item: items[0], Since: c.signs.late[items[0]].since.wall, Why: c.whyNot(late[items[0]], whyBusy)}
	return fmt.Errorf("job %s: items %s should have begun; item %d since %s: %s", c.job, brief.Items(items), first.Item, first.Since.Format(time.TimeOnly), first.Why)
}

// reason is why an item has not begun. Without any of its fields it is that this instance
// cannot begin more.
type reason struct {
	elsewhere decide.Stalled     // not zero: others should have begun it
	run       *run               // not nil: an earlier execution goes on here
	held      *jobtree.Guarantee // not nil: it waits for Started of this tick
	request   string             // that waits for the item; "" if only a tick does
}

// whyNot returns the text of a reason.
func (c *controller) whyNot(r reason, whyBusy func() string) string {
	var why string
	switch {
	case r.elsewhere.Reason != decide.NotStalled:
		why = c.whyLate(r.elsewhere)
	case r.held != nil:
		why = fmt.Sprintf("it waits for Started of its tick, which %s calls", short(r.held.Starter))
	case r.run != nil:
		why = c.notThrough(r.run)
	default:
		why = whyBusy()
	}
	if r.request != "" {
		return fmt.Sprintf("request %s waits for it: %s", short(r.request), why)
	}
	return why
}

// late returns the items that should have begun by now and have not, each with the reason.
func (c *controller) late(w *decide.World) map[int]reason {
	late := map[int]reason{}
	if w.Config == nil {
		return late
	}
	if w.IsRegistered() && !c.isLeaving() {
		for _, l := range w.StalledElsewhere(c.work) {
			late[l.Item] = reason{elsewhere: l, request: l.Request}
		}
	}
	c.lateRuns(w, late)
	if !c.isLeaving() && !w.ClockStops() { // if the clock stops this instance, others have its items, and jobtype.FaultClock says so
		c.lateHere(w, late)
	}
	return late
}

// overdue remembers since when items are late. It returns those that are late for too long,
// in ascending order.
func (c *controller) overdue(w *decide.World, late map[int]reason) []int {
	own, elsewhere := c.settings.rules.Tolerance+startPatience, c.settings.rules.Tolerance+followerPatience
	if w.Leads() {
		elsewhere = c.settings.rules.Tolerance + leaderPatience
	}
	before := c.signs.late
	c.signs.late = nil
	if len(late) > 0 {
		c.signs.late = make(map[int]lateness, len(late))
	}
	var items []int
	for i, why := range late {
		at, progress := instant{w.Now, w.Moment}, c.progress(w, i)
		if why.request != "" {
			progress = w.RequestProgress(i)
		}
		if l, ok := before[i]; ok && l.progress == progress {
			at = l.since
		}
		c.signs.late[i] = lateness{since: at, progress: progress}
		patience := own
		if !w.Item(i).Owner.Is(c.self.ID) && c.runs[i] == nil {
			patience = elsewhere
		}
		if lasted := w.Moment.Sub(at.mono); lasted < patience {
			c.wakeIn(patience - lasted)
			continue
		}
		items = append(items, i)
	}
	slices.Sort(items)
	return items
}

// progress returns a number that changes whenever an item begins, or its tick is passed
// over.
func (c *controller) progress(w *decide.World, i int) int64 {
	if r := c.runs[i]; r != nil && !r.Recorded {
		return r.Tick.UnixMilli()
	}
	if fired := w.Item(i).Fired; fired != nil {
		return fired.Modified
	}
	return 0
}

// lateRuns adds the items whose execution here still goes on when their next tick has come.
func (c *controller) lateRuns(w *decide.World, late map[int]reason) {
	for i, r := range c.runs {
		tick := w.LastTickOf(i)
		if r.phase != executing || !tick.After(r.Last) || !tick.After(r.Tick) || w.Item(i).Disabled {
			continue
		}
		if c.settings.rules.Streams && r.signals.HasAsked(streamPatience) {
			c.wakeIn(streamPatience)
			continue
		}
		late[i] = reason{run: r}
	}
}

// lateHere adds the items that this instance should have begun: those that are due, those
// that were triggered, and those that are claimed and wait for a thread.
func (c *controller) lateHere(w *decide.World, late map[int]reason) {
	for _, d := range w.Due(c.work) {
		late[d.Item] = reason{}
	}
	for _, r := range c.queue {
		late[r.Item] = reason{}
		if !c.heldUntil(r, w.Now).IsZero() {
			late[r.Item] = reason{held: w.Guarantee(r.Tick)}
		}
	}
	for _, i := range w.AwaitedHere(c.work) {
		why, item := reason{request: w.Awaiting(i).ID}, w.Item(i)
		switch r := c.runs[i]; {
		case r != nil && r.phase != queued:
			why.run = r
		case r == nil && item.Running != nil:
			why.elsewhere = decide.Stalled{Reason: decide.RunnerGoesOn, Instance: item.Running.ID}
		}
		late[i] = why
	}
}

// whyLate says why an item that others should have begun does not begin.
func (c *controller) whyLate(l decide.Stalled) string {
	id := short(l.Instance)
	switch l.Reason {
	case decide.NobodyHasLabel:
		return fmt.Sprintf("no instance has the label %q", short(c.settings.Label))
	case decide.NobodyMay:
		return "no instance may have it: all refuse the configuration, or have clocks that are off"
	case decide.NobodyHasThread:
		return "it waits to be run again, and no instance has a free thread for it"
	case decide.WaitsForEarlier:
		return "it waits to be run again until an earlier execution of it is through"
	case decide.HasNoOwner:
		return "it has no owner"
	case decide.MatchesNobody:
		return "it has no owner, because it is pinned, and there is no such instance"
	case decide.HasNoRoom:
		return fmt.Sprintf("it has no owner, because no instance may have more than %d items", c.settings.MaxItems)
	case decide.OwnerIsGone:
		return fmt.Sprintf("its instance %s is gone, and it is not dealt again", id)
	case decide.OwnerMayNot:
		return fmt.Sprintf("its instance %s may not have it now, and it is not dealt again", id)
	case decide.OwnerIsStatic:
		return fmt.Sprintf("its instance %s is gone, and static sharding keeps it there for a while", id)
	case decide.OwnerDoesNotBegin:
		return fmt.Sprintf("its instance %s is there and does not begin it", id)
	case decide.RunnerIsDead:
		return fmt.Sprintf("its instance %s has ended, and it is not recovered", id)
	case decide.AllDisabled:
		return "all servers are disabled"
	case decide.OwnerIsOld:
		return fmt.Sprintf("its instance %s shares the tree by a protocol that has no requests; update its program", id)
	case decide.RunnerGoesOn:
		if l.Tick.IsZero() {
			return fmt.Sprintf("an execution of it at %s is not through", id)
		}
		return fmt.Sprintf("its execution of %s at %s is not through", l.Tick.In(c.settings.zone).Format(time.DateTime), id)
	}
	return "nobody knows why"
}

// notThrough says which execution of an item goes on here.
func (c *controller) notThrough(r *run) string {
	if r.Tick.IsZero() {
		return fmt.Sprintf("its execution that began at %s is not through", r.begun.wall.In(c.settings.zone).Format(time.DateTime))
	}
	return fmt.Sprintf("its execution of %s is not through", r.Tick.In(c.settings.zone).Format(time.DateTime))
}

// whyBusy says what keeps this instance from beginning an item.
func (c *controller) whyBusy(now clocks.Moment) string {
	if c.executing() < c.threads() {
		if c.pool.Threads.Waits() {
			return fmt.Sprintf("all %d threads that the jobs of this process share are busy", c.pool.Threads.Limit())
		}
		if _, t, _ := c.troubles.oldest(now, 0, func(error) bool { return true }); t != nil {
			return short("its claim does not succeed: " + t.err.Error())
		}
		return "its claim does not succeed"
	}
	var oldest *run
	for _, r := range c.runs {
		if r.phase == executing && (oldest == nil || r.begun.mono.Before(oldest.begun.mono)) {
			oldest = r
		}
	}
	switch {
	case oldest == nil:
		return fmt.Sprintf("all %d threads are busy", c.settings.threads)
	case c.threads() < c.settings.threads:
		return fmt.Sprintf("an instance may run no more than %d items at a time, and this one runs item %d since %s", c.threads(), oldest.Item, oldest.begun.wall.Format(time.DateTime))
	}
	return fmt.Sprintf("all %d threads are busy, one of them with item %d since %s", c.settings.threads, oldest.Item, oldest.begun.wall.Format(time.DateTime))
}
