package declare_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// 10,000 jobs of a set are applied to an empty namespace, planned again, and exported.
func BenchmarkManyJobs(b *testing.B) {
	const jobs = 10_000
	d := &jobfile.Declarations{}
	for i := range jobs {
		c := job.Config{
			Name: fmt.Sprintf("settle-%05d", i), Cron: "0 0/5 * * * ?", TimeZone: "Asia/Shanghai", ShardingTotalCount: 3,
			ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou", Props: map[string]string{"http.uri": "https://shop.example.com/settle", "http.method": "POST"},
		}
		d.Jobs = append(d.Jobs, jobfile.InRegistry(c, "HTTP"))
	}
	measure := func(b *testing.B, dial func(namespace string) (coord.Registry, error)) {
		for n := range b.N {
			o := ops.New(open(b, func() (coord.Registry, error) { return dial(fmt.Sprint("many-", n)) }))
			last := time.Now()
			lap := func(what string) {
				b.ReportMetric(time.Since(last).Seconds(), what+"-s")
				last = time.Now()
			}
			p := plan(b, o, declare.Request{Files: d})
			lap("plan-new")
			for _, r := range p.Apply(b.Context(), o, nil) {
				if r.Err != nil {
					b.Fatal(r.Err)
				}
			}
			lap("apply")
			if p := plan(b, o, declare.Request{Files: d}); p.Changes() || p.Count(declare.Unchanged) != jobs {
				b.Fatalf("again: %d unchanged", p.Count(declare.Unchanged))
			}
			lap("plan-again")
			all, _, err := declare.Export(b.Context(), o, nil, nil)
			if err != nil || len(all.Jobs) != jobs {
				b.Fatal(len(all.Jobs), err)
			}
			lap("export")
			if _, err := all.Write(); err != nil {
				b.Fatal(err)
			}
			lap("write")
		}
	}
	b.Run("etcd", func(b *testing.B) {
		s, err := etcdserver.Run(b.Context(), etcdserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Stop)
		measure(b, func(namespace string) (coord.Registry, error) {
			return etcd.Dial(b.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: namespace})
		})
	})
	b.Run("zookeeper", func(b *testing.B) {
		zkserver.Require(b)
		s, err := zkserver.Run(b.Context(), zkserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		measure(b, func(namespace string) (coord.Registry, error) {
			return zk.Dial(b.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: namespace})
		})
	})
}
