package etcd

import (
	"context"
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Accompany makes each request of a registry a group: a commit that succeeds, one that fails
// and one that only reads go with it. So each commit is a nested transaction, and gets its
// answer out of the middle of others'. Call it before the first commit.
func (r *Registry) Accompany() {
	key := []byte(r.keys.prefix + fmt.Sprintf("/companions/%p", r)) // which is no node
	never := append(slices.Clone(key), "-never"...)
	read := firstKeyOp(span{key: append(slices.Clone(key), "-elsewhere"...)}, false)
	var p parts
	r.committer.companions = []*pb.TxnRequest{
		{Compare: []*pb.Compare{p.ifOwnedBy(key, 0)}, Success: []*pb.RequestOp{p.put(key, nil, 0, false)}},
		{Compare: []*pb.Compare{p.ifOwnedBy(never, 1)}, Success: []*pb.RequestOp{p.put(never, nil, 0, false)}, Failure: []*pb.RequestOp{read, read}},
		{Success: []*pb.RequestOp{read}},
	}
}

// Hold keeps everything that is committed from now on waiting, until release: as if as many
// requests were in flight as may be.
func (r *Registry) Hold() (release func()) {
	c := &r.committer
	c.mu.Lock()
	defer c.mu.Unlock()
	held := maxInFlight - c.inFlight
	c.inFlight = maxInFlight
	return func() {
		for range held {
			c.release()
		}
	}
}

// CommitTogether commits in one group, without asking what may be in one. Each has only one
// attempt, and fails with ErrConflict if its conditions do not hold.
func (r *Registry) CommitTogether(ctx context.Context, commits ...[]coord.Op) []error {
	var members []*pending
	for _, ops := range commits {
		t := &transaction{keys: r.keys, ops: ops, guesses: make([]guess, len(ops))}
		members = append(members, newPending(ctx, t, t.request(true)))
	}
	r.committer.send(members)
	var errs []error
	for _, p := range members {
		a, err := p.outcome()
		if err == nil && !a.succeeded {
			err = coord.ErrConflict
		}
		errs = append(errs, err)
	}
	return errs
}

// Between puts something between a registry and the store's KV service.
func (r *Registry) Between(wrap func(pb.KVClient) pb.KVClient) { r.kv = wrap(r.kv) }

// MaxMembers is how many commits a group has at most.
const MaxMembers = maxMembers

// Compacts reports whether the store drops its history, if so many bytes of its database are in use.
func (r *Registry) Compacts(ctx context.Context, inUse int64) coord.Answer {
	return r.compacts(ctx, inUse)
}
