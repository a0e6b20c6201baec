package coord

// Tree is what an adapter builds snapshots from. It is not safe for concurrent use;
// its snapshots are.
//
// It is a balanced binary tree. What snapshots share is never changed: a change copies the
// branches from the top down to the node. So two snapshots of one tree have in common all
// that did not change between them, and [Snapshot.Diff] skips that.
type Tree struct {
	top *branch
	// edition is the number of snapshots so far, plus one. Branches of this edition are in
	// no snapshot, so they are changed in place. It stays 0 once it has overflown: then
	// every change copies.
	edition uint32
}

// branch is a node and everything below it in the binary tree, which has nothing to do with
// what is below it in the registry.
type branch struct {
	node          Node
	left, right   *branch
	size, edition uint32
}

// NewTree returns an empty tree.
func NewTree() *Tree { return &Tree{edition: 1} }

// Put adds or replaces a node. Its path must not be empty: the root is no node.
func (t *Tree) Put(n Node) { t.top = t.put(t.top, n) }

// Get returns the node that was put at path.
func (t *Tree) Get(path string) (Node, bool) {
	if b := t.top.find(path); b != nil {
		return b.node, true
	}
	return Node{}, false
}

// Delete removes the node at path but not what lies below it, and reports whether it
// was there.
func (t *Tree) Delete(path string) bool {
	if t.top.find(path) == nil {
		return false
	}
	t.top = t.remove(t.top, path)
	return true
}

// Snapshot returns the state now in constant time. Later changes of the tree copy what
// they change, so the snapshot stays as it is.
func (t *Tree) Snapshot() Snapshot {
	if t.edition > 0 && t.top != nil && t.top.edition == t.edition { // else nothing has changed since the last one
		t.edition++
	}
	return Snapshot{top: t.top}
}

func (t *Tree) put(b *branch, n Node) *branch {
	if b == nil {
		return &branch{node: n, size: 1, edition: t.edition}
	}
	b = t.own(b)
	switch c := comparePaths(n.Path, b.node.Path); {
	case c < 0:
		b.left = t.put(b.left, n)
	case c > 0:
		b.right = t.put(b.right, n)
	default:
		b.node = n
		return b
	}
	return t.balance(b)
}

// remove removes a node that is there.
func (t *Tree) remove(b *branch, path string) *branch {
	c := comparePaths(path, b.node.Path)
	switch {
	case c == 0 && b.left == nil:
		return b.right
	case c == 0 && b.right == nil:
		return b.left
	}
	b = t.own(b)
	switch {
	case c < 0:
		b.left = t.remove(b.left, path)
	case c > 0:
		b.right = t.remove(b.right, path)
	default:
		b.node = b.right.first().node
		b.right = t.remove(b.right, b.node.Path)
	}
	return t.balance(b)
}

// own returns a branch that may be changed in place.
func (t *Tree) own(b *branch) *branch {
	if t.edition > 0 && b.edition == t.edition {
		return b
	}
	c := *b
	c.edition = t.edition
	return &c
}

// The weight of a branch is its size plus one. One side of a branch weighs at most so many
// times what the other does, and a rotation is double if the inner grandchild weighs at
// least so many times what the outer one does. With these two numbers one rotation is
// always enough (Hirai and Yamamoto, Balancing weight-balanced trees, 2011).
const (
	mostHeavier   = 3
	doubleHeavier = 2
)

func (b *branch) weight() int { return b.len() + 1 }

// balance sets the size of a branch whose one side has grown or shrunk by one node, and
// rotates it if that side is too heavy or too light now.
func (t *Tree) balance(b *branch) *branch {
	left, right := b.left.weight(), b.right.weight()
	switch {
	case left+right <= 3:
	case right > mostHeavier*left:
		if b.right.left.weight() >= doubleHeavier*b.right.right.weight() {
			b.right = t.rotateRight(t.own(b.right))
		}
		return t.rotateLeft(b)
	case left > mostHeavier*right:
		if b.left.right.weight() >= doubleHeavier*b.left.left.weight() {
			b.left = t.rotateLeft(t.own(b.left))
		}
		return t.rotateRight(b)
	}
	b.measure()
	return b
}

func (t *Tree) rotateLeft(b *branch) *branch {
	up := t.own(b.right)
	b.right, up.left = up.left, b
	b.measure()
	up.measure()
	return up
}

func (t *Tree) rotateRight(b *branch) *branch {
	up := t.own(b.left)
	b.left, up.right = up.right, b
	b.measure()
	up.measure()
	return up
}

func (b *branch) measure() { b.size = uint32(b.left.len() + b.right.len() + 1) } // so many nodes do not fit into memory

func (b *branch) len() int {
	if b == nil {
		return 0
	}
	return int(b.size)
}

func (b *branch) first() *branch {
	for b.left != nil {
		b = b.left
	}
	return b
}

func (b *branch) find(path string) *branch {
	for b != nil {
		switch c := comparePaths(path, b.node.Path); {
		case c < 0:
			b = b.left
		case c > 0:
			b = b.right
		default:
			return b
		}
	}
	return nil
}

// before is the number of nodes before a path.
func (b *branch) before(path string) (count int) {
	for b != nil {
		if comparePaths(path, b.node.Path) <= 0 {
			b = b.left
			continue
		}
		count += b.left.len() + 1
		b = b.right
	}
	return count
}

// ascend yields the nodes from a path on, "" for all. It reports false if yield did.
func (b *branch) ascend(from string, yield func(Node) bool) bool {
	if b == nil {
		return true
	}
	if from != "" && comparePaths(b.node.Path, from) < 0 {
		return b.right.ascend(from, yield)
	}
	return b.left.ascend(from, yield) && yield(b.node) && b.right.ascend("", yield)
}
