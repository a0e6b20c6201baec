package etcd

import (
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// transaction turns the operations of a commit into one request, and its answer into
// what to guess next, or a conflict. It sends nothing.
type transaction struct {
	keys    keyspace
	session *session // if an operation needs it
	ops     []coord.Op
	guesses []guess
}

// guess is what an attempt takes for granted about the node of an operation. Its
// comparisons fail if that is wrong.
type guess struct {
	// owner is the lease of a node that is put. It has to be named to be kept.
	owner int64
	// parent means that nobody wrote the node but it has something below it.
	parent bool
}

// finding is what an attempt that failed found out about the node of an operation.
type finding struct {
	kv     *mvccpb.KeyValue // nil if nobody wrote it
	parent bool             // there is something below it, where that was asked
}

func (t *transaction) what() string {
	if len(t.ops) == 1 {
		return t.ops[0].String()
	}
	return fmt.Sprintf("commit of %d operations, the first %s", len(t.ops), t.ops[0])
}

func (t *transaction) writesValues() bool {
	for _, op := range t.ops {
		switch op.Kind {
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut, coord.OpSet, coord.OpSetAt:
			return true
		}
	}
	return false
}

// needsNode reports whether an operation holds only where there is a node, be it a
// parent that nobody wrote.
func needsNode(kind coord.OpKind) bool {
	switch kind {
	case coord.OpSet, coord.OpSetAt, coord.OpDelete, coord.OpExists, coord.OpAtVersion, coord.OpOwned:
		return true
	}
	return false
}

// asks says what a failed attempt tells about an operation: the key of its node, and
// whether anything is below it. It is what the comparisons were about, and no more, since
// an answer must not have more parts than they are.
func (t *transaction) asks(i int) (key, below bool) {
	parent := t.guesses[i].parent
	switch t.ops[i].Kind {
	case coord.OpDeleteTree:
		return false, false
	case coord.OpDelete, coord.OpAbsent:
		return true, true
	case coord.OpExists:
		return !parent, parent
	}
	return true, parent
}

// worthAsking reports whether the first attempt is to ask why, should it fail. For many
// operations that is a quarter of the work, and for nothing if they succeed; and puts
// fail only for nodes that turn out to be ephemeral. Those are sent again to ask.
func (t *transaction) worthAsking() bool {
	const few = 8
	if len(t.ops) > few {
		return false
	}
	for _, op := range t.ops {
		if op.Kind != coord.OpPut && op.Kind != coord.OpDeleteTree {
			return true
		}
	}
	return false
}

// request is the transaction under the present guesses. If it is to ask, it reads on
// failure, for each operation in order, what judge has to know.
func (t *transaction) request(ask bool) *pb.TxnRequest {
	request := &pb.TxnRequest{}
	when := func(conditions ...*pb.Compare) { request.Compare = append(request.Compare, conditions...) }
	then := func(op *pb.RequestOp) { request.Success = append(request.Success, op) }
	otherwise := func(op *pb.RequestOp) { request.Failure = append(request.Failure, op) }

	for i, op := range t.ops {
		key, below, guess := []byte(t.keys.key(op.Path)), t.keys.below(op.Path), t.guesses[i]
		switch op.Kind {
		case coord.OpCreate:
			when(neverWritten(key))
			then(put(&pb.PutRequest{Key: key, Value: op.Value}))
		case coord.OpCreateEphemeral:
			when(neverWritten(key))
			then(put(&pb.PutRequest{Key: key, Value: op.Value, Lease: t.session.lease}))
		case coord.OpPut:
			when(ownedBy(key, guess.owner)) // by 0 also if it is not there
			then(put(&pb.PutRequest{Key: key, Value: op.Value, IgnoreLease: guess.owner != 0}))
		case coord.OpSet, coord.OpSetAt:
			switch {
			case guess.parent:
				when(neverWritten(key), somethingIn(below))
			case op.Kind == coord.OpSet:
				when(written(key))
			default:
				when(atVersion(key, op.Version))
			}
			then(put(&pb.PutRequest{Key: key, Value: op.Value, IgnoreLease: !guess.parent}))
		case coord.OpDelete:
			when(written(key), nothingIn(below))
			then(remove(keyRange{from: string(key)}))
		case coord.OpDeleteTree:
			then(remove(keyRange{from: string(key)}))
			then(remove(below))
		case coord.OpExists:
			if guess.parent {
				when(somethingIn(below))
			} else {
				when(written(key))
			}
		case coord.OpAbsent:
			when(neverWritten(key), nothingIn(below))
		case coord.OpAtVersion:
			if guess.parent {
				when(neverWritten(key), somethingIn(below))
			} else {
				when(atVersion(key, op.Version))
			}
		case coord.OpOwned:
			when(ownedBy(key, t.session.lease))
		}
		if !ask {
			continue
		}
		asksKey, asksBelow := t.asks(i)
		if asksKey {
			// Read without its value a key has no lease, on servers since 3.7.
			asksLease := op.Kind == coord.OpPut || op.Kind == coord.OpOwned
			otherwise(look(keyRange{from: string(key)}, !asksLease))
		}
		if asksBelow {
			otherwise(look(below, true))
		}
	}
	return request
}

// judge returns why an operation does not hold, or nil if it does, or would have done
// with another guess, which is then the next one.
func (t *transaction) judge(i int, found finding) error {
	op, guess := t.ops[i], &t.guesses[i]
	there := found.kv != nil || found.parent
	switch op.Kind {
	case coord.OpCreate, coord.OpCreateEphemeral:
		if found.kv != nil {
			return coord.ErrNodeExists
		}
		return nil
	case coord.OpAbsent:
		if there {
			return coord.ErrNodeExists
		}
		return nil
	case coord.OpPut:
		guess.owner = found.kv.GetLease()
		return nil
	case coord.OpDeleteTree:
		return nil
	case coord.OpExists:
		if guess.parent && !there { // the key was not asked for
			guess.parent = false
			return nil
		}
	}
	if !there {
		return coord.ErrNoNode
	}
	guess.parent = found.kv == nil
	switch op.Kind {
	case coord.OpSetAt, coord.OpAtVersion:
		if found.kv.GetModRevision() != op.Version { // 0 for a parent that nobody wrote
			return coord.ErrVersion
		}
	case coord.OpDelete:
		if found.parent {
			return coord.ErrNotEmpty
		}
	case coord.OpOwned:
		if found.kv.GetLease() != t.session.lease {
			return coord.ErrNotOwner
		}
	}
	return nil
}

// A key that is not there has the revisions and the lease 0. For a range all keys must
// pass; one without keys passes as a single one with zeros does.

func written(key []byte) *pb.Compare {
	return compareCreated(keyRange{from: string(key)}, pb.Compare_GREATER)
}

func neverWritten(key []byte) *pb.Compare {
	return compareCreated(keyRange{from: string(key)}, pb.Compare_EQUAL)
}

func somethingIn(keys keyRange) *pb.Compare { return compareCreated(keys, pb.Compare_GREATER) }

func nothingIn(keys keyRange) *pb.Compare { return compareCreated(keys, pb.Compare_EQUAL) }

func compareCreated(keys keyRange, result pb.Compare_CompareResult) *pb.Compare {
	return &pb.Compare{
		Target: pb.Compare_CREATE, Result: result, Key: []byte(keys.from), RangeEnd: []byte(keys.to),
		TargetUnion: &pb.Compare_CreateRevision{CreateRevision: 0},
	}
}

func atVersion(key []byte, version int64) *pb.Compare {
	return &pb.Compare{
		Target: pb.Compare_MOD, Result: pb.Compare_EQUAL, Key: key,
		TargetUnion: &pb.Compare_ModRevision{ModRevision: version},
	}
}

func ownedBy(key []byte, lease int64) *pb.Compare {
	return &pb.Compare{
		Target: pb.Compare_LEASE, Result: pb.Compare_EQUAL, Key: key,
		TargetUnion: &pb.Compare_Lease{Lease: lease},
	}
}

func put(request *pb.PutRequest) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: request}}
}

func remove(keys keyRange) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{
		RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(keys.from), RangeEnd: []byte(keys.to)},
	}}
}

// look reads whether there is anything, and the first key.
func look(keys keyRange, keyOnly bool) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{
		RequestRange: &pb.RangeRequest{Key: []byte(keys.from), RangeEnd: []byte(keys.to), Limit: 1, KeysOnly: keyOnly},
	}}
}
