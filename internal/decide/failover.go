package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// FailOver claims items that wait to be run again, at most as many as there are free threads,
// with several in a commit. (ElasticJob takes them one at a time, B-09.) This instance need
// not own these items, and its own items run beside them. (In ElasticJob its own items miss
// that tick, B-08.) Each instance takes those of its share, so that not all try for the same
// items: see ownShare. With MaxItems it takes no more than it has room for, beside what it owns and runs.
func (w *World) FailOver(k *Work, free int) []Change {
	if !w.mayTakeOver() {
		return nil
	}
	if free = w.MayBegin(k, free); free <= 0 {
		return nil
	}
	waiting := w.claimableFailovers(k)
	if len(waiting) == 0 {
		return nil
	}
	c := w.claims("fail over")
	c.urgency = coord.Soonest
	share := w.ownShare(waiting)
	room := w.mayTake(k)
	for _, f := range share {
		item := w.Item(f.Item)
		if w.needsRoom(&item) {
			if room == 0 {
				continue
			}
			room--
		}
		if free--; free < 0 {
			break
		}
		claim := Claim{Item: f.Item, Source: Failover, Failover: true, Tick: f.Tick, Original: item.Original.Of(f.Tick)}
		if claim.Tick.IsZero() {
			claim.Tick = w.tickOfUnknown(&item)
		}
		claim.Last = lastFired(&item, claim.Tick)
		p := w.purposeOfWaiting(&f)
		ops := w.ifAsSeen(f.Item, p)
		if p.request != nil {
			w.runFor(&claim, p.request)
			ops = append(ops, w.beginProgress(claim, p.request)...)
		}
		c.put(&item, claim, append(append(ops, w.ifCalled(&claim)...), []coord.Op{
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

// ownShare returns the items that wait and that this instance is to take first. As long as
// the same instances are there, that depends only on the number of an item. So instances
// that see more or fewer items wait do not take the same ones. If none of its share is left,
// the others may have no threads for theirs; then it helps with a part of that, from a place
// of its own.
func (w *World) ownShare(waiting []jobtree.FailoverItem) []jobtree.FailoverItem {
	before, others := w.place()
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

// mayTakeOver reports whether this instance may take over items.
func (w *World) mayTakeOver() bool {
	in, ok := w.Instances[w.Self.ID]
	return w.Rules.Failover && w.Rules.Monitor && w.IsActive() && ok && w.isEligible(in)
}

// needsRoom reports whether an item counts for MaxItems as one more when this instance takes it over.
func (w *World) needsRoom(item *jobtree.Item) bool { return w.Rules.MaxItems > 0 && !w.owns(item) }

// waiting returns what an item waits for to be run again; nil if it does not.
func (w *World) waiting(i int) *jobtree.FailoverItem {
	at, waits := slices.BinarySearchFunc(w.FailoverItems, i, func(f jobtree.FailoverItem, i int) int { return f.Item - i })
	if !waits {
		return nil
	}
	return &w.FailoverItems[at]
}

// waitsAgain reports whether an item waits to be run again.
func (w *World) waitsAgain(i int) bool { return w.waiting(i) != nil }

// claimableFailovers lists the items that wait to be run again, and can be: they are enabled
// and idle, the request for which they are to run has not been cancelled, and this instance has room for them.
func (w *World) claimableFailovers(k *Work) []jobtree.FailoverItem {
	if len(w.FailoverItems) == 0 {
		return nil
	}
	var list []jobtree.FailoverItem
	room := w.mayTake(k)
	for _, f := range w.FailoverItems {
		item := w.Item(f.Item)
		if w.needsRoom(&item) && room == 0 {
			continue
		}
		if f.Item < w.Rules.Total && !item.Disabled && isIdle(k, f.Item, &item) && item.Failovering == nil && !w.purposeOfWaiting(&f).isOver {
			list = append(list, f)
		}
	}
	return list
}

// tickOfUnknown returns the tick for which an item is run again if who has put it up did not know: that of its
// last run if fired tells of one, and else the last one due.
func (w *World) tickOfUnknown(item *jobtree.Item) time.Time {
	tick := claimedFor(item)
	if w.Mixed == nil || w.Rules.Ticks == nil || !tick.IsZero() && w.Rules.Ticks.Prev(tick).Equal(tick) {
		return tick
	}
	return w.Rules.Ticks.Prev(w.Now)
}
