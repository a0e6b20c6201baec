package ops_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

func BenchmarkRaw(b *testing.B) {
	s, err := etcdserver.Run(b.Context(), etcdserver.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Stop()
	reg, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: "ops"})
	if err != nil {
		b.Fatal(err)
	}
	defer closes(b, reg)
	nodes := crowd(b, reg, 10_000)
	var configs [][]byte
	b.Run("walk", func(b *testing.B) {
		bytes := 0
		for b.Loop() {
			configs = nil
			count := 0
			bytes = 0
			for n, err := range reg.Walk(b.Context(), "") {
				if err != nil {
					b.Fatal(err)
				}
				count++
				bytes += len(n.Path) + len(n.Value)
				if coord.Base(n.Path) == "config" {
					configs = append(configs, n.Value)
				}
			}
		}
		b.ReportMetric(float64(nodes), "nodes")
		b.ReportMetric(float64(bytes), "B")
	})
	b.Run("jobs", func(b *testing.B) {
		o := ops.New(reg)
		for b.Loop() {
			l, err := o.Jobs(b.Context(), ops.JobsQuery{})
			if err != nil || len(l.Jobs) != 10_000 {
				b.Fatal(err)
			}
			if b.N == 1 {
				b.Logf("%+v", l.Totals)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			for _, c := range configs {
				if _, err := job.DecodeConfig(c); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
