package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// staticGrace is how long an owner may be gone before a job with static sharding gives its items to
// others. (ElasticJob never gives them away, without a warning, B-46.)
const staticGrace = 10 * time.Minute

// Question returns the question for the strategy: who should own each item. It has no
// instances if none may have items.
func (w *World) Question() strategy.Request {
	request := strategy.Request{
		Job:       w.Rules.Name,
		Total:     w.Rules.Total,
		Instances: w.Eligible(),
		Previous:  make([]string, w.Rules.Total),
	}
	for i := range request.Previous {
		if w.ReshardsFromScratch() {
			break // they are to be resharded
		}
		if owner := w.Item(i).Owner; owner != nil {
			request.Previous[i] = owner.ID
		}
	}
	return request
}

// ReshardsFromScratch reports whether the items are to be assigned as if nobody had had any: somebody has
// asked for that, and leader/sharding/necessary does not just tell JVM members to wait (markResharding).
func (w *World) ReshardsFromScratch() bool { return w.Necessary && !w.IsHolding }

// Assign writes, as leader, who owns each item. owners is the answer of the strategy and of [World.Place], or in a
// broadcast job that of [World.Spread]; nil if no instance may have items. An idle item gets its new owner at
// once. An item that runs keeps its owner until the run ends. An item beyond the total is removed when it is idle.
// After each commit every item has one owner at most, so the next leader needs not know whether this one died
// halfway.
//
// From and to JVM members items move only while those begin nothing: see gate. With MaxItems an item moves
// only when its new owner has capacity: see movesFor.
func (w *World) Assign(owners []string) []Change {
	g := w.gate(owners)
	owners = w.movesFor(g.owners)
	c := changes{w: w, step: "assign", urgency: urgency.Sooner, head: (*World).ifLeading}
	if owners != nil {
		begun := jobtree.EncodeFired(w.correctedTime())
		surplus := w.surplus()
		for i, owner := range owners {
			item := w.Item(i)
			ops := w.assignItem(i, &item, owner, surplus)
			switch {
			case owner == "":
			case w.Rules.Broadcast && len(ops) > 0:
				ops = append(ops, w.resetForNewOwner(i, &item)...)
			case item.Fired == nil:
				// A new item has no tick to make up, even if an item of that number was there before.
				ops = append(ops, coord.Create(w.Job.Fired(i), begun))
			case len(ops) > 0 && item.Owner != nil:
				if last := w.lastTickByJVM(&item); !last.IsZero() {
					ops = append(ops, w.skipJVMTicks(i, &item, last))
				}
			}
			if len(ops) > 0 {
				c.add(i, ops...)
			}
		}
	}
	for i := w.Rules.Total; i < len(w.Items); i++ {
		if w.Items[i].Exists && w.Items[i].Running == nil {
			ops := []coord.Op{coord.Absent(w.Job.Running(i)), coord.DeleteTree(w.Job.Item(i)), coord.DeleteTree(w.Job.FailoverItem(i)), coord.DeleteTree(w.Job.Cursor(i))}
			c.add(i, append(ops, w.keepOutcome(i)...)...)
		}
	}
	switch {
	case g.setMark:
		c.add(NoItem, w.markResharding())
	case g.keepMark:
	case w.Processing && w.Mixed != nil: // nobody assigns any more, and JVM members wait for its end
		c.add(NoItem, coord.DeleteTree(w.Job.Processing()))
	case len(c.list) == 0 && w.Necessary:
		c.add(NoItem, coord.DeleteTree(w.Job.Necessary()))
	}
	return c.list
}

// IsAssigned reports whether every item has the owner that the strategy wants, and no other item is there:
// so Assign has nothing to do, and nothing to wait for.
func (w *World) IsAssigned(owners []string) bool {
	for i, owner := range owners {
		if item := w.Item(i); !item.Owner.Is(owner) && (owner != "" || item.Owner != nil) {
			return false
		}
	}
	return len(w.Items) <= w.Rules.Total && (!w.Rules.Broadcast || w.isFullySpread(owners))
}

// surplus returns by how many items, with static sharding, each instance has more than MaxItems.
func (w *World) surplus() map[string]int {
	if !w.Rules.StaticSharding || !w.IsBounded() {
		return nil
	}
	surplus := map[string]int{}
	for i := range w.itemCount() {
		if owner := w.Items[i].Owner; owner != nil {
			if _, ok := surplus[owner.ID]; !ok {
				surplus[owner.ID] = -w.Rules.MaxItems
			}
			surplus[owner.ID]++
		}
	}
	return surplus
}

// staysStatic reports whether static sharding keeps an idle item with its owner, although to should have it. An
// item that is pinned to others moves. With MaxItems an item that awaits failover moves from an owner that has
// gone: nobody else may run it before. surplus is counted down for each item that moves because of it.
func (w *World) staysStatic(i int, item *jobtree.Item, to string, surplus map[string]int) bool {
	owner := item.Owner.ID
	if !w.Rules.StaticSharding || w.isPinnedAway(i, item, to) || w.ReshardsFromScratch() || w.isStaticOver(owner) {
		return false
	}
	if _, isThere := w.Instances[owner]; !isThere && w.IsBounded() && w.awaitsFailover(i) {
		return false
	}
	if surplus[owner] > 0 {
		surplus[owner]--
		return false
	}
	return true
}

// assignItem returns the operations that give an item its owner; none if it has that owner, or keeps
// another one for now.
func (w *World) assignItem(i int, item *jobtree.Item, owner string, surplus map[string]int) []coord.Op {
	switch {
	case item.Owner == nil && owner == "":
		return nil
	case item.Owner == nil:
		return []coord.Op{coord.Create(w.Job.ItemInstance(i), []byte(owner))}
	case item.Owner.ID == owner, item.Running != nil:
		return nil
	case w.staysStatic(i, item, owner, surplus):
		return nil
	case owner == "":
		return append(w.ifIdleAndGone(i, item),
			coord.AtVersion(w.Job.ItemInstance(i), item.Owner.Version),
			coord.DeleteTree(w.Job.ItemInstance(i)))
	default:
		return append(w.ifIdleAndGone(i, item),
			coord.SetAt(w.Job.ItemInstance(i), []byte(owner), item.Owner.Version))
	}
}

// ifIdleAndGone are the conditions on which an item changes its owner: it does not run. In a broadcast job
// an owner that the snapshot does not show must also be gone, and fired be as it was seen, because the
// item is reset for its new owner: the version of the owner's node begins anew when that is created again,
// and that of fired does not.
func (w *World) ifIdleAndGone(i int, item *jobtree.Item) []coord.Op {
	ops := []coord.Op{coord.Absent(w.Job.Running(i))}
	if _, isShown := w.Instances[item.Owner.ID]; w.Rules.Broadcast && !isShown && coord.ValidatePath(w.Job.Instance(item.Owner.ID)) == nil {
		ops = append(ops, coord.Absent(w.Job.Instance(item.Owner.ID)))
	}
	if w.Rules.Broadcast && item.Fired != nil {
		ops = append(ops, w.ifUnclaimed(i, item))
	}
	return ops
}

// isStaticOver reports whether static sharding does not keep items with an owner any more: it has been
// gone for too long, or is there and not eligible.
func (w *World) isStaticOver(owner string) bool {
	if in, ok := w.Instances[owner]; ok {
		return !w.isEligible(in)
	}
	since, ok := w.Absent[owner]
	return ok && w.Moment.Sub(since) >= staticGrace
}

// Absences returns since when each owner of items has been missing. before is what it returned for the
// snapshot before.
func Absences(s *jobtree.State, before map[string]clocks.Moment, now clocks.Moment) map[string]clocks.Moment {
	var absent map[string]clocks.Moment
	for i := range s.Items {
		owner := s.Items[i].Owner
		if owner == nil {
			continue
		}
		if _, ok := s.Instances[owner.ID]; ok {
			continue
		}
		if absent == nil {
			absent = map[string]clocks.Moment{}
		}
		absent[owner.ID] = now
		if since, ok := before[owner.ID]; ok {
			absent[owner.ID] = since
		}
	}
	return absent
}
