package integration_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// told is a job whose ticks a once-listener is told of.
var told = cluster.Job{
	Name: "told", Every: 2 * time.Second, Items: 5, Failover: true, Tell: 700 * time.Millisecond,
	Work: []time.Duration{20 * time.Millisecond, 400 * time.Millisecond},
}

// calls matches calls of a once-listener of a job.
func calls(job, name string) match {
	return func(e history.Event) bool { return e.Kind == history.Called && e.Job == job && e.Name == name }
}

// of matches events about a tick.
func (m match) of(tick time.Time) match {
	return func(e history.Event) bool { return e.Tick.Equal(tick) && m(e) }
}

func (m match) again() match {
	return func(e history.Event) bool { return e.Again && m(e) }
}

// startAs starts workers with options.
func (s *stage) startAs(o cluster.Options, names ...string) []*cluster.Worker {
	s.Helper()
	var workers []*cluster.Worker
	for _, name := range names {
		w, err := s.Start(name, o)
		s.must(err)
		workers = append(workers, w)
	}
	return workers
}

// hush pauses jobs, and waits until nobody is to be told of any tick any more.
func (s *stage) hush(jobs ...cluster.Job) {
	s.Helper()
	o := s.hire(calmly)
	for _, j := range jobs {
		s.must(o.Hold(s.ctx, j.Name, false))
	}
	for _, j := range jobs {
		s.must(s.AwaitJob(s.ctx, j.Name, "no tick to be told of", func(state *jobtree.State) bool { return len(state.Guarantees) == 0 }))
	}
}

// interrupt does something to the caller of a once-listener until that is called again. On a slow
// machine the call may be over before that; then it is the next call.
func (s *stage) interrupt(name string, trouble func(*cluster.Worker), heal func(*cluster.Worker)) {
	s.Helper()
	for {
		mark := s.Mark()
		e := s.await(mark, "a call of "+name, calls(told.Name, name))
		w := s.worker(e.Process)
		trouble(w)
		s.must(s.AwaitJob(s.ctx, told.Name, "the listener to be told of the tick", func(state *jobtree.State) bool {
			return state.Guarantee(e.Tick) == nil
		}))
		interrupted := count(s.Since(mark), calls(told.Name, name).of(e.Tick).again()) > 0
		heal(w)
		s.settled()
		if interrupted {
			return
		}
	}
}

// A once-listener is told of ticks, while its callers are killed, stopped by a signal, cut off and
// shut down in the middle of calls, and those who run members are killed; and all of them.
func onceListeners(s *stage) {
	s.add(told)
	s.start("w1", "w2", "w3")
	s.covered()
	kill := func(w *cluster.Worker) { s.must(w.Kill()) }
	for _, name := range []string{"Started", "Completed"} {
		s.interrupt(name, kill, func(*cluster.Worker) { s.startAs(cluster.Options{}, "w1") })
	}
	s.interrupt("Started", func(w *cluster.Worker) { s.must(w.Break(cluster.BlackHole)) }, (*cluster.Worker).Mend)
	s.interrupt("Completed", func(w *cluster.Worker) { s.must(w.Pause()) }, func(w *cluster.Worker) { s.must(w.Resume()) })

	member := s.await(s.Mark(), "a member", starts(told.Name, 1).as("NORMAL_TRIGGER"))
	kill(s.worker(member.Process))
	s.await(0, "the end of its tick", calls(told.Name, "Completed").of(member.Tick))

	leaving := s.await(s.Mark(), "a call", calls(told.Name, "Started"))
	s.exit(s.worker(leaving.Process))
	s.await(0, "the end of its tick", calls(told.Name, "Completed").of(leaving.Tick))

	last := s.await(s.Mark(), "a call", calls(told.Name, "Started"))
	for _, w := range s.Workers() {
		kill(w)
	}
	s.start("w4", "w5")
	s.await(0, "the end of its tick", calls(told.Name, "Completed").of(last.Tick))
	s.covered()
	s.hush(told)
}

// Each worker runs each tick, while others are killed, come, are stopped by a signal, are cut off,
// and leave; and again when all were killed.
func broadcast(s *stage) {
	all := cluster.Job{Name: "all", Every: time.Second, Items: 6, Broadcast: true, Work: []time.Duration{50 * time.Millisecond, 400 * time.Millisecond}}
	s.add(all)
	workers := s.start("w1", "w2", "w3")
	s.elapse(all.Name, 6)
	s.must(workers[0].Kill())
	s.elapse(all.Name, 2)
	s.start("w1", "w4")
	s.covered()
	s.must(workers[1].Pause())
	s.must(workers[2].Break(cluster.BlackHole))
	s.elapse(all.Name, 4)
	s.must(workers[1].Resume())
	workers[2].Mend()
	s.settled()
	s.covered()
	s.exit(workers[2])
	s.elapse(all.Name, 6)
	for _, w := range s.Workers() {
		s.must(w.Kill())
	}
	s.start("w5", "w1", "w2")
	s.covered()
	s.elapse(all.Name, 6)
}

// blinks leaves out three of six ticks, from one of the near past on.
func blinks(j cluster.Job, phase int) []history.Window {
	return cluster.Blinks(time.Now().Add(time.Duration(phase-6)*j.Every), j.Every, 3, 6, 200)
}

// A calendar that leaves ticks of two expressions out is changed while the leader is killed, a worker is cut off, and
// nobody is there.
func calendars(s *stage) {
	j := cluster.Job{
		Name: "dated", Every: time.Second, Twofold: true, Items: 4, Failover: true, Calendar: "blinks", Strategy: strategy.LeastLoaded,
		Work: []time.Duration{20 * time.Millisecond, 600 * time.Millisecond},
	}
	change := func(phase int) {
		s.Helper()
		s.must(s.PutCalendar(s.ctx, j.Calendar, blinks(j, phase)))
	}
	change(0)
	s.add(j)
	s.start("w1", "w2", "w3")
	s.covered()
	change(3)
	s.covered()

	s.must(s.leader(j.Name).Kill())
	change(0)
	s.start("w4")
	s.covered()

	w := s.leader(j.Name)
	s.must(w.Break(cluster.BlackHole))
	change(3)
	s.elapse(j.Name, 2)
	w.Mend()
	s.settled()
	s.covered()

	w = s.Workers()[0]
	s.must(w.Pause())
	change(1)
	s.elapse(j.Name, 2)
	s.must(w.Resume())
	s.settled()

	for _, w := range s.Workers() {
		s.must(w.Kill())
	}
	change(4)
	s.start("w5", "w6")
	s.covered()
	s.sound()
}

// leader returns the worker that leads a job.
func (s *stage) leader(job string) *cluster.Worker {
	s.Helper()
	var address string
	s.must(s.AwaitJob(s.ctx, job, "a leader that is there", func(state *jobtree.State) bool {
		if state.Leader == nil {
			return false
		}
		address = state.Instances[state.Leader.ID].IP
		return address != ""
	}))
	for _, w := range s.Workers() {
		if w.Address == address {
			return w
		}
	}
	s.Fatalf("no worker has the address %s of the leader", address)
	return nil
}

// Items start some time after their ticks, wherever they are.
func jitter(s *stage) {
	j := cluster.Job{Name: "spread", Every: 2 * time.Second, Items: 6, Failover: true, Jitter: 2 * time.Second, Work: []time.Duration{20 * time.Millisecond}}
	s.add(j)
	workers := s.start("w1", "w2", "w3")
	s.elapse(j.Name, 3)
	s.must(workers[0].Kill())
	s.elapse(j.Name, 4)
	s.start("w4")
	s.must(workers[1].Break(cluster.CutOff))
	s.elapse(j.Name, 2)
	workers[1].Mend()
	s.settled()
	mark := s.Mark()
	s.elapse(j.Name, 3)
	least, most := j.Every, time.Duration(0)
	for _, e := range s.Since(mark) {
		if e.Kind == history.Start && e.Source == "NORMAL_TRIGGER" {
			delay := e.Wall.Sub(e.Tick)
			least, most = min(least, delay), max(most, delay)
		}
	}
	if most-least < j.Jitter/4 {
		s.Errorf("all items start %v to %v after their tick", least, most)
	}
	for _, w := range s.Workers() {
		s.must(w.Kill())
	}
	s.start("w5", "w6")
	s.elapse(j.Name, 3)
}

// Workers may have a few items each. They are killed, until there is too little room for all items,
// and others come, leave, are cut off; and all are killed.
func room(s *stage) {
	j := cluster.Job{Name: "j1", Every: time.Second, Items: 6, MaxItems: 2, Failover: true, Work: []time.Duration{500 * time.Millisecond}}
	s.add(j)
	workers := s.startAs(cluster.Options{}, "w1", "w2", "w3")
	s.settled()
	s.covered()
	mark := s.Mark()
	s.must(workers[0].Kill())
	s.await(mark, "a fault", of(history.Faulty))
	s.startAs(cluster.Options{}, "w4")
	s.settled()
	s.must(workers[1].Break(cluster.BlackHole))
	s.startAs(cluster.Options{}, "w5")
	s.elapse(j.Name, 4)
	workers[1].Mend()
	s.settled()
	s.exit(workers[2])
	s.settled()
	s.covered()
	for _, w := range s.Workers() {
		s.must(w.Kill())
	}
	s.startAs(cluster.Options{}, "w6", "w1", "w2")
	s.settled()
	s.covered()
	s.sound()
}

// rides are jobs of all these kinds together.
func rides(s *stage) []cluster.Job {
	all := cluster.Job{Name: "all", Every: 2 * time.Second, Items: 6, Broadcast: true, Tell: 200 * time.Millisecond, Work: []time.Duration{300 * time.Millisecond}}
	dated := told
	dated.Name, dated.Calendar, dated.Jitter, dated.Every, dated.Tell = "dated", "blinks", 500*time.Millisecond, time.Second, 50*time.Millisecond
	spread := cluster.Job{Name: "spread", Every: 2 * time.Second, Items: 4, Failover: true, Jitter: time.Second, Work: []time.Duration{20 * time.Millisecond, time.Second}}
	late := told // one item takes longer than its ticks
	late.Name, late.Tell, late.Items = "late", 300*time.Millisecond, 3
	late.Work = []time.Duration{100 * time.Millisecond, 3 * time.Second}
	s.must(s.PutCalendar(s.ctx, dated.Calendar, blinks(dated, 0)))
	jobs := []cluster.Job{all, dated, spread, late}
	for _, j := range jobs {
		s.add(j)
	}
	return jobs
}

// restartTicks kills everybody in the middle of everything.
func restartTicks(s *stage) {
	jobs := rides(s)
	s.startAs(cluster.Options{}, "w1", "w2", "w3")
	s.settled()
	s.covered()
	phases := 2
	if testing.Short() {
		phases = 1
	}
	for phase := range phases {
		s.await(s.Mark(), "a call", calls("dated", "Started"))
		for _, w := range s.Workers() {
			s.must(w.Kill())
		}
		s.trouble("store killed", func() error { return s.Store().Kill(0, 1, 2) }, func() error { return s.Store().Restart(s.ctx, 0, 1, 2) })()
		s.must(s.PutCalendar(s.ctx, jobs[1].Calendar, blinks(jobs[1], 3-3*phase)))
		s.startAs(cluster.Options{}, "w1", "w2", "w4")
		s.settled()
		s.covered()
	}
	s.hush(jobs...)
}

// ridden lets mishaps happen to workers that run jobs of all these kinds.
func ridden(seed uint64) func(*stage) {
	return func(s *stage) {
		times := 12
		if !testing.Short() {
			times = 120
		}
		jobs := rides(s)
		s.startAs(cluster.Options{}, "w1", "w2", "w3", "w4")
		s.settled()
		s.covered()
		r := rand.New(rand.NewPCG(seed, 14))
		m := newMishaps(s, r, 5)
		for n := range times {
			switch kind := r.IntN(7); kind {
			case 4:
				s.must(s.PutCalendar(s.ctx, jobs[1].Calendar, blinks(jobs[1], r.IntN(6))))
			case 5, 6:
				m.heal()
			default:
				m.strike(m.any(), kind)
			}
			s.last(time.Duration(r.Int64N(int64(2 * time.Second))))
			if n%40 == 39 {
				m.heal()
				for _, w := range s.Workers() {
					s.must(w.Kill())
				}
				s.startAs(cluster.Options{}, "w1", "w2", "w3", "w4")
			}
		}
		m.heal()
		s.settled()
		s.covered()
		s.hush(jobs...)
	}
}
