package memory_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

func BenchmarkConformance(b *testing.B) { coordtest.Benchmark(b, newSimulated) }

// BenchmarkThousandRegistries is one commit of ten puts by one of a thousand
// registries, all of which have a view of the same tree and are waiting.
func BenchmarkThousandRegistries(b *testing.B) {
	for _, lag := range []time.Duration{0, 10 * time.Millisecond} {
		b.Run(fmt.Sprintf("lag=%v", lag), func(b *testing.B) {
			store := memory.NewStore(memory.Options{Seed: 1, Lag: lag})
			defer store.Close()
			const registries = 1000
			var followers sync.WaitGroup
			var writers []*memory.Registry
			for range registries {
				r, err := store.Dial(b.Context(), memory.Config{Namespace: "bench"})
				if err != nil {
					b.Fatal(err)
				}
				v, err := r.View(b.Context(), "job", coord.AllLevels)
				if err != nil {
					b.Fatal(err)
				}
				writers = append(writers, r)
				followers.Go(func() {
					for v.Err() == nil {
						<-v.Changed()
						_ = v.Snapshot()
					}
				})
			}
			ops := make([][]coord.Op, registries)
			for item := range 10 * registries {
				i := item / 10
				ops[i] = append(ops[i], coord.Put(fmt.Sprintf("job/sharding/%d/fired", item), []byte("2026-01-01T00:00:00.000Z")))
			}
			for i := 0; b.Loop(); i++ {
				if _, err := writers[i%registries].Commit(b.Context(), ops[i%registries]...); err != nil {
					b.Fatal(err)
				}
			}
			for _, r := range writers {
				if err := r.Close(b.Context()); err != nil {
					b.Error(err)
				}
			}
			followers.Wait()
		})
	}
}
