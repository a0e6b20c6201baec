package prom_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

func newMetrics(b *testing.B, o prom.Options) (*prom.Metrics, prometheus.Gatherer) {
	b.Helper()
	m, err := prom.New(o)
	if err != nil {
		b.Fatal(err)
	}
	r := prometheus.NewRegistry()
	if err := r.Register(m); err != nil {
		b.Fatal(err)
	}
	return m, r
}

func benchRegistry(b *testing.B) coord.Registry {
	b.Helper()
	reg, err := memory.NewStore(memory.Options{}).Dial(b.Context(), memory.Config{Namespace: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = reg.Close(context.Background()) }) // the store is in memory
	return reg
}

// BenchmarkExecution is what the observer does for an execution, beside its path.
func BenchmarkExecution(b *testing.B) {
	m, _ := newMetrics(b, prom.Options{})
	o := m.Observer()
	now := time.Now()
	e := job.Event{Time: now, JobName: "settle", Execution: job.Execution{TaskID: "task", Source: job.SourceNormal, ScheduledTime: now}}
	started, finished := e, e
	started.Kind, finished.Kind, finished.Outcome = jobtype.EventStarted, jobtype.EventFinished, job.OutcomeOK
	b.ReportAllocs()
	for b.Loop() {
		o(started)
		o(finished)
	}
}

// BenchmarkCommit is a commit in memory, plain and measured.
func BenchmarkCommit(b *testing.B) {
	for _, name := range []string{"plain", "measured"} {
		b.Run(name, func(b *testing.B) {
			reg := benchRegistry(b)
			if name == "measured" {
				m, _ := newMetrics(b, prom.Options{})
				reg = m.Registry(reg)
			}
			v, err := reg.View(b.Context(), "settle", coord.AllLevels)
			if err != nil {
				b.Fatal(err)
			}
			defer v.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reg.Commit(b.Context(), coord.Put("settle/sharding/0/fired", nil)); err != nil {
					b.Fatal(err)
				}
				v.Snapshot()
			}
		})
	}
}

// BenchmarkScrape is a scrape of a process with many jobs.
func BenchmarkScrape(b *testing.B) {
	for _, c := range []struct{ jobs, named int }{{1000, 1000}, {10_000, 500}, {10_000, -1}, {10_000, 10_000}} {
		b.Run(fmt.Sprintf("%d jobs, %d named", c.jobs, c.named), func(b *testing.B) {
			m, gather := newMetrics(b, prom.Options{MaxJobs: c.named})
			n, err := job.NewNode(m.Registry(benchRegistry(b)), job.NodeConfig{Options: []job.Option{job.WithIP("a"), m.Option()}})
			if err != nil {
				b.Fatal(err)
			}
			m.Watch(n)
			for i := range c.jobs {
				if _, err := n.Schedule(b.Context(), every(fmt.Sprintf("job-%d", i), "0 0 3 * * ?"), job.HandlerFunc(succeed)); err != nil {
					b.Fatal(err)
				}
			}
			samples := 0
			b.ReportAllocs()
			for b.Loop() {
				families, err := gather.Gather()
				if err != nil {
					b.Fatal(err)
				}
				samples = 0
				for _, f := range families {
					samples += len(f.Metric)
				}
			}
			b.ReportMetric(float64(samples), "series")
			if err := n.Shutdown(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
