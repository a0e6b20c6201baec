package zk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// withdrawTimeout is how long an Acquire that has failed waits until its candidate is gone.
// If that takes longer it goes on in the background.
const withdrawTimeout = 500 * time.Millisecond

// latch implements [coord.Latch] with the layout of Curator's LeaderLatch: candidates
// are _c_<id>-latch-<sequence>, and the lowest sequence holds the latch. By the id, which no
// other candidate has, a node is found whose creation got no answer.
type latch struct {
	r    *Registry
	path string
	full string
}

const (
	protectedPrefix = "_c_"
	latchPrefix     = "latch-"
)

// Latch implements [coord.Registry].
func (r *Registry) Latch(path string) (coord.Latch, error) {
	if err := coord.ValidatePath(path); err != nil {
		return nil, fmt.Errorf("zk: latch: %w", err)
	}
	return &latch{r: r, path: path, full: r.full(path)}, nil
}

// errRemoved: somebody removed the candidate's node, while its session lives.
var errRemoved = errors.New("candidate removed")

// Acquire implements [coord.Latch]. A candidate that somebody removes while it waits
// goes to the end of the queue.
func (l *latch) Acquire(ctx context.Context) (coord.Held, error) {
	l.r.feed.use()
	for {
		h, err := l.stand(ctx)
		if errors.Is(err, errRemoved) {
			continue
		}
		if err != nil {
			l.r.feed.leave()
			return nil, fmt.Errorf("zk: acquire latch %w", convertError(err, l.path))
		}
		return h, nil
	}
}

// stand joins the queue and waits for its turn.
func (l *latch) stand(ctx context.Context) (*held, error) {
	s, err := l.r.current(unlimited(ctx))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer stop()
	c := &candidate{latch: l, session: s, id: newID()}
	err = c.join(ctx)
	if err == nil {
		err = c.wait(ctx)
	}
	if err == nil {
		return c.hold(ctx)
	}
	c.withdraw()
	return nil, err
}

// newID makes a random UUID, as Curator does.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// candidate is the place of one Acquire in the queue.
type candidate struct {
	*latch
	session *session
	id      string
	name    string // of its node; empty while it is unknown

	mu        sync.Mutex // held while the node is made or looked for
	withdrawn bool
}

func (c *candidate) node() string { return c.full + "/" + c.name }

// try makes a request, and makes it again if the link breaks, until there is an answer. Only
// ctx bounds it, which ends with the session.
func try[T any](ctx context.Context, c *candidate, request func(*zookeeper.Conn) (T, error)) (T, error) {
	for {
		value, err := call(unlimited(ctx), c.session.conn, request)
		if err == nil || !isLost(err) || c.session.ctx.Err() != nil {
			if c.session.ctx.Err() != nil {
				err = context.Cause(c.session.ctx)
			}
			return value, err
		}
	}
}

// join creates the node. If that gets no answer, it looks for the node before it tries again.
func (c *candidate) join(ctx context.Context) error {
	path := c.full + "/" + protectedPrefix + c.id + "-" + latchPrefix
	unsure := false
	name, err := try(ctx, c, func(client *zookeeper.Conn) (string, error) {
		// Wait for an earlier attempt that was abandoned and may still be running.
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.withdrawn {
			return "", errRemoved
		}
		if unsure {
			if name, err := c.find(client); err != nil || name != "" {
				return name, err
			}
		}
		unsure = true
		created, err := client.Create(path, []byte{}, zookeeper.FlagEphemeral|zookeeper.FlagSequence, c.r.acl)
		if errors.Is(err, zookeeper.ErrNoNode) {
			if err := c.r.makeNode(client, c.full); err != nil {
				return "", err
			}
			created, err = client.Create(path, []byte{}, zookeeper.FlagEphemeral|zookeeper.FlagSequence, c.r.acl)
		}
		return coord.Base(created), err
	})
	if err == nil {
		c.name = name
	}
	return err
}

// find looks for the candidate's node.
func (c *candidate) find(client *zookeeper.Conn) (string, error) {
	names, err := syncChildren(client, c.full)
	if errors.Is(err, zookeeper.ErrNoNode) {
		return "", nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, protectedPrefix+c.id) {
			return name, err
		}
	}
	return "", err
}

// wait returns when no candidate stands before this one.
func (c *candidate) wait(ctx context.Context) error {
	for {
		names, err := try(ctx, c, func(client *zookeeper.Conn) ([]string, error) { return syncChildren(client, c.full) })
		if errors.Is(err, zookeeper.ErrNoNode) {
			return errRemoved
		}
		if err != nil {
			return err
		}
		before, ok := predecessor(names, c.name)
		switch {
		case !ok:
			return errRemoved
		case before == "":
			return nil
		}
		if err := c.r.awaitChange(ctx, c.full+"/"+before); err != nil && !errors.Is(err, zookeeper.ErrNoNode) {
			return err
		}
	}
}

// awaitChange returns when a node was or may have been written or removed. If there is no
// node it returns ErrNoNode of the client library at once.
func (r *Registry) awaitChange(ctx context.Context, full string) error {
	ch, err := r.feed.next(unlimited(ctx))
	if err != nil {
		return err
	}
	in := ch.subscribe(full)
	_, err = call(unlimited(ctx), ch.conn, func(client *zookeeper.Conn) (struct{}, error) {
		// The queue was read on the other connection, perhaps from another server.
		if _, err := client.Sync(full); err != nil {
			return struct{}{}, err
		}
		_, _, _, err := client.GetW(full)
		return struct{}{}, err
	})
	if err != nil {
		ch.unsubscribe(in, 0)
		if isLost(err) {
			return nil
		}
		return err
	}
	orphans := 1
	select {
	case <-in.woken:
		orphans, err = 0, nil
	case <-ch.down:
		err = nil
	case <-ctx.Done():
		err = unlimited(ctx).over()
	}
	ch.unsubscribe(in, orphans)
	return err
}

// predecessor returns the name that stands just before own, or "". ok is false if own is not
// among the names.
func predecessor(names []string, own string) (before string, ok bool) {
	at, ok := sequence(own)
	if !ok {
		return "", false
	}
	ok = false
	var nearest int32
	for _, name := range names {
		ok = ok || name == own
		// The sequence is an int32 that wraps around. So names are compared by the
		// difference, which works while the queue is shorter than 2^31.
		if n, is := sequence(name); is && n-at < 0 && (before == "" || n-nearest > 0) {
			before, nearest = name, n
		}
	}
	return before, ok
}

// sequence is the number at the end of a candidate's name.
func sequence(name string) (int32, bool) {
	i := strings.LastIndex(name, latchPrefix)
	if i < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(name[i+len(latchPrefix):], 10, 32)
	return int32(n), err == nil
}

// hold makes the candidate the holder, after it has checked that the node is there and
// belongs to the session.
func (c *candidate) hold(ctx context.Context) (*held, error) {
	h := &held{candidate: c, guardEnded: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(c.session.ctx)
	err := h.verify(ctx)
	if err == nil && !c.r.spawn(h.guard) {
		err = context.Cause(c.r.ctx)
	}
	if err != nil {
		h.cancel(err)
		c.withdraw()
		return nil, err
	}
	return h, nil
}

// withdraw removes the candidate's node, in the background if that takes long. It goes on
// while the session lives, because a node that stays would block the queue.
func (c *candidate) withdraw() {
	done := make(chan struct{})
	if !c.r.spawn(func() {
		defer close(done)
		if err := c.remove(c.session.ctx); err != nil && c.session.ctx.Err() == nil {
			c.r.log.Error("cannot remove a latch candidate; it blocks the queue until the session ends", zap.String("path", c.path), zap.Error(err))
		}
	}) {
		return // Close ends the session, and the node with it
	}
	timer := time.NewTimer(withdrawTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// remove removes the candidate's node. If the name is unknown it looks for the node first.
func (c *candidate) remove(ctx context.Context) error {
	_, err := try(ctx, c, func(client *zookeeper.Conn) (struct{}, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.withdrawn = true
		name := c.name
		if name == "" {
			var err error
			if name, err = c.find(client); err != nil || name == "" {
				return struct{}{}, err
			}
		}
		err := client.Delete(c.full+"/"+name, -1)
		if errors.Is(err, zookeeper.ErrNoNode) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// held implements [coord.Held].
type held struct {
	*candidate
	token      int64
	ctx        context.Context
	cancel     context.CancelCauseFunc
	guardEnded chan struct{} // closed when guard has ended
}

// verify reads the node from the store, and sets the token.
func (h *held) verify(ctx context.Context) error {
	stat, err := try(ctx, h.candidate, func(client *zookeeper.Conn) (*zookeeper.Stat, error) {
		if _, err := client.Sync(h.node()); err != nil {
			return nil, err
		}
		_, stat, err := client.Get(h.node())
		return stat, err
	})
	switch {
	case errors.Is(err, zookeeper.ErrNoNode):
		return errRemoved
	case err != nil:
		return err
	case stat.EphemeralOwner != int64(h.session.ID()):
		return errRemoved // somebody has removed it and created another one
	}
	h.token = stat.Czxid
	return nil
}

// guard ends the latch's context when its node is gone.
func (h *held) guard() {
	defer close(h.guardEnded)
	defer h.r.feed.leave()
	for {
		err := h.r.awaitChange(h.ctx, h.node())
		if h.ctx.Err() != nil {
			return
		}
		if errors.Is(err, zookeeper.ErrNoNode) {
			h.r.log.Warn("latch lost: somebody removed its node", zap.String("path", h.path))
			h.cancel(coord.ErrLatchLost)
			return
		}
		if err != nil {
			h.r.log.Error("latch lost: its node cannot be watched", zap.String("path", h.path), zap.Error(err))
			h.cancel(fmt.Errorf("%w: %w", coord.ErrLatchLost, err))
			return
		}
	}
}

// Context implements [coord.Held].
func (h *held) Context() context.Context { return h.ctx }

// Token implements [coord.Held].
func (h *held) Token() int64 { return h.token }

// Release implements [coord.Held].
func (h *held) Release(ctx context.Context) error {
	over := h.ctx.Err() != nil
	h.cancel(coord.ErrReleased)
	<-h.guardEnded
	if over {
		return nil // it was released before, or its node is gone, or goes with the session
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.r.cfg.RequestTimeout, errTimeout)
	defer cancel()
	err := h.remove(ctx)
	if err != nil && h.session.ctx.Err() == nil {
		h.withdraw()
	}
	if err != nil {
		return fmt.Errorf("zk: release latch %w", convertError(err, h.path))
	}
	return nil
}
