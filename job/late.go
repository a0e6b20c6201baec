package job

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// watched are the items that this instance looks after beside its own: as leader all of
// them, else the one after each of its own. So there is somebody who looks after the items
// of a leader that does nothing. An instance without items looks after the first one.
func (w *world) watched() []int {
	total := w.settings.ShardingTotalCount
	var list []int
	if w.leads() {
		for i := range total {
			list = append(list, i)
		}
		return list
	}
	owns := false
	for i := range min(total, len(w.Items)) {
		if !w.Items[i].Owner.Is(w.self.id) {
			continue
		}
		owns = true
		if next := (i + 1) % total; !w.Item(next).Owner.Is(w.self.id) {
			list = append(list, next)
		}
	}
	if !owns {
		list = append(list, 0)
	}
	return list
}

// lateElsewhere finds the watched items that should have begun, as far as the tree tells.
func (w *world) lateElsewhere(late map[int]string) {
	nobody, meant := w.whyNobody()
	if meant {
		return
	}
	tick := w.lastTick()
	slow := w.jvmLeads() // who deals and recovers when the next tick comes
	for _, i := range w.watched() {
		item := w.Item(i)
		why := ""
		switch {
		case item.Disabled, slow && item.Owner == nil:
		case slow:
			why = w.whyNotBegun(item, tick)
		case item.Running != nil:
			why = w.whyNotThrough(item, tick)
		case nobody != "":
			why = nobody
		default:
			if why = w.whyUnowned(item); why == "" {
				why = w.whyNotBegun(item, tick)
			}
		}
		if why != "" {
			late[i] = why
		}
	}
	if !w.leads() {
		return
	}
	for _, f := range w.FailoverItems {
		item := w.Item(f.Item)
		switch {
		case f.Item >= w.settings.ShardingTotalCount || item.Disabled:
		case item.Running == nil && item.Failovering == nil && w.runs[f.Item] == nil:
			late[f.Item] = "it waits to be run again, and no instance has a free thread for it"
		default:
			late[f.Item] = "it waits to be run again until an earlier execution of it is through"
		}
	}
}

// jvmLeads reports whether the leader is a JVM instance, which has no session's node.
func (w *world) jvmLeads() bool {
	return w.Leader != nil && !w.dead(w.Leader.ID) && w.Sessions[w.Leader.ID].Owner == 0
}

// whyNobody says why no instance may have items; "" if one may. It is meant to be so where
// no server is enabled.
func (w *world) whyNobody() (why string, meant bool) {
	enabled, labelled := false, false
	for _, in := range w.Instances {
		if w.eligible(in) {
			return "", false
		}
		if in.Owner != 0 && w.ServerEnabled(in.IP) {
			enabled = true
			labelled = labelled || w.labelled(in)
		}
	}
	switch {
	case !enabled:
		return "", true
	case !labelled:
		return fmt.Sprintf("no instance has the label %q", short(w.settings.Label)), false
	}
	return "no instance may have it: all refuse the configuration, or have clocks that are off", false
}

// whyUnowned says why an item has no owner that may run it; "" if it has one.
func (w *world) whyUnowned(item jobtree.Item) string {
	if item.Owner == nil {
		return "it has no owner"
	}
	id := item.Owner.ID
	in, ok := w.Instances[id]
	switch {
	case !ok && w.settings.StaticSharding && !w.abandoned(id):
		return "" // it is to stay where it is
	case !ok:
		return fmt.Sprintf("its instance %s is gone, and it is not dealt again", short(id))
	case !w.eligible(in):
		return fmt.Sprintf("its instance %s may not have it now, and it is not dealt again", short(id))
	}
	return ""
}

// whyNotBegun says that somebody else does not begin an item although its tick has come;
// "" if that is not so. An instance without a session's node is a JVM's, which records no
// ticks.
func (w *world) whyNotBegun(item jobtree.Item, tick time.Time) string {
	id := item.Owner.ID
	switch {
	case id == w.self.id: // which it knows better by itself
		return ""
	case !w.settings.monitor || tick.IsZero() || item.Running != nil || item.Fired == nil || !tick.After(item.Fired.Tick):
		return ""
	}
	if _, there := w.Instances[id]; !there {
		return fmt.Sprintf("its instance %s is gone, and static sharding keeps it there for a while", short(id))
	}
	if w.Sessions[id].Owner == 0 {
		return ""
	}
	return fmt.Sprintf("its instance %s is there and does not begin it", short(id))
}

// whyNotThrough says why an item cannot begin whose last execution still has a record; ""
// if it need not.
func (w *world) whyNotThrough(item jobtree.Item, tick time.Time) string {
	id := w.runner(item)
	switch {
	case w.dead(id):
		return fmt.Sprintf("its instance %s has ended, and it is not recovered", short(id))
	case id == w.self.id, w.Sessions[id].Owner == 0:
		return ""
	case item.Fired == nil || tick.IsZero() || !tick.After(item.Fired.Tick):
		return ""
	}
	return fmt.Sprintf("its execution of %s at %s is not through", item.Fired.Tick.In(w.settings.zone).Format(time.DateTime), short(id))
}
