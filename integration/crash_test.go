package integration_test

import (
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// busy has every other item at work most of the time.
var busy = cluster.Job{
	Name: "j1", Every: 2 * time.Second, Items: 6, Failover: true,
	Work: []time.Duration{20 * time.Millisecond, 1500 * time.Millisecond},
}

// other has a name that begins with that of busy, and nothing to do with it.
var other = cluster.Job{Name: "j10", Every: time.Second, Items: 2, Failover: true}

// atWork returns the worker that has just begun a long item of busy.
func (s *stage) atWork(item int) *cluster.Worker {
	s.Helper()
	e := s.await(s.Mark(), "an item to start", starts(busy.Name, item))
	return s.worker(e.Process)
}

// A worker is killed when some of its items have finished and others have not. Only those
// that have not are run again.
func killWorker(s *stage) {
	s.add(busy)
	s.add(other)
	s.start("w1", "w2", "w3")
	s.covered()
	s.cutShort(s.next(busy.Name, 1), s.kill, s.replace)
	s.settled()
	s.covered()
}

// The leader is killed while it works. The next leader knows only what is in the tree.
func killLeader(s *stage) {
	s.add(busy)
	s.start("w1", "w2", "w3")
	s.covered()
	s.atWork(1)
	leader := s.leader(busy.Name) // which may not have run anything, if all sessions have just been lost
	s.must(leader.Kill())
	s.must(s.AwaitJob(s.ctx, busy.Name, "another leader", func(state *jobtree.State) bool {
		return state.Leader != nil && jobtree.InstanceIP(state.Leader.ID) != leader.Address
	}))
	s.settled()
	s.covered()
}

// The worker that has taken an item over is killed too, and so is the next one.
func killTaker(s *stage) {
	s.add(busy)
	s.start("w1", "w2", "w3", "w4")
	s.covered()
	for {
		first, taken := s.cutShort(s.next(busy.Name, 1), s.kill, s.replace)
		s.kill(s.worker(taken.Process))
		if _, over := s.again(taken); !over {
			break
		}
		s.replace(first.Process)
		s.replace(taken.Process)
	}
	s.settled()
	s.covered()
}

// All workers are killed while they work. Two others start at the same time.
func killAll(s *stage) {
	s.add(busy)
	s.start("w1", "w2", "w3")
	s.covered()
	s.cutShort(s.next(busy.Name, 3), func(*cluster.Worker) {
		for _, w := range s.Workers() {
			s.kill(w)
		}
		s.start("w4", "w5")
	}, func(string) {})
	s.settled()
	s.covered()
}

// A tick comes while no worker runs. The next worker makes up for it at once, and only once.
func missedByAll(s *stage) {
	j := cluster.Job{Name: "j1", Every: 6 * time.Second, Items: 4}
	s.add(j)
	s.start("w1", "w2")
	s.covered()
	for _, w := range s.Workers() {
		s.exit(w)
	}
	const tolerance = time.Second // the default of job.Config
	next := time.Now().Truncate(j.Every).Add(j.Every)
	s.last(time.Until(next) + tolerance)
	mark := s.Mark()
	s.start("w3", "w4")
	joined := time.Now()
	for i := range j.Items {
		made := s.await(mark, "the make-up", starts(j.Name, i))
		// On a slow machine one more has come before they had joined. That is missed, too, or just on time.
		isLate := made.Tick.After(next) && made.Tick.Before(joined)
		if made.Source != "MISFIRE" && !isLate || made.Tick.Before(next) {
			s.Errorf("not made up for tick %s: %s", next, &made)
		}
	}
	s.covered()
}

// Without failover, a run that was cut short is not repeated. The next tick of the item runs
// on another worker.
func killWithoutFailover(s *stage) {
	j := busy
	j.Failover = false
	s.add(j)
	s.start("w1", "w2", "w3")
	s.covered()
	w := s.atWork(1)
	mark := s.Mark()
	s.must(w.Kill())
	s.settled()
	s.covered()
	s.none(mark, "a failover", failovers)
}

// A worker is stopped by a signal for longer than its session. Its item is run again
// elsewhere. When the worker goes on, its handlers ignore that their contexts have ended and
// write with an old token. The fenced resource refuses those writes.
func sleeper(s *stage) {
	s.add(cluster.Job{
		Name: "j1", Every: 4 * time.Second, Items: 4, Failover: true, Stubborn: true,
		Work: []time.Duration{3500 * time.Millisecond},
	})
	s.start("w1", "w2", "w3")
	mark := s.Mark()
	first, _ := s.cutShort(s.next("j1", 0), func(w *cluster.Worker) { s.must(w.Pause()) }, func(process string) { s.must(s.worker(process).Resume()) })
	w := s.worker(first.Process)
	s.await(mark, "a write with the new token", func(e history.Event) bool {
		return e.Kind == history.Write && e.Item == 0 && e.Token > first.Token && e.Accepted
	})
	s.must(w.Resume())
	s.await(mark, "the sleeper to be refused", match(func(e history.Event) bool {
		return e.Kind == history.Write && e.Item == 0 && e.Token == first.Token && !e.Accepted
	}).by(w.Name))
	s.settled()
	s.covered()
}
