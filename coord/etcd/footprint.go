package etcd

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// place is what a transaction reads or writes: a node, or everything below a node.
type place struct {
	path    string
	below   bool // everything below path, without the node itself
	written bool
}

// footprint is all that an attempt reads and writes, whether it succeeds or fails.
func (t *transaction) footprint() []place {
	places := make([]place, 0, 2*len(t.ops))
	for i, op := range t.ops {
		// What a transaction compares it also asks for when it fails, and nothing else.
		asksKey, asksBelow := t.asks(i)
		if asksKey || op.Kind.Writes() {
			places = append(places, place{path: op.Path, written: op.Kind.Writes()})
		}
		if removes := op.Kind == coord.OpDeleteTree; asksBelow || removes {
			places = append(places, place{path: op.Path, below: true, written: removes})
		}
	}
	return places
}

// occupied is all that the members of a group read and write. etcd evaluates the comparisons of all
// members on the tree before the group. So a group is equivalent to one member after the other only
// if none writes what another one reads or writes.
type occupied struct {
	nodes        map[string]bool // by path: true if written
	written      []string        // the nodes that are written, again
	readTrees    []string
	writtenTrees []string
}

// clear makes it empty, and keeps its memory.
func (o *occupied) clear() {
	if o.nodes == nil {
		o.nodes = make(map[string]bool)
	}
	clear(o.nodes)
	o.written, o.readTrees, o.writtenTrees = o.written[:0], o.readTrees[:0], o.writtenTrees[:0]
}

// admits reports whether another member may join the group.
func (o *occupied) admits(footprint []place) bool {
	for _, p := range footprint {
		if p.below && !o.admitsTree(p) || !p.below && !o.admitsNode(p) {
			return false
		}
	}
	return true
}

// admitsNode is admits for a single node.
func (o *occupied) admitsNode(p place) bool {
	written, ok := o.nodes[p.path]
	return !(ok && (written || p.written)) &&
		!anyContains(o.writtenTrees, p.path) &&
		!(p.written && anyContains(o.readTrees, p.path))
}

// admitsTree is admits for everything below a node.
func (o *occupied) admitsTree(p place) bool {
	if slices.ContainsFunc(o.written, func(node string) bool { return isBelow(node, p.path) }) || anyOverlaps(o.writtenTrees, p.path) {
		return false
	}
	if !p.written {
		return true
	}
	for node := range o.nodes {
		if isBelow(node, p.path) {
			return false
		}
	}
	return !anyOverlaps(o.readTrees, p.path)
}

// add adds the footprint of a member.
func (o *occupied) add(footprint []place) {
	for _, p := range footprint {
		switch {
		case p.below && p.written:
			o.writtenTrees = append(o.writtenTrees, p.path)
		case p.below:
			o.readTrees = append(o.readTrees, p.path)
		case p.written:
			o.nodes[p.path] = true
			o.written = append(o.written, p.path)
		case !o.nodes[p.path]:
			o.nodes[p.path] = false
		}
	}
}

// isBelow reports whether a node is below another one.
func isBelow(path, root string) bool { return path != root && coord.Within(path, root) }

// anyContains reports whether a node is in one of the trees, which do not have their roots.
func anyContains(trees []string, node string) bool {
	return slices.ContainsFunc(trees, func(root string) bool { return isBelow(node, root) })
}

// anyOverlaps reports whether a tree has nodes in common with one of the trees.
func anyOverlaps(trees []string, tree string) bool {
	return slices.ContainsFunc(trees, func(other string) bool { return coord.Within(other, tree) || coord.Within(tree, other) })
}
