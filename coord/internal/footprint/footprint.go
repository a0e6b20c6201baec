// Package footprint says which transactions may be sent as one, by what they read and write. etcd evaluates the
// comparisons of all of them on the tree before the first: so they are equivalent to one after the other only if none
// writes what another one reads or writes.
package footprint

import (
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Place is what a transaction reads or writes: a node, or everything below a node.
type Place struct {
	Path    string
	Below   bool // everything below Path, without the node itself
	Written bool
}

// Set is all that the members of a group read and write. The zero value is empty.
type Set struct {
	nodes        map[string]bool // by path: true if written
	written      []string        // the nodes that are written, again
	readTrees    []string
	writtenTrees []string
}

// Clear makes it empty, and keeps its memory.
func (s *Set) Clear() {
	clear(s.nodes)
	s.written, s.readTrees, s.writtenTrees = s.written[:0], s.readTrees[:0], s.writtenTrees[:0]
}

// Admits reports whether another member may join the group.
func (s *Set) Admits(member []Place) bool {
	for _, p := range member {
		if p.Below && !s.admitsTree(p) || !p.Below && !s.admitsNode(p) {
			return false
		}
	}
	return true
}

// admitsNode is Admits for a single node.
func (s *Set) admitsNode(p Place) bool {
	written, ok := s.nodes[p.Path]
	return !(ok && (written || p.Written)) &&
		!anyContains(s.writtenTrees, p.Path) &&
		!(p.Written && anyContains(s.readTrees, p.Path))
}

// admitsTree is Admits for everything below a node.
func (s *Set) admitsTree(p Place) bool {
	if slices.ContainsFunc(s.written, func(node string) bool { return isBelow(node, p.Path) }) || anyOverlaps(s.writtenTrees, p.Path) {
		return false
	}
	if !p.Written {
		return true
	}
	for node := range s.nodes {
		if isBelow(node, p.Path) {
			return false
		}
	}
	return !anyOverlaps(s.readTrees, p.Path)
}

// Add adds what a member reads and writes.
func (s *Set) Add(member []Place) {
	if s.nodes == nil {
		s.nodes = map[string]bool{}
	}
	for _, p := range member {
		switch {
		case p.Below && p.Written:
			s.writtenTrees = append(s.writtenTrees, p.Path)
		case p.Below:
			s.readTrees = append(s.readTrees, p.Path)
		case p.Written:
			s.nodes[p.Path] = true
			s.written = append(s.written, p.Path)
		case !s.nodes[p.Path]:
			s.nodes[p.Path] = false
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
