package pool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// Calendars follows the calendars of the namespace for the jobs of a process. They share one view
// of all of them. It is open while a job names one.
type Calendars struct {
	reg coord.Registry

	mu    sync.Mutex
	jobs  map[*follower][]string // which calendars each job names
	known map[string]*Calendar   // by name, as they were seen last; only those that are named
	watch *watch                 // nil while no job names any
}

// follower is one job as it follows calendars.
type follower struct {
	calendars *Calendars
	wake      func()
}

// watch is the goroutine that follows the calendars.
type watch struct {
	cancel context.CancelFunc
	wake   chan struct{} // other calendars are named
	done   chan struct{} // closed when it has ended
}

// Of implements [Source].
func (f *follower) Of(names []string) []*Calendar {
	s := f.calendars
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.jobs[f], names) {
		if s.jobs == nil {
			s.jobs, s.known = map[*follower][]string{}, map[string]*Calendar{}
		}
		s.jobs[f] = names
		s.forget()
		if s.watch == nil {
			ctx, cancel := context.WithCancel(context.Background())
			w := &watch{cancel: cancel, wake: make(chan struct{}, 1), done: make(chan struct{})}
			s.watch = w
			go func() {
				defer close(w.done)
				s.run(ctx, w)
			}()
		}
		select {
		case s.watch.wake <- struct{}{}:
		default:
		}
	}
	list := make([]*Calendar, len(names))
	for i, name := range names {
		list[i] = s.known[name]
	}
	return list
}

// Leave implements [Source]. After the last job it waits until the view is closed.
func (f *follower) Leave() {
	s := f.calendars
	s.mu.Lock()
	delete(s.jobs, f)
	s.forget()
	w := s.watch
	if len(s.jobs) > 0 || w == nil {
		s.mu.Unlock()
		return
	}
	s.watch = nil
	s.mu.Unlock()
	w.cancel()
	<-w.done
}

// forget drops calendars that no job names. The caller has mu.
func (s *Calendars) forget() {
	named := s.named()
	maps.DeleteFunc(s.known, func(name string, _ *Calendar) bool { return !named[name] })
}

func (s *Calendars) named() map[string]bool {
	named := map[string]bool{}
	for _, names := range s.jobs {
		for _, name := range names {
			named[name] = true
		}
	}
	return named
}

// run opens the view, and follows it until ctx ends.
func (s *Calendars) run(ctx context.Context, w *watch) {
	view, err := s.reg.View(ctx, jobtree.Calendars, coord.AllLevels, jobtree.Bounds())
	for backoff := (sleep.Backoff{}); err != nil; {
		s.look(w, func(string, *Calendar) *Calendar { return &Calendar{err: err} })
		if errors.Is(err, coord.ErrClosed) || !backoff.Wait(ctx) {
			return
		}
		view, err = s.reg.View(ctx, jobtree.Calendars, coord.AllLevels, jobtree.Bounds())
	}
	defer view.Close()
	for view.Err() == nil {
		changed := view.Changed() // taken before the snapshot, so that no change between them is missed
		snapshot, fault := view.Snapshot(), view.Fault()
		s.look(w, func(name string, before *Calendar) *Calendar {
			n, _ := snapshot.Get(jobtree.Calendar(name))
			return before.Next(n, fault)
		})
		select {
		case <-changed:
		case <-w.wake:
		case <-ctx.Done():
			return
		}
	}
}

// look reads each calendar that is named, and wakes the jobs that name one that has changed.
func (s *Calendars) look(w *watch, at func(name string, before *Calendar) *Calendar) {
	s.mu.Lock()
	named := slices.Sorted(maps.Keys(s.named()))
	s.mu.Unlock()
	for _, name := range named {
		s.mu.Lock()
		before := s.known[name]
		s.mu.Unlock()
		after := at(name, before) // without mu: to read a calendar may take a while
		if after == before {
			continue
		}
		s.mu.Lock()
		if s.watch == w && s.named()[name] {
			s.known[name] = after
			for f, names := range s.jobs {
				if slices.Contains(names, name) {
					f.wake()
				}
			}
		}
		s.mu.Unlock()
	}
}

// Calendar is a calendar as this process knows it. It does not change.
type Calendar struct {
	good *calendar.Calendar
	err  error
	node coord.Node // as it was read, without its value; the zero Node if there is none
}

// Good returns what it said last that could be read; nil if it never could.
func (k *Calendar) Good() *calendar.Calendar {
	if k == nil {
		return nil
	}
	return k.good
}

// IsCurrent reports whether its node says that now.
func (k *Calendar) IsCurrent() bool { return k.err == nil }

// Version returns the version of its node.
func (k *Calendar) Version() int64 { return k.node.Version }

var errNoCalendar = errors.New("there is no such node")

// Next returns what is known of a calendar when its node has been read: k itself if that is
// nothing new. fault is that of the view.
func (k *Calendar) Next(n coord.Node, fault error) *Calendar {
	next := &Calendar{node: n}
	next.node.Value = nil
	if k != nil {
		if n.Created != 0 && n.Created == k.node.Created && n.Modified == k.node.Modified {
			return k
		}
		next.good = k.good
	}
	if n.Created == 0 {
		if next.err = fault; fault == nil {
			next.err = errNoCalendar
		}
		if k != nil && k.node.Created == 0 && k.err != nil && k.err.Error() == next.err.Error() {
			return k
		}
		return next
	}
	read, err := calendar.Parse(n.Value)
	if err != nil {
		next.err = brief.Error(err)
	} else {
		next.good = read
	}
	return next
}

// Fault says what is wrong with a calendar; nil if nothing is.
func (k *Calendar) Fault(name string) error {
	if k == nil || k.err == nil {
		return nil
	}
	without := "the last good one stays in force here"
	if k.good == nil {
		without = "this process has never read it, and begins no ticks"
	}
	return fmt.Errorf("calendar %s (%s): %w; %s", name, jobtree.Calendar(name), k.err, without)
}
