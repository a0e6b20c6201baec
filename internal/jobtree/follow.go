package jobtree

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Follow brings the state up to date with a newer snapshot. before is the snapshot that it
// shows now. It takes time in proportion to what has changed, not to the size of the tree.
// It is for the only owner of the state, who calls [State.Clone] for anybody else.
//
// items are the items whose records have changed: the nodes that executions write. isWhole
// reports whether anything else has, such as an owner, an instance or the configuration.
func (s *State) Follow(snapshot, before coord.Snapshot, job Job) (items []int, isWhole bool) {
	r := reader{State: s, before: s}
	for n, isThere := range snapshot.Diff(before) {
		i, isRecord, ok := r.follow(job, n, isThere)
		if !ok {
			*s = *Reread(snapshot, job, s)
			return nil, true
		}
		if !isRecord {
			isWhole = true
		} else if len(items) == 0 || items[len(items)-1] != i { // nodes come in the order of their paths
			items = append(items, i)
		}
	}
	return items, isWhole
}

// follow takes in one node that was written, or was removed. It does so only for the nodes
// of an item that is there and stays there. For all others ok is false: they change seldom,
// and the whole tree is read again.
func (r *reader) follow(job Job, n coord.Node, isThere bool) (item int, isRecord, ok bool) {
	path, ok := strings.CutPrefix(n.Path, string(job)+"/"+sharding+"/")
	if !ok {
		return 0, false, false
	}
	number, leaf, _ := strings.Cut(path, "/")
	i, ok := ParseItem(number)
	if !ok || i >= len(r.Items) || !r.Items[i].Exists || leaf == "" || strings.Contains(leaf, "/") {
		return 0, false, false
	}
	if isThere {
		r.readLeaf(&r.Items[i], Item{}, leaf, n)
	} else {
		r.Items[i].forget(leaf)
	}
	switch leaf {
	case running, fired, completed, misfire:
		return i, true, r.Items[i].Owner != nil || r.Items[i].Fired != nil // else the item may be gone
	}
	return i, false, r.Items[i].Owner != nil || r.Items[i].Fired != nil
}

// forget takes in that a node of the item was removed.
func (i *Item) forget(leaf string) {
	switch leaf {
	case instance:
		i.Owner = nil
	case running:
		i.Running = nil
	case failover:
		i.Failover = nil
	case failovering:
		i.Failovering = nil
	case fired:
		i.Fired = nil
	case completed:
		i.Completed = nil
	case misfire:
		i.Misfire = false
	case disabled:
		i.Disabled = false
	}
}

// Clone returns a copy that does not change when the state follows the tree.
func (s *State) Clone() *State {
	c := *s
	c.Items = append([]Item(nil), s.Items...)
	return &c
}
