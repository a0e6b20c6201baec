package coord

import "fmt"

// OpKind says what an [Op] does.
type OpKind int

// The kinds that write come first, then the conditions: Writes relies on the order.
const (
	OpCreate OpKind = iota + 1
	OpCreateEphemeral
	OpPut
	OpSet
	OpSetAt
	OpDelete
	OpDeleteTree
	OpExists
	OpAbsent
	OpAtVersion
	OpOwned
)

func (k OpKind) String() string {
	names := [...]string{"unknown", "create", "create ephemeral", "put", "set", "set at version", "delete", "delete tree", "exists", "absent", "at version", "owned"}
	if k < 0 || int(k) >= len(names) {
		k = 0
	}
	return names[k]
}

// Writes reports whether an operation of this kind changes the tree.
func (k OpKind) Writes() bool { return k >= OpCreate && k <= OpDeleteTree }

// NeedsSession reports whether an operation of this kind is about the registry's session.
func (k OpKind) NeedsSession() bool { return k == OpCreateEphemeral || k == OpOwned }

// Op is one operation or condition of a commit; make it with the functions below.
type Op struct {
	Kind    OpKind
	Path    string
	Value   []byte // of Create, CreateEphemeral, Put, Set, SetAt
	Version int64  // of SetAt, AtVersion
}

func (o Op) String() string {
	if o.Kind == OpAtVersion || o.Kind == OpSetAt {
		return fmt.Sprintf("%s %s = %d", o.Kind, o.Path, o.Version)
	}
	return fmt.Sprintf("%s %s", o.Kind, o.Path)
}

// Create makes a persistent node. The commit fails with ErrNodeExists if there is one.
func Create(path string, value []byte) Op { return Op{Kind: OpCreate, Path: path, Value: value} }

// CreateEphemeral makes a node that the store removes when the registry's session ends. The
// commit fails with ErrNodeExists if there is one. Callers must not create anything below
// an ephemeral node: ZooKeeper refuses it.
func CreateEphemeral(path string, value []byte) Op {
	return Op{Kind: OpCreateEphemeral, Path: path, Value: value}
}

// Put creates or replaces a node. An existing node keeps its owner, if it has one; a new
// node is persistent.
func Put(path string, value []byte) Op { return Op{Kind: OpPut, Path: path, Value: value} }

// Set replaces the value of a node, which keeps its owner. The commit fails with ErrNoNode if
// there is no node.
func Set(path string, value []byte) Op { return Op{Kind: OpSet, Path: path, Value: value} }

// SetAt writes a node whose version is still this one (compare-and-set); it keeps its owner.
// Otherwise the commit fails with ErrNoNode or ErrVersion.
func SetAt(path string, value []byte, version int64) Op {
	return Op{Kind: OpSetAt, Path: path, Value: value, Version: version}
}

// Delete removes a node without children. The commit fails with ErrNoNode if there is no node,
// with ErrNotEmpty if it has children.
func Delete(path string) Op { return Op{Kind: OpDelete, Path: path} }

// DeleteTree removes a node and everything below it, or nothing if there is none.
func DeleteTree(path string) Op { return Op{Kind: OpDeleteTree, Path: path} }

// Exists is the condition that the node, or anything below it, exists. Otherwise the commit
// fails with ErrNoNode.
func Exists(path string) Op { return Op{Kind: OpExists, Path: path} }

// Absent is the condition that neither the node nor anything below it exists. Otherwise the
// commit fails with ErrNodeExists.
func Absent(path string) Op { return Op{Kind: OpAbsent, Path: path} }

// AtVersion is the condition that the node exists with this [Node.Version]. Otherwise the
// commit fails with ErrNoNode or ErrVersion. A node that is removed and created again may have
// an old version: see the package comment.
func AtVersion(path string, version int64) Op {
	return Op{Kind: OpAtVersion, Path: path, Version: version}
}

// Owned is the condition that the node is ephemeral and belongs to this registry's session.
// Otherwise the commit fails with ErrNoNode or ErrNotOwner. ZooKeeper has no such condition:
// package zk says what it does in its place, and what that cannot promise.
func Owned(path string) Op { return Op{Kind: OpOwned, Path: path} }

// MaxOps is the largest [Cost] of one commit on any store: etcd allows 128
// operations in a transaction (--max-txn-ops), of which 4 are kept free. What an instance
// claims at once, 30 items, is finished in one commit by this.
const MaxOps = 124

// MaxCommitBytes bounds the paths and values of one commit on any store.
// ZooKeeper's servers close the connection at 1 MiB (jute.maxbuffer).
const MaxCommitBytes = 1<<20 - 16<<10

// Cost is what ops count towards [MaxOps]: two for Delete, DeleteTree and Absent,
// one for every other.
func Cost(ops ...Op) int {
	cost := 0
	for _, op := range ops {
		switch op.Kind {
		case OpDelete, OpDeleteTree, OpAbsent:
			cost += 2
		default:
			cost++
		}
	}
	return cost
}

// ValidateCommit checks a commit before anything is sent, in the same way for every
// adapter. Conditions speak of the tree before the commit, wherever they stand
// among the ops, and the order of the writes must not matter. So a path is written
// at most once, and nothing is written at or below a node or tree that the same
// commit deletes.
//
// Errors: [ErrInvalidPath]; [ErrInvalidCommit] for no ops, an unknown kind, or two
// writes that overlap; [ErrTooLarge] beyond MaxOps or MaxCommitBytes.
func ValidateCommit(ops ...Op) error {
	if len(ops) == 0 {
		return fmt.Errorf("%w: no operations", ErrInvalidCommit)
	}
	size := 0
	written := make(map[string]int, len(ops))
	var deletes []int
	for i, op := range ops {
		if op.Kind < OpCreate || op.Kind > OpOwned {
			return fmt.Errorf("%w: op %d has the unknown kind %d", ErrInvalidCommit, i, int(op.Kind))
		}
		if err := ValidatePath(op.Path); err != nil {
			return fmt.Errorf("op %d (%s): %w", i, op.Kind, err)
		}
		size += len(op.Path) + len(op.Value)
		if !op.Kind.Writes() {
			continue
		}
		if j, ok := written[op.Path]; ok {
			return fmt.Errorf("%w: ops %d (%s) and %d (%s) write the same node", ErrInvalidCommit, j, ops[j], i, op)
		}
		written[op.Path] = i
		if op.Kind == OpDelete || op.Kind == OpDeleteTree {
			deletes = append(deletes, i)
		}
	}
	for _, d := range deletes {
		for path, i := range written {
			if i != d && Within(path, ops[d].Path) {
				return fmt.Errorf("%w: op %d (%s) writes within what op %d (%s) removes", ErrInvalidCommit, i, ops[i], d, ops[d])
			}
		}
	}
	if cost := Cost(ops...); cost > MaxOps {
		return fmt.Errorf("%w: %d operations cost %d, at most %d are allowed", ErrTooLarge, len(ops), cost, MaxOps)
	}
	if size > MaxCommitBytes {
		return fmt.Errorf("%w: %d bytes of paths and values, at most %d are allowed", ErrTooLarge, size, MaxCommitBytes)
	}
	return nil
}
