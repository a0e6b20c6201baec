package decide

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Leftovers lists the items that run here by the snapshot, although nothing of them runs. Either the
// snapshot is older than the end of the run, or the answer to the claim was lost, or an external writer
// has written the record.
func (w *World) Leftovers(k *Work) []int {
	var list []int
	for i := range w.itemsToLookAt(len(w.Items)) {
		item := &w.Items[i]
		if item.Running != nil && w.runnerOf(item) == w.Self.ID && k.Runs[i] == nil {
			list = append(list, i)
		}
	}
	return list
}

// UnansweredLeftovers lists the leftovers of claims whose answers were lost: they are newer than what has
// ended here.
func (w *World) UnansweredLeftovers(k *Work) []int {
	return slices.DeleteFunc(w.Leftovers(k), func(i int) bool {
		fired := w.Items[i].Fired
		return fired != nil && fired.Modified <= k.Ended[i]
	})
}

// Settle returns the change that ends a leftover. The caller has read running from the store after the
// snapshot was taken. If the claim of a leftover was ours and nothing has begun for it, the item begins
// under it now: the commit claims nothing, it only makes sure that the claim stands. So whatever has come
// after the claim, as a pause, is as for any other run.
//
// Otherwise it ends (see ends.go), also if this instance runs the tick of a broadcast job with another item.
func (w *World) Settle(k *Work, i int) Change {
	item := &w.Items[i]
	c := changes{w: w, step: "settle", isRepair: true, head: (*World).sessionHead}
	claim := Claim{Item: i, Failover: item.Failover.Is(w.Self.ID)}
	p := w.purposeOfClaim(i, item, w.Self.ID)
	remove := func(more ...coord.Op) {
		claim.Last = item.Fired.Tick
		ops, skips := w.removeRecord(&Run{Claim: claim}, item)
		c.add(i, append(ops, more...)...).Skips = skips
	}
	switch {
	case item.Running.ID == "" || !w.Rules.Monitor: // not a claim of ours
		c.add(i, coord.AtVersion(w.Job.Running(i), item.Running.Version), coord.DeleteTree(w.Job.Running(i)))
	case item.Fired == nil:
		c.add(i, coord.DeleteTree(w.Job.Running(i)))
	case item.Fired.Modified <= k.Ended[i]:
		remove()
	case w.Kills[i].Kills(item.Fired.Modified):
		remove(w.endKilled(i, p, item.Fired.Modified, item, w.firstTaskIDOf(Orphan{Item: i, State: *item, Runner: w.Self.ID}))...)
	case p.isOver:
		remove(w.requeueRequest(i, p)...)
	default:
		c.isRepair = false
		claim.Tick, claim.Last, claim.Since = item.Fired.Run, item.Fired.Tick, item.Fired.Modified
		claim.Source = w.sourceOf(claim)
		if claim.Failover {
			claim.Original = item.Original.Of(claim.Tick)
		} else if p.request != nil {
			claim.Source, claim.Original = sourceOfRequest(p.request), p.request.OriginalOf(i)
		}
		claim.Before = w.beforeClaim(claim)
		if claim.isOfTick() && w.beginsAsOther(k, i, claim.Tick) {
			remove()
			break
		}
		k.restoreBefore(&claim)
		ops := append(w.ifSamePurpose(i, p), coord.AtVersion(w.Job.Running(i), item.Running.Version), w.ifUnclaimed(i, item))
		if p.request != nil {
			w.setRequest(&claim, p.request)
			ops = append(ops, coord.AtVersion(w.Job.Request(p.request.ID), p.request.Version))
		}
		c.add(i, ops...).Claim = &claim
	}
	return c.list[0]
}

// beforeClaim returns the last tick that an item had begun before a claim, as far as it matters: if the
// claim is released, its tick is due again, and it stands for all that came before.
func (w *World) beforeClaim(c Claim) time.Time {
	if c.isOfTick() && w.Rules.Ticks != nil {
		if before := w.Rules.Ticks.Prev(c.Tick.Add(-1)); !before.IsZero() {
			return before
		}
	}
	return c.Last
}

// sourceOf returns why an item was claimed, as far as the tree tells.
func (w *World) sourceOf(c Claim) Source {
	switch {
	case c.Failover:
		return Failover
	case !c.Tick.Equal(c.Last):
		return Manual
	case w.Now.Sub(w.startTime(c.Item, c.Tick)) > w.Rules.Tolerance:
		return Misfire
	}
	return Normal
}
