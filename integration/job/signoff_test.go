package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// A scheduler could not deregister, and the session of its process goes on. It deregisters as soon
// as the store answers, so its items do not stay with an instance that has ended.
func TestSignOffThatFails(t *testing.T) {
	type left struct {
		*cluster
		*member
		store *memory.Store
	}
	for name, goes := range map[string]func(left){
		"shut down in an outage": func(l left) {
			l.link.Cut()
			time.AfterFunc(10*time.Second, l.link.Heal)
			ctx, cancel := context.WithTimeout(l.Context(), 2*time.Second)
			defer cancel()
			if err := l.Shutdown(ctx); !errors.Is(err, coord.ErrUnavailable) {
				l.Errorf("shutdown: %v", err)
			}
		},
		"shut down with time enough": func(l left) {
			l.link.Cut()
			time.AfterFunc(10*time.Second, l.link.Heal)
			ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
			defer cancel()
			if err := l.Shutdown(ctx); err != nil {
				l.Errorf("shutdown: %v", err)
			}
			if err := l.view.Sync(l.Context()); err != nil || len(l.state().Instances) != 1 {
				l.Errorf("it is still in the tree: %v", err)
			}
		},
		"shut down again": func(l left) {
			l.link.Cut()
			time.AfterFunc(10*time.Second, l.link.Heal)
			over, cancel := context.WithCancel(l.Context())
			cancel()
			if err := l.Shutdown(over); !errors.Is(err, coord.ErrUnavailable) {
				l.Errorf("shutdown: %v", err)
			}
			if err := l.Shutdown(l.Context()); err != nil {
				l.Errorf("shutdown again: %v", err)
			}
		},
		"its view ended, and its removal failed": func(l left) {
			l.store.Inject(memory.Fault{Method: memory.Commit, Kind: coord.OpDeleteTree, Path: l.job.Session(l.member.Status().InstanceID), Before: coord.ErrUnavailable, Times: 3})
			l.link.(*memory.Link).EndViews(errors.New("no more"))
			<-l.Done()
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, s *memory.Store) {
			c.timeout = time.Minute
			m := c.join("10.0.0.1", c.config(), nil)
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			c.join("10.0.0.2", c.config(), nil)
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
			goes(left{c, m, s})
			c.pass(15 * time.Second)
			c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
			if s := c.state(); len(s.Instances) != 1 || len(s.Sessions) != 1 {
				t.Errorf("it left this:\n%s", c.dump())
			}
			n := len(c.record.find(anything))
			c.awaitRuns("all items", n+6, anything)
			c.check()
		})
	}
}

// A start that fails leaves no node of its instance.
func TestStartThatFailsInAnOutage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = time.Minute
		c.join("10.0.0.2", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		m := c.dial("10.0.0.1")
		link := m.link.(*memory.Link)
		link.Lag(time.Second) // its view shows its registration late, so the start takes that long
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		started := make(chan error, 1)
		go func() { started <- m.schedule(ctx, c.config(), nil) }()
		c.await("it is registered", func(s *jobtree.State) bool { return len(s.Instances) == 2 })
		link.Cut()
		if err := <-started; err == nil {
			t.Fatal("it has started")
		}
		link.Lag(0)
		c.pass(3 * time.Second)
		link.Heal()
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		c.await("it is out of the tree", func(s *jobtree.State) bool { return len(s.Instances) == 1 && len(s.Sessions) == 1 })
	})
}
