package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/footprint"
)

// group is a set of commits that go in one request, each as a nested transaction. The store
// does the request at one revision, with one write to its disk, but each member succeeds or
// fails for itself: etcd evaluates its comparisons apart from the others'. See footprint.Set for
// what may be together.
type group struct {
	members    []*pending
	occupied   *footprint.Set
	companions int
	ops, bytes int
}

// The bounds of a group. A server takes 1.5 MiB in one request by default. From some 50
// members on a larger group is hardly faster, and all of them wait for it.
const (
	maxMembers    = 48
	maxGroupBytes = 512 << 10
)

// add adds a commit, and reports whether it fits. The first one always does.
func (g *group) add(p *pending) bool {
	members := len(g.members) + 1
	ops, bytes := max(g.ops, p.ops), g.bytes+p.bytes
	if members > 1 && (members > maxMembers || bytes > maxGroupBytes ||
		members+g.companions+ops > maxTxnOps || // the server counts the operations around a nested transaction, too
		!g.occupied.Admits(p.footprint)) {
		return false
	}
	g.members, g.ops, g.bytes = append(g.members, p), ops, bytes
	g.occupied.Add(p.footprint)
	return true
}

// maxTxnOps is etcd's default for --max-txn-ops. It bounds each of the three lists of a
// transaction; in a nested one they and the list around it together. A valid commit exceeds
// it only by conditions on parents that nobody wrote.
const maxTxnOps = 128

// opsOf is what --max-txn-ops counts of one transaction.
func opsOf(request *pb.TxnRequest) int {
	return max(len(request.Compare), len(request.Success), len(request.Failure))
}

// bytes is a bound on the size of the transaction's request: a key occurs up to seven times
// for an operation, each time with some bytes around it.
func (t *transaction) bytes() int {
	n := 0
	for _, op := range t.ops {
		n += 7*(len(t.keys.prefix)+len(op.Path)+16) + len(op.Value)
	}
	return n
}

// send sends a group, and tells each member what has become of it. The request belongs to no
// caller: it goes on for the others when one of them leaves.
func (c *committer) send(members []*pending) {
	r := c.registry
	ctx, cancel := context.WithTimeoutCause(r.ctx, r.config.RequestTimeout, r.late)
	defer cancel()
	requests := make([]*pb.TxnRequest, len(members))
	for i, p := range members {
		requests[i] = p.request
	}
	answers, failed := c.exchange(ctx, requests)
	if failed != nil {
		c.handleFailure(ctx, members, failed)
		return
	}
	for i, p := range members {
		p.succeed(answers[i])
	}
}

// handleFailure ends the members of a request that failed. If the store refused it for what one member wants, the
// others are sent again, so that only that member fails.
func (c *committer) handleFailure(ctx context.Context, members []*pending, f *failure) {
	if f.isLeaseNotFound() {
		creators, others := partition(members, func(p *pending) bool { return p.creates })
		if one := sessionOf(creators); one != nil {
			c.registry.loseSession(ctx, one)
			failAll(creators, f)
			if len(others) > 0 {
				c.send(others)
			}
			return
		}
	}
	half := len(members) / 2
	if half == 0 || !f.concernsContents() {
		failAll(members, f)
		return
	}
	c.send(members[:half])
	c.send(members[half:])
}

// partition divides members into those for which is holds and the others, in order.
func partition(members []*pending, is func(*pending) bool) (matching, others []*pending) {
	for _, p := range members {
		if is(p) {
			matching = append(matching, p)
		} else {
			others = append(others, p)
		}
	}
	return matching, others
}

// sessionOf returns the session of all members, or nil if they have several.
func sessionOf(members []*pending) *session {
	if len(members) == 0 || slices.ContainsFunc(members, func(p *pending) bool { return p.session != members[0].session }) {
		return nil
	}
	return members[0].session
}

// sendAlone sends one attempt at once, within its caller's context.
func (c *committer) sendAlone(ctx context.Context, t *transaction, request *pb.TxnRequest) (answer, error) {
	ctx, cancel, err := c.registry.bound(ctx)
	if err != nil {
		return answer{}, fmt.Errorf("etcd: %s: %w", t.what(), err)
	}
	defer cancel()
	answers, failed := c.exchange(ctx, []*pb.TxnRequest{request})
	if failed != nil {
		if failed.isLeaseNotFound() {
			c.registry.loseSession(ctx, t.session)
		}
		return answer{}, failed.of(t)
	}
	return answers[0], nil
}

// exchange sends one transaction, or several nested in one, and returns the answer to each.
func (c *committer) exchange(ctx context.Context, requests []*pb.TxnRequest) ([]answer, *failure) {
	c.sizes[len(requests)].Add(1)
	sent, nested := requests[0], len(requests)+len(c.companions) > 1
	if nested {
		sent = &pb.TxnRequest{Success: make([]*pb.RequestOp, 0, len(requests)+len(c.companions))}
		for _, request := range slices.Concat(requests, c.companions) {
			sent.Success = append(sent.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: request}})
		}
	}
	var server peer.Peer
	got, err := c.registry.kv.Txn(ctx, sent, grpc.WaitForReady(true), grpc.Peer(&server))
	if err != nil {
		return nil, &failure{err: err, cause: context.Cause(ctx), sent: server.Addr != nil}
	}
	answers := make([]answer, len(requests))
	for i, request := range requests {
		own := got
		if nested {
			own = got.Responses[i].GetResponseTxn()
		}
		answers[i] = answer{revision: got.Header.GetRevision(), succeeded: own.Succeeded, asked: len(request.Failure) > 0, responses: own.Responses}
	}
	return answers, nil
}

// failure is why a request brought no answer.
type failure struct {
	err   error
	cause error // why the context of the request has ended; nil if it had not
	sent  bool  // false: no connection was found, so it cannot have been done
}

// of is the error for the caller of one transaction of the request.
func (f *failure) of(t *transaction) error {
	switch {
	case f.sent && maybeDone(f.err) && f.cause != nil:
		return fmt.Errorf("etcd: %s: %w: %w", t.what(), coord.ErrUnknownOutcome, f.cause)
	case f.sent && maybeDone(f.err):
		return fmt.Errorf("etcd: %s: %w: %w", t.what(), coord.ErrUnknownOutcome, f.err)
	case f.cause != nil && (f.err == f.cause || endedByContext(f.err)):
		return fmt.Errorf("etcd: %s: %w", t.what(), f.cause)
	}
	if len(t.ops) > 1 && errors.Is(rpctypes.Error(f.err), rpctypes.ErrPermissionDenied) { // it says not for which
		return fmt.Errorf("etcd: %s: %w: %v; the operations are %s", t.what(), coord.ErrDenied, f.err, t.list())
	}
	return fmt.Errorf("etcd: %s: %w: %v", t.what(), kindOf(f.err), f.err)
}

func (f *failure) isLeaseNotFound() bool {
	return errors.Is(rpctypes.Error(f.err), rpctypes.ErrLeaseNotFound)
}

// concernsContents reports whether the store refused the request for what is in it, so that
// a part of it may be taken.
func (f *failure) concernsContents() bool {
	e := rpctypes.Error(f.err)
	switch {
	case f.isLeaseNotFound(), errors.Is(e, rpctypes.ErrPermissionDenied),
		errors.Is(e, rpctypes.ErrNoSpace): // which removals pass
		return true
	case errors.Is(e, rpctypes.ErrTooManyRequests):
		return false
	}
	switch kindOf(f.err) {
	case coord.ErrTooLarge:
		return true
	case coord.ErrDenied:
		return false
	}
	return codeOf(f.err) == codes.InvalidArgument
}
