package doctor_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Examine of a namespace with 10,000 jobs of 3 items and an instance, which are well: 16 nodes each.
// peak-MB is by how much the heap of the process grew meanwhile.
func BenchmarkExamine(b *testing.B) {
	const jobs = 10_000
	b.Run("etcd", func(b *testing.B) {
		server, err := etcdserver.Run(b.Context(), etcdserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer server.Stop()
		reg, err := etcd.Dial(b.Context(), etcd.Config{Endpoints: []string{strings.TrimPrefix(server.Endpoints()[0], "http://")}, Namespace: "bench", SessionTimeout: time.Minute})
		benchmark(b, reg, err, jobs)
	})
	b.Run("zookeeper", func(b *testing.B) {
		zkserver.Require(b)
		server, err := zkserver.Run(b.Context(), zkserver.Config{Optimize: true})
		if err != nil {
			b.Fatal(err)
		}
		defer server.Close()
		reg, err := zk.Dial(b.Context(), zk.Config{Servers: []string{server.Addr()}, Namespace: "bench", SessionTimeout: time.Minute})
		benchmark(b, reg, err, jobs)
	})
}

func benchmark(b *testing.B, reg coord.Registry, err error, jobs int) {
	if err != nil {
		b.Fatal(err)
	}
	defer reg.Close(b.Context())
	fill(b, reg, jobs)
	for b.Loop() {
		end := make(chan struct{})
		var watching sync.WaitGroup
		var peak uint64
		watching.Go(func() { peak = peakOfHeap(end) })
		report, err := doctor.Examine(b.Context(), reg, doctor.Options{})
		close(end)
		watching.Wait()
		if err != nil || report.Jobs != jobs || report.Worst() > doctor.Warning || report.Looks > 1 {
			b.Fatalf("%d jobs, %d looks, %d findings such as %v, %v", report.Jobs, report.Looks, len(report.Findings), report.Findings[:min(len(report.Findings), 3)], err)
		}
		b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
	}
}

// peakOfHeap returns how much the heap has grown at most until end.
func peakOfHeap(end <-chan struct{}) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-end:
			return most - before
		case <-ticker.C:
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
}

// fill writes the trees of jobs, as an instance writes them that is well.
func fill(b *testing.B, reg coord.Registry, jobs int) {
	id := jobtree.InstanceID("10.0.0.1", 1, "x")
	instance := jobtree.EncodeInstance(id, "10.0.0.1", nil)
	since := time.Now().Add(-time.Hour)
	schedule, err := jobtree.EncodeSchedule(jobtree.ScheduleDocument{Cron: "0 0 0 1 1 ?", TimeZone: "UTC", Misfire: true, Since: since})
	if err != nil {
		b.Fatal(err)
	}
	names := make(chan string)
	var writing sync.WaitGroup
	for range 64 {
		writing.Go(func() {
			for name := range names {
				j := jobtree.Job(name)
				config, err := job.Config{Name: name, Cron: "0 0 0 1 1 ?", TimeZone: "UTC", ShardingTotalCount: 3}.Encode(nil)
				if err != nil {
					b.Error(err)
				}
				ops := []coord.Op{
					coord.Put(j.Root(), []byte(name)), coord.Put(j.Config(), config), coord.Put(j.Schedule(), schedule), coord.Put(j.Server("10.0.0.1"), []byte(jobtree.Enabled)),
					coord.CreateEphemeral(j.Instance(id), instance), coord.CreateEphemeral(j.Session(id), jobtree.EncodeSession(jobtree.SessionDocument{Protocol: jobtree.Protocol})),
					coord.CreateEphemeral(j.LeaderInstance(), []byte(id)),
				}
				for i := range 3 {
					ops = append(ops, coord.Put(j.ItemInstance(i), []byte(id)), coord.Put(j.Fired(i), jobtree.EncodeFired(since)),
						coord.Put(j.Completion(i), jobtree.EncodeCompletion(jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK, TaskID: "x", Ended: since})))
				}
				if _, err := reg.Commit(b.Context(), ops...); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range jobs {
		names <- fmt.Sprintf("job-%05d", i)
	}
	close(names)
	writing.Wait()
}
