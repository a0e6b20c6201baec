package coord

import "bytes"

// Node is one node of the tree as it was when it was read. Callers must not
// change Value: snapshots share it.
type Node struct {
	// Path is relative to the namespace, without a leading slash.
	Path string
	// Value is what was last written; empty for a parent that nobody wrote.
	Value []byte
	// Version changes with every write of this node. Use it only for [AtVersion] and
	// [SetAt]. It may repeat after the node was removed and created again.
	Version int64
	// Created and Modified are the store-wide numbers of the commit that created the
	// node and of the one that wrote it last. They only grow, also when the node is
	// removed and created again: etcd's CreateRevision and ModRevision, ZooKeeper's
	// czxid and mzxid. In a parent that nobody wrote they mean nothing.
	Created, Modified int64
	// Owner is the session whose end removes the node, or 0 if it is persistent.
	Owner SessionID
	// Omitted is how many bytes the value has, if a view does not hold it for [Bounds]. Then Value is empty.
	Omitted int
}

// Holds reports whether the node has a value, or has left it out for its length.
func (n Node) Holds(value []byte) bool {
	return n.Omitted == len(value) && n.Omitted > 0 || n.Omitted == 0 && bytes.Equal(n.Value, value)
}

// Ephemeral reports whether the node ends with a session.
func (n Node) Ephemeral() bool { return n.Owner != 0 }
