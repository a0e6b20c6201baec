package job_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// wide is a job with many items in a store in memory. Its commits are counted.
type wide struct {
	*benchmarked
	memory             *memory.Store
	total              int
	commits, conflicts atomic.Int64
	schedulers         []*job.Scheduler
	state              *jobtree.State // follows the view: await
	shown              coord.Snapshot // by which state is
}

func newWide(b *testing.B, total int) *wide {
	w := &wide{memory: memory.NewStore(memory.Options{}), total: total}
	b.Cleanup(w.memory.Close)
	view, err := w.dial(b).View(b.Context(), "settle", coord.AllLevels)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(view.Close)
	w.benchmarked = &benchmarked{B: b, view: view, job: "settle"}
	w.state = jobtree.Read(w.shown, w.job)
	return w
}

func (w *wide) dial(b *testing.B) *memory.Registry {
	reg, err := w.memory.Dial(b.Context(), memory.Config{Namespace: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { closeRegistry(b, reg) })
	return reg
}

// join starts an instance that runs up to 100 items at a time.
func (w *wide) join(ip string) {
	nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	cfg := job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: w.total, Failover: true, Threads: 100, ReconcileInterval: -1}
	s, err := job.Schedule(w.Context(), tallied{w.dial(w.B), w}, cfg, nothing, job.WithIP(ip))
	if err != nil {
		w.Fatal(err)
	}
	w.schedulers = append(w.schedulers, s)
}

// shutdown ends all instances, the leader last, so that nobody is elected on the way.
func (w *wide) shutdown() {
	for len(w.schedulers) > 0 {
		last := len(w.schedulers) - 1
		shutdown(w.B, w.schedulers[last])
		w.schedulers = w.schedulers[:last]
	}
}

// await waits for the tree, and reads little of it, so that it is the jobs that are measured.
func (w *wide) await(ok func(*jobtree.State) bool) {
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	for {
		changed := w.view.Changed()
		now := w.view.Snapshot()
		w.state.Follow(now, w.shown, w.job)
		if w.shown = now; ok(w.state) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.Fatal(context.Cause(ctx))
		}
	}
}

func (w *wide) awaitDealt(instances int) {
	w.await(func(s *jobtree.State) bool {
		if len(s.Instances) != instances || len(s.Items) != w.total {
			return false
		}
		for i := len(s.Items) - 1; i >= 0; i-- { // mostly the last ones are assigned last
			if owner := s.Items[i].Owner; owner == nil || s.Instances[owner.ID].Owner == 0 {
				return false
			}
		}
		got := owners(s, w.total)
		return len(got) == instances && len(got[""]) == 0
	})
}

// tallied counts commits, and how many of them conflict.
type tallied struct {
	coord.Registry
	w *wide
}

func (r tallied) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	revision, err := r.Registry.Commit(ctx, ops...)
	r.w.commits.Add(1)
	if err != nil {
		r.w.conflicts.Add(1)
	}
	return revision, err
}

// puppet is an instance that does nothing by itself: its records are written by hand.
type puppet struct {
	*wide
	reg *memory.Registry
	id  string
}

func (w *wide) puppet(ip string) puppet {
	m := puppet{w, w.dial(w.B), jobtree.InstanceID(ip, 1, "c0ffee")}
	document := jobtree.EncodeInstance(m.id, ip, nil)
	m.commit(coord.CreateEphemeral(w.job.Instance(m.id), document), coord.CreateEphemeral(w.job.Session(m.id), []byte("protocol: 2\n")))
	return m
}

func (m puppet) commit(ops ...coord.Op) {
	if _, err := m.reg.Commit(m.Context(), ops...); err != nil {
		m.Fatal(err)
	}
}

// items lists the items that the puppet owns.
func (m puppet) items() []int {
	var list []int
	s := jobtree.Read(m.view.Snapshot(), m.job)
	for i := range s.Items {
		if s.Items[i].Owner.Is(m.id) {
			list = append(list, i)
		}
	}
	return list
}

// begin writes that items run.
func (m puppet) begin(items ...int) {
	var ops []coord.Op
	for _, i := range items {
		ops = append(ops, coord.Put(m.job.Running(i), []byte(m.id)), coord.Put(m.job.Fired(i), jobtree.EncodeFired(time.Now())))
	}
	m.commit(ops...)
}

// usage is what a part of a benchmark has cost this process.
type usage struct {
	b    *testing.B
	at   time.Time
	cpu  time.Duration
	heap runtime.MemStats
}

func newUsage(b *testing.B) *usage {
	u := &usage{b: b}
	runtime.GC()
	runtime.ReadMemStats(&u.heap)
	u.at, u.cpu = time.Now(), cpuTime(b)
	return u
}

// report reports what has been used, for each of n.
func (u *usage) report(n int, per string) {
	took, cpu := time.Since(u.at), cpuTime(u.b)-u.cpu
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	u.b.ReportMetric(float64(took.Microseconds())/float64(n), "µs/"+per)
	u.b.ReportMetric(float64(cpu.Microseconds())/float64(n), "µs-cpu/"+per)
	u.b.ReportMetric(float64(now.Mallocs-u.heap.Mallocs)/float64(n), "allocs/"+per)
	u.b.ReportMetric(float64(now.TotalAlloc-u.heap.TotalAlloc)/float64(n), "B/"+per)
}

// BenchmarkWide measures what jobs with many items cost, store apart.
func BenchmarkWide(b *testing.B) {
	for _, total := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("items=%d", total), func(b *testing.B) {
			b.Run("deal", func(b *testing.B) { benchmarkWideDeal(b, total) })
			b.Run("elsewhere", func(b *testing.B) { benchmarkWideElsewhere(b, total) })
			b.Run("failover", func(b *testing.B) { benchmarkWideFailover(b, total) })
		})
	}
}

// The first deal to one instance, and the second one when another has joined. That one
// follows the tree while the first one assigns.
func benchmarkWideDeal(b *testing.B, total int) {
	for b.Loop() {
		w := newWide(b, total)
		u := newUsage(b)
		w.join("10.0.0.1")
		w.awaitDealt(1)
		w.join("10.0.0.2")
		w.awaitDealt(2)
		u.report(1, "deal")
		b.ReportMetric(float64(w.commits.Load()), "commits")
		w.shutdown()
	}
}

// One percent of the items run elsewhere: what the beginning or the end of one of them costs
// a leader and a follower.
func benchmarkWideElsewhere(b *testing.B, total int) {
	w := newWide(b, total)
	w.join("10.0.0.1")
	w.join("10.0.0.2")
	m := w.puppet("10.0.0.3")
	w.awaitDealt(3)
	items := m.items()
	running := items[:total/100]
	for len(running) > 0 {
		n := min(len(running), 40)
		m.begin(running[:n]...)
		running = running[n:]
	}
	const changes = 1000
	pace := time.NewTicker(time.Millisecond) // the rate of changes, so that each has a pass of its own
	defer pace.Stop()
	u := newUsage(b)
	n := 0
	for b.Loop() {
		for range changes / 2 {
			last := items[n%(total/100)]
			m.commit(coord.DeleteTree(m.job.Running(last)))
			<-pace.C
			m.begin(last)
			<-pace.C
			n++
		}
	}
	u.report(2*n, "change")
	var heap runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&heap)
	b.ReportMetric(float64(heap.HeapInuse)/float64(total), "heap-B/item")
	w.shutdown()
}

// An instance ends while 1,000 items run there, and 10 others run them again.
func benchmarkWideFailover(b *testing.B, total int) {
	const orphans, instances = 1000, 10
	for b.Loop() {
		w := newWide(b, total)
		for i := range instances {
			w.join(fmt.Sprintf("10.0.0.%d", i))
		}
		m := w.puppet("10.0.0.100")
		w.awaitDealt(instances + 1)
		items := m.items()
		items = items[:min(orphans, len(items))]
		for n := 0; n < len(items); n += 40 {
			m.begin(items[n:min(n+40, len(items))]...)
		}
		w.commits.Store(0)
		w.conflicts.Store(0)
		u := newUsage(b)
		closeRegistry(b, m.reg)
		w.await(func(s *jobtree.State) bool {
			for _, i := range items {
				if item := s.Item(i); item.Running != nil || item.Failovering != nil || item.Completed == nil {
					return false
				}
			}
			return true
		})
		u.report(len(items), "orphan")
		b.ReportMetric(float64(w.commits.Load()), "commits")
		b.ReportMetric(float64(w.conflicts.Load()), "conflicts")
		w.awaitDealt(instances)
		w.shutdown()
	}
}
