package memory

import (
	"math"

	"github.com/elasticjob-go/elasticjob/coord"
)

// wholeDepth is the depth of views that show a whole subtree.
const wholeDepth = math.MaxInt

// upper holds the upper levels of a subtree. nil stands for all levels: then the store's own
// tree serves.
type upper struct {
	path  string
	depth int
	tree  *coord.Tree
}

func newUpper(ns *namespace, path string, depth int) *upper {
	if depth == wholeDepth {
		return nil
	}
	u := &upper{path: path, depth: depth, tree: coord.NewTree()}
	for n := range ns.snapshot().All(path) {
		if coord.Depth(n.Path, path) <= depth {
			u.tree.Put(n)
		}
	}
	return u
}

// shows reports whether these are so many levels.
func (u *upper) shows(depth int) bool {
	if u == nil {
		return depth == wholeDepth
	}
	return u.depth == depth
}

// touch takes over what the namespace has at a path that was written or removed, and parents
// that were made with it. It reports whether a view of these levels shows a change.
func (u *upper) touch(ns *namespace, path string) bool {
	if u == nil {
		return true
	}
	changed := false
	for at, level := path, coord.Depth(path, u.path); at != "" && level >= 0; at, level = coord.Parent(at), level-1 {
		if level > u.depth {
			continue
		}
		e, there := ns.entries[at]
		_, known := u.tree.Get(at)
		switch {
		case there && (at == path || !known):
			u.tree.Put(e.node)
			changed = true
		case !there && known:
			u.tree.Delete(at)
			changed = true
		}
	}
	return changed
}
