package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// latch is a queue of keys; each is on the lease of its candidate's session. The oldest key,
// which has the lowest CreateRevision, holds the latch. That revision is also the token.
type latch struct {
	registry *Registry
	path     string
}

// Latch implements [coord.Registry].
func (r *Registry) Latch(path string) (coord.Latch, error) {
	if err := coord.ValidatePath(path); err != nil {
		return nil, fmt.Errorf("etcd: latch: %w", err)
	}
	return &latch{registry: r, path: path}, nil
}

// Acquire implements [coord.Latch]. A candidate whose node was removed while it waited
// goes to the end of the queue.
func (l *latch) Acquire(ctx context.Context) (coord.Held, error) {
	what := "acquire latch " + l.path
	s, err := l.registry.awaitSession(ctx) // first the session, then ctx: see Commit
	if err != nil {
		return nil, fmt.Errorf("etcd: %s: %w", what, err)
	}
	for {
		c, err := l.join(ctx, s)
		if err == nil {
			if err = c.awaitTurn(ctx); err == nil {
				return c, nil
			}
			c.end(coord.ErrReleased)
			c.withdraw(time.Second)
		}
		// Try again in the same session. If the node went because the session ended, the
		// next attempt fails for that.
		if !errors.Is(err, coord.ErrLatchLost) {
			return nil, fmt.Errorf("etcd: %s: %w", what, err)
		}
	}
}

// candidate is one place in the queue.
type candidate struct {
	latch       *latch
	session     *session
	key         string
	created     int64 // 0 if that is not known
	ctx         context.Context
	end         context.CancelCauseFunc
	guardEnded  chan struct{} // closed when guard has ended
	releaseOnce sync.Once
}

var _ coord.Held = (*candidate)(nil)

// join adds a candidate to the queue.
func (l *latch) join(ctx context.Context, s *session) (*candidate, error) {
	r := l.registry
	if !s.alive() {
		return nil, context.Cause(s.ctx)
	}
	path := coord.Join(l.path, strconv.FormatInt(s.lease, 16)+"-"+strconv.FormatInt(r.candidates.Add(1), 10))
	c := &candidate{latch: l, session: s, key: r.keys.key(path), guardEnded: make(chan struct{})}
	c.ctx, c.end = context.WithCancelCause(s.ctx)
	// Alone: the revision is the place in the queue and the token, so no two have the same.
	answer, err := r.attemptAlone(ctx, &transaction{keys: r.keys, session: s, ops: []coord.Op{coord.CreateEphemeral(path, nil)}, guesses: make([]guess, 1)}, false)
	if err != nil {
		c.end(err)
		close(c.guardEnded)
		if errors.Is(err, coord.ErrUnknownOutcome) {
			c.withdraw(time.Second)
		}
		return nil, err
	}
	c.created = answer.revision
	if !r.start(c.guard) {
		c.end(coord.ErrClosed)
		return nil, coord.ErrClosed
	}
	return c, nil
}

// guard ends the candidate's context when its key is removed, whoever removed it.
func (c *candidate) guard() {
	defer close(c.guardEnded)
	if c.latch.registry.awaitRemoval(c.ctx, c.key, c.created, false) == nil {
		c.end(coord.ErrLatchLost)
	}
}

// awaitTurn returns nil when the candidate is the first in the queue. While the store is away
// it goes on waiting: the place in the queue lasts as long as the session.
func (c *candidate) awaitTurn(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(c.ctx, func() { end(context.Cause(c.ctx)) })()
	for retry := newRetry(); ; {
		before, created, err := c.predecessor(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, coord.ErrLatchLost), errors.Is(err, coord.ErrDenied):
			return err
		case err != nil:
			retry.wait(ctx)
			continue
		case before == "":
			if !c.session.alive() {
				return coord.ErrSessionLost
			}
			return nil
		}
		retry.reset()
		if err := c.latch.registry.awaitRemoval(ctx, before, created, true); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
	}
}

// predecessor reads which key stands just before this candidate's; "" if none does. The same
// transaction checks that the candidate's own key is still there.
func (c *candidate) predecessor(ctx context.Context) (key string, created int64, err error) {
	r := c.latch.registry
	what := "queue of latch " + c.latch.path
	queue := r.keys.below(c.latch.path)
	var read *clientv3.TxnResponse
	err = r.request(ctx, what, func(ctx context.Context) (err error) {
		read, err = r.client.Txn(ctx).Then(
			clientv3.OpGet(c.key, clientv3.WithKeysOnly()),
			clientv3.OpGet(queue.from, clientv3.WithRange(queue.to), clientv3.WithKeysOnly(), clientv3.WithLimit(1),
				clientv3.WithMaxCreateRev(c.created-1), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortDescend)),
		).Commit()
		return err
	})
	if err != nil {
		return "", 0, err
	}
	own := read.Responses[0].GetResponseRange().Kvs
	before := read.Responses[1].GetResponseRange().Kvs
	switch {
	case len(own) == 0 || own[0].CreateRevision != c.created:
		return "", 0, fmt.Errorf("etcd: %s: %w", what, coord.ErrLatchLost)
	case len(before) == 0:
		return "", 0, nil
	}
	return string(before[0].Key), before[0].CreateRevision, nil
}

// Context implements [coord.Held].
func (c *candidate) Context() context.Context { return c.ctx }

// Token implements [coord.Held].
func (c *candidate) Token() int64 { return c.created }

// Release implements [coord.Held]. If the store is away it tries again in the background
// until the session ends.
func (c *candidate) Release(ctx context.Context) (err error) {
	c.releaseOnce.Do(func() {
		c.end(coord.ErrReleased)
		if c.session.ctx.Err() != nil {
			<-c.guardEnded
			return // the key goes with the session
		}
		r := c.latch.registry
		err = r.request(ctx, "release latch "+c.latch.path, func(ctx context.Context) error {
			_, err := r.client.Delete(ctx, c.key)
			return err
		})
		if err != nil {
			c.withdraw(0)
		}
		<-c.guardEnded
	})
	return err
}

// withdraw removes the candidate's key, in the background if that takes longer than the
// patience.
func (c *candidate) withdraw(patience time.Duration) {
	done := make(chan struct{})
	started := c.latch.registry.start(func() {
		defer close(done)
		<-c.guardEnded
		c.remove()
	})
	if !started {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// remove deletes the key until it is certain that the key or the session is gone. If the
// request that creates the key got no answer, it may still be carried out. Then remove goes
// on until no server works on that request any more.
func (c *candidate) remove() {
	r := c.latch.registry
	mayBeCreated := time.Now().Add(2 * r.config.RequestTimeout)
	for retry := newRetry(); c.session.ctx.Err() == nil; retry.wait(c.session.ctx) {
		var deleted *clientv3.DeleteResponse
		err := r.request(c.session.ctx, "leave the queue of latch "+c.latch.path, func(ctx context.Context) (err error) {
			deleted, err = r.client.Delete(ctx, c.key)
			return err
		})
		if err == nil && (c.created != 0 || deleted.Deleted > 0 || time.Now().After(mayBeCreated)) {
			return
		}
	}
}
