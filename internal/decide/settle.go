package decide

import "github.com/elasticjob-go/elasticjob/coord"

// Leftovers lists the items that run here by the snapshot, although they do not. Either the
// snapshot is older than the end of the run, or a claim of ours has happened whose answer
// was lost, or a stranger has written the record.
func (w *World) Leftovers(k *Work) []int {
	var list []int
	for i := range w.looked(len(w.Items)) {
		item := &w.Items[i]
		if item.Running != nil && w.runner(item) == w.Self.ID && k.Runs[i] == nil {
			list = append(list, i)
		}
	}
	return list
}

// LacksRequest reports whether a leftover was claimed for a request, and the snapshot does not show
// which one. If it shows the commit of that claim in parts, a later one does.
func (w *World) LacksRequest(i int) bool {
	item := &w.Items[i]
	return item.Fired != nil && !item.Fired.Run.Equal(item.Fired.Tick) && !item.Failover.Is(w.Self.ID) && w.runsHereFor(i) == nil
}

// Settle returns the change that ends a leftover. The caller has read running from the store
// after the snapshot was taken. If nothing has been begun for the claim, the item is claimed
// again, so that it begins. If the run has ended or was killed, or there was no claim of ours,
// or if this instance runs the tick of a broadcast job with another item, running is removed.
func (w *World) Settle(k *Work, i int) Change {
	item := &w.Items[i]
	c := changes{w: w, step: "settle", heals: true, head: (*World).ifRunner}
	claim := Claim{Item: i, Failover: item.Failover.Is(w.Self.ID)}
	switch {
	case item.Running.ID == "" || !w.Rules.Monitor: // not a claim of ours
		c.add(i, coord.AtVersion(w.Job.Running(i), item.Running.Version), coord.DeleteTree(w.Job.Running(i)))
	case item.Fired == nil:
		c.add(i, coord.DeleteTree(w.Job.Running(i)))
	case item.Fired.Modified <= k.Ended[i]:
		claim.Last = item.Fired.Tick
		c.add(i, w.remove(&Run{Claim: claim}, item)...)
	case w.Kills[i].Kills(item.Fired.Modified):
		claim.Last = item.Fired.Tick
		c.add(i, append(w.remove(&Run{Claim: claim}, item), w.endKilled(i, item.Fired.Modified, item, w.firstOf(Orphan{Item: i, State: *item}))...)...)
	default:
		c.heals = false
		claim.Tick, claim.Last, claim.Before = item.Fired.Run, item.Fired.Tick, item.Fired.Tick
		claim.Source = w.sourceOf(claim)
		if claim.Failover {
			claim.Original = item.Original.Of(claim.Tick)
		}
		ops := []coord.Op{coord.Set(w.Job.Running(i), []byte(w.Self.ID)), w.writeFired(item, claim), w.ifNotKilled(i)}
		request := w.runsHereFor(i)
		switch {
		case claim.Failover: // of whoever ran it before
			request = w.runsFor(i)
		case request != nil:
			claim.Source, claim.Original = sourceOfRequest(request), request.OriginalOf(i)
		}
		if claim.isOfTick() && w.beginsElse(k, i, claim.Tick) {
			c.add(i, w.remove(&Run{Claim: claim}, item)...)
			break
		}
		ops = append(ops, w.goOn(&claim, request)...)
		c.add(i, ops...).Claim = &claim
	}
	return c.list[0]
}

// sourceOf returns why an item was claimed, as far as the tree tells.
func (w *World) sourceOf(c Claim) Source {
	switch {
	case c.Failover:
		return Failover
	case !c.Tick.Equal(c.Last):
		return Manual
	case w.Now.Sub(w.startOf(c.Item, c.Tick)) > w.Rules.Tolerance:
		return Misfire
	}
	return Normal
}
