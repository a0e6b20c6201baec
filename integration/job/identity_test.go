package job_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// If the nodes of an instance were removed or replaced, the others take it for dead. So it
// ends its runs and takes another identity, and what it had begun is run again.
func TestNodesOfAnInstanceAreTakenAway(t *testing.T) {
	for _, tc := range []struct {
		name   string
		tamper func(c *cluster, id string)
	}{
		{"its session removed", func(c *cluster, id string) { c.commit(coord.Delete(c.job.Session(id))) }},
		{"both removed", func(c *cluster, id string) {
			c.commit(coord.Delete(c.job.Session(id)), coord.Delete(c.job.Instance(id)))
		}},
		{"its session is a stranger's", func(c *cluster, id string) {
			c.commit(coord.Delete(c.job.Session(id)))
			c.commitWhileThere(id, coord.CreateEphemeral(c.job.Session(id), nil))
		}},
		{"its session is nobody's", func(c *cluster, id string) {
			c.commit(coord.Delete(c.job.Session(id)))
			c.commitWhileThere(id, coord.Create(c.job.Session(id), nil))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			onTheSimulator(t, func(t *testing.T, s store) { testTakenAway(t, s, tc.tamper) })
		})
	}
	for name, path := range map[string]func(c *cluster, id string) string{
		"its instance without a session":     func(c *cluster, id string) string { return c.job.Instance(id) },
		"its session's node without session": func(c *cluster, id string) string { return c.job.Session(id) },
	} {
		t.Run(name, func(t *testing.T) {
			onEtcd(t, func(t *testing.T, s store, vandalize func(*cluster, string, string)) {
				testTakenAway(t, s, func(c *cluster, id string) {
					vandalize(c, path(c, id), "jobInstanceId: "+id+"\nserverIp: 10.0.0.1\n")
				})
			})
		})
	}
}

// commitWhileThere does nothing if an instance has taken another identity: somebody who then writes
// its session lets it live for all, for as long as his own session does.
func (c *cluster) commitWhileThere(id string, op coord.Op) {
	c.Helper()
	if _, err := c.admin.Commit(c.Context(), coord.Exists(c.job.Instance(id)), op); err != nil && !errors.Is(err, coord.ErrConflict) {
		c.Fatal(err)
	}
}

func testTakenAway(t *testing.T, s store, tamper func(c *cluster, id string)) {
	c := newCutShort(t, s)
	c.timeout = lasting
	m, counts := c.counted("10.0.0.1")
	c.mustSchedule(m, c.config(), c.work)
	c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
	c.trigger(m, 0)
	first := c.awaitRuns("item 0", 1, of(0))[0]
	before := m.Status().InstanceID
	counts.take()
	tamper(c.cluster, before)
	again := c.awaitRuns("item 0 again", 1, reruns)[0]
	if commits, others := counts.take(); len(commits) > 20 || len(others) > 40 {
		t.Errorf("it took %d commits and %d other requests: %s", len(commits), len(others), strings.Join(others, ", "))
	}
	if cut := c.record.find(func(e execution) bool { return e.Token == first.Token })[0]; !errors.Is(cut.cause, job.ErrItemLost) || cut.end.After(again.begin) {
		t.Errorf("the first run ended with %v at %s, the next one began at %s", cut.cause, cut.end, again.begin)
	}
	if again.InstanceID == before || again.Token <= first.Token || again.Item != 0 {
		t.Errorf("run again as %+v after %+v", again, first)
	}
	close(c.release)
	stranger, err := c.admin.Session(t.Context())
	c.must(err)
	c.await("it is another instance, which has all items", func(s *jobtree.State) bool {
		_, there := s.Instances[before]
		// An external writer's node may come after this instance has left that identity.
		left := s.Session(before).Created == 0 || s.Session(before).Owner == stranger.ID()
		return !there && left && len(s.Instances) == 1 && len(owners(s, 3)["10.0.0.1"]) == 3
	})
	c.settled()
	if status := m.Status(); !status.Registered || status.InstanceID == before {
		t.Errorf("status %+v", status)
	}
	c.trigger(m, 1)
	c.awaitRuns("item 1", 1, of(1))
	c.check()
	m.leave()
}
