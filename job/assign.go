package job

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// staticGrace is how long an owner may be gone before a job with static sharding
// gives its items to others. ElasticJob never does, and does not say so (B-46).
const staticGrace = 10 * time.Minute

// assign brings, as leader, the tree to what the strategy says: idle items get their
// owner at once, an item that runs keeps its owner until it ends, and items beyond
// the total go when they are idle. owners is the strategy's answer; nil if nobody can
// have items. Each commit leaves every item with one owner, so
// a leader that dies between two of them leaves nothing that the next one would have
// to know about.
func (w *world) assign(owners []string) []commit {
	c := chunk{step: "assign", head: w.asLeader()}
	if owners != nil {
		begun := jobtree.EncodeFired(w.time())
		for i, owner := range owners {
			item := w.Item(i)
			ops := w.assignItem(i, item, owner)
			if item.Fired == nil {
				// A new item has no tick to make up, also if it was there before.
				ops = append(ops, coord.Create(w.job.Fired(i), begun))
			}
			if len(ops) > 0 {
				c.add(i, ops...)
			}
		}
	}
	for i := w.settings.ShardingTotalCount; i < len(w.Items); i++ {
		if w.Items[i].Exists && w.Items[i].Running == nil {
			c.add(i, coord.Absent(w.job.Running(i)), coord.DeleteTree(w.job.Item(i)), coord.DeleteTree(w.job.FailoverItem(i)))
		}
	}
	if len(c.commits) == 0 && w.Necessary {
		c.add(noItem, coord.DeleteTree(w.job.Necessary()))
	}
	return c.commits
}

func (w *world) assignItem(i int, item jobtree.Item, owner string) []coord.Op {
	switch {
	case item.Owner == nil:
		return []coord.Op{coord.Create(w.job.ItemInstance(i), []byte(owner))}
	case item.Owner.ID == owner, item.Running != nil, w.settings.StaticSharding && !w.abandoned(item.Owner.ID):
		return nil
	default:
		return []coord.Op{
			coord.Absent(w.job.Running(i)),
			coord.SetAt(w.job.ItemInstance(i), []byte(owner), item.Owner.Version),
		}
	}
}

// abandoned reports whether the owner of a static item has been gone for too long.
func (w *world) abandoned(owner string) bool {
	if in, ok := w.Instances[owner]; ok {
		return !w.eligible(in)
	}
	since, ok := w.gone[owner]
	return ok && w.now.Sub(since) >= staticGrace
}
