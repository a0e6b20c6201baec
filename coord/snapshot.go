package coord

import (
	"iter"
	"strings"

	"github.com/google/btree"
)

// Snapshot is an immutable state of a subtree. The zero value is empty. It may be
// kept and read from any goroutine.
type Snapshot struct {
	nodes *btree.BTreeG[Node]
	root  string // the snapshot shows only what is within it
}

// Sub returns the part of the snapshot at and below root, under the same paths, in
// constant time.
func (s Snapshot) Sub(root string) Snapshot {
	switch {
	case Within(root, s.root):
		return Snapshot{nodes: s.nodes, root: root}
	case Within(s.root, root):
		return s
	}
	return Snapshot{}
}

// narrow returns the root of what the snapshot shows of a subtree; ok is false if it
// shows none of it.
func (s Snapshot) narrow(path string) (root string, ok bool) {
	if s.nodes == nil {
		return "", false
	}
	if Within(s.root, path) {
		return s.root, true
	}
	return path, Within(path, s.root)
}

// Get returns the node if it is there. A parent that nobody wrote is there with an
// empty value, as for [Registry.Get].
func (s Snapshot) Get(path string) (Node, bool) {
	if s.nodes == nil {
		return Node{}, false
	}
	if Within(path, s.root) {
		if n, ok := s.nodes.Get(Node{Path: path}); ok {
			return n, true
		}
	}
	if path != "" && s.Exists(path) {
		return Node{Path: path}, true
	}
	return Node{}, false
}

// Exists reports whether the node or anything below it is there.
func (s Snapshot) Exists(path string) bool {
	for range s.All(path) {
		return true
	}
	return false
}

// Children returns the names of a node's children in ascending bytewise order.
func (s Snapshot) Children(path string) []string {
	if s.nodes == nil {
		return nil
	}
	prefix := path + "/"
	if path == "" {
		prefix = ""
	}
	if s.root != "" && s.root != path && Within(s.root, path) {
		if !s.Exists(s.root) {
			return nil
		}
		child, _, _ := strings.Cut(strings.TrimPrefix(s.root, prefix), "/")
		return []string{child}
	}
	if !Within(path, s.root) {
		return nil
	}
	var names []string
	// Each descent of the tree finds one child, and skips what lies below the one before.
	for next := prefix; ; {
		var child string
		s.nodes.AscendGreaterOrEqual(Node{Path: next}, func(n Node) bool {
			if rest, ok := strings.CutPrefix(n.Path, prefix); ok {
				child, _, _ = strings.Cut(rest, "/")
			}
			return false
		})
		if child == "" {
			return names
		}
		names = append(names, child)
		next = prefix + child + afterSubtree
	}
}

// All goes over the nodes at and below path that were written, parents before
// their children and children in ascending bytewise order.
func (s Snapshot) All(path string) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		root, ok := s.narrow(path)
		if !ok {
			return
		}
		s.nodes.AscendGreaterOrEqual(Node{Path: root}, func(n Node) bool {
			return Within(n.Path, root) && yield(n)
		})
	}
}

// Len is the number of nodes that were written. It takes constant time for a whole
// snapshot, and linear time for a part that [Snapshot.Sub] returned.
func (s Snapshot) Len() int {
	if s.nodes == nil {
		return 0
	}
	if s.root == "" {
		return s.nodes.Len()
	}
	count := 0
	for range s.All(s.root) {
		count++
	}
	return count
}

// Tree is what an adapter builds snapshots from. It is not safe for concurrent use;
// its snapshots are.
type Tree struct {
	nodes *btree.BTreeG[Node]
}

// NewTree returns an empty tree.
func NewTree() *Tree {
	const degree = 32 // the usual one for google/btree: nodes of a few kilobytes
	return &Tree{nodes: btree.NewG(degree, func(a, b Node) bool { return pathLess(a.Path, b.Path) })}
}

// Put adds or replaces a node. Its path must not be empty: the root is no node.
func (t *Tree) Put(n Node) { t.nodes.ReplaceOrInsert(n) }

// Get returns the node that was put at path.
func (t *Tree) Get(path string) (Node, bool) { return t.nodes.Get(Node{Path: path}) }

// Delete removes the node at path but not what lies below it, and reports whether it
// was there.
func (t *Tree) Delete(path string) bool {
	_, ok := t.nodes.Delete(Node{Path: path})
	return ok
}

// Snapshot returns the state now in constant time. Later changes of the tree copy what
// they change, so the snapshot stays as it is.
func (t *Tree) Snapshot() Snapshot { return Snapshot{nodes: t.nodes.Clone()} }

// afterSubtree, put behind a path, sorts after everything below that node and before its
// next sibling: no UTF-8 string has the byte 0xff, and pathLess puts the slash first.
const afterSubtree = "/\xff"

// pathLess orders paths bytewise with the slash before every other byte, so that a
// subtree is one contiguous range: a, a/b, a/b/c, a-b.
func pathLess(a, b string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			if a[i] == '/' {
				return true
			}
			return b[i] != '/' && a[i] < b[i]
		}
	}
	return len(a) < len(b)
}
