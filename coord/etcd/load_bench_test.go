package etcd_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// BenchmarkCommits is what one registry commits for many callers: each claims an item and
// finishes it, again and again, as a job does. One operation is one commit. The server runs
// in the same process, and writes to its disk.
func BenchmarkCommits(b *testing.B) {
	for _, callers := range []int{1, 64, 1000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			server := etcdserver.Start(b, etcdserver.Config{Fsync: true})
			r, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "bench", SessionTimeout: time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close(context.Background())
			do := func(ops ...coord.Op) int64 {
				revision, err := r.Commit(b.Context(), ops...)
				if err != nil {
					b.Error(err)
				}
				return revision
			}
			do(coord.CreateEphemeral("instances/me", nil))
			items := make([]string, callers)
			for i := range items {
				items[i] = fmt.Sprintf("jobs/job-%d/sharding/0", i)
				do(coord.Put(items[i]+"/instance", []byte("me")), coord.Put(items[i]+"/fired", nil))
			}

			var left atomic.Int64
			left.Store(int64(b.N))
			took := make([][]time.Duration, callers)
			var running sync.WaitGroup
			b.ResetTimer()
			for i, item := range items {
				running.Go(func() {
					timed := func(ops ...coord.Op) {
						begin := time.Now()
						do(ops...)
						took[i] = append(took[i], time.Since(begin))
					}
					for left.Add(-2) > -2 {
						timed(coord.Owned("instances/me"), coord.Exists(item+"/instance"),
							coord.Create(item+"/running", []byte("me")), coord.Set(item+"/fired", []byte("0123456789abcdef")))
						timed(coord.Owned("instances/me"), coord.Delete(item+"/running"))
					}
				})
			}
			running.Wait()
			b.StopTimer()
			all := slices.Concat(took...)
			slices.Sort(all)
			b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "commits/s")
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1e3, "p50-ms")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1e3, "p99-ms")
		})
	}
}
