package etcd

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/footprint"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// committer sends the commits of a registry. It has a few requests in flight at most. A
// commit that comes while there are fewer goes at once, alone. What comes meanwhile waits,
// and goes as a group: see group.
type committer struct {
	registry *Registry

	mu       sync.Mutex
	inFlight int
	waiting  queue
	occupied footprint.Set // of the group that is being put together

	sizes sizes

	// companions go with each request, in tests only.
	companions []*pb.TxnRequest
}

// With more requests in flight groups are smaller, and each costs the store a round of its
// own; with fewer the store waits for us.
const maxInFlight = 4

// pending is one attempt of a commit.
type pending struct {
	ctx       context.Context // the caller's
	t         *transaction    // for the caller alone, which may have left
	request   *pb.TxnRequest
	session   *session // that it needs; nil if it needs none
	creates   bool     // ephemeral nodes
	footprint []footprint.Place
	urgency   urgency.Level
	ops       int // the longest of its lists, which --max-txn-ops bounds
	bytes     int // of the request, rather more than less

	// Where it is in the queue; the committer's mu guards these.
	arrival uint64
	place   *list.Element // nil if it does not wait

	done   chan struct{} // closed when what follows is set
	answer answer
	failed *failure
}

// answer is what the store said to one attempt.
type answer struct {
	revision  int64 // after the whole request
	succeeded bool
	asked     bool // an attempt that failed has read why; responses tells it
	responses []*pb.ResponseOp
}

// run runs one attempt of a commit. If it has to wait, the first attempt does not ask why it
// failed: where many commit, what most of them would read in vain is a third of the store's
// work, and who fails tries again with the next group.
func (c *committer) run(ctx context.Context, t *transaction, request *pb.TxnRequest, first bool) (answer, error) {
	c.mu.Lock()
	if c.inFlight < maxInFlight {
		c.inFlight++
		c.mu.Unlock()
		defer c.release()
		return c.sendAlone(ctx, t, request)
	}
	c.mu.Unlock()

	if first && len(request.Success) > 0 { // see worthAsking
		request.Failure = nil
	}
	p := newPending(ctx, t, request)
	// Who waits longer than an answer may take has decided on a tree of long ago.
	tooLong := time.NewTimer(c.registry.config.RequestTimeout)
	defer tooLong.Stop()
	if !c.enqueue(p) {
		defer c.release()
		return c.sendAlone(ctx, t, request)
	}
	var cause error
	select {
	case <-p.done:
		return p.outcome()
	case <-ctx.Done():
		cause = context.Cause(ctx)
	case <-tooLong.C:
		cause = fmt.Errorf("%w: not sent within %v", coord.ErrUnavailable, c.registry.config.RequestTimeout)
	case <-c.registry.ctx.Done():
		cause = context.Cause(c.registry.ctx)
	}
	if c.withdraw(p) {
		return answer{}, fmt.Errorf("etcd: %s: %w", t.what(), cause)
	}
	select {
	case <-p.done: // the time-out and the end of the registry bound its request, too
		return p.outcome()
	case <-ctx.Done():
	}
	select {
	case <-p.done:
		return p.outcome()
	default:
		return answer{}, fmt.Errorf("etcd: %s: %w: %w", t.what(), coord.ErrUnknownOutcome, context.Cause(ctx))
	}
}

// isBusy reports whether a commit has to wait now.
func (c *committer) isBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inFlight >= maxInFlight
}

// newPending returns an attempt that may outlive its caller, so it copies the caller's buffers.
func newPending(ctx context.Context, t *transaction, request *pb.TxnRequest) *pending {
	for _, op := range request.Success {
		if put := op.GetRequestPut(); put != nil {
			put.Value = bytes.Clone(put.Value)
		}
	}
	return &pending{
		ctx: ctx, t: t, request: request, session: t.session, creates: t.createsEphemerals(), footprint: t.footprint(),
		urgency: urgency.Of(ctx), ops: opsOf(request), bytes: t.bytes(), done: make(chan struct{}),
	}
}

// enqueue adds a commit to those that wait. If a request may be sent at once by now it
// reports false instead, and the caller sends it.
func (c *committer) enqueue(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight < maxInFlight {
		c.inFlight++
		return false
	}
	c.waiting.push(p)
	return true
}

// withdraw takes a commit back. It reports false if it has been taken for a request.
func (c *committer) withdraw(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting.remove(p)
}

// release follows each request that a caller has sent. If others wait, a goroutine sends
// what waits, until nothing does.
func (c *committer) release() {
	members := c.next()
	if members == nil {
		return
	}
	send := func() {
		for ; members != nil; members = c.next() {
			c.send(members)
		}
	}
	if c.registry.start(send) {
		return
	}
	for ; members != nil; members = c.next() {
		failAll(members, &failure{err: coord.ErrClosed, cause: coord.ErrClosed})
	}
}

// next takes the next group out of the queue. If nothing waits it returns nil, and there is
// one request less in flight.
func (c *committer) next() []*pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.waiting.oldest() != nil {
		if members := c.takeLocked(); len(members) > 0 {
			return members
		}
	}
	c.inFlight--
	return nil
}

// takeLocked takes a group out of the queue: the oldest commit, so that none waits for ever, and then
// the most urgent ones that fit. The group is empty if all that it took were outdated.
func (c *committer) takeLocked() []*pending {
	const looks = 4 * maxMembers // how many commits it looks at, at most
	g := group{occupied: &c.occupied, companions: len(c.companions)}
	g.occupied.Clear()
	looked := 0
	take := func(p *pending) bool {
		looked++
		if failed := p.outdated(); failed != nil {
			c.waiting.remove(p)
			p.fail(failed)
		} else if g.add(p) {
			c.waiting.remove(p)
		}
		return looked < looks && len(g.members) < maxMembers
	}
	take(c.waiting.oldest())
	c.waiting.each(take)
	return g.members
}

// outdated returns why a commit is not to be sent any more: its caller has left, or its
// session was lost. A later session is another caller's.
func (p *pending) outdated() *failure {
	if p.ctx.Err() != nil {
		cause := context.Cause(p.ctx)
		return &failure{err: cause, cause: cause}
	}
	if s := p.session; s != nil && s.ctx.Err() != nil {
		cause := context.Cause(s.ctx)
		return &failure{err: cause, cause: cause}
	}
	return nil
}

// outcome returns what the attempt has come to, once done is closed.
func (p *pending) outcome() (answer, error) {
	if p.failed != nil {
		return answer{}, p.failed.of(p.t)
	}
	return p.answer, nil
}

func (p *pending) succeed(a answer) {
	p.answer = a
	close(p.done)
}

func (p *pending) fail(f *failure) {
	p.failed = f
	close(p.done)
}

func failAll(members []*pending, f *failure) {
	for _, p := range members {
		p.fail(f)
	}
}
