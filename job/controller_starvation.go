package job

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

const (
	// startPatience is how long after its tolerance a tick may wait for its run before
	// that is a fault: for an instance's own items. leaderPatience is that for the items
	// of others which a leader looks at, and followerPatience for those that others do.
	startPatience    = 4 * time.Second
	leaderPatience   = 8 * time.Second
	followerPatience = 16 * time.Second
	// maxWaiting bounds Status.Waiting.
	maxWaiting = 100
)

// lateness is since when an item should have begun, without having got on since.
type lateness struct {
	since time.Time
	mark  int64 // of the last claim: an item that gets on has another
}

// watchEvery is how often all items are looked at, at most: a wide job is looked at often
// while it begins.
const watchEvery = 500 * time.Millisecond

// watch looks after items that should have begun.
func (c *controller) watch(w *decide.World) {
	if waited := w.Now.Sub(c.signs.watched); waited >= 0 && waited < watchEvery {
		c.wakeIn(2*watchEvery - waited)
		return
	}
	c.signs.watched = w.Now
	c.fault(FaultStarvation, c.starvation(w))
}

// starvation lists the items that should have begun and did not, and says so once that
// has lasted.
func (c *controller) starvation(w *decide.World) error {
	waiting := c.overdue(w, c.late(w))
	c.signs.waiting = waiting[:min(len(waiting), maxWaiting)]
	if len(waiting) == 0 {
		return nil
	}
	items := make([]int, len(waiting))
	for n, one := range waiting {
		items[n] = one.Item
	}
	first := waiting[0]
	return fmt.Errorf("job %s: items %s should have begun; item %d since %s: %s", c.job, listItems(items), first.Item, first.Since.Format(time.TimeOnly), first.Why)
}

// late finds the items that should have begun by now, with the reason why they did not.
func (c *controller) late(w *decide.World) map[int]string {
	late := map[int]string{}
	if w.Config == nil {
		return late
	}
	if w.IsRegistered() && !c.isLeaving() {
		for _, l := range w.StalledElsewhere(c.work) {
			late[l.Item] = c.whyLate(l)
		}
	}
	c.lateRuns(w, late)
	if !c.isLeaving() && !w.ClockStops() { // else others have the items, and the clock is a fault of its own
		c.lateHere(w, late)
	}
	return late
}

// overdue keeps since when items are late, and lists those that have been for too long, in
// ascending order.
func (c *controller) overdue(w *decide.World, late map[int]string) []Waiting {
	own, elsewhere := c.settings.rules.Tolerance+startPatience, c.settings.rules.Tolerance+followerPatience
	if w.Leads() {
		elsewhere = c.settings.rules.Tolerance + leaderPatience
	}
	before := c.signs.late
	c.signs.late = make(map[int]lateness, len(late))
	var waiting []Waiting
	for i, why := range late {
		at, mark := w.Now, c.mark(w, i)
		if l, ok := before[i]; ok && l.mark == mark && !w.Now.Before(l.since) {
			at = l.since
		}
		c.signs.late[i] = lateness{since: at, mark: mark}
		patience := own
		if !w.Item(i).Owner.Is(c.self.ID) && c.runs[i] == nil {
			patience = elsewhere
		}
		if lasted := w.Now.Sub(at); lasted < patience {
			c.wakeIn(patience - lasted)
			continue
		}
		waiting = append(waiting, Waiting{Item: i, Since: at, Why: why})
	}
	slices.SortFunc(waiting, func(a, b Waiting) int { return a.Item - b.Item })
	return waiting
}

// mark is what changes when an item gets on.
func (c *controller) mark(w *decide.World, i int) int64 {
	if r := c.runs[i]; r != nil && !r.Recorded {
		return r.Tick.UnixMilli()
	}
	if fired := w.Item(i).Fired; fired != nil {
		return fired.Modified
	}
	return 0
}

// lateRuns finds executions here that go on over the next tick of their item.
func (c *controller) lateRuns(w *decide.World, late map[int]string) {
	tick := w.LastTick()
	for i, r := range c.runs {
		if r.phase == executing && tick.After(r.Last) && tick.After(r.Tick) && !w.Item(i).Disabled {
			late[i] = c.notThrough(r)
		}
	}
}

// lateHere finds what this instance should have begun and did not.
func (c *controller) lateHere(w *decide.World, late map[int]string) {
	whyBusy := sync.OnceValue(func() string { return c.whyBusy(w.Now) })
	for _, d := range w.Due(c.work) {
		late[d.Item] = whyBusy()
	}
	for i := range c.pending {
		item, r := w.Item(i), c.runs[i]
		switch {
		case !item.Owner.Is(c.self.ID), !w.ServerEnabled(c.self.IP):
		case r != nil && r.phase == executing:
			late[i] = "it was triggered, but " + c.notThrough(r)
		case r == nil && item.Running == nil:
			late[i] = "it was triggered, and " + whyBusy()
		}
	}
	for _, r := range c.queue {
		late[r.Item] = whyBusy()
	}
}

// whyLate says why an item does not begin that others should have begun.
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
	case decide.RunnerGoesOn:
		return fmt.Sprintf("its execution of %s at %s is not through", l.Tick.In(c.settings.zone).Format(time.DateTime), id)
	}
	return "nobody knows why"
}

func (c *controller) notThrough(r *run) string {
	if r.Tick.IsZero() {
		return fmt.Sprintf("its execution that began at %s is not through", r.begun.In(c.settings.zone).Format(time.DateTime))
	}
	return fmt.Sprintf("its execution of %s is not through", r.Tick.In(c.settings.zone).Format(time.DateTime))
}

// whyBusy says what keeps this instance from beginning an item.
func (c *controller) whyBusy(now time.Time) string {
	if c.executing() < c.settings.threads {
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
	return fmt.Sprintf("all %d threads are busy, one of them with item %d since %s", c.settings.threads, oldest.Item, oldest.begun.Format(time.DateTime))
}
