package job

import (
	"fmt"
	"slices"
	"time"
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
	elsewhere := c.settings.tolerance + followerPatience
	if w.Config != nil {
		if w.registered() && c.leaving == nil {
			w.lateElsewhere(late)
		}
		c.ownLate(w, late)
	}
	if w.leads() {
		elsewhere = c.settings.tolerance + leaderPatience
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
		if !w.Item(i).Owner.Is(c.self.id) && c.runs[i] == nil {
			bound = elsewhere
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

// ownLate finds what should have begun in this process and did not.
func (c *controller) ownLate(w *world, late map[int]string) {
	tick := w.lastTick()
	for i, r := range c.runs {
		if r.phase == executing && tick.After(r.last) && tick.After(r.tick) && !w.Item(i).Disabled {
			late[i] = w.notThrough(r)
		}
	}
	if c.leaving != nil || w.clockStops() {
		return // others have the items; that the clock is off is a fault of its own
	}
	busy := ""
	threads := func() string {
		if busy == "" {
			busy = c.whyBusy(w.now)
		}
		return busy
	}
	for _, d := range w.due() {
		late[d.item] = threads()
	}
	for i := range c.triggers {
		item, r := w.Item(i), c.runs[i]
		switch {
		case !item.Owner.Is(c.self.id), !w.ServerEnabled(c.self.ip):
		case r != nil && r.phase == executing:
			late[i] = "it was triggered, but " + w.notThrough(r)
		case r == nil && item.Running == nil:
			late[i] = "it was triggered, and " + threads()
		}
	}
	for _, r := range c.queue {
		late[r.item] = threads()
	}
}

func (w *world) notThrough(r *run) string {
	if r.tick.IsZero() {
		return fmt.Sprintf("its execution that began at %s is not through", r.begun.In(w.settings.zone).Format(time.DateTime))
	}
	return fmt.Sprintf("its execution of %s is not through", r.tick.In(w.settings.zone).Format(time.DateTime))
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
