package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// plan is what is done in a round.
type plan struct {
	steps []step
	hold  time.Duration // how long it lasts after the last step
}

func (p plan) String() string {
	var texts []string
	for _, s := range p.steps {
		texts = append(texts, s.what)
	}
	return strings.Join(texts, ", ") + fmt.Sprintf(", for %v", p.hold.Round(100*time.Millisecond))
}

// step does one thing, some time after the step before, and returns the function that undoes
// it, or nil.
type step struct {
	what  string
	after time.Duration
	do    func(context.Context, *soak) (undo func(context.Context) error, err error)
}

// maxOffset bounds how wrong a clock is in a soak.
const maxOffset = time.Second

const year = 365 * 24 * time.Hour

// jumps are by how much a wall clock is set for some seconds.
var jumps = []time.Duration{year, time.Hour, 17 * time.Minute, 20 * time.Second, -20 * time.Second, -time.Hour, -year}

// draw draws a plan: something that an operator does, faults of different workers, and a fault
// of the store. Each of them may be left out. The operator comes first, because he needs the
// store.
func draw(r *rand.Rand, names []string) plan {
	var p plan
	if r.IntN(3) == 0 {
		p.steps = append(p.steps, operator(r, names))
	}
	victims := r.Perm(len(names))
	for _, v := range victims[:r.IntN(min(4, len(names)))] {
		p.steps = append(p.steps, aWorker(r, names[v]))
	}
	switch {
	case r.IntN(3) == 0 || len(p.steps) == 0:
		p.steps = append(p.steps, store(r))
	case r.IntN(8) == 0:
		p.steps = append(p.steps, everybody(r))
	}
	for i := range p.steps {
		p.steps[i].after = time.Duration(r.Int64N(int64(1500 * time.Millisecond)))
	}
	p.hold = time.Duration(r.Int64N(int64(6 * time.Second)))
	return p
}

// aWorker draws something that is done to one worker.
func aWorker(r *rand.Rand, name string) step {
	about := func(what string, do func(context.Context, *soak, *cluster.Worker) (func(context.Context) error, error)) step {
		return step{what: name + " " + what, do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			return do(ctx, s, s.workers[name])
		}}
	}
	breaks := func(fault string) step {
		return about(fault, func(_ context.Context, _ *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return func(context.Context) error { w.Mend(); return nil }, w.Break(fault)
		})
	}
	exits := func(what string, drain time.Duration) step {
		return about(what, func(ctx context.Context, _ *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return w.Wait, w.Exit(drain)
		})
	}
	offset := time.Duration(r.Int64N(int64(2*maxOffset))) - maxOffset
	jump := jumps[r.IntN(len(jumps))]
	all := []step{
		about("killed", func(_ context.Context, _ *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return nil, w.Kill()
		}),
		about("killed, and at once another", func(_ context.Context, s *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return nil, errors.Join(w.Kill(), s.start(name, 0))
		}),
		about("stopped by a signal", func(_ context.Context, _ *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return func(context.Context) error { return w.Resume() }, w.Pause()
		}),
		about(fmt.Sprintf("replaced by one whose clock is off by %v", offset.Round(10*time.Millisecond)), func(ctx context.Context, s *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return nil, errors.Join(w.Exit(drain), w.Wait(ctx), s.start(name, offset))
		}),
		breaks(cluster.CutOff), breaks(cluster.BlackHole), breaks(cluster.DropAnswers), breaks(cluster.DropRequests), breaks(cluster.Slow),
		exits("leaves", drain), exits("leaves in a hurry", 50*time.Millisecond),
		about(fmt.Sprintf("has a clock that jumps by %v", jump), func(_ context.Context, _ *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return func(context.Context) error { return w.SetClock(0) }, w.SetClock(jump)
		}),
		about("has handlers that hang", func(_ context.Context, _ *soak, w *cluster.Worker) (func(context.Context) error, error) {
			return func(context.Context) error { return w.Hang(false) }, w.Hang(true)
		}),
	}
	return all[r.IntN(len(all))]
}

// everybody draws something that is done to all workers at once.
func everybody(r *rand.Rand) step {
	if r.IntN(2) == 0 {
		// Ticks that were begun ahead of time begin again when they come: not within a soak.
		return allClocks([]time.Duration{year, -20 * time.Second, -time.Hour}[r.IntN(3)])
	}
	return step{what: "all workers killed", do: func(_ context.Context, s *soak) (func(context.Context) error, error) {
		var errs []error
		for _, w := range s.Workers() {
			errs = append(errs, w.Kill())
		}
		return nil, errors.Join(errs...)
	}}
}

// allClocks sets the wall clocks of all workers.
func allClocks(jump time.Duration) step {
	return step{what: fmt.Sprintf("all clocks jump by %v", jump), do: func(_ context.Context, s *soak) (func(context.Context) error, error) {
		set := func(by time.Duration) error {
			var errs []error
			for _, w := range s.Workers() {
				errs = append(errs, w.SetClock(by))
			}
			return errors.Join(errs...)
		}
		return func(context.Context) error { return set(0) }, set(jump)
	}}
}

// store draws something that is done to the store.
func store(r *rand.Rand) step {
	lasting := func(what string, begin, end func(context.Context, *soak) error) step {
		return step{what: what, do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			var late context.Context // of the call that undoes it
			heal, err := s.Trouble(what, func() error { return begin(ctx, s) }, func() error { return end(late, s) })
			return func(ctx context.Context) error { late = ctx; return heal() }, err
		}}
	}
	brief := func(what string, do func(context.Context, *soak) error) step {
		return lasting(what, do, func(context.Context, *soak) error { return nil })
	}
	one, other := r.IntN(3), 1+r.IntN(2)
	two := []int{one, (one + other) % 3}
	back := time.Second + time.Duration(r.Int64N(int64(5*time.Second)))
	revoked := jobs[r.IntN(len(jobs))]
	all := []step{
		lasting(fmt.Sprintf("member %d killed", one), func(_ context.Context, s *soak) error {
			return s.Store().Kill(one)
		}, func(ctx context.Context, s *soak) error {
			return s.Store().Restart(ctx, one)
		}),
		lasting(fmt.Sprintf("member %d %s", one, history.StoppedMember), func(_ context.Context, s *soak) error {
			return s.Store().Pause(one)
		}, func(_ context.Context, s *soak) error {
			return s.Store().Resume(one)
		}),
		lasting("majority lost", func(_ context.Context, s *soak) error {
			return s.Store().Kill(two...)
		}, func(ctx context.Context, s *soak) error {
			return s.Store().Restart(ctx, two...)
		}),
		lasting("store killed", func(_ context.Context, s *soak) error {
			return s.Store().Kill(0, 1, 2)
		}, func(ctx context.Context, s *soak) error {
			return s.Store().Restart(ctx, 0, 1, 2)
		}),
		lasting("no space", func(ctx context.Context, s *soak) error {
			return s.Store().FillUp(ctx)
		}, func(ctx context.Context, s *soak) error {
			return s.Store().Free(ctx)
		}),
		lasting(fmt.Sprintf("disk of member %d full", one), func(ctx context.Context, s *soak) error {
			return s.Store().FillDisk(ctx, one)
		}, func(ctx context.Context, s *soak) error {
			return s.Store().Restart(ctx, one)
		}),
		brief("leader moved", func(ctx context.Context, s *soak) error { return s.Store().MoveLeader(ctx) }),
		brief("history dropped", func(ctx context.Context, s *soak) error { return s.Store().Forget(ctx) }),
		{what: fmt.Sprintf("store put back by %v", back.Round(100*time.Millisecond)), do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			return nil, errors.Join(s.Save(), s.pass(ctx, back), s.PutBack(ctx))
		}},
		{what: "store replaced by an empty one", do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			return nil, s.Wipe(ctx)
		}},
		{what: revoked.Name + " revoked", do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			return s.Revoke(ctx, revoked.Name)
		}},
	}
	return all[r.IntN(len(all))]
}

// operator draws something that an operator does.
func operator(r *rand.Rand, names []string) step {
	name := names[r.IntN(len(names))]
	item := r.IntN(4)
	j := jobs[r.IntN(2)]
	j.Items = 3 + r.IntN(8)
	if r.IntN(2) == 0 {
		j.Every = time.Duration(1+r.IntN(3)) * time.Second
	}
	removed := jobs[r.IntN(len(jobs))]
	what := cluster.Tamperings()[r.IntN(len(cluster.Tamperings()))]
	victim := jobs[r.IntN(len(jobs))]
	tamper := step{what: fmt.Sprintf("%s of %s", what, victim.Name), do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
		mend, _, err := s.Tamper(ctx, what, victim.Name, item%victim.Items)
		return mend, err
	}}
	all := []step{
		{what: fmt.Sprintf("server of %s disabled", name), do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			address := s.workers[name].Address
			return func(ctx context.Context) error {
				return s.SwitchServer(ctx, jobs[0].Name, address, true)
			}, s.SwitchServer(ctx, jobs[0].Name, address, false)
		}},
		{what: fmt.Sprintf("item %d of j1 disabled", item), do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			if there, err := s.has(ctx, jobs[0].Name, item); err != nil || !there {
				return nil, err
			}
			return func(ctx context.Context) error {
				return s.SwitchItem(ctx, jobs[0].Name, item, true)
			}, s.SwitchItem(ctx, jobs[0].Name, item, false)
		}},
		{what: fmt.Sprintf("%s now with %d items every %v", j.Name, j.Items, j.Every), do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			return nil, s.Reconfigure(ctx, j)
		}},
		{what: removed.Name + " removed", do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			return func(context.Context) error { return s.Add(removed) }, s.Remove(ctx, removed.Name)
		}},
		{what: removed.Name + " triggered", do: func(ctx context.Context, s *soak) (func(context.Context) error, error) {
			return nil, s.workers[name].Trigger(removed.Name)
		}},
		{what: "a strategy that not all know", do: refused(jobs[0], func(j *cluster.Job) { j.Strategy = newOne })},
		{what: "an error handler that not all know", do: refused(jobs[1], func(j *cluster.Job) { j.ErrorHandler = newOne })},
		tamper, tamper, tamper, // there are many kinds of it
	}
	return all[r.IntN(len(all))]
}

// refused writes a configuration that some workers refuse. The operator takes it back later.
func refused(j cluster.Job, change func(*cluster.Job)) func(context.Context, *soak) (func(context.Context) error, error) {
	changed := j
	change(&changed)
	return func(ctx context.Context, s *soak) (func(context.Context) error, error) {
		return func(ctx context.Context) error {
			err := s.Reconfigure(ctx, j)
			if errors.Is(err, coord.ErrNoNode) {
				return nil // the job is gone: the store was emptied meanwhile
			}
			return err
		}, s.Reconfigure(ctx, changed)
	}
}

// has reports whether a job has an item in the tree.
func (s *soak) has(ctx context.Context, name string, item int) (found bool, err error) {
	err = s.AwaitTree(ctx, "a look", func(tree coord.Snapshot) bool {
		found = slices.Contains(tree.Children(jobtree.Job(name).Sharding()), fmt.Sprint(item))
		return true
	})
	return found, err
}
