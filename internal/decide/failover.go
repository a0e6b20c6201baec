package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// FailOver claims items that await failover, as many as there are free threads at most, and several in a
// commit. (ElasticJob takes them one at a time, B-09.) This instance need not own these items, and its own
// items run beside them. (In ElasticJob its own items miss that tick, B-08.) Each instance claims those of
// its share first, so that not all try for the same items: see ownShare.
//
// With MaxItems it claims only items that it owns, because only Assign knows where there is capacity: the
// leader moves an item that awaits failover, and its new owner runs it again.
func (w *World) FailOver(k *Work, free int) []Change {
	if !w.mayFailOver() {
		return nil
	}
	if free = w.ClaimCapacity(k, free); free <= 0 {
		return nil
	}
	waiting := w.claimableFailovers(k)
	if len(waiting) == 0 {
		return nil
	}
	c := w.claims("fail over")
	c.urgency = urgency.Soonest
	for _, f := range w.ownShare(waiting) {
		item := w.Item(f.Item)
		if free--; free < 0 {
			break
		}
		claim := Claim{Item: f.Item, Source: Failover, Failover: true, Tick: f.Tick, Original: item.Original.Of(f.Tick)}
		if claim.Tick.IsZero() {
			claim.Tick = w.failoverTick(&item)
		}
		claim.Last = lastFired(&item, claim.Tick)
		p := w.purposeOfWaiting(&f)
		ops := w.ifSamePurpose(f.Item, p)
		if w.IsBounded() {
			ops = append(ops, coord.AtVersion(w.Job.ItemInstance(f.Item), item.Owner.Version))
		}
		if p.request != nil {
			w.setRequest(&claim, p.request)
			ops = append(ops, w.beginProgress(claim, p.request)...)
		}
		c.put(&item, claim, append(append(ops, w.ifSameCall(&claim)...), []coord.Op{
			coord.AtVersion(w.Job.FailoverItem(f.Item), f.Version),
			coord.DeleteTree(w.Job.FailoverItem(f.Item)),
			coord.CreateEphemeral(w.Job.Failover(f.Item), []byte(w.Self.ID)),
			coord.Put(w.Job.Failovering(f.Item), []byte(w.Self.ID)),
			w.createRunning(f.Item),
			w.writeFired(&item, claim),
		}...))
	}
	return c.list
}

// ownShare returns the items that this instance is to claim first. As long as the same instances are there, that
// depends only on the number of an item: so instances whose snapshots differ do not claim the same ones. If none
// of its share awaits failover, the owners of the others may have no threads: then it helps with a part of those,
// and each instance that helps begins at another one. With MaxItems all are its own.
func (w *World) ownShare(waiting []jobtree.FailoverItem) []jobtree.FailoverItem {
	if w.IsBounded() {
		return waiting
	}
	before, others := w.positionInOrder()
	n := others + 1
	var own []jobtree.FailoverItem
	for _, f := range waiting {
		if f.Item%n == before {
			own = append(own, f)
		}
	}
	if len(own) > 0 {
		return own
	}
	start, end := before*len(waiting)/n, (before+1)*len(waiting)/n
	return waiting[start:max(end, start+1)]
}

// mayFailOver reports whether this instance may claim items that await failover.
func (w *World) mayFailOver() bool {
	in, ok := w.Instances[w.Self.ID]
	return w.Rules.Failover && w.Rules.Monitor && w.IsActive() && ok && w.isEligible(in)
}

// failoverItem returns the record by which an item awaits failover; nil if it does not.
func (w *World) failoverItem(i int) *jobtree.FailoverItem {
	at, waits := slices.BinarySearchFunc(w.FailoverItems, i, func(f jobtree.FailoverItem, i int) int { return f.Item - i })
	if !waits {
		return nil
	}
	return &w.FailoverItems[at]
}

// awaitsFailover reports whether an item awaits failover.
func (w *World) awaitsFailover(i int) bool { return w.failoverItem(i) != nil }

// claimableFailovers lists the items that await failover and can be claimed: they are enabled and idle,
// the request for which they are to run has not been cancelled, and with MaxItems this instance owns them.
func (w *World) claimableFailovers(k *Work) []jobtree.FailoverItem {
	if len(w.FailoverItems) == 0 {
		return nil
	}
	var list []jobtree.FailoverItem
	for _, f := range w.FailoverItems {
		item := w.Item(f.Item)
		if w.IsBounded() && !w.owns(&item) {
			continue
		}
		if f.Item < w.Rules.Total && !item.Disabled && isIdle(k, f.Item, &item) && item.Failovering == nil && !w.purposeOfWaiting(&f).isOver {
			list = append(list, f)
		}
	}
	return list
}

// failoverTick returns the tick for which an item is run again if its failover record has none: that of
// its last run if fired tells of one, and else the last one due.
func (w *World) failoverTick(item *jobtree.Item) time.Time {
	tick := claimedTick(item)
	if w.Mixed == nil || w.Rules.Ticks == nil || !tick.IsZero() && w.Rules.Ticks.Prev(tick).Equal(tick) {
		return tick
	}
	return w.Rules.Ticks.Prev(w.Now)
}
