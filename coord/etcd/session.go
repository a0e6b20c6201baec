package etcd

import (
	"context"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/coord/internal/lifetime"
)

// session is a session on one lease.
type session struct {
	*lifetime.Session
	lease     int64
	ctx       context.Context
	readsOnly bool             // its user may not write its key, so it has none
	client    *clientv3.Client // of concurrency sessions
}

func newSession(ctx context.Context, lease int64, readsOnly bool) *session {
	s := lifetime.New(ctx)
	s.SetID(coord.SessionID(lease))
	return &session{Session: s, lease: lease, ctx: s.Context(), readsOnly: readsOnly}
}

// sessions holds the registry's session. A lost one stays in it until the next is open.
type sessions struct {
	mu      sync.Mutex
	current *session // nil only before the first
	changed broadcast.Signal
}

// currentSession returns the session, or nil if it is lost.
func (r *Registry) currentSession() *session {
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	if s := r.sessions.current; s != nil && s.Alive() {
		return s
	}
	return nil
}

// awaitSession returns a session that is not lost, and waits for one if necessary.
func (r *Registry) awaitSession(ctx context.Context) (*session, error) {
	for {
		r.sessions.mu.Lock()
		s, changed := r.sessions.current, r.sessions.changed.Next()
		r.sessions.mu.Unlock()
		if s != nil && s.Alive() {
			return s, nil
		}
		if r.ctx.Err() != nil {
			return nil, context.Cause(r.ctx)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		}
	}
}

func (r *Registry) setSession(s *session) {
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	r.sessions.current = s
	r.sessions.changed.Fire()
}
