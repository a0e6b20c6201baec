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
		var roomA, roomB [24]piece // enough for most trees, so that nothing is allocated
		a, b := newCursor(s, roomA[:0]), newCursor(older, roomB[:0])
		shares := s.root == older.root // else what both have in common may show in one only
		for {
			x, y := a.next(), b.next()
			switch {
			case x.branch == nil && y.branch == nil:
				return
			case x == y && (shares || !x.whole):
				a.drop()
				b.drop()
			case x.whole && (!y.whole || x.branch.size >= y.branch.size):
				// The larger one first: so what both share comes up in both at once.
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
	return n.Path == o.Path && n.Version == o.Version && n.Created == o.Created && n.Modified == o.Modified && n.Owner == o.Owner && bytes.Equal(n.Value, o.Value)
}

// piece is a branch as a whole, or only its own node.
type piece struct {
	branch *branch
	whole  bool
}

// cursor goes over a snapshot in pieces, which it divides only as far as it is told to.
type cursor struct {
	root  string
	after string  // the end of what is within root; "" if that is everything
	left  []piece // the next one is the last
}

func newCursor(s Snapshot, room []piece) cursor {
	c := cursor{root: s.root, left: room}
	if s.root != "" {
		c.after = s.root + afterSubtree
	}
	c.push(piece{s.top, true})
	return c
}

func (c *cursor) push(p piece) {
	if p.branch != nil {
		c.left = append(c.left, p)
	}
}

// next is the next piece, or the zero piece at the end.
func (c *cursor) next() piece {
	if len(c.left) == 0 {
		return piece{}
	}
	return c.left[len(c.left)-1]
}

func (c *cursor) drop() { c.left = c.left[:len(c.left)-1] }

// divide replaces the next piece, which is a whole branch, by the parts of it.
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
