package main

import (
	"context"
	"slices"
	"time"
)

// play is the story: what happens to the instances, one scene after the other.
func (s *stage) play(ctx context.Context) error {
	for _, scene := range []func(context.Context) error{
		s.threeStart,
		s.oneIsKilled,
		s.oneLeaves,
		s.oneJoins,
		s.allLeave,
	} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) threeStart(ctx context.Context) error {
	for range 3 {
		if err := s.start(); err != nil {
			return err
		}
	}
	all := func() bool {
		return !slices.ContainsFunc(s.crew.workers, func(w *worker) bool { return !s.picture.has(w.pid) })
	}
	if err := s.await(ctx, "three instances", all); err != nil {
		return err
	}
	return s.ticks(ctx, s.scene)
}

func (s *stage) oneIsKilled(ctx context.Context) error {
	victim, err := s.inMidItem(ctx, s.leads)
	if err != nil {
		return err
	}
	s.victim = victim
	if err := s.crew.kill(victim); err != nil {
		return err
	}
	s.say("SIGKILL to %s%s in the middle of %s; its session lasts %v more at most",
		victim.name, s.ifLeader(victim), itemList(items(s.ledger.under(victim.name))), sessionTimeout)
	if err := s.await(ctx, "its end", func() bool { return victim.gone }); err != nil {
		return err
	}
	if err := s.await(ctx, "a failover of all that "+victim.name+" left unfinished", func() bool { return len(s.ledger.pending()) == 0 }); err != nil {
		return err
	}
	s.tellFailover(victim)
	return s.ticks(ctx, 1)
}

func (s *stage) oneLeaves(ctx context.Context) error {
	leaver, err := s.inMidItem(ctx, func(w *worker) bool { return !s.leads(w) })
	if err != nil {
		return err
	}
	if err := s.crew.leave(leaver); err != nil {
		return err
	}
	s.say("%s%s leaves gracefully, in the middle of %s; it finishes that first",
		leaver.name, s.ifLeader(leaver), itemList(items(s.ledger.under(leaver.name))))
	if err := s.await(ctx, "its end", func() bool { return leaver.gone }); err != nil {
		return err
	}
	s.say("%s has left", leaver.name)
	return s.ticks(ctx, 1)
}

func (s *stage) oneJoins(ctx context.Context) error {
	if err := s.start(); err != nil {
		return err
	}
	joiner := s.crew.workers[len(s.crew.workers)-1]
	if err := s.await(ctx, joiner.name+" in the registry", func() bool { return s.picture.has(joiner.pid) }); err != nil {
		return err
	}
	s.say("%s has joined; what is idle is resharded at once, what runs stays where it is", joiner.name)
	return s.ticks(ctx, s.scene)
}

func (s *stage) allLeave(ctx context.Context) error {
	if err := s.await(ctx, "a failover of all that was cut short", func() bool { return len(s.ledger.pending()) == 0 }); err != nil {
		return err
	}
	s.until = s.tick
	s.say("all leave")
	for _, w := range s.crew.workers {
		if w.fate == working {
			if err := s.crew.leave(w); err != nil {
				return err
			}
		}
	}
	return s.await(ctx, "the end of all instances", func() bool {
		return !slices.ContainsFunc(s.crew.workers, func(w *worker) bool { return !w.gone })
	})
}

// start starts the next instance.
func (s *stage) start() error {
	w, err := s.crew.start(orders{Store: s.store, Job: s.job, Dir: s.dir, Items: s.items, Every: s.every, AtLeast: s.atLeast})
	if err != nil {
		return err
	}
	s.say("%s starts, process %d", w.name, w.pid)
	return nil
}

// ticks waits until all items have run for so many more ticks.
func (s *stage) ticks(ctx context.Context, n int) error {
	target := s.tick.Add(time.Duration(n) * s.every)
	if s.tick.IsZero() {
		if err := s.await(ctx, "the first tick", func() bool { return !s.tick.IsZero() }); err != nil {
			return err
		}
		target = s.tick.Add(time.Duration(n-1) * s.every)
	}
	return s.await(ctx, "all items to have run for "+clock(target), func() bool { return !s.tick.Before(target) })
}

// inMidItem waits until an instance is in the middle of all its runs, and far enough from their
// ends that what is done to it now cuts them short. It takes a preferred one if there is one.
func (s *stage) inMidItem(ctx context.Context, preferred func(*worker) bool) (found *worker, err error) {
	err = s.await(ctx, "an instance in mid-item", func() bool {
		found = nil
		for _, w := range s.crew.workers {
			if w.fate == working && s.isInMidItem(w) && (found == nil || preferred(w)) {
				found = w
			}
		}
		return found != nil
	})
	return found, err
}

func (s *stage) isInMidItem(w *worker) bool {
	under := s.ledger.under(w.name)
	for _, e := range under {
		left := time.Until(e.begun.Add(s.atLeast)) // at least
		if left < s.atLeast/3 || left > s.atLeast*4/5 {
			return false
		}
	}
	// The tree may still show a run that has just ended: then wait.
	return len(under) > 0 && slices.Equal(items(under), s.picture.runs(w.pid))
}

func (s *stage) leads(w *worker) bool { return pidOf(s.picture.leader) == w.pid }

func (s *stage) ifLeader(w *worker) string {
	if s.leads(w) {
		return ", the leader,"
	}
	return ""
}

// tellFailover says which instances repeat the runs that a victim left unfinished.
func (s *stage) tellFailover(victim *worker) {
	for _, w := range s.crew.workers {
		var taken []*execution
		for _, cut := range s.ledger.cut(victim.name, victim.since) {
			if again := s.ledger.rerun(cut); again != nil && again.worker == w.name {
				taken = append(taken, again)
			}
		}
		if len(taken) > 0 {
			s.say("%s runs %s again, %.2f s after the kill", w.name, itemList(items(taken)), taken[0].begun.Sub(victim.since).Seconds())
		}
	}
}

// items returns the items of executions, ascending.
func items(executions []*execution) []int {
	var list []int
	for _, e := range executions {
		list = append(list, e.item)
	}
	slices.Sort(list)
	return list
}
