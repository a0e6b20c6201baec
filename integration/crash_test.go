package integration_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

func TestScenarios(t *testing.T) {
	for _, kind := range []string{cluster.Etcd, cluster.ZooKeeper} {
		t.Run(kind, func(t *testing.T) {
			store := startStore(t, kind)
			t.Run("KillWorker", func(t *testing.T) { play(t, store, killWorker) })
		})
	}
}

// A worker is killed when some of its items have finished and others have not: the
// latter, and only they, are run again.
func killWorker(s *stage) {
	s.add(cluster.Job{
		Name: "j1", Every: 2 * time.Second, Items: 6, Failover: true,
		Work: []time.Duration{20 * time.Millisecond, 1500 * time.Millisecond},
	})
	s.start("w1", "w2", "w3")
	s.try(s.Covered(s.ctx))
	mark := s.Mark()
	long := s.await(mark, "a long item", func(e history.Event) bool { return e.Kind == history.Start && e.Item == 1 })
	for _, w := range s.Workers() {
		if w.Name == long.Process {
			s.try(w.Kill())
		}
	}
	s.await(mark, "the failover", func(e history.Event) bool {
		return e.Kind == history.Start && e.Source == "FAILOVER" && e.Item == 1
	})
	s.try(s.Settled(s.ctx))
	s.try(s.Covered(s.ctx))
}
