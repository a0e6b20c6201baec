package dataflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// BenchmarkBatch is what a batch costs whose functions do nothing: without a Flow, in a Flow
// without a cursor, and with one, which is one commit for each batch.
func BenchmarkBatch(b *testing.B) {
	row := []int{1}
	process := func(ctx context.Context, sc job.ShardingContext, rows []int) error { return nil }
	b.Run("bare", func(b *testing.B) {
		fetch := func(ctx context.Context, sc job.ShardingContext, size int) ([]int, error) { return row, nil }
		for b.Loop() {
			rows, _ := fetch(b.Context(), job.ShardingContext{}, 100)
			_ = process(b.Context(), job.ShardingContext{}, rows)
		}
	})
	onMemory := func(b *testing.B) coord.Registry {
		store := memory.NewStore(memory.Options{})
		b.Cleanup(store.Close)
		reg, err := store.Dial(b.Context(), memory.Config{Namespace: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		return reg
	}
	onEtcd := func(b *testing.B) coord.Registry {
		server, err := etcdserver.Run(b.Context(), etcdserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(server.Stop)
		reg, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		return reg
	}
	for _, store := range []struct {
		name string
		dial func(*testing.B) coord.Registry
	}{{"memory", onMemory}, {"etcd", onEtcd}} {
		b.Run(store.name+"/New", func(b *testing.B) {
			left := 0
			run(b, store.dial(b), &left, dataflow.New(func(ctx context.Context, sc job.ShardingContext, size int) ([]int, error) {
				if left--; left < 0 {
					return nil, nil
				}
				return row, nil
			}, process))
		})
		b.Run(store.name+"/WithCursor", func(b *testing.B) {
			left := 0
			run(b, store.dial(b), &left, dataflow.WithCursor(func(ctx context.Context, sc job.ShardingContext, after, size int) ([]int, int, error) {
				if left--; left < 0 {
					return nil, 0, nil
				}
				return row, after + 1, nil
			}, process))
		})
	}
}

// run runs one execution of b.N batches.
func run(b *testing.B, reg coord.Registry, left *int, flow *dataflow.Flow) {
	*left = b.N
	finished := make(chan job.Event, 1)
	cfg := config(1)
	cfg.Cron = ""
	s, err := job.Schedule(b.Context(), reg, cfg, flow, job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			finished <- e
		}
	}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
		if err := reg.Close(context.Background()); err != nil {
			b.Error(err)
		}
	})
	b.ResetTimer()
	if _, err := s.Trigger(b.Context(), job.TriggerRequest{}); err != nil {
		b.Fatal(err)
	}
	select {
	case e := <-finished:
		b.StopTimer()
		if e.Outcome != job.OutcomeOK {
			b.Error(e.Err)
		}
		b.ReportMetric(float64(e.Took.Nanoseconds())/float64(b.N), "ns/batch")
	case <-time.After(time.Minute):
		b.Fatal("it does not end")
	}
}
