package dump_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// A dump of a job with 10,000 items, each of which has run once.
func BenchmarkWideJob(b *testing.B) {
	for name, store := range map[string]func(testing.TB) dial{"memory": inMemory, "etcd": onEtcd, "zookeeper": onZooKeeper} {
		b.Run(name, func(b *testing.B) {
			const items = 10_000
			reg := open(b, store(b))
			s := runs(b, reg, job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: items}, "10.0.0.1")
			await(b, s, "all items", func(s job.Status) bool { return len(s.Items) == items })
			var ops []coord.Op
			for i := range items {
				ops = append(ops, coord.Put(fmt.Sprintf("settle/sharding/%d/fired", i), []byte("2026-11-22T12:30:45.123Z")))
				if len(ops) == coord.MaxOps || i == items-1 {
					if _, err := reg.Commit(b.Context(), ops...); err != nil {
						b.Fatal(err)
					}
					ops = nil
				}
			}
			var d dump.Dump
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				var err error
				if d, err = dump.Take(b.Context(), reg, dump.Schedulers{s}, "settle"); err != nil {
					b.Fatal(err)
				}
				d = d.Masked()
			}
			b.StopTimer()
			document, err := json.MarshalIndent(d, "", " ") // as the service does
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(d.Nodes)), "nodes")
			b.ReportMetric(float64(len(text(b, d))), "text-bytes")
			b.ReportMetric(float64(len(document)), "json-bytes")
			b.ReportMetric(float64(d.Differing), "differences")
		})
	}
}

// The list of 1,000 jobs, one of which is wide.
func BenchmarkJobs(b *testing.B) {
	for name, store := range map[string]func(testing.TB) dial{"memory": inMemory, "etcd": onEtcd, "zookeeper": onZooKeeper} {
		b.Run(name, func(b *testing.B) {
			reg := open(b, store(b))
			runs(b, reg, job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: 10_000}, "10.0.0.1")
			for i := range 10 {
				var ops []coord.Op
				for j := range 100 {
					ops = append(ops, coord.Put(fmt.Sprintf("job-%d-%d/config", i, j), nil))
				}
				if _, err := reg.Commit(b.Context(), ops...); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if list, err := dump.Jobs(b.Context(), reg); err != nil || len(list) != 1001 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
}
