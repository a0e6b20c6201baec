package job_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// An instance ends or leaves before it has taken a trigger. The instances that get its items
// take the trigger.
func TestTriggerOfOneWhoEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(*member)
	}{
		{"crash", (*member).crash},
		{"leave", func(m *member) { m.leave() }},
	} {
		runInVirtualTime(t, tt.name, func(t *testing.T, c *cluster, s *memory.Store) {
			c.timeout = shortSession
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount = "", 300
			logged, logs := newLogbook()
			a := c.join("10.0.0.1", cfg, nil)
			b, counts := c.counted("10.0.0.2")
			c.mustSchedule(b, cfg, nil, logs)
			c.ownedBy("10.0.0.1", 300, 150)
			a.link.(*memory.Link).Lag(3 * time.Second) // so that it does not see the trigger in time
			if tt.name == "crash" {
				a.crash()
			}
			counts.take()
			c.commit(coord.Put(c.job.Trigger(a.Status().InstanceID), nil))
			if tt.name == "leave" {
				a.leave()
			}
			c.awaitRuns("all items", 150, func(e execution) bool { return e.Source == job.SourceManual && e.ip == "10.0.0.2" })
			c.settled()
			if commits, _ := counts.take(); len(commits) > 100 {
				t.Errorf("it took %d commits", len(commits))
			}
			if n := len(logged.says("trigger taken over: its instance ended before it obeyed")); n != 1 {
				t.Errorf("it is said %d times: %q", n, logged.messages())
			}
			b.awaitSound()
			c.check()
		})
	}
}

// If several instances get the items of one that has ended, each runs its part of the trigger.
func TestTriggerOfOneWhoEndsIsForSeveral(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = shortSession
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "", 9
		a := c.join("10.0.0.1", cfg, nil)
		b := c.join("10.0.0.2", cfg, nil)
		c.join("10.0.0.3", cfg, nil)
		c.ownedBy("10.0.0.1", 9, 3)
		a.crash()
		request := c.trigger(b)
		for item := range 9 {
			c.awaitRuns("its run", 1, of(item))
		}
		c.settled()
		for item := range 9 {
			if got := c.completion(item).Request; got != request.ID {
				t.Errorf("item %d was run for the request %q, want %q", item, got, request.ID)
			}
		}
		if n := len(c.record.find(anything)); n != 9 {
			t.Errorf("%d executions\n%s", n, c.record)
		}
		c.check()
	})
}

// A trigger for an instance that nobody has seen may be of any age. It is removed, and the log
// says so.
func TestTriggerOfOneWhomNobodyKnows(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		c.commit(coord.Put(c.job.Trigger(deadID), []byte("request: r\nitems: [0, 1]\n")))
		logged, logs := newLogbook()
		c.join("10.0.0.1", cfg, nil, logs)
		c.await("it is removed", func(s *jobtree.State) bool { return len(s.Items) == 3 && len(s.Triggers) == 0 })
		c.pass(time.Second)
		if lines := logged.says("trigger lost: its instance ended before it obeyed"); len(lines) != 1 {
			t.Errorf("the log says %v", lines)
		}
		if n := len(c.record.find(anything)); n > 0 {
			t.Errorf("%d executions", n)
		}
	})
}

// The last instance removes its trigger when it leaves, and the log says so.
func TestTriggerOfTheLast(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		logged, logs := newLogbook()
		m := c.join("10.0.0.1", cfg, nil, logs)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		id := m.Status().InstanceID
		m.link.(*memory.Link).Lag(time.Second)
		c.commit(coord.Put(c.job.Trigger(id), nil))
		_ = m.stop() // before it sees the trigger
		if lines := logged.says("trigger lost: its instance ended before it obeyed"); len(lines) != 1 || lines[0]["items"] != "0, 1, 2" {
			t.Errorf("the log says %v", lines)
		}
		c.await("it is removed", func(s *jobtree.State) bool { return len(s.Triggers) == 0 })
	})
}

// Who has left can ask for nothing, and the error says that, and not that nobody runs the job.
func TestTriggerAfterShutdown(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.must(m.Shutdown(t.Context()))
		_, err := m.Trigger(t.Context(), job.TriggerRequest{})
		if !errors.Is(err, job.ErrShutdown) || !strings.Contains(err.Error(), "trigger: job: scheduler shut down") {
			t.Errorf("got %v", err)
		}
	})
}
