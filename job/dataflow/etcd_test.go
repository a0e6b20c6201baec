package dataflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/job"
)

// On a real store, in real time: each of three instances works for a while, and the next one
// goes on where it was.
func TestOnEtcd(t *testing.T) {
	server, err := etcdserver.Run(t.Context(), etcdserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s := newSource(0)
	s.pace = time.Millisecond
	for range 3 {
		// A session that ends on a machine that stands still would let rows come again.
		reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: server.Endpoints(), Namespace: "test", SessionTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		in, err := job.Schedule(ctx, reg, config(2), s.flow())
		if err != nil {
			t.Fatal(err)
		}
		for seen := map[int]bool{}; len(seen) < 2; {
			select {
			case b := <-s.batches:
				if b.by == in.Status().InstanceID {
					seen[b.item] = true
				}
			case <-ctx.Done():
				t.Fatal("an item does not get on")
			}
		}
		if err := in.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := reg.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	s.check(t, 0, 0)
	s.check(t, 1, 0)
}
