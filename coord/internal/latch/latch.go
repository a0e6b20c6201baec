// Package latch is the queue behind [coord.Latch], the same for all stores. A store brings the places in the
// queue, which are ephemeral nodes, and a view of them:
//
//	joining ──► waiting ──► held ──► over
//	   │           │                  ▲
//	   └───────────┴──────────────────┘ its node is removed, by us or by somebody else
//
// The place with the lowest Created holds the latch, and Created is its token. So a view that shows the own place,
// and none before it, is proof: none can come before it later.
package latch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/either"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// Config is a latch of a store.
type Config struct {
	Name     string // of the store, for errors
	Registry coord.Registry
	Path     string
	// Join adds a place to the queue, in a session. Its commit has a number of its own. With an error the place is
	// nil, unless its node may exist.
	Join func(context.Context, coord.Session) (Place, error)
	// IsPlace reports whether a child of Path is a place in the queue, by its name; nil if all are.
	IsPlace func(name string) bool
	// Start runs a function that Close of the registry waits for. It reports false after Close.
	Start func(func()) bool
}

// Place is the node of a candidate.
type Place interface {
	// Path is the path of the node; empty while it is not known.
	Path() string
	// Remove removes the node. When it returns nil there is none, and none will come.
	Remove(context.Context) error
}

const (
	// withdrawTimeout is how long an Acquire that has failed waits until its node is gone. If that takes longer
	// it goes on in the background.
	withdrawTimeout = 500 * time.Millisecond
	firstPause      = 20 * time.Millisecond // between attempts
	maxPause        = time.Second
)

// errRemoved: somebody has removed the node of a candidate that waits.
var errRemoved = errors.New("the candidate was removed")

// New returns a latch.
func New(c Config) coord.Latch { return &latch{c} }

type latch struct{ Config }

// Acquire implements [coord.Latch]. A candidate whose node is removed while it waits goes to the end of the queue, in
// the same session: if that has ended, so does Acquire.
func (l *latch) Acquire(ctx context.Context) (coord.Held, error) {
	session, err := l.Registry.Session(ctx)
	if err == nil {
		var c *candidate
		for c, err = l.acquire(ctx, session); errors.Is(err, errRemoved); c, err = l.acquire(ctx, session) {
		}
		if err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%s: acquire latch %s: %w", l.Name, l.Path, err)
}

// acquire adds a candidate to the queue and waits for its turn.
func (l *latch) acquire(ctx context.Context, session coord.Session) (*candidate, error) {
	ctx, cancel := either.Context(ctx, session.Context())
	defer cancel()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c := &candidate{latch: l, session: session, guardEnded: make(chan struct{})}
	c.ctx, c.end = context.WithCancelCause(session.Context())
	var err error
	c.place, err = l.Join(ctx, session)
	if err == nil {
		err = c.openView(ctx)
	}
	if err == nil {
		err = c.awaitTurn(ctx)
	}
	if err == nil && !l.Start(c.guard) {
		err = coord.ErrClosed
	}
	if err != nil {
		c.end(coord.ErrReleased)
		c.withdraw()
		return nil, err
	}
	return c, nil
}

// candidate is one place in the queue. It implements [coord.Held] when its turn has come.
type candidate struct {
	*latch
	session    coord.Session
	view       coord.View // of the queue; nil before openView
	place      Place
	token      int64
	ctx        context.Context
	end        context.CancelCauseFunc
	guardEnded chan struct{} // closed when guard has ended
	release    sync.Once
}

// openView opens the view. While the store is away it tries again: the place lasts as long as the session, which
// ends ctx.
func (c *candidate) openView(ctx context.Context) error {
	for backoff := (sleep.Backoff{Min: firstPause, Max: maxPause}); ; {
		view, err := c.Registry.View(ctx, c.Path, 1)
		if err == nil {
			c.view = view
			return nil
		}
		if errors.Is(err, coord.ErrDenied) || !backoff.Wait(ctx) {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
}

// awaitTurn returns when the candidate is the first in the queue.
func (c *candidate) awaitTurn(ctx context.Context) error {
	isCurrent := false // the view shows the place, or has shown it
	for {
		changed := c.view.Changed()
		own, isThere := c.own()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isThere && c.isFirst(own):
			c.token = own.Created
			return nil
		case isThere:
			isCurrent = true
		case isCurrent:
			return errRemoved
		default: // it is late, or the node was removed at once
			if err := c.view.Sync(ctx); errors.Is(err, coord.ErrDenied) {
				return err
			} else if err == nil {
				isCurrent = true
				continue
			}
			sleep.For(ctx, maxPause)
			continue
		}
		wait(ctx, changed)
	}
}

// wait waits for a change, or until ctx ends.
func wait(ctx context.Context, changed <-chan struct{}) {
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// own returns the candidate's node as the view shows it. A node of another session is not the candidate's.
func (c *candidate) own() (n coord.Node, isThere bool) {
	n, isThere = c.view.Snapshot().Get(c.place.Path())
	return n, isThere && n.Owner == c.session.ID()
}

// isFirst reports whether no other place comes before one.
func (c *candidate) isFirst(own coord.Node) bool {
	s := c.view.Snapshot()
	for n := range s.All(c.Path) {
		if n.Ephemeral() && n.Created < own.Created && coord.Parent(n.Path) == c.Path && (c.IsPlace == nil || c.IsPlace(coord.Base(n.Path))) {
			return false
		}
	}
	return true
}

// guard ends the context when the node is gone. If the candidate is not released, nobody needs the view any more.
func (c *candidate) guard() {
	defer close(c.guardEnded)
	for c.ctx.Err() == nil {
		changed := c.view.Changed()
		if _, isThere := c.own(); !isThere {
			c.end(coord.ErrLatchLost)
			break
		}
		wait(c.ctx, changed)
	}
	if !errors.Is(context.Cause(c.ctx), coord.ErrReleased) {
		c.view.Close()
	}
}

// Context implements [coord.Held].
func (c *candidate) Context() context.Context { return c.ctx }

// Token implements [coord.Held].
func (c *candidate) Token() int64 { return c.token }

// Release implements [coord.Held]. If the store is away it tries again in the background until the session ends.
func (c *candidate) Release(ctx context.Context) (err error) {
	c.release.Do(func() {
		isOver := c.ctx.Err() != nil
		c.end(coord.ErrReleased)
		<-c.guardEnded
		if isOver {
			return // the node is gone, or goes with the session
		}
		if err = c.place.Remove(ctx); err != nil {
			err = fmt.Errorf("%s: release latch %s: %w", c.Name, c.Path, err)
			c.removeLater()
		}
		c.view.Close()
	})
	return err
}

// withdraw removes the node of a candidate that gives up, because it would block the queue.
func (c *candidate) withdraw() {
	if c.view != nil {
		c.view.Close()
	}
	if c.place == nil {
		return
	}
	timer := time.NewTimer(withdrawTimeout)
	defer timer.Stop()
	select {
	case <-c.removeLater():
	case <-timer.C:
	}
}

// removeLater removes the node in the background, again until it is gone or the session has ended. It returns a
// channel that is closed then.
func (c *candidate) removeLater() <-chan struct{} {
	done := make(chan struct{})
	remove := func() {
		defer close(done)
		ctx := c.session.Context()
		for backoff := (sleep.Backoff{Min: firstPause, Max: maxPause}); c.place.Remove(ctx) != nil && backoff.Wait(ctx); {
		}
	}
	if !c.Start(remove) { // Close ends the session, and the node with it
		close(done)
	}
	return done
}
