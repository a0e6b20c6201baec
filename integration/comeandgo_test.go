package integration_test

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// typed returns a job that runners can do, with another name.
func typed(j cluster.Job, name string) cluster.Job {
	j.Name, j.Typed = name, true
	return j
}

// serve starts runners, and one worker that joins the jobs that it is told of.
func (s *stage) serve(plain string, runners ...string) *cluster.Worker {
	s.Helper()
	s.startAs(cluster.Options{Runner: true}, runners...)
	return s.startAs(cluster.Options{}, plain)[0]
}

// refused waits until a worker is told that a job was removed.
func (s *stage) refused(mark cluster.Mark, w *cluster.Worker, job string) {
	s.Helper()
	s.await(mark, "a refusal", match(of(history.Refused)).by(w.Name).in(job))
}

// in matches events of a job.
func (m match) in(job string) match {
	return func(e history.Event) bool { return e.Job == job && m(e) }
}

// leads returns the worker that leads a job; nil if none does.
func (s *stage) leads(job string) *cluster.Worker {
	s.Helper()
	var leader string
	s.must(s.AwaitJob(s.ctx, job, "a look", func(state *jobtree.State) bool {
		if state.Leader != nil {
			leader = state.Leader.ID
		}
		return true
	}))
	for _, w := range s.Workers() {
		if strings.HasPrefix(leader, w.Address+"@-@") {
			return w
		}
	}
	return nil
}

// An operator creates, changes and removes jobs. Runners serve them, and a worker that was told to
// join them; one is killed, one is cut off, and one comes meanwhile. What was removed while it ran
// stays removed, although the worker goes on trying to start it, until it is created again.
func comeAndGo(s *stage) {
	first, second, third := typed(busy, busy.Name), typed(quick, "second"), typed(quick, "third")
	o := s.hire(calmly)
	plain := s.serve("w1", "w2", "w3", "w4")
	s.must(o.Create(s.ctx, first))
	s.must(o.Create(s.ctx, second))
	s.settled()
	s.covered()
	second.Items, second.Failover = 4, false
	s.must(o.Update(s.ctx, second))

	s.atWork(1)
	mark := s.Mark()
	s.must(o.Remove(s.ctx, first.Name))
	s.must(s.AwaitGone(s.ctx, first.Name))
	s.must(plain.Join(first))
	s.refused(mark, plain, first.Name)
	s.settled()
	s.covered() // the other job goes on
	s.must(s.AwaitGone(s.ctx, first.Name))

	away := s.worker("w2.1")
	s.must(away.Break(cluster.BlackHole))
	s.must(o.Create(s.ctx, first))
	s.must(o.Create(s.ctx, third))
	s.cutShort(s.next(first.Name, 1), func(dead *cluster.Worker) {
		s.kill(dead)
		s.startAs(cluster.Options{Runner: dead != plain}, "w5")
	}, func(string) {})
	s.must(o.Remove(s.ctx, second.Name)) // whoever is cut off does not know
	s.must(s.AwaitGone(s.ctx, second.Name))
	away.Mend()
	s.settled()
	s.covered()
	s.sound()
}

// A job expires after some ticks, and its leader removes it. The runner of its last tick is killed; another
// time, when it has so many items that it goes in parts, the leader is killed in the middle of that. Each
// time all ticks are run first, and nothing is left; and what had to join it is refused.
func expires(s *stage) {
	const ticks = 3
	lasting := typed(quick, "lasting")
	brief := typed(cluster.Job{Every: time.Second, Items: 4, Failover: true, Ticks: ticks, Work: []time.Duration{300 * time.Millisecond, 600 * time.Millisecond}}, "brief")
	wide := brief
	wide.Name, wide.Items, wide.Work = "wide", 60, nil
	o := s.hire(calmly)
	plain := s.serve("w1", "w2", "w3", "w4")
	s.must(o.Create(s.ctx, lasting))
	s.settled()
	for n, j := range []cluster.Job{brief, wide} {
		mark := s.Mark()
		s.must(o.Create(s.ctx, j))
		in := s.await(mark, "its schedule", match(of(history.Scheduled)).in(j.Name))
		end := in.Tick.Truncate(j.Every).Add(ticks * j.Every)
		last := s.await(mark, "its last tick", func(e history.Event) bool {
			return e.Kind == history.Start && e.Job == j.Name && e.Item == 1 && !e.Tick.Before(end)
		})
		victim := s.worker(last.Process)
		if j.Name == wide.Name {
			leader := s.leads(j.Name)
			s.must(s.AwaitJob(s.ctx, j.Name, "items to go", func(state *jobtree.State) bool { return len(state.Items) < j.Items }))
			if victim = leader; victim == nil { // nobody leads at this moment
				victim = s.worker(last.Process)
			}
		}
		s.must(victim.Kill())
		next := s.startAs(cluster.Options{Runner: victim != plain}, []string{"w5", "w6"}[n])[0]
		if victim == plain {
			plain = next
		}
		s.must(s.AwaitGone(s.ctx, j.Name))
		s.must(plain.Join(j))
		s.refused(mark, plain, j.Name)
	}
	s.settled()
	s.covered()
	s.sound()
}

// managed has an operator create, change and remove jobs at random, and all else that he can, while
// runners, and workers that join by command, are killed, stopped and cut off, and his own answers get
// lost.
func managed(seed uint64) func(*stage) {
	return func(s *stage) { s.managed(seed) }
}

func (s *stage) managed(seed uint64) {
	s.Helper()
	stays, comes := typed(quick, "stays"), []cluster.Job{typed(busy, "busy"), typed(quick, "quick"), typed(quick, "plain")}
	comes[0].Work = []time.Duration{20 * time.Millisecond, 700 * time.Millisecond}
	comes[2].Failover, comes[2].NoMisfire = false, true
	o := s.hire(hastily)
	var addresses []string
	for _, w := range s.startAs(cluster.Options{Runner: true}, "w1", "w2", "w3") {
		addresses = append(addresses, w.Address)
	}
	addresses = append(addresses, s.startAs(cluster.Options{}, "w4")[0].Address)
	s.must(o.Create(s.ctx, stays))
	steering := cluster.NewSteering(o, seed, comes, addresses)
	s.must(steering.Rest(s.ctx))
	s.settled()
	r := rand.New(rand.NewPCG(seed, 14))
	m := newMishaps(s, r, 5)
	for n := range max(30, steeredTimes()/2) {
		s.act(steering)
		s.last(time.Duration(r.Int64N(int64(200 * time.Millisecond))))
		if n%6 != 5 {
			continue
		}
		o.Mend()
		m.as.Runner = r.IntN(3) > 0
		switch kind := r.IntN(6); kind {
		case 4:
			s.must(o.Break([]string{cluster.DropAnswers, cluster.Slow}[r.IntN(2)]))
		case 5:
			m.heal()
		default:
			m.strike(m.any(), kind)
		}
	}
	m.heal()
	o.Mend()
	s.must(steering.Rest(s.ctx))
	s.settled()
	s.covered()
	s.sound()
	s.Logf("seed %d: %v, %d refused", seed, steering.Done, steering.Refused)
}
