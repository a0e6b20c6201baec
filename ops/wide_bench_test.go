package ops_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// What it takes to tell of a job with 100,000 items: read anew, all of it, and after a change of one item.
func BenchmarkWideInfo(b *testing.B) {
	const items = 100_000
	s := memory.NewStore(memory.Options{})
	defer s.Close()
	reg, err := s.Dial(b.Context(), memory.Config{Namespace: "ops"})
	if err != nil {
		b.Fatal(err)
	}
	defer closes(b, reg)
	if err := ops.New(reg).Create(b.Context(), ops.CreateRequest{Config: job.Config{Name: "wide", Cron: "0 0 3 * * ?", ShardingTotalCount: items}}); err != nil {
		b.Fatal(err)
	}
	name := jobtree.Job("wide")
	some := []coord.Op{coord.CreateEphemeral(name.Instance(here), nil), coord.Put(name.Server("192.0.2.2"), nil)}
	end := jobtree.EncodeCompletion(jobtree.CompletionDocument{Tick: time.Now(), Ended: time.Now(), Outcome: jobtree.OutcomeOK, TaskID: "0123456789abcdef", Source: "NORMAL"})
	for i := range items {
		some = append(some, coord.Put(name.ItemInstance(i), []byte(here)), coord.Put(name.Fired(i), jobtree.EncodeFired(time.Now())), coord.Put(name.Completion(i), end))
		if len(some)+3 > coord.MaxOps || i == items-1 {
			commit(b, b.Context(), reg, some)
			some = nil
		}
	}
	wide := ops.New(reg).Job("wide")
	b.Run("info", func(b *testing.B) {
		for b.Loop() {
			if info, err := wide.Info(b.Context()); err != nil || info.Status != ops.JobOK {
				b.Fatalf("%+v, %v", info, err)
			}
		}
	})
	b.Run("describe", func(b *testing.B) {
		for b.Loop() {
			if detail, err := wide.Describe(b.Context()); err != nil || len(detail.Items) != items {
				b.Fatal(err)
			}
		}
	})
	b.Run("watch", func(b *testing.B) {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		changes := 0
		for update, err := range ops.New(reg).Watch(ctx, time.Nanosecond) {
			if err != nil || len(update.Jobs) != 1 || update.Jobs[0].Disabled != changes {
				b.Fatalf("%+v, %v", update, err)
			}
			if changes == 0 {
				b.ResetTimer()
			}
			if changes == b.N {
				break
			}
			commit(b, ctx, reg, []coord.Op{coord.Put(name.ItemDisabled(changes), nil)})
			changes++
		}
		b.StopTimer()
		commit(b, b.Context(), reg, []coord.Op{coord.DeleteTree(name.ItemDisabled(0))})
		for i := range changes {
			commit(b, b.Context(), reg, []coord.Op{coord.DeleteTree(name.ItemDisabled(i))})
		}
	})
}
