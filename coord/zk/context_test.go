package zk_test

import (
	"context"
	"errors"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// If a caller's context ends, the error is its cause, which says nothing about the store.
// Only for a write that may have been done the outcome is unknown.
func TestCallerGoesAway(t *testing.T) {
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}})
	commit(t, r, coord.Put("a", nil))
	v := view(t, r, "")
	link.BlackHole()
	reason := errors.New("the caller's reason")
	for _, tc := range []struct {
		name    string
		unknown bool
		call    func(context.Context) error
	}{
		{"Get", false, func(ctx context.Context) error { _, err := r.Get(ctx, "a"); return err }},
		{"List", false, func(ctx context.Context) error { _, err := r.List(ctx, ""); return err }},
		{"View", false, func(ctx context.Context) error { _, err := r.View(ctx, "a", coord.AllLevels); return err }},
		{"Sync", false, v.Sync},
		{"Acquire", false, func(ctx context.Context) error { _, err := latch(t, r, "l").Acquire(ctx); return err }},
		{"Commit", true, func(ctx context.Context) error { _, err := r.Commit(ctx, coord.Put("a", nil)); return err }},
		{"Owned", false, func(ctx context.Context) error { _, err := r.Commit(ctx, coord.Owned("a")); return err }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- tc.call(ctx) }()
			cancel(reason)
			err := <-ended
			if !errors.Is(err, reason) || errors.Is(err, coord.ErrUnavailable) {
				t.Errorf("got %v, want the caller's reason and no other", err)
			}
			if errors.Is(err, coord.ErrUnknownOutcome) && !tc.unknown {
				t.Errorf("got %v", err)
			}
		})
	}
}
