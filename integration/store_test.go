package integration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
)

// load is what runs while something is done to the store.
func (s *stage) load() []*cluster.Worker {
	s.Helper()
	s.add(quick)
	workers := s.start("w1", "w2", "w3")
	s.covered()
	return workers
}

// The member that leads is killed, then another one.
func killMember(s *stage) {
	s.load()
	for range 2 {
		leader, err := s.Store().Leader(s.ctx)
		s.must(err)
		heal := s.trouble("leader killed", func() error {
			return s.Store().Kill(leader)
		}, func() error {
			return s.Store().Restart(s.ctx, leader)
		})
		s.covered() // with two of three
		heal()
		s.covered()
	}
	s.settled()
}

// The member that leads is stopped by a signal. When it goes on, it does not know that
// another one leads by then.
func pauseMember(s *stage) {
	s.load()
	leader, err := s.Store().Leader(s.ctx)
	s.must(err)
	heal := s.trouble("leader "+history.StoppedMember, func() error {
		return s.Store().Pause(leader)
	}, func() error {
		return s.Store().Resume(leader)
	})
	s.covered()
	heal()
	s.settled()
	s.covered()
}

// Another member of the store becomes its leader, and no member ends.
func moveLeader(s *stage) {
	s.load()
	for range 2 {
		s.trouble("leader moved", func() error { return s.Store().MoveLeader(s.ctx) }, func() error { return nil })()
		s.covered()
	}
	s.settled()
}

// Two of three members are gone for longer than any session. All contexts end and nothing
// runs. When the members are back, everything goes on by itself.
func majorityLost(s *stage) {
	outage := 30 * time.Second
	if testing.Short() {
		outage = 5 * time.Second
	}
	j := quick
	j.Work = []time.Duration{700 * time.Millisecond}
	s.add(j)
	s.start("w1", "w2", "w3")
	s.covered()
	s.await(s.Mark(), "an item to start", of(history.Start))
	heal := s.trouble("majority lost", func() error {
		return s.Store().Kill(0, 1)
	}, func() error {
		return s.Store().Restart(s.ctx, 0, 1)
	})
	s.last(limits.Session)
	mark := s.Mark() // by now all sessions have ended
	s.last(outage - limits.Session)
	s.none(mark, "started without a store", of(history.Start))
	heal()
	s.settled()
	s.covered()
}

// The whole store is killed and started again, with what it had on disk.
func restartStore(s *stage) {
	s.load()
	heal := s.trouble("store killed", func() error { return s.Store().Kill(0, 1, 2) }, func() error { return s.Store().Restart(s.ctx, 0, 1, 2) })
	heal()
	s.settled()
	s.covered()
}

// The store drops its history and tidies up its files while one worker is cut off. So that
// worker cannot catch up event by event when it comes back.
func forget(s *stage) {
	workers := s.load()
	away := workers[0]
	s.must(away.Break(cluster.BlackHole))
	for range 2 {
		s.trouble("history dropped", func() error { return s.Store().Forget(s.ctx) }, func() error { return nil })()
		s.elapse(quick.Name, 1)
	}
	away.Mend()
	s.settled()
	s.covered()
}

// The store has no space left. Fires fail with an error that says so, and go on by
// themselves when there is space again.
func noSpace(s *stage) {
	s.load()
	heal := s.trouble("no space", func() error { return s.Store().FillUp(s.ctx) }, func() error { return s.Store().Free(s.ctx) })
	failed := s.await(s.Mark(), "a commit to fail", func(e history.Event) bool { return e.Kind == history.Commit && e.Err != "" })
	if !strings.Contains(failed.Err, "space exceeded") {
		s.Errorf("a commit fails without the reason: %s", failed.Err)
	}
	heal()
	s.settled()
	s.covered()
}

// The disk of the member that leads is full: it ends itself, and the others go on.
func diskFull(s *stage) {
	s.load()
	leader, err := s.Store().Leader(s.ctx)
	s.must(err)
	heal := s.trouble("disk full", func() error {
		return s.Store().FillDisk(s.ctx, leader)
	}, func() error {
		return s.Store().Restart(s.ctx, leader)
	})
	s.covered()
	heal()
	s.settled()
	s.covered()
}
