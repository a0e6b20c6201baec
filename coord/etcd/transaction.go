package etcd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/footprint"
)

// transaction turns the operations of a commit into one request, and finds in the answer a conflict or
// better guesses. It sends nothing.
type transaction struct {
	keys    keyspace
	session *session // nil if no operation needs it
	ops     []coord.Op
	guesses []guess
}

// guess is what an attempt assumes about the node of an operation. If it is wrong the
// attempt's comparisons fail.
type guess struct {
	// owner is the lease of a node that is put, or 0. It has to be known so that the put can
	// keep it.
	owner int64
	// isParent: nobody wrote the node, but there is something below it.
	isParent bool
}

// finding is what an attempt that failed found out about the node of an operation.
type finding struct {
	kv       *mvccpb.KeyValue // nil if nobody wrote the node
	isParent bool             // there is something below it; false if that was not asked
}

// what names the transaction in errors.
func (t *transaction) what() string {
	if len(t.ops) == 1 {
		return t.ops[0].String()
	}
	return fmt.Sprintf("commit of %d operations, the first %s", len(t.ops), t.ops[0])
}

// list names the operations, as far as an error has room for them.
func (t *transaction) list() string {
	const most = 10
	var names []string
	for _, op := range t.ops[:min(len(t.ops), most)] {
		names = append(names, op.String())
	}
	if more := len(t.ops) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// createsEphemerals reports whether the store has to know the session's lease.
func (t *transaction) createsEphemerals() bool {
	return slices.ContainsFunc(t.ops, func(op coord.Op) bool { return op.Kind == coord.OpCreateEphemeral })
}

func (t *transaction) writes() bool {
	return slices.ContainsFunc(t.ops, func(op coord.Op) bool { return op.Kind.Writes() })
}

func (t *transaction) writesValues() bool {
	return slices.ContainsFunc(t.ops, func(op coord.Op) bool {
		return op.Kind.Writes() && op.Kind != coord.OpDelete && op.Kind != coord.OpDeleteTree
	})
}

// needsNode reports whether an operation holds only if there is a node; a parent that nobody
// wrote counts.
func needsNode(kind coord.OpKind) bool {
	switch kind {
	case coord.OpSet, coord.OpSetAt, coord.OpDelete, coord.OpExists, coord.OpAtVersion, coord.OpOwned:
		return true
	}
	return false
}

// asks says what an attempt reads about an operation if it fails: the node's key, and whether
// anything is below the node. That is what the comparisons were about and no more, so that
// the reads are never more than --max-txn-ops allows.
func (t *transaction) asks(i int) (key, below bool) {
	parent := t.guesses[i].isParent
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

// worthAsking reports whether the first attempt reads, if it fails, why it did. For many
// operations these reads are a quarter of the request, and in vain if the attempt succeeds.
// Puts alone fail only for nodes that are ephemeral. In these cases only the second attempt
// reads. But conditions alone always ask: a request that neither reads nor writes is answered
// by any member of the store from its own copy, which may be old.
func (t *transaction) worthAsking() bool {
	const few = 8
	if !t.writes() {
		return true
	}
	if len(t.ops) > few {
		return false
	}
	return slices.ContainsFunc(t.ops, func(op coord.Op) bool { return op.Kind != coord.OpPut && op.Kind != coord.OpDeleteTree })
}

// request is the transaction under the present guesses. With ask, a failed attempt reads
// what judge has to know, for each operation in order.
func (t *transaction) request(ask bool) *pb.TxnRequest {
	p := newParts(t.keys, t.ops)
	request := &pb.TxnRequest{
		Compare: make([]*pb.Compare, 0, len(p.comparisons)),
		Success: make([]*pb.RequestOp, 0, len(p.puts)+len(p.deletes)),
	}
	when := func(condition *pb.Compare) { request.Compare = append(request.Compare, condition) }
	then := func(op *pb.RequestOp) { request.Success = append(request.Success, op) }
	otherwise := func(op *pb.RequestOp) { request.Failure = append(request.Failure, op) }

	for i, op := range t.ops {
		asksKey, asksBelow := t.asks(i)
		key, guess := p.key(t.keys.prefix, op.Path), t.guesses[i]
		var below span
		if asksBelow || op.Kind == coord.OpDeleteTree {
			below = p.below(t.keys, op.Path)
		}
		switch op.Kind {
		case coord.OpCreate:
			when(p.ifUnwritten(key))
			then(p.put(key, op.Value, 0, false))
		case coord.OpCreateEphemeral:
			when(p.ifUnwritten(key))
			then(p.put(key, op.Value, t.session.lease, false))
		case coord.OpPut:
			when(p.ifOwnedBy(key, guess.owner)) // 0 also holds if there is no node
			then(p.put(key, op.Value, 0, guess.owner != 0))
		case coord.OpSet, coord.OpSetAt:
			switch {
			case guess.isParent:
				when(p.ifUnwritten(key))
				when(p.ifAnyIn(below))
			case op.Kind == coord.OpSet:
				when(p.ifWritten(key))
			default:
				when(p.ifAtVersion(key, op.Version))
			}
			then(p.put(key, op.Value, 0, !guess.isParent))
		case coord.OpDelete:
			when(p.ifWritten(key))
			when(p.ifNoneIn(below))
			then(p.delete(span{key: key}))
		case coord.OpDeleteTree:
			then(p.delete(span{key: key}))
			then(p.delete(below))
		case coord.OpExists:
			if guess.isParent {
				when(p.ifAnyIn(below))
			} else {
				when(p.ifWritten(key))
			}
		case coord.OpAbsent:
			when(p.ifUnwritten(key))
			when(p.ifNoneIn(below))
		case coord.OpAtVersion:
			if guess.isParent {
				when(p.ifUnwritten(key))
				when(p.ifAnyIn(below))
			} else {
				when(p.ifAtVersion(key, op.Version))
			}
		case coord.OpOwned:
			when(p.ifOwnedBy(key, t.session.lease))
		}
		if !ask {
			continue
		}
		if asksKey {
			// Servers since 3.7 leave out the lease if only the key is read.
			asksLease := op.Kind == coord.OpPut || op.Kind == coord.OpOwned
			otherwise(firstKeyOp(span{key: key}, !asksLease))
		}
		if asksBelow {
			otherwise(firstKeyOp(below, true))
		}
	}
	return request
}

// checked is the request, unless it exceeds what a server takes.
func (t *transaction) checked(ask bool) (*pb.TxnRequest, error) {
	request := t.request(ask)
	if n := opsOf(request); n > maxTxnOps {
		return nil, fmt.Errorf("etcd: %s: %w: %d conditions on parents that nobody wrote", t.what(), coord.ErrTooLarge, n)
	}
	return request, nil
}

// errNotAsked: the attempt has not read what decides whether an operation holds; the next one will.
var errNotAsked = errors.New("not asked")

// judge returns why an operation conflicts with what was found, or nil. It corrects the guess for the
// next attempt. If the operation conflicts under the old guess, but may hold under the new one, it
// returns errNotAsked.
func (t *transaction) judge(i int, found finding) error {
	op, guess := t.ops[i], &t.guesses[i]
	there := found.kv != nil || found.isParent
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
		if guess.isParent && !there { // the key was not read, so it may be there
			guess.isParent = false
			return errNotAsked
		}
	}
	if !there {
		return coord.ErrNoNode
	}
	guess.isParent = found.kv == nil
	switch op.Kind {
	case coord.OpSetAt, coord.OpAtVersion:
		if found.kv.GetModRevision() != op.Version { // 0 for a parent that nobody wrote
			return coord.ErrVersion
		}
	case coord.OpDelete:
		if found.isParent {
			return coord.ErrNotEmpty
		}
	case coord.OpOwned:
		if found.kv.GetLease() != t.session.lease {
			return coord.ErrNotOwner
		}
	}
	return nil
}

// span is one key, or a range of keys if end is set, as requests have it.
type span struct{ key, end []byte }

// firstKeyOp reads the first key in a range, if there is one.
func firstKeyOp(keys span, keyOnly bool) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{
		RequestRange: &pb.RangeRequest{Key: keys.key, RangeEnd: keys.end, Limit: 1, KeysOnly: keyOnly},
	}}
}

// footprint is all that an attempt reads and writes, whether it succeeds or fails.
func (t *transaction) footprint() []footprint.Place {
	places := make([]footprint.Place, 0, 2*len(t.ops))
	for i, op := range t.ops {
		// What a transaction compares it also asks for when it fails, and nothing else.
		asksKey, asksBelow := t.asks(i)
		if asksKey || op.Kind.Writes() {
			places = append(places, footprint.Place{Path: op.Path, Written: op.Kind.Writes()})
		}
		if removes := op.Kind == coord.OpDeleteTree; asksBelow || removes {
			places = append(places, footprint.Place{Path: op.Path, Below: true, Written: removes})
		}
	}
	return places
}
