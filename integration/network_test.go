package integration_test

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// isolated breaks a worker's links while it works, for longer than its session, and mends
// them. The worker's handlers must stop before their items start elsewhere.
func isolated(fault string) func(*stage) {
	return func(s *stage) {
		j := busy
		j.Every, j.Work = 4*time.Second, []time.Duration{20 * time.Millisecond, 3 * time.Second}
		s.add(j)
		s.add(other)
		s.start("w1", "w2", "w3")
		run, _ := s.cutShort(s.next(j.Name, 1), func(w *cluster.Worker) { s.must(w.Break(fault)) }, s.mend)
		s.await(0, "the context to end", func(e history.Event) bool { return e.Kind == history.Cut && e.Task == run.Task })
		s.mend(run.Process)
		s.settled()
		s.covered()
	}
}

// A slow link costs time, and nothing else.
func slowLink(s *stage) {
	s.add(busy)
	s.add(other)
	workers := s.start("w1", "w2", "w3")
	mark := s.Mark()
	s.must(workers[0].Break(cluster.Slow))
	s.elapse(busy.Name, 3)
	s.undisturbed(mark, "stopped on a slow link", of(history.Cut))
	workers[0].Mend()
	s.settled()
	s.covered()
}

// Links that come back before the session ends change nothing: the instance keeps its id,
// its handlers go on, and its server stays enabled.
func shortCut(s *stage) {
	j := busy
	j.Every, j.Work = 3*time.Second, []time.Duration{2 * time.Second}
	s.add(j)
	s.start("w1", "w2", "w3")
	instances := func() (ids []string) {
		s.must(s.AwaitTree(s.ctx, "a look", func(tree coord.Snapshot) bool {
			ids = tree.Children(coord.Parent(jobtree.Job(j.Name).Instance("any")))
			return true
		}))
		return ids
	}
	before := instances()
	mark := s.Mark()
	for range 2 {
		started := s.await(s.Mark(), "an item to start", starts(j.Name, 1))
		w := s.worker(started.Process)
		s.must(w.Break(cluster.CutOff))
		s.last(300 * time.Millisecond)
		w.Mend()
		s.await(mark, "the end of the item", func(e history.Event) bool { return e.Kind == history.End && e.Task == started.Task })
	}
	s.covered()
	s.undisturbed(mark, "a failover after a short cut", failovers)
	s.undisturbed(mark, "stopped by a short cut", of(history.Cut))
	if after := instances(); !slices.Equal(after, before) && s.stoodStill(mark) == 0 {
		s.Errorf("instances were %v and are %v", before, after)
	}
}
