package migrate

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// awaitInstances waits until a job that has left the source has no Go instance there, as a failover does: each removes its
// nodes when the contexts of its handlers have ended, or they go with its session, which ends those contexts, too.
// Instances of JVM programs do not see that the job has left. They stop when their nodes are removed.
func (r *run) awaitInstances(ctx context.Context, name jobtree.Job) error {
	for backoff := (sleep.Backoff{Min: firstPause, Max: lastPause}); ; {
		going, err := r.stopInstances(ctx, name)
		if err != nil || going == "" {
			return err
		}
		switch isLost, err := r.source.isLost(ctx); {
		case err != nil:
			return err
		case isLost: // another run may have put the job back
			return ErrTakenOver
		}
		if !backoff.Wait(ctx) {
			return fmt.Errorf("the instance %s has not ended at the source: %w", brief.Quote(going), context.Cause(ctx))
		}
	}
}

// stopInstances removes the nodes of JVM instances, and returns a Go instance that has not ended; "" if there is none.
func (r *run) stopInstances(ctx context.Context, name jobtree.Job) (going string, err error) {
	sessions, err := list(ctx, r.source, name.Sessions())
	if err != nil {
		return "", err
	}
	isGo := map[string]bool{}
	for _, n := range sessions {
		if n.Owner != 0 && len(n.Value) > 0 { // what has no value fences a registration, and runs nothing
			going = coord.Base(n.Path)
			isGo[going] = true
		}
	}
	instances, err := list(ctx, r.source, name.Instances())
	if err != nil {
		return "", err
	}
	w := writer{side: r.source}
	for _, n := range instances {
		if !isGo[coord.Base(n.Path)] {
			if err := w.add(ctx, coord.DeleteTree(n.Path)); err != nil {
				return "", err
			}
		}
	}
	return going, w.flush(ctx)
}
