package coord

import (
	"bytes"
	"iter"
)

// Diff goes over what differs from an older snapshot, in the order of [Snapshot.All]. Each
// node that was added or written since comes as it is now, with true; each node that was
// removed comes as it was, with false. A node that was removed and created again is one that
// was written.
//
//	for node, there := range now.Diff(before) {
//		if there {
//			decode(node)
//		} else {
//			forget(node.Path)
//		}
//	}
//
// Between two snapshots of one view, or the same parts of them, it takes time in proportion
// to the number of changes, and little more: what both share is skipped. Between any others
// it takes time in proportion to their size. The older one may be the zero Snapshot.
//
// A parent that nobody wrote never comes itself, only what is below it.
func (s Snapshot) Diff(older Snapshot) iter.Seq2[Node, bool] {
	return func(yield func(Node, bool) bool) {
		var bufferA, bufferB [24]piece // large enough for most trees, so that nothing is allocated
		a, b := newCursor(s, bufferA[:0]), newCursor(older, bufferB[:0])
		sameRoot := s.root == older.root // otherwise a shared branch may be within one root only
		for {
			x, y := a.next(), b.next()
			switch {
			case x.branch == nil && y.branch == nil:
				return
			case x == y && (sameRoot || !x.whole):
				a.drop()
				b.drop()
			case x.whole && (!y.whole || x.branch.size >= y.branch.size):
				// The larger branch first, so that a shared branch is next in both at once.
				a.divide()
			case y.whole:
				b.divide()
			case y.branch == nil || x.branch != nil && comparePaths(x.branch.node.Path, y.branch.node.Path) < 0:
				a.drop()
				if !yield(x.branch.node, true) {
					return
				}
			case x.branch == nil || x.branch.node.Path != y.branch.node.Path:
				b.drop()
				if !yield(y.branch.node, false) {
					return
				}
			default:
				a.drop()
				b.drop()
				if !x.branch.node.equal(y.branch.node) && !yield(x.branch.node, true) {
					return
				}
			}
		}
	}
}

func (n Node) equal(o Node) bool {
	return n.Path == o.Path && n.Version == o.Version && n.Created == o.Created && n.Modified == o.Modified && n.Owner == o.Owner && n.Omitted == o.Omitted && bytes.Equal(n.Value, o.Value)
}

// piece is a whole branch, or only its own node.
type piece struct {
	branch *branch
	whole  bool
}

// cursor goes over a snapshot in pieces, which are divided on demand.
type cursor struct {
	root    string
	after   string  // the end of what is within root; "" if that is everything
	pending []piece // a stack
}

func newCursor(s Snapshot, buffer []piece) cursor {
	c := cursor{root: s.root, pending: buffer}
	if s.root != "" {
		c.after = s.root + afterSubtree
	}
	c.push(piece{s.tree, true})
	return c
}

func (c *cursor) push(p piece) {
	if p.branch != nil {
		c.pending = append(c.pending, p)
	}
}

// next returns the next piece, or the zero piece at the end.
func (c *cursor) next() piece {
	if len(c.pending) == 0 {
		return piece{}
	}
	return c.pending[len(c.pending)-1]
}

func (c *cursor) drop() { c.pending = c.pending[:len(c.pending)-1] }

// divide replaces the next piece, a whole branch, with its parts that are within root.
func (c *cursor) divide() {
	b := c.next().branch
	c.drop()
	early := c.root != "" && comparePaths(b.node.Path, c.root) < 0
	late := c.after != "" && comparePaths(b.node.Path, c.after) >= 0
	if !late {
		c.push(piece{b.right, true})
	}
	if !early && !late {
		c.push(piece{b, false})
	}
	if !early {
		c.push(piece{b.left, true})
	}
}
