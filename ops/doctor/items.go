package doctor

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// latePatience is how late an item is, beyond its tolerance, before that is a finding. Then its
// instances have noticed it, too.
const latePatience = 10 * time.Second

const adviceOvertaken = "look at its log; kill it, give executions a time-out, or let the job run less often"

// checkItems looks at who has the items, and whether they run.
func (w *world) checkItems(c *collector) {
	for i := range min(w.Rules.Total, len(w.Items)) {
		item := &w.Items[i]
		if item.Disabled {
			s := w.about(ItemDisabled, Info, "these items are disabled: their ticks are skipped", "enable them when the reason is over", Enable)
			s.takesItems = true
			c.addItem(i, 0, s)
		}
		if item.Running == nil || item.Failover != nil { // JVM members leave it there until the taker begins
			continue
		}
		runner := item.Running.ID
		if runner == "" && item.Owner != nil {
			runner = item.Owner.ID // ElasticJob before 3.0.2 names nobody
		}
		if w.IsDead(runner) {
			s := w.about(StaleRunning, Critical, "they are shown as running by an instance that has ended, so they do not begin again", "look at the faults of the leader; if it does not take them away, clear them", ClearStale)
			s.Instance = brief.Text(runner)
			c.addItem(i, item.Running.Created, s)
		} else if since, ok := w.missedSince(i); ok && w.isLate(since) && w.isJVM(runner) {
			s := w.about(JVMRunning, Warning, "they are shown as running in a JVM member since before their last tick, so nobody begins them, and a JVM leader assigns nothing; if it is of 3.0.6-SNAPSHOT, which keeps the records of items that have failed, they do not run",
				"look at its log; if it does not run them, restart it, or remove their running nodes by the store's own tools; use a release of ElasticJob", "")
			s.Instance, s.Since = brief.Text(runner), since
			c.addItem(i, item.Running.Created, s)
		}
	}
	w.checkPins(c)
	w.checkOutcomes(c)
	hung := map[string][]int{} // by instance
	overtaken := map[int]bool{}
	for _, l := range w.stalled() {
		if since, ok := w.missedSince(l.Item); l.Reason == decide.RunnerGoesOn && ok && w.isLate(since) {
			hung[l.Instance] = append(hung[l.Instance], l.Item)
			overtaken[l.Item] = true
		}
	}
	w.checkLong(overtaken, c)
	for _, l := range w.stalled() {
		w.checkStalled(l, hung, c)
	}
}

// checkLong looks which executions go on for longer than they may, beside those that are overtaken.
func (w *world) checkLong(overtaken map[int]bool, c *collector) {
	for i := range w.Items {
		item := &w.Items[i]
		if w.ns.Long == 0 || item.Running == nil || item.Fired == nil || overtaken[i] || w.ns.now.Sub(item.Fired.Run) <= w.ns.Long {
			continue
		}
		s := w.about(RunOvertaken, Warning, fmt.Sprintf("an execution of each goes on for longer than %v", w.ns.Long), adviceOvertaken, OpenRun)
		s.Instance, s.Since, s.detail = brief.Text(item.Running.ID), item.Fired.Run, "long"
		c.addItem(i, item.Fired.Modified, s)
	}
}

// checkOutcomes looks whether the last executions have failed of the items that somebody has. That of some may be chance.
func (w *world) checkOutcomes(c *collector) {
	var failed []int
	owned, succeeded := 0, 0
	for i := range min(w.Rules.Total, len(w.Items)) {
		item := &w.Items[i]
		if item.Disabled || item.Owner == nil {
			continue
		}
		owned++
		if item.Completed == nil {
			continue
		}
		switch item.Completed.Outcome() {
		case jobtree.OutcomeFailed, jobtree.OutcomePanic, jobtree.OutcomeTimeout:
			failed = append(failed, i)
		case jobtree.OutcomeOK:
			succeeded++
		}
		if last, err := item.Completed.Document(); err == nil && ops.Lateness(last.Source, last.Tick, last.Begun, w.notBefore()) > w.Rules.Jitter+w.ns.Late {
			s := w.about(ItemLate, Warning, fmt.Sprintf("their last executions have begun more than %v after their ticks", w.ns.Late),
				"look at the threads and the log of the instance; raise the number of threads, or let the job run less often", "")
			s.Instance, s.Since = brief.Text(item.Owner.ID), last.Tick
			c.addItem(i, 0, s)
		}
	}
	severity, which := Warning, "all items"
	if len(failed) < owned {
		which = fmt.Sprintf("%d of %d items", len(failed), owned)
		if succeeded > 0 {
			severity = Info
		}
	}
	for _, i := range failed {
		last, err := w.Items[i].Completed.Document()
		if err != nil {
			continue
		}
		s := w.about(ItemsFail, severity, fmt.Sprintf("the last executions of %s have failed; that of item %d: %s: %s", which, i, last.Outcome, brief.Cut(last.Error, maxCause)),
			"correct the handler, or what it needs; then run them again", Retry)
		s.Since = last.Ended
		for _, i := range failed {
			c.addItem(i, 0, s)
		}
		return
	}
}

// isLate reports whether an item that was to begin at a time is too late now.
func (w *world) isLate(since time.Time) bool {
	return w.ns.now.Sub(since) > w.Rules.Tolerance+latePatience
}

// checkStalled says why an item does not begin. hung are the items, by instance, whose executions
// go on for too long.
func (w *world) checkStalled(l decide.Stalled, hung map[string][]int, c *collector) {
	const reshard = "look at the faults of the leader; reshard the job"
	item := w.Item(l.Item)
	add := func(kind Kind, severity Severity, mark int64, since time.Time, cause, advice string) {
		s := w.about(kind, severity, cause, advice, map[string]Action{reshard: Reshard, adviceOvertaken: OpenRun}[advice])
		s.Instance, s.Since = brief.Text(l.Instance), since
		c.addItem(l.Item, mark, s)
	}
	owned, fired := int64(0), int64(0)
	if item.Owner != nil {
		owned = item.Owner.Modified
	}
	if item.Fired != nil {
		fired = item.Fired.Modified
	}
	since, isDue := w.missedSince(l.Item)
	isLate := isDue && w.isLate(since)
	switch l.Reason {
	case decide.HasNoOwner:
		add(ItemUnowned, Critical, 0, time.Time{}, "no instance has these items", reshard)
	case decide.HasNoRoom:
		add(ItemNoRoom, Warning, 0, time.Time{}, "no instance has these items, because all have as many as they may", "start another process, or raise the bound of items of an instance")
	case decide.OwnerIsGone:
		add(ItemOwnerGone, Critical, owned, time.Time{}, "the instance that has these items has ended, and they are not assigned again", reshard)
	case decide.OwnerIsStatic:
		add(ItemOwnerGone, Info, owned, time.Time{}, "the instance that has these items has ended; static sharding keeps them there for a while", "nothing, or reshard the job")
	case decide.OwnerMayNot:
		add(ItemOwnerBarred, Warning, owned, time.Time{}, "the instance that has these items may not run them, and they are not assigned again", "look at the faults of the leader")
	case decide.OwnerDoesNotBegin:
		if !isLate {
			break
		}
		if others := hung[l.Instance]; len(others) > 0 {
			add(ItemQueued, Critical, fired, since, fmt.Sprintf("they should have begun, and their instance does not begin them: %d other executions of it go on for too long, such as that of item %d", len(others), others[0]),
				"end what hangs; raise the number of threads, or give executions a time-out")
			break
		}
		add(ItemOverdue, Critical, fired, since, "they should have begun, and their instance is there and does not begin them", "look at the faults and the log of the instance; restart it if it stands still")
	case decide.RunnerGoesOn:
		severity := Warning
		if w.Rules.SkipOverlap {
			severity = Info
		}
		if isLate {
			add(RunOvertaken, severity, fired, since, "an execution of each goes on although the next tick has come", adviceOvertaken)
		}
	case decide.NobodyHasThread, decide.WaitsForEarlier:
		severity, cause := Warning, "they were cut short, and no instance takes them over"
		switch {
		case l.Reason == decide.WaitsForEarlier:
			cause = "they were cut short, and wait until another execution of theirs is through"
		case w.JVMLeads():
			severity, cause = Info, "they were cut short, and wait until a JVM member is idle"
		}
		for _, f := range w.FailoverItems {
			if f.Item == l.Item {
				add(FailoverWaits, severity, f.Created, f.Tick, cause, "look at the faults of its instances: they may have no free thread; start another process")
			}
		}
	}
}
