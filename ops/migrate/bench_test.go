package migrate_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// BenchmarkMove moves one job of many items, and many jobs of 3 items, there and back between
// etcd and ZooKeeper:
//
//	REQUIRE_ZOOKEEPER=1 go test ./ops/migrate -run xxx -bench Move -benchtime 1x -timeout 30m
func BenchmarkMove(b *testing.B) {
	for _, size := range []struct{ jobs, items int }{{1, 10_000}, {1_000, 3}, {1, 100_000}, {10_000, 3}} {
		b.Run(fmt.Sprintf("%d jobs of %d items", size.jobs, size.items), func(b *testing.B) {
			etcd, zookeeper := open(b, onEtcd(b)), open(b, onZooKeeper(b))
			fill(b, etcd, size.jobs, size.items)
			for b.Loop() {
				for _, way := range []struct {
					name     string
					from, to coord.Registry
				}{{"to-zookeeper", etcd, zookeeper}, {"to-etcd", zookeeper, etcd}} {
					m := between(way.from, way.to)
					begun := time.Now()
					if _, err := m.Plan(b.Context()); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(time.Since(begun).Seconds(), "s-plan-"+way.name)
					begun = time.Now()
					result, err := m.Run(b.Context())
					if err != nil || len(result.Moved) != size.jobs {
						b.Fatal(len(result.Moved), err)
					}
					b.ReportMetric(time.Since(begun).Seconds(), "s-"+way.name)
				}
			}
		})
	}
}

func fill(b *testing.B, reg coord.Registry, jobs, items int) {
	b.Helper()
	var ops []coord.Op
	flush := func() {
		if _, err := reg.Commit(b.Context(), ops...); err != nil {
			b.Fatal(err)
		}
		ops = ops[:0]
	}
	write := func(path, value string) {
		if ops = append(ops, coord.Put(path, []byte(value))); len(ops) == coord.MaxOps {
			flush()
		}
	}
	for n := range jobs {
		name := fmt.Sprintf("job-%05d", n)
		write(name, "impl")
		write(name+"/config", fmt.Sprintf("cron: 0 0 3 * * ?\nfailover: true\njobName: %s\nshardingTotalCount: %d\n", name, items))
		write(name+"/schedule", "cron: 0 0 3 * * ?\nmisfire: true\nsince: 2026-01-01T00:00:00Z\n")
		write(name+"/servers/10.0.0.1", "ENABLED")
		for i := range items {
			item := fmt.Sprintf("%s/sharding/%d/", name, i)
			write(item+"instance", "10.0.0.1@-@4711-abcdefgh")
			write(item+"fired", "2026-01-31T03:00:00.000Z")
			write(item+"completed", "tick: 2026-01-31T03:00:00.000Z\ntoken: 4711\nout: OK\nend: 2026-01-31T03:00:01.000Z\ntask: 019c11d2-5d00-8000-8000-000000000000\nsrc: NORMAL_TRIGGER\n")
		}
	}
	flush()
}
