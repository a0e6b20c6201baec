package coord

// Tree is what an adapter builds snapshots from. It is not safe for concurrent use;
// its snapshots are.
//
// It is a balanced binary tree, persistent in the sense of data structures: a change copies the
// branches from the root down to the node. So two snapshots share all branches that did not change
// between them, and [Snapshot.Diff] skips these.
type Tree struct {
	root *branch
	// edition is the number of snapshots so far, plus one. Branches of this edition are in no
	// snapshot, so they are changed in place. After an overflow it stays 0, and every change copies.
	edition uint32
	held    held
}

// branch is a node of the binary tree with everything below it there. What is below the node in the
// registry may be elsewhere in the binary tree.
type branch struct {
	node          Node
	left, right   *branch
	size, edition uint32
}

// NewTree returns an empty tree, with bounds if there are any.
func NewTree(bounds ...Bounds) *Tree {
	t := &Tree{edition: 1}
	for _, b := range bounds {
		t.held = held{Bounds: b, bytes: map[string]int{}, nodes: map[string]int{}}
	}
	return t
}

// Put adds or replaces a node, and returns it as the tree holds it. Its path must not be empty: the root of the namespace is
// no node.
func (t *Tree) Put(n Node) Node {
	if t.held.isBounded() {
		if b := t.root.find(n.Path); b != nil {
			t.held.count(b.node, -1)
		}
	}
	n = t.held.within(n)
	t.held.count(n, 1)
	t.root = t.put(t.root, n)
	return n
}

// Offer is Put for a new node for which there may be no room. It reports whether the tree holds it.
func (t *Tree) Offer(n Node) bool {
	if group, most := t.Group(n.Path); group != "" && t.held.nodes[group] >= most && t.root.find(n.Path) == nil {
		return false
	}
	t.Put(n)
	return true
}

// Group returns the group of a node, and how many nodes it may have: see [Bounds.Group].
func (t *Tree) Group(path string) (group string, most int) {
	if t.held.Group == nil {
		return "", 0
	}
	return t.held.Group(path)
}

// LeaveOut counts a node that the tree does not hold, because there is no room, or takes it away.
func (t *Tree) LeaveOut(path string, sign int) {
	if group, _ := t.Group(path); group != "" && (sign > 0 || t.held.left[group] > 0) {
		t.held.leaveOut(group, sign)
	}
}

// SetLeftOut replaces the counts of all nodes that the tree does not hold, by their groups.
func (t *Tree) SetLeftOut(nodes map[string]int) { t.held.left = nodes }

// Get returns the node that was put at path.
func (t *Tree) Get(path string) (Node, bool) {
	if b := t.root.find(path); b != nil {
		return b.node, true
	}
	return Node{}, false
}

// Delete removes the node at path but not what lies below it, and reports whether there was one.
func (t *Tree) Delete(path string) bool {
	b := t.root.find(path)
	if b == nil {
		return false
	}
	t.held.count(b.node, -1)
	t.root = t.remove(t.root, path)
	return true
}

// Snapshot returns the present state, in constant time. Later changes do not affect it.
func (t *Tree) Snapshot() Snapshot {
	if t.edition > 0 && t.root != nil && t.root.edition == t.edition { // else nothing has changed since the last one
		t.edition++
	}
	return Snapshot{tree: t.root, left: t.held.left}
}

// put adds or replaces a node, and returns the branch that takes the place of b.
func (t *Tree) put(b *branch, n Node) *branch {
	if b == nil {
		return &branch{node: n, size: 1, edition: t.edition}
	}
	b = t.copyOnWrite(b)
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

// remove removes a node that exists, and returns the branch that takes the place of b.
func (t *Tree) remove(b *branch, path string) *branch {
	c := comparePaths(path, b.node.Path)
	switch {
	case c == 0 && b.left == nil:
		return b.right
	case c == 0 && b.right == nil:
		return b.left
	}
	b = t.copyOnWrite(b)
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

// copyOnWrite returns a branch that may be changed: b itself, or a copy if a snapshot has b.
func (t *Tree) copyOnWrite(b *branch) *branch {
	if t.edition > 0 && b.edition == t.edition {
		return b
	}
	c := *b
	c.edition = t.edition
	return &c
}

// The weight of a branch is its size plus one. One child weighs at most maxWeightRatio times as much
// as the other. A rotation is double if the inner grandchild weighs at least doubleRotationRatio times
// as much as the outer one. With these two numbers one rotation always restores the balance (Hirai
// and Yamamoto, Balancing weight-balanced trees, 2011).
const (
	maxWeightRatio      = 3
	doubleRotationRatio = 2
)

func (b *branch) weight() int { return b.len() + 1 }

// balance updates the size of a branch one of whose children has gained or lost a node, and rotates
// the branch if it is out of balance. It returns the branch that takes its place.
func (t *Tree) balance(b *branch) *branch {
	left, right := b.left.weight(), b.right.weight()
	switch {
	case left+right <= 3:
	case right > maxWeightRatio*left:
		if b.right.left.weight() >= doubleRotationRatio*b.right.right.weight() {
			b.right = t.rotateRight(t.copyOnWrite(b.right))
		}
		return t.rotateLeft(b)
	case left > maxWeightRatio*right:
		if b.left.right.weight() >= doubleRotationRatio*b.left.left.weight() {
			b.left = t.rotateLeft(t.copyOnWrite(b.left))
		}
		return t.rotateRight(b)
	}
	b.updateSize()
	return b
}

// rotateLeft makes the right child the root of the branch, and returns it.
func (t *Tree) rotateLeft(b *branch) *branch {
	root := t.copyOnWrite(b.right)
	b.right, root.left = root.left, b
	b.updateSize()
	root.updateSize()
	return root
}

// rotateRight makes the left child the root of the branch, and returns it.
func (t *Tree) rotateRight(b *branch) *branch {
	root := t.copyOnWrite(b.left)
	b.left, root.right = root.right, b
	b.updateSize()
	root.updateSize()
	return root
}

func (b *branch) updateSize() { b.size = uint32(b.left.len() + b.right.len() + 1) } // so many nodes do not fit into memory

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

// rank returns the number of nodes before a path.
func (b *branch) rank(path string) (count int) {
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

// ascend yields the nodes from a path on, "" for all, until yield returns false. It reports whether
// yield never did.
func (b *branch) ascend(from string, yield func(Node) bool) bool {
	if b == nil {
		return true
	}
	if from != "" && comparePaths(b.node.Path, from) < 0 {
		return b.right.ascend(from, yield)
	}
	return b.left.ascend(from, yield) && yield(b.node) && b.right.ascend("", yield)
}
