package diagnose

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
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
	// maxWaiting bounds Waiting.
	maxWaiting = 100
	// watchEvery is the shortest time between two looks at all items. While a job with many
	// items begins, there are many passes.
	watchEvery = 500 * time.Millisecond
)

// lateness is since when an item should have begun and has not.
type lateness struct {
	since    time.Time
	sinceAt  clocks.Moment // the same by the monotonic clock
	progress int64         // of the item, then: if it has changed, the item has begun since
}

// reason is why an item has not begun. Without any of its fields it is that this instance cannot begin more.
type reason struct {
	elsewhere decide.Stalled     // not zero: others should have begun it
	earlier   *Run               // not nil: an earlier execution goes on here
	held      *jobtree.Guarantee // not nil: it waits for Started of this tick
	request   string             // that waits for the item; "" if only a tick does
}

// isTimeToWatch reports whether all items are to be looked at now: once in watchEvery.
func (d *Diagnosis) isTimeToWatch(now clocks.Moment) bool {
	if waited := now.Sub(d.watched); waited < watchEvery {
		d.config.WakeIn(2*watchEvery - waited)
		return false
	}
	d.watched = now
	return true
}

// starvation returns an error that names the items that should have begun, have not, and are late for too long.
// Waiting has them, too. Only the reasons that are shown become texts: many items may be late.
func (d *Diagnosis) starvation(p Pass, runs map[int]Run) error {
	late := d.lateItems(p, runs)
	items := d.overdue(p, runs, late)
	d.waiting = nil
	whyBusy := sync.OnceValue(func() string { return d.whyBusy(p, runs) })
	for _, i := range items[:min(len(items), maxWaiting)] {
		d.waiting = append(d.waiting, jobtype.Waiting{Item: i, Since: d.late[i].since, Why: late[i].text(p, whyBusy)})
	}
	// An operator who has disabled all servers wants items to wait: that shows only in Status.
	items = slices.DeleteFunc(items, func(i int) bool { return late[i].elsewhere.Reason == decide.AllDisabled })
	if len(items) == 0 {
		return nil
	}
	// The reason is that of an item of this instance, if one is late: of the others, their instances say why.
	first := items[max(0, slices.IndexFunc(items, func(i int) bool { return late[i].elsewhere.Reason == decide.NotStalled }))]
	return fmt.Errorf("job %s: items %s should have begun; item %d since %s: %s", p.World.Job, brief.Items(items), first, d.late[first].since.Format(time.TimeOnly), late[first].text(p, whyBusy))
}

// itemlessFault returns an error if this instance should have an item of a broadcast job that it may begin, and
// has had none for too long. Its ticks need not be late then: with misfire off they are skipped.
func (d *Diagnosis) itemlessFault(p Pass) error {
	if !d.track(&d.itemless, p.World.LacksItem() && !p.Leaving, p.World.Moment, leaderPatience) {
		return nil
	}
	return fmt.Errorf("job %s: this instance has no item: the leader has not given it one, or all that have no instance run, are disabled, or wait for requests", p.World.Job)
}

// lateItems returns the items that should have begun by now and have not, each with the reason.
func (d *Diagnosis) lateItems(p Pass, runs map[int]Run) map[int]reason {
	late, w := map[int]reason{}, p.World
	if w.Config == nil {
		return late
	}
	if w.IsRegistered() && !p.Leaving {
		for _, l := range w.StalledElsewhere(p.Work) {
			late[l.Item] = reason{elsewhere: l, request: l.Request}
		}
	}
	d.addLateRuns(w, runs, late)
	if !p.Leaving && !w.ClockStops() { // if the clock stops this instance, others have its items, and jobtype.FaultClock says so
		addLateHere(w, p.Work, runs, late)
	}
	return late
}

// addLateRuns adds the items whose execution here still goes on when their next tick has come.
func (d *Diagnosis) addLateRuns(w *decide.World, runs map[int]Run, late map[int]reason) {
	for i, r := range runs {
		tick := w.LastTickOf(i)
		if r.Phase != exec.Executing || !tick.After(r.Last) || !tick.After(r.Tick) || w.Item(i).Disabled {
			continue
		}
		if w.Rules.Streams && r.Signals.HasAsked(streamPatience) {
			d.config.WakeIn(streamPatience)
			continue
		}
		late[i] = reason{earlier: &r}
	}
}

// addLateHere adds the items that this instance should have begun: those that are due, those
// that were triggered, and those that are claimed and wait for a thread.
func addLateHere(w *decide.World, work *decide.Work, runs map[int]Run, late map[int]reason) {
	for _, due := range w.Due(work) {
		late[due.Item] = reason{}
	}
	for i, r := range runs {
		if r.Phase != exec.Queued {
			continue
		}
		late[i] = reason{}
		if r.IsHeld {
			late[i] = reason{held: w.Guarantee(r.Tick)}
		}
	}
	for _, i := range w.RequestedHere(work) {
		why, item := reason{request: w.WaitingRequest(i).ID}, w.Item(i)
		switch r, isHere := runs[i]; {
		case isHere && r.Phase != exec.Queued:
			why.earlier = &r
		case !isHere && item.Running != nil:
			why.elsewhere = decide.Stalled{Reason: decide.RunnerGoesOn, Instance: item.Running.ID}
		}
		late[i] = why
	}
}

// overdue remembers since when items are late. It returns those that are late for too long, in ascending order.
func (d *Diagnosis) overdue(p Pass, runs map[int]Run, late map[int]reason) []int {
	w := p.World
	own, elsewhere := w.Rules.Tolerance+startPatience, w.Rules.Tolerance+followerPatience
	if w.Leads() {
		elsewhere = w.Rules.Tolerance + leaderPatience
	}
	before := d.late
	d.late = nil
	if len(late) > 0 {
		d.late = make(map[int]lateness, len(late))
	}
	var items []int
	for i, why := range late {
		r, isHere := runs[i]
		is := lateness{since: w.Now, sinceAt: w.Moment}
		switch {
		case why.request != "":
			is.progress = w.RequestProgress(i)
		case isHere && !r.Recorded:
			is.progress = r.Tick.UnixMilli()
		case w.Item(i).Fired != nil:
			is.progress = w.Item(i).Fired.Modified
		}
		if was, ok := before[i]; ok && was.progress == is.progress {
			is = was
		}
		d.late[i] = is
		patience := own
		if !w.Item(i).Owner.Is(w.Self.ID) && !isHere {
			patience = elsewhere
		}
		if lasted := w.Moment.Sub(is.sinceAt); lasted < patience {
			d.config.WakeIn(patience - lasted)
			continue
		}
		items = append(items, i)
	}
	slices.Sort(items)
	return items
}
