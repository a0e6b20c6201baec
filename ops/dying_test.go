package ops_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// dying ends the session of an instance as soon as one of its nodes was read.
type dying struct {
	coord.Registry
	store *memory.Store
}

func (d dying) Get(ctx context.Context, path string) (coord.Node, error) {
	n, err := d.Registry.Get(ctx, path)
	if strings.Contains(path, "/instances/") || strings.Contains(path, "/sessions/") {
		d.store.Expire(n.Owner)
	}
	return n, err
}

// A runner whose session ends between two reads is not taken for a JVM member.
func TestKillWhileTheRunnerDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		t.Cleanup(store.Close)
		d := func() (coord.Registry, error) {
			return store.Dial(t.Context(), memory.Config{Namespace: "ops"})
		}
		begun := make(chan struct{}, 100)
		s := runs(t, d, settle(), "10.0.0.1", func(ctx context.Context, _ job.ShardingContext) error {
			begun <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		owns(t, s, 3)
		steer := ops.New(dying{open(t, d), store}).Job("settle")
		if _, err := steer.Trigger(t.Context(), job.TriggerRequest{Items: []int{1}}); err != nil {
			t.Fatal(err)
		}
		<-begun
		if _, err := steer.Kill(t.Context(), ops.KillRequest{Items: []int{1}}); errors.Is(err, ops.ErrJVM) {
			t.Error(err)
		}
	})
}
