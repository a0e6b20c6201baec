package integration_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

// healTime is how long a scenario of silence waits until all is well again. It only ends a test
// that would wait for ever: the history tells what took too long, and knows when the store was
// slow. A machine that stands still for some seconds, twice, costs more than a minute: each time
// a session is lost, and a fault that has come back is over only after half a minute of peace.
const healTime = 3 * time.Minute

// healed waits until all items run again and no scheduler reports a fault.
func (s *stage) healed() {
	s.Helper()
	s.settled()
	s.covered()
	s.sound()
}

// The store is put back to where it was some seconds before, as from a backup, while all
// workers go on. They and a new worker run what is due.
func rollback(s *stage) {
	workers := s.load()
	s.must(s.Save())
	s.within(healTime)
	s.exit(workers[2])
	s.start("w3") // it is not in the backup
	s.elapse(quick.Name, 2)
	s.must(s.PutBack(s.ctx))
	s.healed()
	s.start("w4")
	s.covered()
}

// The store is replaced by an empty one while all workers go on.
func wipe(s *stage) {
	s.load()
	s.within(healTime)
	s.must(s.Wipe(s.ctx))
	s.healed()
	s.start("w4")
	s.covered()
}

// Somebody writes or removes nodes that only instances may write. There is one job for each
// kind of such nodes. What is due runs while the nodes are there, and after they are gone.
func garbageNodes(s *stage) {
	names := cluster.Tamperings()
	for i := range names {
		s.add(cluster.Job{Name: fmt.Sprintf("g%d", i), Every: time.Second, Items: 2, Failover: true})
	}
	s.start("w1", "w2")
	s.covered()
	s.within(healTime)
	var mends []func(context.Context) error
	for i, name := range names {
		mend, can, err := s.Tamper(s.ctx, name, fmt.Sprintf("g%d", i), i%2)
		s.must(err)
		mends = append(mends, mend)
		if !can {
			s.Logf("%s cannot hold %s", s.Store().Kind(), name)
		}
	}
	if err := s.Covered(s.ctx); err != nil {
		s.Errorf("while it is there: %v; they are %q", err, names)
	}
	// A new worker must get its items, and what a killed one had begun must be run again.
	s.ctx = s.Context()
	s.within(healTime)
	s.must(s.Workers()[1].Kill())
	_, err := s.Start("w3", cluster.Options{})
	s.must(err)
	if err := s.Covered(s.ctx); err != nil {
		s.Errorf("while it is there, after a crash: %v", err)
	}
	s.ctx = s.Context()
	s.within(healTime)
	for _, mend := range mends {
		s.must(mend(s.ctx))
	}
	s.healed()
}

// An operator writes configurations that the leader refuses and the other worker accepts.
// The leader gives up the lead, and the other worker runs the new items too.
func refusedConfig(s *stage) {
	const newOne = "NEW_ONE"
	other := cluster.Job{Name: "j10", Every: time.Second, Items: 2, Failover: true}
	s.add(quick)
	s.add(other)
	s.start("w1")
	s.covered()
	_, err := s.Start("w2", cluster.Options{Knows: newOne})
	s.must(err)
	s.settled()
	s.within(healTime)
	mark := s.Mark()
	changed, changedOther := quick, other
	changed.Strategy, changed.Items = newOne, quick.Items+2
	changedOther.ErrorHandler, changedOther.Items = newOne, other.Items+2
	s.must(s.Reconfigure(s.ctx, changed))
	s.must(s.Reconfigure(s.ctx, changedOther))
	s.covered()
	for _, j := range []cluster.Job{quick, other} {
		s.await(mark, "a fault of "+j.Name, func(e history.Event) bool {
			return e.Kind == history.Faulty && e.Job == j.Name && e.Process == "w1.1"
		})
	}
	s.must(s.Reconfigure(s.ctx, quick))
	s.must(s.Reconfigure(s.ctx, other))
	s.healed()
}

// Both threads of a worker hang, and it reports that. A new worker runs the items that it is
// assigned. When the server of the first one is disabled, it runs all items but those that hang.
func hungHandlers(s *stage) {
	j := quick
	j.Items, j.Threads, j.Work = 8, 2, nil
	s.add(j)
	hung := s.start("w1")[0]
	s.covered()
	s.within(healTime)
	mark := s.Mark()
	s.must(hung.Hang(true))
	s.last(3 * j.Every)
	second, err := s.Start("w2", cluster.Options{})
	s.must(err)
	runs := func(n int) {
		s.Helper()
		items := map[int]bool{}
		s.must(s.AwaitAll(s.ctx, mark, fmt.Sprintf("%d items to run", n), func(more []history.Event) bool {
			for _, e := range more {
				if e.Kind == history.Start && e.Process == second.Name {
					items[e.Item] = true
				}
			}
			return len(items) >= n
		}))
	}
	runs(j.Items/2 - j.Threads) // the items that hang may be in its half
	s.await(mark, "a fault of whoever hangs", of(history.Faulty).by(hung.Name))
	s.must(s.SwitchServer(s.ctx, j.Name, hung.Address, false))
	runs(j.Items - j.Threads)
	s.must(hung.Hang(false))
	s.must(s.SwitchServer(s.ctx, j.Name, hung.Address, true))
	s.healed()
}

// The workers lose the permission to write for longer than a session. They report that, and
// go on when they have it again.
func revoked(s *stage) {
	s.load()
	s.within(healTime)
	mark := s.Mark()
	grant, err := s.Revoke(s.ctx, quick.Name)
	s.heals = append(s.heals, func() error { return grant(s.TB.Context()) })
	s.must(err)
	s.await(mark, "a fault", of(history.Faulty))
	if !testing.Short() {
		s.last(30 * time.Second)
	}
	s.must(grant(s.ctx))
	s.healed()
}

// A worker whose clock is a year ahead sets the job up. Later the clock of another worker is
// a year ahead for some seconds. When the clocks are right again, all run what is due at once.
func clockYearAhead(s *stage) {
	const year = 365 * 24 * time.Hour
	s.add(quick)
	first, err := s.Start("w1", cluster.Options{ClockOffset: year})
	s.must(err)
	s.settled()
	s.within(healTime)
	s.must(first.SetClock(0))
	s.covered()
	second := s.start("w2")[0]
	s.covered()
	mark := s.Mark()
	s.must(second.SetClock(year))
	s.await(mark, "a run by the wrong clock or a fault", func(e history.Event) bool {
		return e.Process == second.Name && (e.Kind == history.Faulty || e.Kind == history.Start && e.Tick.Sub(e.Wall) > time.Hour)
	})
	s.last(3 * time.Second)
	s.must(second.SetClock(0))
	s.healed()
}
