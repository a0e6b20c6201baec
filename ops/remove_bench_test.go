package ops_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// How long it takes to remove a job of 100,000 items, with three nodes each, and with how many
// commits:
//
//	go test ./ops -run - -bench RemoveWide -benchtime 1x
func BenchmarkRemoveWide(b *testing.B) {
	const items = 100_000
	remove := func(b *testing.B, reg coord.Registry) {
		counted := &wired{Registry: reg}
		commits := 0
		counted.answer = func(commit func() (int64, error)) (int64, error) { commits++; return commit() }
		for range b.N {
			b.StopTimer()
			name := jobtree.Job("wide")
			if err := ops.New(reg).Create(b.Context(), ops.CreateRequest{Config: job.Config{Name: "wide", ShardingTotalCount: items}}); err != nil {
				b.Fatal(err)
			}
			var some []coord.Op
			for i := range items {
				some = append(some, coord.Put(name.ItemInstance(i), []byte("10.0.0.1@-@1-0")), coord.Put(name.Fired(i), nil), coord.Put(name.Completion(i), []byte("out: OK\n")))
				if len(some)+3 > coord.MaxOps || i == items-1 {
					if _, err := reg.Commit(b.Context(), some...); err != nil {
						b.Fatal(err)
					}
					some = nil
				}
			}
			b.StartTimer()
			if err := ops.New(counted).Job("wide").Remove(b.Context(), ops.RemoveRequest{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(commits)/float64(b.N), "commits/op")
	}
	b.Run("memory", func(b *testing.B) {
		s := memory.NewStore(memory.Options{})
		defer s.Close()
		reg, err := s.Dial(b.Context(), memory.Config{Namespace: "ops"})
		if err != nil {
			b.Fatal(err)
		}
		remove(b, reg)
	})
	b.Run("etcd", func(b *testing.B) {
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
		remove(b, reg)
	})
	b.Run("zookeeper", func(b *testing.B) {
		zkserver.Require(b)
		s, err := zkserver.Run(b.Context(), zkserver.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		reg, err := zk.Dial(b.Context(), zk.Config{Servers: []string{s.Addr()}, Namespace: "ops"})
		if err != nil {
			b.Fatal(err)
		}
		defer closes(b, reg)
		remove(b, reg)
	})
}

func closes(b *testing.B, reg coord.Registry) {
	if err := reg.Close(b.Context()); err != nil {
		b.Log(err)
	}
}
