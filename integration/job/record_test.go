package job_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Somebody removes the record of a run, or writes another name into it. The record is put back
// and the run goes on: nobody starts the item at the same time, and it is run again if its
// instance ends.
func TestRecordOfARunIsTamperedWith(t *testing.T) {
	for name, tamper := range map[string]func(j jobtree.Job) coord.Op{
		"removed":           func(j jobtree.Job) coord.Op { return coord.DeleteTree(j.Running(0)) },
		"somebody else's":   func(j jobtree.Job) coord.Op { return coord.Put(j.Running(0), []byte("10.9.9.9@-@1-gone")) },
		"without an id":     func(j jobtree.Job) coord.Op { return coord.Put(j.Running(0), nil) },
		"with a node below": func(j jobtree.Job) coord.Op { return coord.Put(j.Running(0)+"/x", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
				cfg := c.config()
				crashes := c.join("10.0.0.1", cfg, c.work)
				c.timeout = lasting
				c.join("10.0.0.2", cfg, c.work)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
				c.trigger(crashes, 0)
				first := c.awaitRuns("item 0", 1, of(0))[0]
				c.commit(tamper(c.job))
				c.await("its record is there again", func(s *jobtree.State) bool {
					return s.Item(0).Running.Is(first.InstanceID) && len(s.Debris) == 0
				})
				if all := c.record.find(anything); len(all) != 1 || !all[0].end.IsZero() {
					t.Errorf("the run did not go on alone:\n%s", c.record)
				}
				crashes.crash()
				again := c.awaitRuns("item 0 again", 1, reruns)[0]
				if again.Item != 0 || !again.ScheduledTime.Equal(first.ScheduledTime.Truncate(time.Millisecond)) {
					t.Errorf("run again as %+v", again)
				}
				close(c.release)
				c.settled()
				c.check()
			})
		})
	}
}

// A run has lost its record when the owner of the item changes. The next owner does not begin
// the item at the same time.
func TestItemWithoutItsRecordChangesItsOwner(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		c.timeout = lasting
		cfg := c.cluster.config()
		m := c.join("10.0.0.1", cfg, c.work)
		c.awaitRuns("all items", 3, anything)
		c.commit(coord.Delete(c.job.Running(0)), coord.Delete(c.job.Running(1)), coord.Delete(c.job.Running(2)))
		c.join("10.0.0.2", cfg, c.work)
		c.await("the records are there again", func(s *jobtree.State) bool {
			id := m.Status().InstanceID
			return s.Item(0).Running.Is(id) && s.Item(2).Running.Is(id) && len(s.Instances) == 2
		})
		close(c.release)
		c.awaitRuns("more of it", 9, func(e execution) bool { return !e.end.IsZero() })
		c.check()
	})
}
