package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// manual is a trigger that waits for its item to be idle. An item has one at most:
// more of them come to the same (B-25).
type manual struct{ parameter string }

// obey takes the request that is addressed to this instance. It is removed at the
// version that was read, so one that is written meanwhile is not lost (B-26).
func (w *world) obey() (*commit, jobtree.Trigger) {
	trigger, ok := w.Triggers[w.self.id]
	if !ok {
		return nil, trigger
	}
	path := w.job.Trigger(w.self.id)
	return &commit{step: "obey", ops: []coord.Op{
		w.mine(), coord.AtVersion(path, trigger.Version), coord.DeleteTree(path),
	}}, trigger
}

// requested lists the items of a request to this instance.
func (w *world) requested(r jobtree.Request) []int { return w.requestedOf(w.self.id, r) }

// requestedOf lists the items of a request: those that it names, whoever owns them by
// now, or all that the instance owns.
func (w *world) requestedOf(id string, r jobtree.Request) []int {
	if len(r.Items) > 0 {
		return r.Items
	}
	var items []int
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		if w.Items[i].Owner.Is(id) {
			items = append(items, i)
		}
	}
	return items
}

// passOn gives items that were triggered to their owner. It is nil as long as they are
// being dealt: the owner is gone, leaves, or is on a server that was disabled.
func (w *world) passOn(owner string, items []int, trigger manual) (*commit, error) {
	in, ok := w.Instances[owner]
	if !ok || !w.eligible(in) {
		return nil, nil
	}
	ops, err := ask(w.State, w.job, owner, jobtree.Request{Items: items, Parameter: trigger.parameter})
	if err != nil {
		return nil, err
	}
	return &commit{step: "pass on", ops: append(ops, w.mine())}, nil
}

// manually begins the items that were triggered and are idle.
func (w *world) manually(triggers map[int]manual) []commit {
	if len(triggers) == 0 || !w.active() || !w.settings.monitor {
		return nil
	}
	claims := w.claims("trigger")
	free := w.free
	for i := range min(w.settings.ShardingTotalCount, len(w.Items)) {
		trigger, ok := triggers[i]
		item := w.Items[i]
		if free <= 0 {
			break
		}
		if !ok || !item.Owner.Is(w.self.id) || item.Disabled || item.Running != nil || w.runs[i] != nil {
			continue
		}
		r := &run{item: i, tick: w.now, source: SourceManual, param: trigger.parameter}
		if item.Fired != nil {
			r.last = item.Fired.Tick
		}
		claims.add(item, r)
		free--
	}
	return claims.commits
}
