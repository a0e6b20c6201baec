package integration_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

// The wall clocks of whole processes are set, and 20 s later they are right again: their monotonic
// clocks, and the store's clock, go on as before. Hosts stand still for 40 s. For that package time is
// changed, and with it all that imports it is built: so make test has but one of the scenarios.
func TestWallClocks(t *testing.T) {
	t.Parallel()
	program, err := cluster.BuildStepped(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stores, scenarios := []string{cluster.Etcd, cluster.ZooKeeper}, []scenario{{name: "suspended", play: suspended(program), patient: true}}
	for _, step := range []time.Duration{time.Hour, -time.Hour, 17 * time.Minute} {
		for _, who := range []string{"one", "the leader", "all"} {
			scenarios = append(scenarios, scenario{name: fmt.Sprintf("%s by %v", who, step), play: clocksSet(program, who, step), patient: true})
		}
	}
	if testing.Short() {
		stores, scenarios = stores[:1], scenarios[len(scenarios)-1:]
	}
	var starting sync.Mutex
	for _, kind := range stores {
		t.Run(kind, func(t *testing.T) { playAll(t, &starting, kind, queue(scenarios), slots(atOnce, 0)) })
	}
}

// mostGap is how long an item may have no run because a clock was set, or after its host has stood still.
const mostGap = 10 * time.Second

// clocksSet sets the clocks of some workers for a while. Items run on, or soon again, and the clocks are a fault
// as long as they differ. The history shows that no tick begins twice.
func clocksSet(program, who string, step time.Duration) func(*stage) {
	const aWhile = 20 * time.Second
	return func(s *stage) {
		workers := s.stepped(program)
		switch who {
		case "the leader":
			workers = []*cluster.Worker{s.leader(quick.Name)}
		case "one":
			leader := s.leader(quick.Name)
			workers = slices.DeleteFunc(workers, func(w *cluster.Worker) bool { return w == leader })[:1]
		}
		mark, allowed := s.Mark(), mostGap
		for _, w := range workers {
			s.must(w.SetClock(step))
		}
		s.last(aWhile)
		for _, w := range workers {
			s.await(mark, "a fault of its clock", func(e history.Event) bool {
				return e.Process == w.Name && e.Kind == history.Faulty && e.Name == "clock"
			})
			s.must(w.SetClock(0))
		}
		if step < 0 && who == "all" {
			allowed += aWhile // the time of day came a second time, and its ticks had begun
		}
		s.healed()
		s.last(mostGap)
		s.gaps(mark, allowed)
	}
}

// suspended stops all workers for 40 s, which is longer than their sessions last.
func suspended(program string) func(*stage) {
	return func(s *stage) {
		workers := s.stepped(program)
		for _, w := range workers {
			s.must(w.Pause())
		}
		s.last(40 * time.Second)
		mark := s.Mark()
		for _, w := range workers {
			s.must(w.Resume())
		}
		s.healed()
		s.last(mostGap)
		s.gaps(mark, mostGap)
	}
}

// stepped starts workers whose wall clocks can be set.
func (s *stage) stepped(program string) []*cluster.Worker {
	s.Helper()
	s.add(quick)
	var workers []*cluster.Worker
	for _, name := range []string{"w1", "w2", "w3"} {
		w, err := s.Start(name, cluster.Options{Program: program})
		s.must(err)
		workers = append(workers, w)
	}
	s.settled()
	s.covered()
	s.within(healTime)
	return workers
}

// gaps fails the test for each item that has not run for longer than allowed after a mark. What the machine or
// the store has stood still does not count.
func (s *stage) gaps(mark cluster.Mark, allowed time.Duration) {
	s.Helper()
	begin, end := s.Since(mark)[0].Mono, history.Mono()
	last, longest := map[int]int64{}, map[int]int64{}
	for _, e := range s.Since(mark) {
		switch {
		case e.Kind == history.Stall, e.Kind == history.Slow:
			if e.Call >= begin {
				allowed += time.Duration(e.Mono - e.Call)
			}
		case e.Kind == history.Start && e.Job == quick.Name:
			longest[e.Item] = max(longest[e.Item], e.Mono-max(last[e.Item], begin))
			last[e.Item] = e.Mono
		}
	}
	for item := range quick.Items {
		if gap := time.Duration(max(longest[item], end-max(last[item], begin))); gap > allowed {
			s.Errorf("item %d has not run for %v, %v are allowed", item, gap.Round(time.Millisecond), allowed.Round(time.Millisecond))
		}
	}
}
