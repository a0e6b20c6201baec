package memory

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/latch"
)

// Latch implements [coord.Registry]. Candidates have names as those of Curator's LeaderLatch.
func (r *Registry) Latch(path string) (coord.Latch, error) {
	if err := coord.ValidatePath(path); err != nil {
		return nil, fmt.Errorf("memory: latch: %w", err)
	}
	join := func(ctx context.Context, s coord.Session) (latch.Place, error) {
		return r.joinLatch(ctx, path, s.(*session))
	}
	return latch.New(latch.Config{Name: "memory", Registry: r, Path: path, Join: join, Start: r.start}), nil
}

// latchPlace is a place in the queue of a latch.
type latchPlace struct {
	r     *Registry
	latch string

	// These are guarded by store.mu.
	path      string
	withdrawn bool
}

// joinLatch creates a place. If that fails, a fault may carry the request out later.
func (r *Registry) joinLatch(ctx context.Context, path string, session *session) (latch.Place, error) {
	p, s := &latchPlace{r: r, latch: path}, r.store
	err := r.call(ctx, call{method: Acquire, path: path}, func() error {
		if p.withdrawn || s.leases[session.lease.id] == nil {
			return coord.ErrSessionLost
		}
		path := coord.Join(path, fmt.Sprintf("latch-%019d", s.revision+1))
		_, err := s.commit(r.ns, session.lease, []coord.Op{coord.CreateEphemeral(path, nil)})
		if err == nil {
			p.path = path
		}
		return err
	})
	return p, err
}

// Path implements [latch.Place].
func (p *latchPlace) Path() string {
	p.r.store.mu.Lock()
	defer p.r.store.mu.Unlock()
	return p.path
}

// Remove implements [latch.Place].
func (p *latchPlace) Remove(ctx context.Context) error {
	return p.r.call(ctx, call{method: Release, path: p.latch}, func() error {
		p.withdrawn = true
		if p.r.ns.entries[p.path] != nil {
			_, _ = p.r.store.commit(p.r.ns, nil, []coord.Op{coord.DeleteTree(p.path)}) // it cannot fail: DeleteTree has no condition
		}
		return nil
	})
}
