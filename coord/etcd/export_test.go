package etcd

import (
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// Accompany makes each request of a registry a group: a commit that succeeds, one that fails
// and one that only reads go with it. So each commit is a nested transaction, and gets its
// answer out of the middle of others'. Call it before the first commit.
func (r *Registry) Accompany() {
	key := []byte(r.keys.prefix + fmt.Sprintf("/companions/%p", r)) // which is no node
	never := append(slices.Clone(key), "-never"...)
	read := firstKeyOp(keyRange{from: string(key) + "-elsewhere"}, false)
	r.committer.companions = []*pb.TxnRequest{
		{Compare: []*pb.Compare{ifOwnedBy(key, 0)}, Success: []*pb.RequestOp{putOp(&pb.PutRequest{Key: key})}},
		{Compare: []*pb.Compare{ifOwnedBy(never, 1)}, Success: []*pb.RequestOp{putOp(&pb.PutRequest{Key: never})}, Failure: []*pb.RequestOp{read, read}},
		{Success: []*pb.RequestOp{read}},
	}
}
