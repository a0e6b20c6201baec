package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

// Connect connects to a namespace of a store, and ends with ctx. The registry becomes that of the Stores.
type Connect func(ctx context.Context, namespace string) (coord.Registry, error)

// Stores are several stores, each with any number of namespaces, behind one value: what a console
// needs. A namespace is connected to when somebody asks for it first, and stays so until Close:
//
//	unasked ──► connecting ──► open
//	               ▲  │
//	               │  ▼
//	              away: everybody is told why at once, for a second first, then longer and longer
//
// All who ask share the connection, and wait for it as long as their contexts allow. So a store that
// hangs delays only who asks for it.
type Stores struct {
	connect map[string]Connect
	ctx     context.Context // of everything that connects
	end     context.CancelCauseFunc

	mu     sync.Mutex
	isOver bool
	open   map[place]*connection
}

// place is a namespace of a store.
type place struct{ store, namespace string }

// connection is what is known of a place. Until done is closed somebody is connecting.
type connection struct {
	done  chan struct{}
	reg   coord.Registry
	err   error
	again clocks.Moment // when the next attempt may begin
	pause time.Duration // how long that was put off
}

const (
	// MaxNamespaces bounds the namespaces of all stores that are open at a time. Give nobody you do not know the
	// choice: what is open stays so.
	MaxNamespaces = 100

	connectTime       = 15 * time.Second
	firstConnectPause = time.Second
	lastConnectPause  = time.Minute
)

// NewStores returns stores by their names. Close them.
func NewStores(stores map[string]Connect) *Stores {
	s := &Stores{connect: maps.Clone(stores), open: map[place]*connection{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	return s
}

// Names returns the names of the stores, ascending.
func (s *Stores) Names() []string { return slices.Sorted(maps.Keys(s.connect)) }

// Ops returns the operations on a namespace of a store, and connects to it if nobody has. An attempt
// takes 15 s at most; after one that failed the next one begins a second later at the earliest, then
// later and later, up to a minute.
//
// Errors: ErrNoStore; ErrStoreAway, with what Connect says; ErrManyNamespaces; ErrStoresClosed; the cause
// of ctx.
func (s *Stores) Ops(ctx context.Context, store, namespace string, options ...Option) (*Ops, error) {
	reg, err := s.registry(ctx, place{store, namespace})
	if err != nil {
		return nil, fmt.Errorf("store %s, namespace %s: %w", brief.Quote(store), brief.Quote(namespace), err)
	}
	return New(reg, options...), nil
}

func (s *Stores) registry(ctx context.Context, at place) (coord.Registry, error) {
	c, err := s.connection(at)
	if err != nil {
		return nil, err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if c.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStoreAway, c.err)
	}
	return c.reg, nil
}

// connection returns the connection to a place, and begins one if there is none, or the last attempt
// failed long enough ago.
func (s *Stores) connection(at place) (*connection, error) {
	connect := s.connect[at.store]
	if connect == nil {
		return nil, fmt.Errorf("%w; there are %v", ErrNoStore, s.list())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.open[at]
	switch {
	case s.isOver:
		return nil, ErrStoresClosed
	case c != nil && !c.mayTryAgain():
		return c, nil
	case c == nil && len(s.open) == MaxNamespaces && !s.forget():
		return nil, ErrManyNamespaces
	}
	next := &connection{done: make(chan struct{}), pause: firstConnectPause}
	if c != nil {
		next.pause = min(2*c.pause, lastConnectPause)
	}
	s.open[at] = next
	go next.try(s.ctx, connect, at.namespace) // Close waits for it
	return next, nil
}

// forget forgets a place that could not be connected to, and that nobody waits for any more. It reports
// whether there was one.
func (s *Stores) forget() bool {
	for at, c := range s.open {
		if c.mayTryAgain() {
			delete(s.open, at)
			return true
		}
	}
	return false
}

// mayTryAgain reports whether an attempt has failed, long enough ago.
func (c *connection) mayTryAgain() bool {
	select {
	case <-c.done:
		return c.err != nil && !clocks.Now().Before(c.again)
	default:
		return false
	}
}

// try connects, until the stores are closed.
func (c *connection) try(ctx context.Context, connect Connect, namespace string) {
	defer close(c.done)
	inTime, cancel := context.WithTimeoutCause(ctx, connectTime, fmt.Errorf("no answer in %v", connectTime))
	defer cancel()
	c.reg, c.err = connect(inTime, namespace)
	switch {
	case c.err == nil && ctx.Err() != nil:
		c.reg, c.err = nil, errors.Join(context.Cause(ctx), closeSoon(c.reg))
	case c.err != nil:
		c.reg = nil // it may be the nil pointer of an adapter
		if inTime.Err() != nil {
			c.err = fmt.Errorf("%w: %w", context.Cause(inTime), c.err)
		}
	}
	c.again = clocks.Now().Add(c.pause)
}

// closeSoon closes a registry that nobody wants any more.
func closeSoon(reg coord.Registry) error {
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	return reg.Close(ctx)
}

// list names the stores in an error.
func (s *Stores) list() *brief.List {
	var list brief.List
	for _, name := range s.Names() {
		list.Add(name)
	}
	return &list
}

// Close closes all connections, and ends those that are being made. ctx bounds how long it waits for that.
// Nobody may use what Ops has returned any more. A second Close does nothing.
func (s *Stores) Close(ctx context.Context) error {
	s.mu.Lock()
	isOver := s.isOver
	s.isOver = true
	s.mu.Unlock()
	if isOver {
		return nil
	}
	s.end(ErrStoresClosed)
	errs := make(chan error, len(s.open))
	for at, c := range s.open {
		go func() { errs <- c.close(ctx, at) }()
	}
	var all error
	for range s.open {
		all = errors.Join(all, <-errs)
	}
	return all
}

// close waits until nobody is connecting any more, and closes the connection.
func (c *connection) close(ctx context.Context, at place) error {
	failed := func(err error) error {
		return fmt.Errorf("store %s, namespace %s: close: %w", brief.Quote(at.store), brief.Quote(at.namespace), err)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return failed(fmt.Errorf("it is still being connected to: %w", context.Cause(ctx)))
	}
	if c.reg == nil {
		return nil
	}
	if err := c.reg.Close(ctx); err != nil {
		return failed(err)
	}
	return nil
}
