package etcd_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// BenchmarkViews opens many views of small subtrees, 64 at a time, and reports what each
// costs: B/view and goroutines/view are heap and stacks after a collection, with those of
// the server, which is in the same process. Then it reports how long Sync takes after
// somebody else's commit, for one view and for all at once, how long an event takes, and how
// long the first event takes after the connection broke.
func BenchmarkViews(b *testing.B) {
	for _, views := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(views), func(b *testing.B) {
			for b.Loop() {
				manyViews(b, views)
			}
		})
	}
}

func manyViews(b *testing.B, count int) {
	server := etcdserver.Start(b, etcdserver.Config{})
	link, err := proxy.New(server.Endpoints()[0])
	if err != nil {
		b.Fatal(err)
	}
	defer link.Close()
	dial := func(endpoint string) *etcd.Registry {
		r, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: []string{endpoint}, Namespace: "bench", SessionTimeout: time.Minute})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	r, other := dial(link.Addr()), dial(server.Endpoints()[0])
	defer r.Close(context.Background())
	defer other.Close(context.Background())
	commit := func(ops ...coord.Op) {
		if _, err := other.Commit(b.Context(), ops...); err != nil {
			b.Fatal(err)
		}
	}
	var ops []coord.Op
	for i := range count {
		for _, node := range []string{"config", "leader/sharding/at", "servers/10.0.0.1", "instances/10.0.0.1@1", "sharding/0/instance", "sharding/0/running", "sharding/0/next", "state"} {
			ops = append(ops, coord.Put(fmt.Sprintf("job-%d/%s", i, node), []byte(strings.Repeat("v", 60))))
		}
		if len(ops) > 100 || i == count-1 {
			commit(ops...)
			ops = nil
		}
	}
	bytes, goroutines := inUse()
	views := make([]coord.View, count)
	begin := time.Now()
	each(count, func(i int) {
		var err error
		if views[i], err = r.View(b.Context(), fmt.Sprintf("job-%d", i), coord.AllLevels); err != nil {
			b.Error(err)
		}
	})
	b.ReportMetric(time.Since(begin).Seconds(), "open-s")
	if b.Failed() {
		b.FailNow()
	}
	bytesThen, goroutinesThen := inUse()
	b.ReportMetric(float64(bytesThen-bytes)/float64(count), "B/view")
	b.ReportMetric(float64(goroutinesThen-goroutines)/float64(count), "goroutines/view")

	median := func(what string, do func(i int)) {
		var took []time.Duration
		for i := range 200 {
			begin := time.Now()
			do(i)
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, what)
	}
	sync := func(v coord.View) {
		if err := v.Sync(b.Context()); err != nil {
			b.Error(err)
		}
	}
	median("sync-one-ms", func(i int) {
		commit(coord.Put("job-1/state", nil))
		sync(views[2+i])
	})
	commit(coord.Put("job-1/state", nil))
	begin = time.Now()
	each(count, func(i int) { sync(views[i]) })
	b.ReportMetric(time.Since(begin).Seconds(), "sync-all-s")
	median("event-ms", func(i int) {
		v := views[i*17%count]
		changed := v.Changed()
		commit(coord.Put(fmt.Sprintf("job-%d/state", i*17%count), nil))
		<-changed
	})
	last := views[count-1]
	changed := last.Changed()
	link.Cut()
	link.Heal()
	begin = time.Now()
	commit(coord.Put(fmt.Sprintf("job-%d/state", count-1), nil))
	<-changed
	b.ReportMetric(time.Since(begin).Seconds(), "event-after-a-break-s")
	begin = time.Now()
	for _, v := range views {
		v.Close()
	}
	b.ReportMetric(time.Since(begin).Seconds(), "close-s")
}

// each calls do for all numbers below count, 64 at a time.
func each(count int, do func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range 64 {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	workers.Wait()
}

func inUse() (bytes int64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()
}
