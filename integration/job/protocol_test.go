package job_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// says is what an instance says about itself in the tree. If it has set the job up, that
// says which configuration it works by.
func (c *cluster) says(m *member) jobtree.SessionDocument {
	c.Helper()
	s := c.state().Session(m.Status().InstanceID)
	if s.Err != nil {
		c.Fatal(s.Err)
	}
	if s.Accepted == 0 && s.Modified == c.configured() {
		s.Accepted = s.Modified
	}
	return s.SessionDocument
}

// configured is when the configuration was written.
func (c *cluster) configured() int64 {
	c.Helper()
	node, err := c.admin.Get(c.Context(), c.job.Config())
	c.must(err)
	return node.Modified
}

// An instance says by which protocol it shares the tree, which configuration it works by or
// refuses, and which revision its program has brought.
func TestInstanceSaysWhatItFollows(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.Revision = rarely, 7
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		expect := func(what string, want jobtree.SessionDocument) {
			t.Helper()
			want.Protocol, want.Revision = jobtree.Protocol, 7
			c.until(fmt.Sprintf("%s: it says %+v", what, want), func() bool { return c.says(m) == want })
		}
		first := c.configured()
		expect("joined", jobtree.SessionDocument{Accepted: first})
		c.configure(func(cfg *job.Config) { cfg.JobParameter = "today" })
		second := c.configured()
		if second <= first {
			t.Fatalf("the configuration is of %d, and was of %d", second, first)
		}
		const differs = "jobParameter\t\"\"\t\"today\""
		expect("configured", jobtree.SessionDocument{Accepted: second, Differs: differs})
		c.configure(func(cfg *job.Config) { cfg.Strategy = "UNKNOWN" })
		third := c.configured()
		expect("refused", jobtree.SessionDocument{Accepted: second, Differs: differs, Refused: third})
		c.configure(func(cfg *job.Config) { cfg.Strategy, cfg.Revision = "", 8 }) // not the program's
		expect("configured again", jobtree.SessionDocument{Accepted: c.configured(), Differs: differs})
		// One that joins says so from the beginning on.
		cfg.Revision = 0
		other := c.join("10.0.0.2", cfg, nil)
		want := jobtree.SessionDocument{Protocol: jobtree.Protocol, Accepted: c.configured(), Differs: differs}
		c.await("it has joined", func(s *jobtree.State) bool { return len(s.Sessions) == 2 })
		if got := c.says(other); got != want {
			t.Errorf("the other says %+v, want %+v", got, want)
		}
	})
}

// An instance that shares the tree by rules that this program does not know is a fault as
// long as it is there, whatever else it says of itself. Items run all the same.
func TestInstanceOfANewerProtocol(t *testing.T) {
	for name, says := range map[string]string{
		"that says nothing else":              "protocol: %d\n",
		"that says more than is known":        "protocol: %d\nlater: {a: [1, 2]}\n",
		"that says what is known differently": "protocol: %d\naccepted: {of: 3}\n",
	} {
		t.Run(name, func(t *testing.T) {
			onTheSimulator(t, func(t *testing.T, s store) {
				c := newCluster(t, s, "settle")
				m := c.join("10.0.0.1", c.config(), nil)
				c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
				const newer = "10.0.0.9@-@1-newer"
				reg, _ := s.dial(t, c.namespace, c.timeout)
				t.Cleanup(func() { closeRegistry(t, reg) })
				node := coord.CreateEphemeral(c.job.Session(newer), fmt.Appendf(nil, says, jobtree.Protocol+1))
				if _, err := reg.Commit(t.Context(), node); err != nil {
					t.Fatal(err)
				}
				m.awaitFault(jobtype.FaultTree, fmt.Sprintf("instance %s shares the tree by protocol %d", newer, jobtree.Protocol+1))
				n := len(c.record.find(anything))
				c.awaitRuns("ticks", n+6, anything)
				c.must(reg.Close(t.Context()))
				m.awaitFaultOver(jobtype.FaultTree)
				c.check()
			})
		})
	}
}

// One of the same protocol, or one that does not say, is none.
func TestInstanceOfAKnownProtocol(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		m := c.join("10.0.0.1", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.commit(
			coord.CreateEphemeral(c.job.Session("10.0.0.8@-@1-same"), fmt.Appendf(nil, "protocol: %d\n", jobtree.Protocol)),
			coord.CreateEphemeral(c.job.Session("10.0.0.9@-@1-older"), nil))
		c.pass(10 * time.Second)
		m.awaitSound()
	})
}

// Changes of the configuration, one after the other, make an instance write anew what it says
// of itself. Nobody undoes that, so it is no fault.
func TestInstanceSaysWhatItFollowsAgainAndAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		var w witness
		m := c.join("10.0.0.1", c.config(), nil, w.option())
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		for i := range 20 {
			c.configure(func(cfg *job.Config) { cfg.JobParameter = fmt.Sprint(i) })
			c.pass(time.Second)
			if got, want := c.says(m).Accepted, c.state().Config.Modified; got != want {
				t.Errorf("it says %d a second after %d", got, want)
			}
		}
		synctest.Wait()
		if faults := w.of(jobtype.EventFault); len(faults) > 0 {
			t.Errorf("faults: %+v", faults)
		}
	})
}

// An external writer who writes there something else as fast as it is corrected is one, and costs a
// few requests.
func TestStrangerWhoSpeaksForAnInstance(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		m, counts := c.counted("10.0.0.1")
		c.mustSchedule(m, cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		id := m.Status().InstanceID
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				changed := c.view.Changed()
				if session := c.state().Session(id); session.Accepted != 0 || session.Modified == c.state().Config.Modified {
					c.commit(coord.Set(c.job.Session(id), []byte("protocol: 1\n")))
				}
				select {
				case <-changed:
				case <-ctx.Done():
				}
			}
		}()
		m.awaitFault(jobtype.FaultTree, "announce")
		m.awaitFault(jobtype.FaultTree, "comes back each time")
		counts.take()
		c.pass(10 * time.Minute)
		m.awaitFault(jobtype.FaultTree, "announce")
		if commits, others := counts.take(); len(commits)+len(others) > 100 {
			t.Errorf("in ten minutes %d commits and %d other requests", len(commits), len(others))
		}
		cancel()
		<-ended
		c.pass(2 * time.Minute)
		m.awaitSound()
		if got, want := c.says(m).Accepted, c.state().Config.Modified; got != want {
			t.Errorf("in the end it says %d, want %d", got, want)
		}
	})
}
