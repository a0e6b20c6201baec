package integration_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// quick has much to do in little time.
var quick = cluster.Job{Name: "j1", Every: time.Second, Items: 6, Failover: true, Work: []time.Duration{200 * time.Millisecond}}

// One clock is five seconds ahead and another one five seconds behind. Ticks come early or
// late, but each of them starts only once.
func wrongClocks(s *stage) {
	s.add(quick)
	for name, offset := range map[string]time.Duration{"w1": 5 * time.Second, "w2": 0, "w3": -5 * time.Second} {
		_, err := s.Start(name, cluster.Options{ClockOffset: offset})
		s.must(err)
	}
	s.settled()
	s.elapse(quick.Name, 4)
	// Its items go to workers whose clocks are behind.
	for _, w := range s.Workers() {
		if w.Name == "w1.1" {
			s.must(w.Kill())
		}
	}
	s.settled()
	s.covered()
}

// All workers are replaced, one after the other. No run is cut short, and none is repeated.
func rollingRestart(s *stage) {
	s.add(quick)
	workers := s.start("w1", "w2", "w3")
	s.covered()
	mark := s.Mark()
	for i, w := range workers {
		s.exit(w)
		s.start(fmt.Sprintf("w%d", i+1))
	}
	s.covered()
	s.undisturbed(mark, "cut short by a restart", of(history.Cut))
	s.undisturbed(mark, "run again after a restart", failovers)
}

// A worker leaves and has no time to finish. The runs that it did not finish are repeated
// once; those that it finished are not.
func shortDrain(s *stage) {
	s.add(busy)
	s.start("w1", "w2", "w3")
	s.covered()
	run, _ := s.cutShort(s.next(busy.Name, 1), func(w *cluster.Worker) {
		s.must(w.Exit(100 * time.Millisecond))
		s.must(w.Wait(s.ctx))
	}, s.replace)
	s.await(0, "the context to end", func(e history.Event) bool { return e.Kind == history.Cut && e.Task == run.Task })
	s.settled()
	s.covered()
}

// The configuration changes under load: the schedule, the number of items up and down,
// failover off and on.
func reconfigure(s *stage) {
	s.add(quick)
	workers := s.start("w1", "w2", "w3")
	s.covered()
	for _, change := range []func(*cluster.Job){
		func(j *cluster.Job) { j.Items = 9 },
		func(j *cluster.Job) { j.Every = 2 * time.Second },
		func(j *cluster.Job) { j.Items = 3 },
		func(j *cluster.Job) { j.Failover = false },
		func(j *cluster.Job) { j.Every, j.Items, j.Failover = time.Second, 5, true },
	} {
		j := quick
		change(&j)
		s.must(s.Reconfigure(s.ctx, j))
		s.settled()
		s.covered()
	}
	mark := s.Mark()
	started := s.await(mark, "an item to start", func(e history.Event) bool { return e.Kind == history.Start && e.Process != workers[0].Name })
	s.must(s.worker(started.Process).Kill())
	s.settled()
	s.covered()
}

// A job is removed while it runs: all stop, and nobody writes a node of it again. Then it
// is created anew.
func removeAndCreate(s *stage) {
	s.add(busy)
	s.add(other)
	workers := s.start("w1", "w2", "w3")
	for range 2 {
		s.atWork(1)
		mark := s.Mark()
		s.must(s.Remove(s.ctx, busy.Name))
		s.awaitCount(mark, "all to stop", len(workers), func(e history.Event) bool {
			return e.Kind == history.Left && e.Job == busy.Name
		})
		s.must(s.AwaitTree(s.ctx, "nothing to be left", func(tree coord.Snapshot) bool {
			for n := range tree.All(busy.Name) {
				return n.Path == ""
			}
			return true
		}))
		s.elapse(other.Name, 1) // the other job goes on
		s.add(busy)
		s.settled()
		s.covered()
	}
}

// 200 times somebody joins and leaves a job, while one stays; 100 times with -short.
func joinsAndLeaves(s *stage) {
	j := quick
	j.Work = []time.Duration{20 * time.Millisecond}
	s.add(j)
	workers := s.start("w1", "w2", "w3")
	rounds := 100
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		mark := s.Mark()
		for _, w := range workers[1:] {
			s.must(w.Leave(j.Name, drain))
			s.must(w.Join(j))
		}
		s.awaitCount(mark, "joins", len(workers)-1, of(history.Joined))
	}
	s.settled()
	s.covered()
	s.undisturbed(0, "cut short by a join or leave", of(history.Cut))
	s.undisturbed(0, "run again after a leave", failovers)
}

// A server or item that an operator disabled stays disabled when workers restart. Nobody
// makes up for the ticks that pass meanwhile.
func disabled(s *stage) {
	s.add(quick)
	workers := s.start("w1", "w2", "w3")
	s.covered()
	off := workers[2]
	s.must(s.SwitchServer(s.ctx, quick.Name, off.Address, false))
	s.must(s.SwitchItem(s.ctx, quick.Name, 1, false))
	s.must(s.AwaitJob(s.ctx, quick.Name, "nothing on the disabled server", func(state *jobtree.State) bool {
		for _, item := range state.Items {
			if item.Owner != nil && state.Instances[item.Owner.ID].IP == off.Address {
				return false
			}
		}
		return true
	}))
	s.exit(off)
	s.start("w3")
	for _, w := range workers[:2] {
		s.exit(w)
	}
	s.start("w1", "w2")
	s.elapse(quick.Name, 2)
	mark, enabled := s.Mark(), time.Now()
	s.must(s.SwitchServer(s.ctx, quick.Name, off.Address, true))
	s.must(s.SwitchItem(s.ctx, quick.Name, 1, true))
	s.await(mark, "the enabled item", starts(quick.Name, 1))
	s.await(mark, "the enabled server", match(of(history.Start)).by("w3.2"))
	s.none(mark, "made up for a time when it was disabled", func(e history.Event) bool {
		return e.Kind == history.Start && e.Item == 1 && e.Tick.Before(enabled.Add(-2*quick.Every))
	})
}

// One item takes much longer than the others. The other items run on time, and a new worker
// gets idle items at once. The long item stays where it runs. When it ends, one run makes up
// for all ticks that it missed.
func longItem(s *stage) {
	j := cluster.Job{Name: "j1", Every: time.Second, Items: 6, Failover: true, Work: []time.Duration{
		10 * time.Second, 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond,
	}}
	s.add(j)
	w := s.start("w1", "w2", "w3")[2]
	mark := s.Mark()
	s.must(w.Leave(j.Name, drain))
	s.await(mark, "the newcomer to leave", match(of(history.Left)).by(w.Name))
	mark = s.Mark()
	long := s.await(mark, "the long item", starts(j.Name, 0))
	s.must(w.Join(j))
	moved := s.await(mark, "an idle item to start at the newcomer", match(of(history.Start)).by(w.Name))
	end := s.await(mark, "the end of the long item", func(e history.Event) bool { return e.Kind == history.End && e.Task == long.Task })
	if s.stoodStill(mark) > 0 {
		return // the long item may have lost its session
	}
	if moved.Mono > end.Mono {
		s.Errorf("the newcomer had to wait for the long item")
	}
	if end.Outcome != history.Done {
		s.Errorf("the long item: %s", &end)
	}
	s.await(mark, "the make-up", starts(j.Name, 0).as("MISFIRE"))
}

// A one-off job runs when it is triggered, and a trigger that comes while it runs waits.
func triggers(s *stage) {
	j := cluster.Job{Name: "j1", Items: 3, Failover: true, Work: []time.Duration{time.Second}}
	s.add(j)
	workers := s.start("w1", "w2")
	mark := s.Mark()
	s.must(workers[0].Trigger(j.Name))
	s.awaitCount(mark, "all items", j.Items, of(history.Start))
	// These triggers come while all items run: they become one trigger.
	s.must(workers[1].Trigger(j.Name))
	s.must(workers[0].Trigger(j.Name))
	s.awaitCount(mark, "all items once more", 2*j.Items, of(history.Start))
	s.awaitCount(mark, "the end of all", 2*j.Items, of(history.End))
	// A run that was triggered is like any other when its worker is killed.
	s.cutShort(func() history.Event {
		mark := s.Mark()
		s.must(s.Workers()[0].Trigger(j.Name))
		return s.await(mark, "an item to start", starts(j.Name, 0))
	}, s.kill, s.replace)
	s.settled()
}
