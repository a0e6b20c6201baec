package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/rest"
	"github.com/elasticjob-go/elasticjob/job/calendar"
)

// calendars follows the calendars of the namespace for the jobs of a node. They share one view
// of all of them. It is open while a job names one.
type calendars struct {
	reg coord.Registry

	mu     sync.Mutex
	jobs   map[*controller][]string // which calendars each job names
	known  map[string]*known        // by name, as they were seen last; only those that are named
	follow *following               // nil while no job names any
}

// following is the goroutine that follows them.
type following struct {
	cancel context.CancelFunc
	wake   chan struct{} // other calendars are named
	done   chan struct{} // closed when it has ended
}

// known is a calendar as this process knows it. It does not change.
type known struct {
	good *calendar.Calendar // what it said last that could be read; nil if it never could
	err  error              // why the node does not say that now; nil if it does
	node coord.Node         // as it was read, without its value; the zero Node if there is none
}

// of returns the calendars that a job names, and wakes the job from now on when one of them
// changes. One that was not looked at yet is nil.
func (s *calendars) of(c *controller, names []string) []*known {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.jobs[c], names) {
		if s.jobs == nil {
			s.jobs, s.known = map[*controller][]string{}, map[string]*known{}
		}
		s.jobs[c] = names
		s.forget()
		if s.follow == nil {
			ctx, cancel := context.WithCancel(context.Background())
			f := &following{cancel: cancel, wake: make(chan struct{}, 1), done: make(chan struct{})}
			s.follow = f
			go func() {
				defer close(f.done)
				s.run(ctx, f)
			}()
		}
		select {
		case s.follow.wake <- struct{}{}:
		default:
		}
	}
	list := make([]*known, len(names))
	for i, name := range names {
		list[i] = s.known[name]
	}
	return list
}

// leave says that a job names no calendars any more. After the last one it waits until the view
// is closed.
func (s *calendars) leave(c *controller) {
	s.mu.Lock()
	delete(s.jobs, c)
	s.forget()
	f := s.follow
	if len(s.jobs) > 0 || f == nil {
		s.mu.Unlock()
		return
	}
	s.follow = nil
	s.mu.Unlock()
	f.cancel()
	<-f.done
}

// forget drops calendars that no job names. The caller has mu.
func (s *calendars) forget() {
	named := s.named()
	maps.DeleteFunc(s.known, func(name string, _ *known) bool { return !named[name] })
}

func (s *calendars) named() map[string]bool {
	named := map[string]bool{}
	for _, names := range s.jobs {
		for _, name := range names {
			named[name] = true
		}
	}
	return named
}

// run opens the view, and follows it until ctx ends.
func (s *calendars) run(ctx context.Context, f *following) {
	view, err := s.reg.View(ctx, jobtree.Calendars)
	for pause := firstPause; err != nil; pause = min(2*pause, lastPause) {
		s.look(f, func(string, *known) *known { return &known{err: err} })
		if errors.Is(err, coord.ErrClosed) || !rest.For(ctx, pause/2+rand.N(pause/2)) {
			return
		}
		view, err = s.reg.View(ctx, jobtree.Calendars)
	}
	defer view.Close()
	for view.Err() == nil {
		changed := view.Changed() // taken before the snapshot, so that no change between them is missed
		snapshot, fault := view.Snapshot(), view.Fault()
		s.look(f, func(name string, before *known) *known {
			n, _ := snapshot.Get(jobtree.Calendar(name))
			return before.next(n, fault)
		})
		select {
		case <-changed:
		case <-f.wake:
		case <-ctx.Done():
			return
		}
	}
}

// look looks at each calendar that is named, and wakes the jobs that name one that has changed.
func (s *calendars) look(f *following, at func(name string, before *known) *known) {
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
		if s.follow == f && s.named()[name] {
			s.known[name] = after
			for c, names := range s.jobs {
				if slices.Contains(names, name) {
					c.poke()
				}
			}
		}
		s.mu.Unlock()
	}
}

var errNoCalendar = errors.New("there is no such node")

// next returns what is known of a calendar when its node has been read: k itself if that is
// nothing new. fault is that of the view.
func (k *known) next(n coord.Node, fault error) *known {
	next := &known{node: n}
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

// explain says what is wrong with a calendar; nil if nothing is.
func (k *known) explain(name string) error {
	if k == nil || k.err == nil {
		return nil
	}
	without := "the last good one stays in force here"
	if k.good == nil {
		without = "this process has never read it, and begins no ticks"
	}
	return fmt.Errorf("calendar %s (%s): %w; %s", name, jobtree.Calendar(name), k.err, without)
}
