package job

import (
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// manual is a trigger that waits for its item to be idle. An item has one at most:
// more of them come to the same (B-25).
type manual struct{ parameter string }

// obey takes the request that is addressed to this instance. It is removed at the
// version that was read, so one that is written meanwhile is not lost (B-26). Items
// that belong to others by now are passed on to them, and if they are just being dealt
// the request waits.
func (w *world) obey() (*commit, jobtree.Trigger, error) {
	trigger, ok := w.Triggers[w.self.id]
	if !ok {
		return nil, trigger, nil
	}
	path := w.job.Trigger(w.self.id)
	ops := []coord.Op{w.mine(), coord.AtVersion(path, trigger.Version), coord.Delete(path)}
	if w.active() {
		passed, dealt, err := w.passOn(trigger.Request, trigger.Request.Items)
		if err != nil || !dealt {
			return nil, trigger, err
		}
		ops = append(ops, passed...)
	}
	return &commit{step: "obey", ops: ops}, trigger, nil
}

// passOn gives the items of a request that this instance does not own to their owners.
// dealt is false if one of them has none that is alive.
func (w *world) passOn(r jobtree.Request, items []int) (ops []coord.Op, dealt bool, err error) {
	owners := map[string][]int{}
	for _, i := range items {
		item := w.Item(i)
		if i >= w.settings.ShardingTotalCount || item.Disabled || item.Owner.Is(w.self.id) {
			continue
		}
		if item.Owner == nil || w.dead(item.Owner.ID) {
			return nil, false, nil
		}
		owners[item.Owner.ID] = append(owners[item.Owner.ID], i)
	}
	for _, id := range slices.Sorted(maps.Keys(owners)) {
		ask, err := ask(w.State, w.job, id, jobtree.Request{ID: r.ID, Items: owners[id], Parameter: r.Parameter})
		if err != nil {
			return nil, false, err
		}
		ops = append(ops, ask...)
	}
	return ops, true, nil
}

// requested lists the items of a request that this instance is to run.
func (w *world) requested(r jobtree.Request) []int {
	var items []int
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		if w.Items[i].Owner.Is(w.self.id) && (len(r.Items) == 0 || slices.Contains(r.Items, i)) {
			items = append(items, i)
		}
	}
	return items
}

// manually begins the items that were triggered and are idle.
func (w *world) manually(triggers map[int]manual) []commit {
	if len(triggers) == 0 || !w.active() || !w.settings.monitor {
		return nil
	}
	claims := claimer{world: w, step: "trigger"}
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		trigger, ok := triggers[i]
		item := w.Items[i]
		if !ok || !item.Owner.Is(w.self.id) || item.Disabled || item.Running != nil || w.runs[i] != nil {
			continue
		}
		r := &run{item: i, tick: w.now, source: Manual, param: trigger.parameter}
		if item.Fired != nil {
			r.last = item.Fired.Tick
		}
		claims.add(item, r)
	}
	return claims.commits
}
