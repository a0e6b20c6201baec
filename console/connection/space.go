package connection

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
)

// dial connects to a namespace.
type dial func(context.Context) (coord.Registry, error)

// space is a namespace that a book has.
type space struct {
	key        string // another one means another connection; empty if the program has given it
	name, path string
	shown      Namespace // guarded by Book.mu: what does not change the connection may change
	given      *ops.Ops  // is used as it is, if not nil

	stores *ops.Stores // of this namespace alone: so it can be closed alone
	dial   dial
	state  *tracker
	ctx    context.Context // of what follows the sessions
	end    context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	isClosed bool
}

// newSpace returns a namespace that is connected to when somebody asks for it.
func newSpace(key string, shown Namespace, dial dial) *space {
	s := &space{key: key, name: shown.Name, path: shown.Path, shown: shown, dial: dial, state: newTracker("namespace", shown.Name)}
	s.ctx, s.end = context.WithCancel(context.Background())
	s.stores = ops.NewStores(map[string]ops.Connect{shown.Name: s.connect})
	return s
}

func (s *space) ops(ctx context.Context, options []ops.Option) (*ops.Ops, error) {
	if s.given != nil {
		return s.given, nil
	}
	return s.stores.Ops(ctx, s.name, s.path, options...)
}

// connect connects, and follows the sessions of the registry from then on.
func (s *space) connect(ctx context.Context, _ string) (coord.Registry, error) {
	s.state.set(Connecting, nil)
	reg, err := s.dial(ctx)
	if err != nil {
		s.state.set(Away, err)
		return nil, err
	}
	s.state.set(Connected, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isClosed {
		s.work.Go(func() { s.follow(reg) })
	}
	return reg, nil
}

var (
	errSuspended   = errors.New("the store does not answer")
	errSessionLost = errors.New("the session is lost, and there is no other one yet")
)

// follow keeps the state, until the registry or the space is closed.
func (s *space) follow(reg coord.Registry) {
	const pause = 100 * time.Millisecond
	for sleep.For(s.ctx, 0) {
		session, err := reg.Session(s.ctx)
		if err != nil {
			return
		}
		state, changed := session.State()
		switch state {
		case coord.Connected:
			s.state.set(Connected, nil)
		case coord.Suspended:
			s.state.set(Away, errSuspended)
		default:
			s.state.set(Away, errSessionLost)
			sleep.For(s.ctx, pause)
			continue
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
		}
	}
}

func (s *space) isGiven() bool { return s.key == "" }

// keeps takes what is to be shown, if the connection stays the same. Book.mu is held.
func (s *space) keeps(key string, shown Namespace) bool {
	if s.key == key {
		s.shown = shown
	}
	return s.key == key
}

func (s *space) isUnused() bool { return s.given != nil || s.state.get().Phase == Idle }

// close closes the connection.
func (s *space) close(ctx context.Context) error {
	if s.given != nil {
		return nil
	}
	s.mu.Lock()
	s.isClosed = true
	s.mu.Unlock()
	s.end()
	err := s.stores.Close(ctx)
	s.work.Wait() // for nothing but the look at a channel
	return err
}
