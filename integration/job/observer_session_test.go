package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// An observer is told why a session was lost, also if that is noticed while a request of
// the scheduler waits for its answer.
func TestObserverIsToldWhyTheSessionWasLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = 5 * time.Second
		lost := make(chan job.Event, 10)
		m := c.join("10.0.0.1", c.config(), nil, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventSession {
				if e.Session == coord.Lost {
					lost <- e
				}
			}
		}))
		c.awaitRuns("all items", 3, anything)
		id := m.Status().InstanceID
		m.link.BlackHole()
		c.pass(20 * time.Second)
		m.link.Heal()
		m.awaitStatus("it is there again", func(s job.Status) bool { return s.Registered && s.InstanceID != id })
		if e := <-lost; !errors.Is(e.Err, coord.ErrSessionLost) || e.InstanceID != id {
			t.Errorf("told %+v of %s", e, id)
		}
		if len(lost) > 0 {
			t.Errorf("told again: %+v", <-lost)
		}
	})
}
