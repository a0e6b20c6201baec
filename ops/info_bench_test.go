package ops_test

import (
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/ops"
)

// withCrowd measures something on a namespace with 10,000 jobs.
func withCrowd(b *testing.B, measure func(b *testing.B, reg coord.Registry)) {
	const jobs = 10_000
	on := func(b *testing.B, reg coord.Registry, err error) {
		if err != nil {
			b.Fatal(err)
		}
		defer closes(b, reg)
		nodes := plantCrowd(b, reg, jobs)
		measure(b, reg)
		b.ReportMetric(float64(nodes), "nodes")
	}
	b.Run("memory", func(b *testing.B) {
		s := memory.NewStore(memory.Options{})
		defer s.Close()
		reg, err := s.Dial(b.Context(), memory.Config{Namespace: "ops"})
		on(b, reg, err)
	})
	b.Run("etcd", func(b *testing.B) {
		s, err := etcdserver.Run(b.Context(), etcdserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Stop()
		reg, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(s.Endpoints()[0], "http://")}, Namespace: "ops"})
		on(b, reg, err)
	})
	b.Run("zookeeper", func(b *testing.B) {
		zkserver.Require(b)
		s, err := zkserver.Run(b.Context(), zkserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		reg, err := zk.Dial(b.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: "ops", SessionTimeout: time.Minute})
		on(b, reg, err)
	})
}

// The list of 10,000 jobs, and what a bare walk over the same nodes takes. etcd runs in this process,
// ZooKeeper beside it.
func BenchmarkJobs(b *testing.B) {
	withCrowd(b, func(b *testing.B, reg coord.Registry) {
		var bare, bareCPU, cpu time.Duration
		walks := 0
		for b.Loop() {
			b.StopTimer()
			begin, spent := time.Now(), processor(b)
			for _, err := range reg.Walk(b.Context(), "") {
				if err != nil {
					b.Fatal(err)
				}
			}
			bare += time.Since(begin)
			walked := processor(b)
			bareCPU += walked - spent
			walks++
			b.StartTimer()
			list, err := ops.New(reg).Jobs(b.Context(), ops.JobsQuery{})
			if err != nil || list.Totals.Jobs != 10_000 || list.Totals.OK != 9_900 || list.Totals.Failing != 100 || list.Totals.Running != 200 {
				b.Fatalf("%+v, %v", list, err)
			}
			cpu += processor(b) - walked
		}
		for unit, d := range map[string]time.Duration{"ms/walk": bare, "cpu-ms/walk": bareCPU, "cpu-ms/list": cpu} { // the last two say the same on a busy machine
			b.ReportMetric(float64(d.Milliseconds())/float64(walks), unit)
		}
	})
}

// What a watch of 10,000 jobs costs: from the commit of a change to its update, and the time of the
// processor for that, the store's and the writer's included.
func BenchmarkWatch(b *testing.B) {
	withCrowd(b, func(b *testing.B, reg coord.Registry) {
		updates := make(chan ops.Update)
		ended := make(chan struct{})
		before := inUse()
		begin := time.Now()
		stop := make(chan struct{})
		go func() {
			defer close(ended)
			for u, err := range ops.New(reg).Watch(b.Context(), time.Millisecond) {
				if err != nil {
					b.Error(err)
					return
				}
				select {
				case updates <- u:
				case <-stop:
					return
				}
			}
		}()
		first := <-updates
		opened := time.Since(begin)
		if len(first.Jobs) != 10_000 {
			b.Fatal(len(first.Jobs))
		}
		first.Jobs = nil
		after := inUse()
		var latencies []time.Duration
		cpu, n := processor(b), 0
		for b.Loop() {
			name := crowd.Name(n % 10_000)
			n++
			op := coord.Create(name.ItemDisabled(0), nil)
			if n > 10_000 {
				op = coord.Put(name.ItemDisabled(n/10_000), nil)
			}
			begin := time.Now()
			commit(b, b.Context(), reg, []coord.Op{op})
			for u := range updates {
				if len(u.Jobs) > 0 && slices.ContainsFunc(u.Jobs, func(i ops.JobInfo) bool { return i.Name == string(name) }) {
					break
				}
			}
			latencies = append(latencies, time.Since(begin))
		}
		spent := processor(b) - cpu
		close(stop)
		commit(b, b.Context(), reg, []coord.Op{coord.Put(crowd.Name(0).ItemDisabled(99), nil)})
		<-ended
		slices.Sort(latencies)
		b.ReportMetric(float64(opened.Milliseconds()), "ms-open")
		b.ReportMetric(float64(latencies[len(latencies)/2].Microseconds())/1e3, "ms-told-p50")
		b.ReportMetric(float64(latencies[len(latencies)*99/100].Microseconds())/1e3, "ms-told-p99")
		b.ReportMetric(float64(spent.Microseconds())/float64(len(latencies)), "cpu-us/change")
		b.ReportMetric(float64(after-before)/1e6, "MB")
	})
}

// inUse is how much memory is in use.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// processor is how much time of the processor this process has had.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
