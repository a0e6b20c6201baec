package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// latchPrefix begins the names of candidates, as in Curator's LeaderLatch.
const latchPrefix = "latch-"

// latch implements [coord.Latch].
type latch struct {
	r    *Registry
	path string
}

// Latch implements [coord.Registry].
func (r *Registry) Latch(path string) (coord.Latch, error) {
	if err := coord.ValidatePath(path); err != nil {
		return nil, fmt.Errorf("memory: latch: %w", err)
	}
	return &latch{r: r, path: path}, nil
}

var errCandidateRemoved = errors.New("candidate removed")

// Acquire implements [coord.Latch]. A candidate whose node somebody removes while it
// waits goes to the end of the queue.
func (l *latch) Acquire(ctx context.Context) (coord.Held, error) {
	for {
		held, err := l.stand(ctx)
		if errors.Is(err, errCandidateRemoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return held, nil
	}
}

// stand joins the queue and waits for its turn.
func (l *latch) stand(ctx context.Context) (*held, error) {
	c := call{method: Acquire, path: l.path}
	s := l.r.store
	session, err := l.r.current(ctx)
	if err != nil {
		return nil, fail(c, err)
	}
	h := &held{r: l.r, session: session}
	givenUp := false // a fault may run the function below after stand has returned
	err = l.r.call(ctx, c, func() error {
		if givenUp || s.leases[session.lease.id] == nil {
			return coord.ErrSessionLost
		}
		path := coord.Join(l.path, fmt.Sprintf("%s%019d", latchPrefix, s.revision+1))
		token, err := s.commit(l.r.ns, session.lease, []coord.Op{coord.CreateEphemeral(path, nil)})
		if err == nil {
			h.path, h.token = path, token
		}
		return err
	})
	if err == nil {
		err = fail(c, l.queue(ctx, h))
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		givenUp = true
		h.withdraw()
		return nil, err
	}
	return h, nil
}

// queue waits until it is the candidate's turn.
func (l *latch) queue(ctx context.Context, h *held) error {
	s, ns := l.r.store, l.r.ns
	for {
		s.mu.Lock()
		if err := contextError(h.session.ctx); err != nil {
			s.mu.Unlock()
			return err
		}
		if err := contextError(ctx); err != nil {
			s.mu.Unlock()
			return err
		}
		if !l.r.reachable() {
			changed := l.r.linkChanged
			s.mu.Unlock()
			select {
			case <-changed:
			case <-ctx.Done():
			case <-h.session.ctx.Done():
			}
			continue
		}
		if ns.entries[h.path] == nil {
			s.mu.Unlock()
			return errCandidateRemoved
		}
		before := l.before(h.path)
		if before == "" {
			h.hold()
			s.mu.Unlock()
			return nil
		}
		woken := make(chan struct{}, 2)
		w := &watch{registry: l.r, fire: func() { woken <- struct{}{} }}
		ns.watch(before, w)
		ns.watch(h.path, w)
		s.mu.Unlock()
		select {
		case <-woken:
		case <-ctx.Done():
		case <-h.session.ctx.Done():
		}
		s.mu.Lock()
		ns.unwatch(before, w)
		ns.unwatch(h.path, w)
		s.mu.Unlock()
	}
}

// before returns the candidate that stands just before this one, or "".
func (l *latch) before(path string) string {
	names := l.r.ns.snapshot().Children(l.path)
	at, _ := slices.BinarySearch(names, coord.Base(path))
	for at--; at >= 0; at-- {
		if strings.HasPrefix(names[at], latchPrefix) {
			return coord.Join(l.path, names[at])
		}
	}
	return ""
}

// held implements [coord.Held].
type held struct {
	r       *Registry
	session *session
	path    string
	token   int64
	ctx     context.Context
	cancel  context.CancelCauseFunc
	own     *watch
}

// hold makes the candidate the holder, whose context ends if its node is removed.
func (h *held) hold() {
	h.ctx, h.cancel = context.WithCancelCause(h.session.ctx)
	h.own = &watch{registry: h.r, fire: func() { h.cancel(coord.ErrLatchLost) }}
	h.r.ns.watch(h.path, h.own)
}

// withdraw removes the candidate's node: now, or when the store can be reached.
func (h *held) withdraw() {
	if h.path == "" {
		return
	}
	if h.r.reachable() {
		h.remove()
	} else if !h.r.closed {
		h.r.pending = append(h.r.pending, h.remove)
	}
}

func (h *held) remove() {
	if h.r.ns.entries[h.path] != nil {
		_, _ = h.r.store.commit(h.r.ns, nil, []coord.Op{coord.DeleteTree(h.path)}) // it cannot fail: DeleteTree has no condition
	}
}

// Context implements [coord.Held].
func (h *held) Context() context.Context { return h.ctx }

// Token implements [coord.Held].
func (h *held) Token() int64 { return h.token }

// Release implements [coord.Held].
func (h *held) Release(ctx context.Context) error {
	s := h.r.store
	s.mu.Lock()
	over := h.ctx.Err() != nil
	h.cancel(coord.ErrReleased)
	h.r.ns.unwatch(h.path, h.own)
	s.mu.Unlock()
	if over {
		return nil // it was released before, or its node is gone, or will go with the session
	}
	return h.r.call(ctx, call{method: Release, path: h.path}, func() error {
		h.remove()
		return nil
	})
}
