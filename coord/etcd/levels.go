package etcd

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// levels is the tree of a view. It shows a node and what lies at most depth levels below it. For each
// parent at the lowest level it counts the keys below, because the parent exists as long as there
// are any. A parent that nobody wrote has a node in the tree whose Created is 0.
type levels struct {
	*coord.Tree
	root  string
	depth int
	below map[string]int // by the path of a parent at the lowest level: the keys below it; nil for a whole subtree
}

func newLevels(root string, depth int, bounds ...coord.Bounds) *levels {
	l := &levels{Tree: coord.NewTree(bounds...), root: root, depth: depth}
	if depth != coord.AllLevels {
		l.below = map[string]int{}
	}
	return l
}

// parent returns the parent at the lowest level of a node that lies deeper; deeper is false
// for a node that is shown.
func (l *levels) parent(path string) (parent string, deeper bool) {
	if l.depth == coord.AllLevels {
		return "", false
	}
	start := 0
	if l.root != "" {
		start = len(l.root) + 1
	}
	if len(path) <= start {
		return "", false
	}
	for level := 1; ; level++ {
		next := strings.IndexByte(path[start:], '/')
		switch {
		case next < 0:
			return "", false
		case level == l.depth:
			return path[:start+next], true
		}
		start += next + 1
	}
}

// add counts a new key below a parent at the lowest level. It reports whether the tree has changed.
func (l *levels) add(parent string) bool {
	count, known := l.below[parent]
	if !known {
		parent = strings.Clone(parent) // so that the whole path is not kept in memory
	}
	_, shown := l.Get(parent)
	if !shown && !l.Offer(coord.Node{Path: parent}) {
		l.LeaveOut(parent, 1)
		return true
	}
	l.below[parent] = count + 1
	return !shown
}

// remove removes a node, which is shown or lies deeper. It reports whether the tree has changed.
func (l *levels) remove(path string) bool {
	parent, deeper := l.parent(path)
	if !deeper {
		if l.below[path] > 0 {
			l.Put(coord.Node{Path: path}) // it is still a parent
		} else if !l.Delete(path) {
			l.LeaveOut(path, -1)
		}
		return true
	}
	if l.below[parent] == 0 {
		l.LeaveOut(parent, -1)
		return true
	}
	if l.below[parent]--; l.below[parent] > 0 {
		return false
	}
	delete(l.below, parent)
	if n, _ := l.Get(parent); n.Created != 0 {
		return false // it was written itself
	}
	return l.Delete(parent)
}
