package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// parts is the memory of the parts of one request. Each kind comes in a block for all
// operations, because thousands of commits a second would spend more time on allocating the
// parts one by one than on anything else.
type parts struct {
	comparisons []comparison
	puts        []putting
	deletes     []deleting
	keys        []byte
}

// comparison is a condition with its target. Only one of the three is used.
type comparison struct {
	pb.Compare
	created  pb.Compare_CreateRevision
	modified pb.Compare_ModRevision
	lease    pb.Compare_Lease
}

type putting struct {
	op    pb.RequestOp
	union pb.RequestOp_RequestPut
	put   pb.PutRequest
}

type deleting struct {
	op      pb.RequestOp
	union   pb.RequestOp_RequestDeleteRange
	request pb.DeleteRangeRequest
}

// newParts has room for what most transactions of these operations need.
func newParts(keys keyspace, ops []coord.Op) *parts {
	compares, puts, deletes, bytes := 0, 0, 0, 0
	for _, op := range ops {
		key := len(keys.prefix) + len(op.Path)
		bytes += key
		compares++
		switch op.Kind {
		case coord.OpDeleteTree:
			deletes += 2
			bytes += 2 * (key + 1)
		case coord.OpDelete:
			compares++
			deletes++
			bytes += 2 * (key + 1)
		case coord.OpAbsent:
			compares++
			bytes += 2 * (key + 1)
		default:
			if op.Kind.Writes() {
				puts++
			}
		}
	}
	return &parts{make([]comparison, compares), make([]putting, puts), make([]deleting, deletes), make([]byte, 0, bytes)}
}

// take returns the next of a block, or one more if the block is used up.
func take[T any](block *[]T) *T {
	if len(*block) == 0 {
		return new(T)
	}
	one := &(*block)[0]
	*block = (*block)[1:]
	return one
}

// key returns some texts as one key.
func (p *parts) key(texts ...string) []byte {
	from := len(p.keys)
	for _, text := range texts {
		p.keys = append(p.keys, text...)
	}
	return p.keys[from:len(p.keys):len(p.keys)]
}

// below is the span of everything below a node.
func (p *parts) below(keys keyspace, path string) span {
	return span{p.key(keys.prefix, path, "/"), p.key(keys.prefix, path, afterSlash)}
}

// Conditions. etcd compares a key that is not there as if its revisions and its lease were 0.
// All keys of a range have to fulfil the comparison; a range without keys counts as one key
// that is not there.

// compareCreatedWithZero compares the creation revisions of keys with 0: GREATER, all are there; EQUAL, none is.
func (p *parts) compareCreatedWithZero(keys span, result pb.Compare_CompareResult) *pb.Compare {
	c := take(&p.comparisons)
	c.Target, c.Result, c.Key, c.RangeEnd, c.TargetUnion = pb.Compare_CREATE, result, keys.key, keys.end, &c.created
	return &c.Compare
}

func (p *parts) ifWritten(key []byte) *pb.Compare {
	return p.compareCreatedWithZero(span{key: key}, pb.Compare_GREATER)
}

func (p *parts) ifUnwritten(key []byte) *pb.Compare {
	return p.compareCreatedWithZero(span{key: key}, pb.Compare_EQUAL)
}

func (p *parts) ifAnyIn(keys span) *pb.Compare {
	return p.compareCreatedWithZero(keys, pb.Compare_GREATER)
}

func (p *parts) ifNoneIn(keys span) *pb.Compare {
	return p.compareCreatedWithZero(keys, pb.Compare_EQUAL)
}

func (p *parts) ifAtVersion(key []byte, version int64) *pb.Compare {
	c := take(&p.comparisons)
	c.modified.ModRevision = version
	c.Target, c.Result, c.Key, c.TargetUnion = pb.Compare_MOD, pb.Compare_EQUAL, key, &c.modified
	return &c.Compare
}

func (p *parts) ifOwnedBy(key []byte, lease int64) *pb.Compare {
	c := take(&p.comparisons)
	c.lease.Lease = lease
	c.Target, c.Result, c.Key, c.TargetUnion = pb.Compare_LEASE, pb.Compare_EQUAL, key, &c.lease
	return &c.Compare
}

func (p *parts) put(key, value []byte, lease int64, ignoresLease bool) *pb.RequestOp {
	one := take(&p.puts)
	one.put.Key, one.put.Value, one.put.Lease, one.put.IgnoreLease = key, value, lease, ignoresLease
	one.union.RequestPut = &one.put
	one.op.Request = &one.union
	return &one.op
}

func (p *parts) delete(keys span) *pb.RequestOp {
	one := take(&p.deletes)
	one.request.Key, one.request.RangeEnd = keys.key, keys.end
	one.union.RequestDeleteRange = &one.request
	one.op.Request = &one.union
	return &one.op
}
