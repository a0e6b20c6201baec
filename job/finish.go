package job

import (
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// standing says how the record of a run that is done stands in a snapshot.
type standing int

const (
	behind  standing = iota // the snapshot is older than the claim
	ours                    // the record is there, and it is this run's
	foreign                 // it is gone, or somebody else's
)

// standing compares a run with its item. fired is rewritten by every claim, so as
// long as it is what this run's claim wrote, running is this run's too.
func (w *world) standing(r *run) standing {
	fired := w.Item(r.item).Fired
	switch {
	case r.token == 0, r.instance != w.self.id:
		return foreign
	case fired == nil || fired.Modified < r.token:
		return behind
	case fired.Modified > r.token:
		return foreign
	}
	return ours
}

// finish removes the records of runs that are done. With misfire on an item whose
// tick came meanwhile is begun again in the same commit; with misfire off that tick
// is passed over.
func (w *world) finish(runs []*run) []commit {
	// Who should own the items matters only to one that is made up. A strategy that is
	// at fault wants nobody; the leader reports it.
	owners := sync.OnceValue(func() []string {
		owners, err := w.desired()
		if err != nil {
			return nil
		}
		return owners
	})
	c := chunk{step: "finish", head: []coord.Op{w.mine()}}
	again := w.claims("make up")
	for _, r := range runs {
		item := w.Item(r.item)
		if tick, ok := w.makeUp(r, item, owners); ok {
			ops := []coord.Op{
				coord.AtVersion(w.job.ItemInstance(r.item), item.Owner.Version),
				coord.Set(w.job.Running(r.item), []byte(w.self.id)), // see recover: both records are of one commit
				w.fired(r.item, item, tick, tick),
			}
			if item.Misfire || r.flagged {
				ops = append(ops, coord.DeleteTree(w.job.Misfire(r.item)))
			}
			again.put(item, &run{item: r.item, tick: tick, last: tick, source: SourceMisfire}, ops)
			last := &again.commits[len(again.commits)-1]
			last.ends = append(last.ends, r)
			continue
		}
		last := c.add(r.item, w.remove(r, item)...)
		last.ends = append(last.ends, r)
	}
	return append(c.commits, again.commits...)
}

// remove takes away what a run has left in the tree.
func (w *world) remove(r *run, item jobtree.Item) []coord.Op {
	ops := []coord.Op{w.unclaimed(r, item), coord.DeleteTree(w.job.Running(r.item))}
	if r.failover {
		ops = append(ops, coord.DeleteTree(w.job.Failover(r.item)), coord.DeleteTree(w.job.Failovering(r.item)))
	}
	return ops
}

// unclaimed is the condition that nobody has claimed the item since the run, and with
// misfire off moves fired on over the ticks that came while it ran.
func (w *world) unclaimed(r *run, item jobtree.Item) coord.Op {
	tick := w.lastTick()
	if !w.settings.misfire && !r.failover && tick.After(item.Fired.Tick) && tick.After(r.last) {
		return coord.SetAt(w.job.Fired(r.item), jobtree.EncodeFired(tick), item.Fired.Version)
	}
	return coord.AtVersion(w.job.Fired(r.item), item.Fired.Version)
}

// mend puts the record of a run back that somebody has removed or changed. The item is
// still this run's: nobody has claimed it since.
func (w *world) mend(i int) []coord.Op {
	item := w.Item(i)
	ops := []coord.Op{coord.AtVersion(w.job.Fired(i), item.Fired.Version)}
	if item.Running == nil {
		return append(ops, w.begin(i))
	}
	return append(ops, coord.SetAt(w.job.Running(i), []byte(w.self.id), item.Running.Version))
}

// leftovers lists the items that the tree has as running here although they are not:
// the snapshot is older than the end of the run, a commit of ours happened that was
// thought lost, or a stranger wrote the record.
func (w *world) leftovers() []int {
	var list []int
	for i := range w.Items {
		item := &w.Items[i]
		if item.Running != nil && w.runner(*item) == w.self.id && w.runs[i] == nil {
			list = append(list, i)
		}
	}
	return list
}

// settle decides about a leftover, whose running was read again from the store after
// the snapshot was taken: a claim of ours that nobody started is claimed again and
// started, the record of a run that has ended is removed.
func (w *world) settle(i int) commit {
	item := w.Items[i]
	c := chunk{step: "settle", heals: true, head: []coord.Op{w.mine()}}
	if item.Running.ID == "" || !w.settings.monitor { // no claim of ours
		return *c.add(i, coord.AtVersion(w.job.Running(i), item.Running.Version), coord.DeleteTree(w.job.Running(i)))
	}
	if item.Fired == nil {
		return *c.add(i, coord.DeleteTree(w.job.Running(i)))
	}
	failover := item.Failover.Is(w.self.id)
	if item.Fired.Modified <= w.ended[i] {
		return *c.add(i, w.remove(&run{item: i, failover: failover, last: item.Fired.Tick}, item)...)
	}
	r := &run{
		item: i, tick: item.Fired.Run, last: item.Fired.Tick, before: item.Fired.Tick,
		source: SourceNormal, instance: w.self.id, failover: failover,
	}
	switch {
	case failover:
		r.source = SourceFailover
	case !item.Fired.Run.Equal(item.Fired.Tick):
		r.source = SourceManual
	case w.now.Sub(r.tick) > w.settings.tolerance:
		r.source = SourceMisfire
	}
	claim := c.add(i, coord.Set(w.job.Running(i), []byte(w.self.id)), w.fired(i, item, item.Fired.Tick, item.Fired.Run))
	claim.claims, claim.heals = []*run{r}, false
	return *claim
}
