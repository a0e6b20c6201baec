package coord

import (
	"maps"
	"strings"
)

// Bounds are what a view holds of nodes and values, so that no writer of the namespace can fill the memory of those who follow it.
// A node whose value is beyond a bound is shown with [Node.Omitted] in its place. A value of at most [AlwaysHeld]
// bytes is always held. A view that shares its memory with the store, as that of coord/memory may, need not leave anything out.
type Bounds struct {
	// Value returns how many bytes the value of the node at a path may have; nil is any number.
	Value func(path string) int
	// Child bounds the bytes that are held at and below each child of the namespace; 0 is any number. What is beyond it
	// stays left out until it is written again.
	Child int
	// Group returns the group of the node at a path, and how many nodes of it are held; an empty group is not bounded. For
	// a node without room [Snapshot.LeftOut] counts one more; it stays left out until it is written again, or the view has
	// to read everything again. It concerns views on etcd: those on ZooKeeper hold all nodes, as
	// its servers do.
	Group func(path string) (group string, most int)
}

// AlwaysHeld is how long a value may be that bounds do not concern, in bytes. Most are as short.
const AlwaysHeld = 256

// held counts what a tree holds.
type held struct {
	Bounds
	bytes map[string]int // of values longer than AlwaysHeld, by the child of the namespace
	nodes map[string]int // by their group
	left  map[string]int // nodes that are not held, by their group; replaced by each change, because snapshots have it
}

// isBounded reports whether nodes have to be counted.
func (h *held) isBounded() bool { return h.Child > 0 || h.Group != nil }

// leaveOut counts nodes of a group that are not held.
func (h *held) leaveOut(group string, nodes int) {
	left := maps.Clone(h.left)
	if left == nil {
		left = map[string]int{}
	}
	if left[group] += nodes; left[group] <= 0 {
		delete(left, group)
	}
	h.left = left
}

// add changes a count, and forgets a name when there is nothing of it any more.
func add(counts map[string]int, name string, more int) {
	sum, isKnown := counts[name]
	if !isKnown {
		name = strings.Clone(name) // so that the whole path is not kept in memory
	}
	if sum += more; sum == 0 {
		delete(counts, name)
		return
	}
	counts[name] = sum
}

// count adds a node to what is held, or takes it away.
func (h *held) count(n Node, sign int) {
	if h.Group != nil {
		if group, _ := h.Group(n.Path); group != "" {
			add(h.nodes, group, sign)
		}
	}
	if h.Child == 0 || len(n.Value) <= AlwaysHeld {
		return
	}
	child, _, _ := strings.Cut(n.Path, "/")
	add(h.bytes, child, sign*len(n.Value))
}

// within returns a node as it is held.
func (h *held) within(n Node) Node {
	if len(n.Value) <= AlwaysHeld || h.Value == nil && h.Child == 0 {
		return n
	}
	child, _, _ := strings.Cut(n.Path, "/")
	if h.Value != nil && len(n.Value) > h.Value(n.Path) || h.Child > 0 && h.bytes[child]+len(n.Value) > h.Child {
		n.Omitted, n.Value = len(n.Value), nil
	}
	return n
}
