package memory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

func TestConformance(t *testing.T) { coordtest.Run(t, newSimulated) }

func TestOutages(t *testing.T) {
	coordtest.RunOutages(t, func(t testing.TB) coordtest.Server { return newSimulated(t).(simulated) })
}

// simulated is the suite's store. It has no users and certificates: what a server
// would refuse is refused by a fault.
type simulated struct{ store *memory.Store }

func newSimulated(t testing.TB) coordtest.Store {
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	store.Inject(memory.Fault{Method: memory.Open, Registry: "denied", Before: fmt.Errorf("simulated: %w", coord.ErrDenied)})
	store.Inject(memory.Fault{Method: memory.Open, Registry: "nowhere", Before: fmt.Errorf("%w: simulated:0 does not listen", coord.ErrUnavailable)})
	return simulated{store}
}

func (s simulated) Dial(ctx context.Context, o coordtest.Options) (coord.Registry, coordtest.Link, error) {
	c := memory.Config{Namespace: o.Namespace, SessionTimeout: o.SessionTimeout}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 2 * time.Second
	}
	switch {
	case o.Nowhere:
		c.Name = "nowhere"
	case o.Credentials == coordtest.WrongPassword || o.Credentials == coordtest.UntrustedTLS:
		c.Name = "denied"
	}
	r, err := s.store.Dial(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return r, simulatedLink{r.Link()}, nil
}

// simulatedLink is a link on which nothing comes that was not asked for, and a black hole holds back
// what is sent into it.
type simulatedLink struct{ *memory.Link }

func (l simulatedLink) Pause()        { l.BlackHole() }
func (l simulatedLink) DropRequests() { l.BlackHole() }

func (s simulated) Kill(context.Context) error    { return s.Stop() }
func (s simulated) Restart(context.Context) error { return s.Continue() }

func (s simulated) Stop() error {
	s.store.Down()
	return nil
}

func (s simulated) Continue() error {
	s.store.Up()
	return nil
}

func (s simulated) Forget(context.Context) error { return nil }

func (s simulated) Expire(_ context.Context, id coord.SessionID) error {
	if !s.store.Expire(id) {
		return fmt.Errorf("no session %d", id)
	}
	return nil
}

func (s simulated) Sessions(context.Context) (int, error) { return s.store.Sessions(), nil }
func (s simulated) Watches(context.Context) (int, error)  { return s.store.Watches(), nil }
