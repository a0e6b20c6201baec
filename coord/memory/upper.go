package memory

import "github.com/elasticjob-go/elasticjob/coord"

// upper holds the upper levels of a subtree. nil stands for all levels, which the store's own tree has.
type upper struct {
	path  string
	depth int
	tree  *coord.Tree
}

func newUpper(ns *namespace, path string, depth int) *upper {
	if depth == coord.AllLevels {
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

// hasDepth reports whether these are the levels to a depth.
func (u *upper) hasDepth(depth int) bool {
	if u == nil {
		return depth == coord.AllLevels
	}
	return u.depth == depth
}

// update copies the node at a path that was written or removed, and parents that were made with it,
// from the namespace. It reports whether a view of these levels shows a change.
func (u *upper) update(ns *namespace, path string) bool {
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
