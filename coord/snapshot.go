package coord

import (
	"iter"
	"maps"
	"strings"
)

// Snapshot is an immutable state of a subtree. The zero value is empty. It may be
// kept and read from any goroutine.
type Snapshot struct {
	tree *branch // of a tree that nobody changes any more
	root string  // the snapshot shows only what is within it
	left map[string]int
}

// LeftOut returns the groups of [Bounds.Group] of which nodes are not held, with the numbers of these.
func (s Snapshot) LeftOut() iter.Seq2[string, int] { return maps.All(s.left) }

// Sub returns the part of the snapshot at and below root, under the same paths, in
// constant time.
func (s Snapshot) Sub(root string) Snapshot {
	switch {
	case Within(root, s.root):
		return Snapshot{tree: s.tree, root: root, left: s.left}
	case Within(s.root, root):
		return s
	}
	return Snapshot{}
}

// rootWithin returns the root of the part of a subtree that the snapshot shows. ok is false if it shows
// none of it.
func (s Snapshot) rootWithin(path string) (root string, ok bool) {
	if s.tree == nil {
		return "", false
	}
	if Within(s.root, path) {
		return s.root, true
	}
	return path, Within(path, s.root)
}

// Get returns a node; ok is false if it does not exist. A parent that nobody wrote has an empty value,
// as for [Registry.Get].
func (s Snapshot) Get(path string) (n Node, ok bool) {
	if s.tree == nil {
		return Node{}, false
	}
	if Within(path, s.root) {
		if b := s.tree.find(path); b != nil {
			return b.node, true
		}
	}
	if path != "" && s.Exists(path) {
		return Node{Path: path}, true
	}
	return Node{}, false
}

// Exists reports whether the node or anything below it exists.
func (s Snapshot) Exists(path string) bool {
	for range s.All(path) {
		return true
	}
	return false
}

// Children returns the names of a node's children in ascending bytewise order.
func (s Snapshot) Children(path string) []string {
	if s.tree == nil {
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
	// Each ascend finds one child, and skips what lies below the one before.
	for next := prefix; ; {
		var child string
		s.tree.ascend(next, func(n Node) bool {
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
		root, ok := s.rootWithin(path)
		if !ok {
			return
		}
		s.tree.ascend(root, func(n Node) bool { return Within(n.Path, root) && yield(n) })
	}
}

// Len is the number of nodes that were written. It takes constant time for a whole
// snapshot, and logarithmic time for a part that [Snapshot.Sub] returned.
func (s Snapshot) Len() int {
	if s.root == "" {
		return s.tree.len()
	}
	return s.tree.rank(s.root+afterSubtree) - s.tree.rank(s.root)
}

// afterSubtree, put behind a path, sorts after everything below that node and before its
// next sibling: no UTF-8 string has the byte 0xff, and pathLess puts the slash first.
const afterSubtree = "/\xff"

// comparePaths orders paths bytewise with the slash before every other byte, so that a
// subtree is one contiguous range: a, a/b, a/b/c, a-b.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}
