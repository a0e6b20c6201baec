package job_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Nodes that no session owns stand for nobody: if the leader's node is one, another leader is
// elected, and if an instance's node is one, its items go to a real instance.
func TestNodesOfNobody(t *testing.T) {
	const nobody = "10.9.9.9@-@1-gone"
	for _, tc := range []struct {
		name string
		ops  func(jobtree.Job) []coord.Op
	}{
		{"a leader", func(j jobtree.Job) []coord.Op {
			return []coord.Op{coord.Create(j.LeaderInstance(), []byte(nobody))}
		}},
		{"a leader that is no id", func(j jobtree.Job) []coord.Op {
			return []coord.Op{coord.Create(j.LeaderInstance(), []byte("a/../\x01"))}
		}},
		{"a leader of a session that has no instance", func(j jobtree.Job) []coord.Op {
			return []coord.Op{coord.CreateEphemeral(j.LeaderInstance(), []byte(nobody))}
		}},
		{"an instance with a session, which leads, owns and runs", func(j jobtree.Job) []coord.Op {
			return []coord.Op{
				coord.Create(j.LeaderInstance(), []byte(nobody)),
				coord.Create(j.Instance(nobody), []byte("jobInstanceId: "+nobody+"\nserverIp: 10.9.9.9\n")),
				coord.Create(j.Session(nobody), nil),
				coord.Put(j.ItemInstance(0), []byte(nobody)),
				coord.Create(j.Running(0), []byte(nobody)),
				coord.Create(j.Failovering(1), []byte(nobody)),
			}
		}},
		{"a session only, whose items run", func(j jobtree.Job) []coord.Op {
			return []coord.Op{
				coord.Create(j.Session(nobody), nil), coord.Put(j.ItemInstance(0), []byte(nobody)), coord.Create(j.Running(0), []byte(nobody)),
				coord.Create(j.Running(1), []byte(nobody)),
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
				c.timeout = lasting
				close(c.release)
				first := c.join("10.0.0.1", c.config(), c.work)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
				first.leave()
				ops := tc.ops(c.job)
				c.commit(ops...)
				m := c.join("10.0.0.2", c.config(), c.work)
				c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
				c.settled()
				c.await("nothing is left of it", func(s *jobtree.State) bool {
					return s.Leader.Is(m.Status().InstanceID) && len(s.Instances) == 1 && len(s.Sessions) == 1
				})
				again := 0
				for _, op := range ops {
					if op.Path == c.job.Running(0) || op.Path == c.job.Running(1) || op.Path == c.job.Failovering(1) {
						again++
					}
				}
				c.awaitRuns("what nobody runs is run again", again, reruns)
				c.trigger(m)
				c.awaitRuns("all items", 3, func(e execution) bool { return e.Source == job.SourceManual })
				c.check()
			})
		})
	}
}

// An external writer replaces the leader's node while the leader is alive: there is a leader again at
// once.
func TestLeaderIsReplaced(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCutShort(t, s)
		c.timeout = lasting
		c.join("10.0.0.1", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		for range 3 {
			c.commit(coord.DeleteTree(c.job.LeaderInstance()))
			_, _ = c.admin.Commit(t.Context(), coord.Create(c.job.LeaderInstance(), nil)) // it conflicts if a leader was elected already
		}
		c.join("10.0.0.2", c.config(), c.work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
	})
}
