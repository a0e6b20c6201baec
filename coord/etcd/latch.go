package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/latch"
)

// Latch implements [coord.Registry]. A place in the queue is a key on the lease of its session.
func (r *Registry) Latch(path string) (coord.Latch, error) {
	if err := coord.ValidatePath(path); err != nil {
		return nil, fmt.Errorf("etcd: latch: %w", err)
	}
	join := func(ctx context.Context, s coord.Session) (latch.Place, error) {
		return r.joinLatch(ctx, path, s.(*session))
	}
	return latch.New(latch.Config{Name: "etcd", Registry: r, Path: path, Join: join, Start: r.start}), nil
}

// latchPlace is a place in the queue of a latch.
type latchPlace struct {
	r       *Registry
	path    string
	mayCome time.Time // until then a request to create the key may be carried out; zero if it was answered
}

// joinLatch creates a place. The commit goes alone, so no two places have the same revision.
func (r *Registry) joinLatch(ctx context.Context, path string, s *session) (latch.Place, error) {
	if !s.Alive() {
		return nil, context.Cause(s.ctx)
	}
	p := &latchPlace{r: r, path: coord.Join(path, strconv.FormatInt(s.lease, 16)+"-"+strconv.FormatInt(r.candidates.Add(1), 10))}
	_, err := r.attemptAlone(ctx, &transaction{keys: r.keys, session: s, ops: []coord.Op{coord.CreateEphemeral(p.path, nil)}, guesses: make([]guess, 1)}, false)
	if errors.Is(err, coord.ErrUnknownOutcome) {
		p.mayCome = time.Now().Add(2 * r.config.RequestTimeout)
		return p, err
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Path implements [latch.Place].
func (p *latchPlace) Path() string { return p.path }

// errMayCome: a request to create a key got no answer, and may still be carried out.
var errMayCome = errors.New("the key may still be created")

// Remove implements [latch.Place].
func (p *latchPlace) Remove(ctx context.Context) error {
	return p.r.request(ctx, "leave the queue at "+p.path, func(ctx context.Context) error {
		deleted, err := p.r.client.Delete(ctx, p.r.keys.key(p.path))
		if err == nil && deleted.Deleted == 0 && time.Now().Before(p.mayCome) {
			err = errMayCome
		}
		return err
	})
}
