package jobtree

import (
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Changes is what [State.Follow] has found.
type Changes struct {
	// Items are the items whose records, the nodes that executions write, or owners have
	// changed.
	Items []int
	// Owners is whether an owner has changed, or an item is new.
	Owners bool
	// Others is whether anything else has changed, such as an instance or the configuration.
	Others bool
}

// Follow brings the state up to date with a newer snapshot, and returns what has changed.
// before is the snapshot that it shows now. It takes time in proportion to what has changed,
// not to the size of the tree. It is for the only owner of the state, who calls [State.Clone]
// for anybody else.
func (s *State) Follow(snapshot, before coord.Snapshot, job Job) Changes {
	r := reader{State: s, before: s}
	c := Changes{Others: !s.Exists}
	var waiting []waitingChange
	for n, isThere := range snapshot.Diff(before) {
		if isCursor(job, n.Path) && s.Config != nil {
			continue
		}
		if i, ok := waitingItem(job, n.Path); ok && (isThere || s.Config != nil) { // else the job may be gone
			waiting, c.Others = append(waiting, waitingChange{n, i, isThere}), true
			continue
		}
		if r.followRequest(snapshot, job, n, isThere) || r.followGuarantee(job, n, isThere) || r.followMember(job, n, isThere) {
			c.Others = true
			continue
		}
		i, isOf, ok := r.follow(job, n, isThere)
		if !ok {
			*s = *Reread(snapshot, job, s)
			return Changes{Others: true}
		}
		c.Owners = c.Owners || isOf == ofOwner
		c.Others = c.Others || isOf == ofOthers
		if last := len(c.Items) - 1; last < 0 || c.Items[last] != i { // nodes come in the order of their paths
			c.Items = append(c.Items, i)
		}
	}
	if len(waiting) > 0 {
		s.Exists = true
		s.FailoverItems = followWaiting(s.FailoverItems, waiting)
	}
	return c
}

// kind is what a node of an item is about.
type kind int

const (
	ofOthers kind = iota
	ofRecord
	ofOwner
)

// follow takes in one node that was written, or was removed. It does so only for the nodes of
// items. For all others, and if the item may be gone now, ok is false: that is seldom, and
// the whole tree is read again.
func (r *reader) follow(job Job, n coord.Node, isThere bool) (item int, isOf kind, ok bool) {
	path, ok := strings.CutPrefix(n.Path, string(job)+"/"+sharding+"/")
	if !ok {
		return 0, ofOthers, false
	}
	number, leaf, _ := strings.Cut(path, "/")
	i, ok := ParseItem(number)
	if !ok || strings.Contains(leaf, "/") {
		return 0, ofOthers, false
	}
	if !r.Item(i).Exists {
		if !isThere {
			return 0, ofOthers, false
		}
		r.readItem(path, n)
		r.Exists = true
		return i, ofOwner, true
	}
	if isThere {
		r.readLeaf(&r.Items[i], Item{}, leaf, n)
	} else {
		r.Items[i].forget(leaf)
	}
	switch leaf {
	case running, fired, completed, misfire, original:
		isOf = ofRecord
	case instance:
		isOf = ofOwner
	}
	return i, isOf, isThere || r.Items[i].Owner != nil || r.Items[i].Fired != nil
}

// followMember takes in a node that is named after an instance or a server, or names the
// leader. It reports false for all others.
func (r *reader) followMember(job Job, n coord.Node, isThere bool) bool {
	path, ok := strings.CutPrefix(n.Path, string(job)+"/")
	if !ok || r.Config == nil && !isThere { // the job may be gone
		return false
	}
	if path == leaderInstance {
		if r.Leader = nil; isThere {
			r.Leader = r.mark(n, nil)
		}
		r.Exists = true
		return true
	}
	room, name, _ := strings.Cut(path, "/")
	if name == "" || strings.Contains(name, "/") || coord.ValidatePath(n.Path) != nil {
		return false
	}
	switch room {
	case servers:
		r.Servers = without(r.Servers, name)
	case instances:
		r.Instances = without(r.Instances, name)
	case sessions:
		r.Sessions = without(r.Sessions, name)
	case faults:
		r.Faults = without(r.Faults, name)
	case trigger:
		r.Triggers = without(r.Triggers, name)
	case kill, pins:
		i, ok := ParseItem(name)
		if !ok {
			return false
		}
		if room == kill {
			r.Kills = without(r.Kills, i)
		} else {
			r.Pins = without(r.Pins, i)
		}
		if isThere {
			r.readOfItem(room, name, n)
		}
		r.Exists = true
		return true
	default:
		return false
	}
	if isThere {
		r.readMember(room, name, n)
	}
	r.Exists = true
	return true
}

// without returns a copy of a map that lacks a key: a clone of the state has the map itself.
func without[K comparable, V any](m map[K]V, key K) map[K]V {
	if _, isThere := m[key]; isThere && len(m) == 1 {
		return nil
	}
	m = maps.Clone(m)
	delete(m, key)
	return m
}

// waitingChange is a node of an item that waits, which was written or removed.
type waitingChange struct {
	coord.Node
	item    int
	isThere bool
}

// waitingItem returns the item that waits to be taken over while there is a node at a path.
func waitingItem(job Job, path string) (item int, ok bool) {
	path, ok = strings.CutPrefix(path, string(job)+"/"+failoverItems+"/")
	if !ok {
		return 0, false
	}
	return ParseItem(path)
}

// followWaiting returns the items that wait to be taken over, after some have changed. The
// list is a new one, because a clone of the state has the old one.
func followWaiting(before []FailoverItem, changes []waitingChange) []FailoverItem {
	slices.SortFunc(changes, func(a, b waitingChange) int { return a.item - b.item })
	after := make([]FailoverItem, 0, len(before)+len(changes))
	for _, c := range changes {
		n, _ := slices.BinarySearchFunc(before, c.item, func(f FailoverItem, i int) int { return f.Item - i })
		after, before = append(after, before[:n]...), before[n:]
		if len(before) > 0 && before[0].Item == c.item {
			before = before[1:]
		}
		if c.isThere {
			after = append(after, decodeFailoverItem(c.Node, c.item))
		}
	}
	if after = append(after, before...); len(after) == 0 {
		return nil
	}
	return after
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
	case original:
		i.Original = nil
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
