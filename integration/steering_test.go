package integration_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Session time-outs of operators: of one who does what a scenario needs, and waits for a store
// that a busy machine delays, and of one who acts at random, and soon gives up.
const (
	calmly  = 20 * time.Second
	hastily = 2 * time.Second
)

// hire starts an operator.
func (s *stage) hire(session time.Duration) *cluster.Operator {
	s.Helper()
	o, err := s.Hire(s.ctx, session)
	s.must(err)
	return o
}

// request returns the id of a request.
func (s *stage) request(id string, err error) string {
	s.Helper()
	s.must(err)
	return id
}

// answer waits for the answer to a request, and fails the test unless all of its items have the
// outcome.
func (s *stage) answer(request, outcome string) {
	s.Helper()
	e := s.await(0, "the answer to "+request, func(e history.Event) bool { return e.Kind == history.Answered && e.Request == request })
	for _, r := range e.Results {
		if r.Outcome != outcome {
			s.Errorf("want %s: %s", outcome, &e)
		}
	}
}

// begun waits for an execution for a request.
func (s *stage) begun(request string) history.Event {
	s.Helper()
	return s.begunAs(request, func(string, history.Claim) bool { return true })
}

// begunAs waits for an execution for a request by a process, and with a claim, that fit.
func (s *stage) begunAs(request string, fits func(process string, c history.Claim) bool) history.Event {
	s.Helper()
	item := -1
	claim := s.await(0, "a run for "+request, func(e history.Event) bool {
		at := slices.IndexFunc(e.Claims, func(c history.Claim) bool { return c.Request == request && fits(e.Process, c) })
		if e.Kind != history.Commit || e.Err != "" || at < 0 {
			return false
		}
		item = e.Claims[at].Item
		return true
	})
	return s.await(0, "its start", func(e history.Event) bool {
		return e.Kind == history.Start && e.Process == claim.Process && e.Token == claim.Token && e.Job == claim.Job && e.Item == item
	})
}

// shoot has an operator kill the execution of an item, and returns what he wrote. On a slow machine
// that is over before he gets there; then it is the next one.
func (s *stage) shoot(o *cluster.Operator, job string, again bool, item int) history.Event {
	s.Helper()
	for {
		mark := s.Mark()
		n, err := o.Kill(s.ctx, job, again, item)
		if err == nil && n == 1 {
			return s.await(mark, "the kill", func(e history.Event) bool { return e.Kind == history.Killing && e.Job == job && e.Item == item })
		}
		if !errors.Is(err, ops.ErrNotRunning) {
			s.Fatalf("%d executions of item %d killed: %v", n, item, err)
		}
		s.await(mark, "the item to start", starts(job, item))
	}
}

// An operator kills executions: for good and to be run again, of a runner that is well, that a
// signal has stopped, that is killed at once after that, and that is cut off. A run may be over by
// itself while the kill is on its way; then it is the next one.
func kills(s *stage) {
	s.add(busy)
	s.start("w1", "w2", "w3")
	s.covered()
	o := s.hire(calmly)
	kill := func(again bool, item int) history.Event {
		s.Helper()
		return s.shoot(o, busy.Name, again, item)
	}
	for next, stopped := s.next(busy.Name, 1), false; !stopped; {
		run := next()
		kill(false, 1)
		end := s.await(0, "its end", func(e history.Event) bool { return e.Kind == history.End && e.Task == run.Task })
		stopped = end.Outcome == history.Stopped
	}

	s.cutShort(s.next(busy.Name, 3), func(*cluster.Worker) { kill(true, 3) }, func(string) {})

	w := s.atWork(5)
	s.must(w.Pause())
	kill(false, 5)
	s.must(w.Kill())

	s.start("w4")
	for next, killed := s.next(busy.Name, 1), false; !killed; {
		mark, run := s.Mark(), next()
		w := s.worker(run.Process)
		s.must(w.Break(cluster.BlackHole))
		if killed = kill(true, 1).Token == run.Token; killed {
			s.await(mark, "another run", starts(busy.Name, 1).as("FAILOVER").of(run.Tick))
		}
		w.Mend()
	}

	s.settled()
	s.covered()
	s.atWork(3)
	if _, err := o.Kill(s.ctx, busy.Name, false); !errors.Is(err, ops.ErrNotRunning) {
		s.must(err)
	}
	s.settled()
	s.covered()
}

// Jobs are paused, and all workers are killed and others come. No tick begins in the meantime;
// executions that were cut short are run again, and what is triggered runs. The ticks of the
// pause are made up once, or not.
func pauses(s *stage) {
	made, passed := busy, quick
	made.NoMisfire = true
	passed.Name = "passed"
	s.add(made)
	s.add(passed)
	s.start("w1", "w2", "w3")
	s.covered()
	o := s.hire(calmly)
	s.atWork(3)
	s.must(o.Hold(s.ctx, made.Name, true))
	s.must(o.Hold(s.ctx, passed.Name, false))
	for _, w := range s.Workers() {
		s.must(w.Kill())
	}
	s.start("w4", "w5")
	s.answer(s.request(o.Trigger(s.ctx, passed.Name, 1, 2)), "OK")
	s.last(2 * made.Every) // ticks come
	mark := s.Mark()
	s.must(o.Release(s.ctx, passed.Name))
	s.must(o.Release(s.ctx, made.Name))
	s.await(mark, "a run after the pause", starts(made.Name, 0))
	s.settled()
	s.covered()
}

// Requests queue and are answered, whatever happens to runners: triggers, a retry, a backfill
// beside the schedule, a cancel, in a job with a schedule and in a one-off job.
func requests(s *stage) {
	timed := quick
	timed.Failing, timed.NoMisfire = true, true
	// Long enough that the worker that is killed has not done both requests before that, on a machine with other work.
	once := cluster.Job{Name: "once", Items: 3, Failover: true, Work: []time.Duration{3 * time.Second}}
	s.add(timed)
	s.add(once)
	s.start("w1", "w2", "w3")
	s.covered()
	o := s.hire(calmly)
	first := s.request(o.Trigger(s.ctx, once.Name))
	second := s.request(o.Trigger(s.ctx, once.Name))
	cancelled := s.request(o.Trigger(s.ctx, once.Name, 0))
	s.must(o.Cancel(s.ctx, once.Name, cancelled))
	to := time.Now().Add(-time.Hour).Truncate(timed.Every)
	backfill := s.request(o.Backfill(s.ctx, timed.Name, to.Add(-9*timed.Every), to, 1, 2))
	cut := s.begun(first)
	s.must(s.worker(cut.Process).Kill())
	s.start("w4")
	s.answer(first, "OK")
	// The item waited for the end of a session, so it comes to the second request last.
	runner := s.worker(s.begunAs(second, func(process string, c history.Claim) bool {
		return c.Item == cut.Item && process != cut.Process
	}).Process)
	s.must(runner.Break(cluster.CutOff))
	s.answer(second, "OK")
	runner.Mend()
	s.answer(cancelled, "SKIPPED")
	mark := s.Mark()
	s.await(mark, "a failure", func(e history.Event) bool { return e.Kind == history.End && e.Outcome == history.Failed })
	s.answer(s.request(o.Retry(s.ctx, timed.Name)), "OK")
	s.answer(backfill, "OK")
	s.settled()
	s.covered()
}

// Items are pinned to an address. They go there when its worker comes, elsewhere when it dies,
// and back when another one comes. A strict pin leaves its item without an owner, and a fault
// says so.
func pins(s *stage) {
	s.add(quick)
	workers := s.start("w1", "w2", "w3")
	s.covered()
	o := s.hire(calmly)
	at := workers[2].Address
	for item := range 3 {
		s.must(o.Pin(s.ctx, quick.Name, item, at, item == 0))
	}
	owned := func(what string, by string, items ...int) {
		s.Helper()
		s.must(s.AwaitJob(s.ctx, quick.Name, what, func(state *jobtree.State) bool {
			return !slices.ContainsFunc(items, func(i int) bool {
				owner := state.Item(i).Owner
				if by == "" {
					return owner != nil
				}
				return owner == nil || state.Instances[owner.ID].IP != by
			})
		}))
	}
	owned("the pinned items at the address", at, 0, 1, 2)
	s.must(o.Reshard(s.ctx, quick.Name))
	s.covered()
	s.must(workers[2].Kill())
	owned("no owner of the strictly pinned item", "", 0)
	s.await(0, "the fault", func(e history.Event) bool { return e.Kind == history.Faulty })
	s.start("w3")
	owned("the pinned items at the address", at, 0, 1, 2)
	for item := range 3 {
		s.must(o.Unpin(s.ctx, quick.Name, item))
	}
	s.must(o.Reshard(s.ctx, quick.Name))
	s.settled()
	s.covered()
	s.sound()
}

// restartSteered restarts everybody in the middle of everything: one job is paused, one has a request whose
// first item is done, one a backfill that is under way, in one an execution was killed by an
// operator and its runner does not know, and one has a pin. Nothing of it is lost.
func restartSteered(restart func(*stage)) func(*stage) {
	return func(s *stage) { s.restartSteered(restart) }
}

func (s *stage) restartSteered(restart func(*stage)) {
	s.Helper()
	paused, asked, filled, shot, held := quick, quick, quick, busy, quick
	paused.Name, asked.Name, filled.Name, shot.Name, held.Name = "paused", "asked", "filled", busy.Name, "pinned"
	asked.Every, asked.Work = 0, []time.Duration{20 * time.Millisecond, 3 * time.Second}
	jobs := []cluster.Job{paused, asked, filled, shot, held}
	for _, j := range jobs {
		s.add(j)
	}
	s.start("w1", "w2", "w3")
	s.covered()
	o := s.hire(calmly)
	s.must(o.Hold(s.ctx, paused.Name, true))
	at := s.Workers()[0].Address
	s.must(o.Pin(s.ctx, held.Name, 0, at, false))
	to := time.Now().Add(-time.Hour).Truncate(filled.Every)
	waiting := []string{
		s.request(o.Trigger(s.ctx, asked.Name, 0, 1)),
		s.request(o.Trigger(s.ctx, asked.Name, 1)),
		s.request(o.Backfill(s.ctx, filled.Name, to.Add(-19*filled.Every), to, 1, 2)),
	}
	s.begun(waiting[0])
	s.begun(waiting[2])
	runner := s.atWork(1)
	s.must(runner.Pause())
	s.shoot(o, shot.Name, false, 1) // the history tells whether it is run again; a later tick may be
	mark := s.Mark()
	restart(s)
	s.settled()
	for _, id := range waiting {
		s.answer(id, "OK")
	}
	s.none(mark, "begun in a pause", func(e history.Event) bool {
		return e.Kind == history.Start && e.Job == paused.Name && e.Source != "FAILOVER"
	})
	s.await(mark, "the pinned item", starts(held.Name, 0).by("w1.2"))
	s.must(o.Release(s.ctx, paused.Name))
	s.settled()
	s.covered()
}

// A job passes ticks over that come while an item runs; one item takes longer than the time
// between two ticks. Workers die, and executions are killed.
func skipsOverlap(s *stage) {
	j := cluster.Job{Name: "j1", Every: time.Second, Items: 4, Failover: true, Skip: true, Work: []time.Duration{20 * time.Millisecond, 2300 * time.Millisecond}}
	s.add(j)
	s.start("w1", "w2", "w3")
	s.covered()
	o := s.hire(calmly)
	s.elapse(j.Name, 4)
	s.cutShort(s.next(j.Name, 1), s.kill, s.replace)
	mark := s.Mark()
	s.await(mark, "a long item", starts(j.Name, 3))
	s.shoot(o, j.Name, false, 3)
	s.covered()
	s.settled()
}

// steeredTimes is how many things an operator does at random.
func steeredTimes() int {
	if testing.Short() {
		return 40
	}
	return 600
}

// act has an operator do one thing. While his answers are lost he gives up after a while.
func (s *stage) act(steering *cluster.Steering) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, 2*time.Second)
	defer cancel()
	if _, err := steering.Act(ctx); err != nil {
		s.Error(err)
	}
}

// steered has an operator do all that he can, at random, while workers are killed, stopped and
// cut off, and his own answers get lost. trouble does something to the store meanwhile.
func steered(seed uint64, trouble func(*stage)) func(*stage) {
	return func(s *stage) {
		jobs := []cluster.Job{busy, quick, {Name: "plain", Every: time.Second, Items: 3, NoMisfire: true, Failing: true, Work: []time.Duration{300 * time.Millisecond}},
			{Name: "skips", Every: time.Second, Items: 3, Failover: true, Skip: true, Work: []time.Duration{1200 * time.Millisecond}},
			{Name: "once", Items: 4, Failover: true, Work: []time.Duration{500 * time.Millisecond}}}
		jobs[1].Name = "quick"
		for _, j := range jobs {
			s.add(j)
		}
		var addresses []string
		for _, w := range s.start("w1", "w2", "w3", "w4") {
			addresses = append(addresses, w.Address)
		}
		s.covered()
		o := s.hire(hastily)
		steering := cluster.NewSteering(o, seed, jobs, addresses)
		r := rand.New(rand.NewPCG(seed, 13))
		m := newMishaps(s, r, 5)
		for n := range steeredTimes() {
			s.act(steering)
			s.last(time.Duration(r.Int64N(int64(200 * time.Millisecond))))
			if trouble != nil && n%300 == 20 {
				m.heal()
				o.Mend()
				trouble(s)
			}
			if n%6 != 5 {
				continue
			}
			o.Mend()
			w := m.any()
			switch kind := r.IntN(6); kind {
			case 4:
				s.must(o.Break([]string{cluster.DropAnswers, cluster.Slow}[r.IntN(2)]))
			case 5:
				m.heal()
			default:
				m.strike(w, kind)
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
}

// everybodyKilled kills all workers, and starts others and one of them again.
func everybodyKilled(s *stage) {
	for _, w := range s.Workers() {
		s.must(w.Kill())
	}
	for _, name := range []string{"w1", "w5", "w6"} {
		_, err := s.Start(name, cluster.Options{})
		s.must(err)
	}
}

// everythingKilled kills the workers and the store at one moment, and starts them again.
func everythingKilled(s *stage) {
	for _, w := range s.Workers() {
		s.must(w.Kill())
	}
	heal := s.trouble("store killed", func() error { return s.Store().Kill(0, 1, 2) }, func() error { return s.Store().Restart(s.ctx, 0, 1, 2) })
	heal()
	for n := range 4 {
		_, err := s.Start(fmt.Sprint("w", n+1), cluster.Options{})
		s.must(err)
	}
}
