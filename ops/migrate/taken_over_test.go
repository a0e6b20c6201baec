package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// A run that another one follows ends with who that is, and nothing of what its other jobs were at.
func TestTakenOver(t *testing.T) {
	_, a := inMemory(t)
	_, b := inMemory(t)
	from, to := open(t, a), open(t, b)
	put(t, from, plain("a"))
	put(t, from, plain("b"))
	isAtB := make(chan struct{})
	slow := &interrupted{Registry: from, at: func(ctx context.Context, path string) error {
		switch path {
		case "a/config":
			<-isAtB
			other := between(from, to)
			other.By = "bob"
			_, err := other.Run(t.Context())
			return err
		case "b/config":
			close(isAtB)
			<-ctx.Done()
			return fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, context.Cause(ctx))
		}
		return nil
	}}
	_, err := between(slow, to).Run(t.Context())
	if !errors.Is(err, migrate.ErrTakenOver) || errors.Is(err, coord.ErrUnknownOutcome) || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if text := err.Error(); !strings.Contains(text, "migrate to new://ns at ") || !strings.HasSuffix(text, `, by "bob"`) || strings.Contains(text, "conflict") {
		t.Errorf("it says %s", text)
	}
}

// Of runs at the same moment each ends well or says that another one is at work, whatever it has found in trees that change.
func TestAtTheSameTime(t *testing.T) {
	for range 20 {
		_, a := inMemory(t)
		_, b := inMemory(t)
		from, to := open(t, a), open(t, b)
		var names []string
		for i := range 12 {
			names = append(names, fmt.Sprint("j", i))
			put(t, from, plain(names[i]))
		}
		var wg sync.WaitGroup
		for _, by := range []string{"anna", "bob"} {
			m := between(from, to)
			m.By = by
			wg.Go(func() {
				if _, err := m.Run(t.Context()); err != nil && !errors.Is(err, migrate.ErrTakenOver) {
					t.Errorf("%s: %v", by, err)
				}
			})
		}
		wg.Wait()
		if _, err := between(from, to).Run(t.Context()); err != nil {
			t.Error(err)
		}
		if jobs, err := to.List(t.Context(), ""); err != nil || len(jobs) < len(names) {
			t.Errorf("moved are %v, %v", jobs, err)
		}
	}
}

// interrupted is a registry in which something happens before a commit that removes a tree.
type interrupted struct {
	coord.Registry
	at func(ctx context.Context, path string) error
}

func (i *interrupted) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	for _, op := range ops {
		if op.Kind == coord.OpDeleteTree {
			if err := i.at(ctx, op.Path); err != nil {
				return 0, err
			}
		}
	}
	return i.Registry.Commit(ctx, ops...)
}
