package job_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// older puts an instance into the tree as a program does that knows no steering.
func (c *cluster) older(ip string) (id string) {
	c.Helper()
	id = ip + "@-@1-older"
	document := jobtree.EncodeInstance(id, ip, nil)
	c.commit(coord.CreateEphemeral(c.job.Instance(id), document), coord.CreateEphemeral(c.job.Session(id), []byte("protocol: 1\n")), coord.Put(c.job.Server(ip), []byte(jobtree.Enabled)))
	return id
}

// requested is a request that somebody has written into the tree.
type requested struct {
	c  *cluster
	id string
}

func (r requested) Wait(ctx context.Context) ([]job.ItemResult, error) {
	return ops.New(r.c.admin).Job(string(r.c.job)).AwaitRequest(ctx, r.id)
}

// request writes a request, whoever is there to obey it.
func (c *cluster) request(items ...int) requested {
	c.Helper()
	n := c.state().NextRequest()
	r := requested{c, jobtree.NewRequestID(n, "x")}
	value, err := jobtree.EncodeRequest(jobtree.RequestDocument{Items: items, Source: "MANUAL", At: time.Now(), Kept: true})
	c.must(err)
	c.commit(coord.Put(c.job.Requests(), jobtree.EncodeRequestCount(n)), coord.Create(c.job.Request(r.id), value))
	return r
}

// The status names a request that waits, and says why it waits. It is a fault, too, unless an
// operator wants it so.
func TestRequestsThatWait(t *testing.T) {
	for name, tc := range map[string]struct {
		item int
		wait func(c *cluster, m *member) (goOn func())
		says string
		// isMeant is whether an operator wants it so, and it is no fault.
		isMeant bool
	}{
		"all servers are disabled": {
			wait: func(c *cluster, _ *member) func() {
				c.must(c.ops().DisableServers(c.Context()))
				return func() { c.must(c.ops().EnableServers(c.Context())) }
			},
			says: "all servers are disabled", isMeant: true,
		},
		"nobody may have the item": {
			wait: func(c *cluster, _ *member) func() {
				c.must(c.ops().Pin(c.Context(), 0, ops.PinRequest{Label: "none", Strict: true}))
				c.await("it has no owner", func(s *jobtree.State) bool { return s.Item(0).Owner == nil })
				return func() { c.must(c.ops().Unpin(c.Context(), 0)) }
			},
			says: "it is pinned, and there is no such instance",
		},
		"its owner knows no requests": {
			item: 1,
			wait: func(c *cluster, _ *member) func() {
				id := c.older("10.0.0.9")
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.9": {1}})
				return func() { c.commit(coord.DeleteTree(c.job.Instance(id)), coord.DeleteTree(c.job.Session(id))) }
			},
			says: "shares the tree by a protocol that has no requests",
		},
		"somebody runs it who does not end": {
			wait: func(c *cluster, _ *member) func() {
				id := c.older("10.0.0.9")
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.9": {1}})
				c.commit(coord.Create(c.job.Running(0), []byte(id)))
				return func() { c.commit(coord.DeleteTree(c.job.Running(0))) }
			},
			says: "older is not through",
		},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron, cfg.Failover = "", false
			m := c.join("10.0.0.1", cfg, nil)
			m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			goOn := tc.wait(c, m)
			r := c.request(tc.item)
			status := m.awaitStatus("why it waits", func(s job.Status) bool {
				return slices.ContainsFunc(s.Waiting, func(w job.Waiting) bool {
					return strings.Contains(w.Why, tc.says) && strings.Contains(w.Why, "request "+r.id)
				})
			})
			if err := faultOf(status, jobtype.FaultStarvation); (err != nil) != !tc.isMeant {
				t.Errorf("fault: %v", err)
			}
			goOn()
			if got := c.wait(r); got[0].Outcome != job.OutcomeOK {
				t.Errorf("results %+v", got)
			}
			m.awaitStatus("nothing waits", func(s job.Status) bool { return len(s.Waiting) == 0 && len(s.Faults) == 0 })
		})
	}
}

// Members that know no steering are named when operators steer.
func TestSteeringWithOlderMembers(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = rarely
		m := c.join("10.0.0.1", cfg, nil)
		m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		c.await("the schedule is in force", func(s *jobtree.State) bool { return s.Schedule != nil })
		id := c.older("10.0.0.9")
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.9": {1}})
		p, err := c.ops().Pause(t.Context(), ops.PauseRequest{})
		if err != nil || !slices.Equal(p.Old, []string{id}) || len(p.JVM) > 0 {
			t.Errorf("pause: %+v, %v", p, err)
		}
		m.awaitFault(jobtype.FaultTree, id+" shares the tree by protocol 1, and does not know the pause")
		c.resume(nil)
		m.awaitFaultOver(jobtype.FaultTree)
		c.commit(coord.Create(c.job.Running(1), []byte(id)), coord.Put(c.job.Fired(1), jobtree.EncodeFired(time.Now().Add(-time.Minute))))
		if killed, err := c.ops().Kill(t.Context(), ops.KillRequest{}); !errors.Is(err, ops.ErrOldMember) || len(killed) > 0 {
			t.Errorf("kill: %+v, %v", killed, err)
		}
		c.commit(coord.DeleteTree(c.job.Running(1)), coord.DeleteTree(c.job.Instance(id)), coord.DeleteTree(c.job.Session(id)))
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
	})
}
