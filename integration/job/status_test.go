package job_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// A status shows an outage as soon as the session knows of it, and the end of the session at
// once. Afterwards it has no fault. Changed signals each of these.
func TestStatusInAnOutage(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		c.timeout = shortSession
		logged, logs := newLogbook()
		m := c.join("10.0.0.1", c.config(), nil, logs)
		before := m.awaitStatus("it leads", func(s job.Status) bool { return s.Registered && s.Leader && len(s.Items) == 3 && len(s.Faults) == 0 })
		if before.Session != coord.Connected || before.NextTick.IsZero() || !before.LastTick.Before(before.NextTick) {
			t.Errorf("the status is %+v", before)
		}
		m.link.Cut()
		cut := time.Now()
		suspended := m.awaitStatus("the session is in doubt", func(s job.Status) bool { return s.Session != coord.Connected })
		answered := cut
		if c.isReal() {
			answered = time.Now() // what was in a buffer when the link was cut is read a moment later
		}
		if !errors.Is(suspended.Fault(), coord.ErrUnavailable) || faultOf(suspended, jobtype.FaultStore) == nil {
			t.Errorf("the fault is %v, want that of the store", suspended.Fault())
		}
		lost := m.awaitStatus("the session is lost", func(s job.Status) bool { return s.Session == coord.Lost })
		if lost.Registered || lost.Leader || faultOf(lost, jobtype.FaultStore) == nil {
			t.Errorf("without a session the status is %+v", lost)
		}
		if since := faultOf(lost, jobtype.FaultStore).(job.Fault).Since; since.After(answered) || since.Before(cut.Add(-c.timeout)) {
			t.Errorf("the store is at fault since %v, and was there until %v", since, answered)
		}
		if took := time.Since(cut); took > c.timeout+time.Second && !c.isReal() {
			t.Errorf("it was said after %v", took)
		}
		m.link.Heal()
		after := m.awaitStatus("it leads again", func(s job.Status) bool {
			return s.Registered && s.Leader && len(s.Items) == 3 && len(s.Faults) == 0 && s.Session == coord.Connected
		})
		if after.InstanceID == before.InstanceID {
			t.Error("a new session has the old identity")
		}
		// A session that is so short may end again on a machine that stands still.
		if begun, over := logged.of(atFault, jobtype.FaultStore), logged.of(faultOver, jobtype.FaultStore); begun > 1 && !c.isReal() || over != begun {
			t.Errorf("%d lines say that the store is at fault, and %d that it is over: %q", begun, over, logged.messages())
		}
		m.leave()
		if end := m.Status(); end.Registered || end.Leader || len(end.Items) > 0 {
			t.Errorf("at the end the status is %+v", end)
		}
	})
}

var errFailed = errors.New("failed")

// An instance is alive and begins no item, although its own store shows it nothing wrong. The
// leader notices that.
func TestLeaderSeesItemsThatDoNotBegin(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		a := c.join("10.0.0.1", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		a.awaitStatus("it leads", func(s job.Status) bool { return s.Leader })
		b := &member{c: c, ip: "10.0.0.2"}
		reg, err := s.Dial(t.Context(), memory.Config{Namespace: c.namespace, SessionTimeout: c.timeout, Name: "wedged"})
		c.must(err)
		b.reg, b.link = reg, reg.Link()
		t.Cleanup(b.end)
		c.mustSchedule(b, c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		wedged := s.Inject(memory.Fault{Registry: "wedged", Method: memory.Commit, Path: "settle/sharding/*/running", Before: coord.ErrUnavailable})
		begun := time.Now()
		led := a.awaitFault(jobtype.FaultStarvation, "items 1 should have begun")
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("the leader said so after %v", took)
		}
		if len(led.Waiting) != 1 || led.Waiting[0].Item != 1 || led.Waiting[0].Why == "" {
			t.Errorf("the leader has %+v waiting", led.Waiting)
		}
		own := b.awaitStatus("its own faults", func(s job.Status) bool {
			return faultOf(s, jobtype.FaultStore) != nil && faultOf(s, jobtype.FaultStarvation) != nil
		})
		if !errors.Is(own.Fault(), coord.ErrUnavailable) {
			t.Errorf("its own faults are %v", own.Fault())
		}
		c.await("both say so in the tree", func(s *jobtree.State) bool { return len(s.Faults) == 2 })
		wedged.Remove()
		a.awaitSound()
		b.awaitSound()
		c.await("nobody says so any more", func(s *jobtree.State) bool { return len(s.Faults) == 0 })
		c.check()
	})
}

// Changed signals a new state of the session at once, even while the scheduler waits for an
// answer of the store and cannot see that state itself.
func TestChangedWhileACommitHangs(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		m := &member{c: c, ip: "10.0.0.1"}
		reg, err := s.Dial(t.Context(), memory.Config{Namespace: c.namespace, SessionTimeout: c.timeout, RequestTimeout: time.Hour, Name: "stuck"})
		c.must(err)
		m.reg, m.link = reg, reg.Link()
		t.Cleanup(m.end)
		c.mustSchedule(m, c.config(), nil)
		m.awaitStatus("it leads", func(s job.Status) bool { return s.Leader && len(s.Items) == 3 })
		hang := s.Inject(memory.Fault{Registry: "stuck", Method: memory.Commit, Delay: time.Minute, Times: 1})
		c.pass(2 * time.Second)
		if hang.Hits() != 1 {
			t.Fatalf("%d commits hang, want one", hang.Hits())
		}
		begun := len(c.record.find(anything))
		hears := func(what string, does func(), want coord.SessionState) {
			t.Helper()
			changed := m.Changed()
			synctest.Wait()
			select {
			case <-changed:
				t.Fatalf("%s: a change before it", what)
			default:
			}
			does()
			synctest.Wait()
			select {
			case <-changed:
			default:
				t.Errorf("%s: no change", what)
			}
			if status := m.Status(); status.Session != want || (faultOf(status, jobtype.FaultStore) == nil) != (want == coord.Connected) {
				t.Errorf("%s: the status is %+v, want that the session is %v", what, status, want)
			}
		}
		hears("cut", m.link.Cut, coord.Suspended)
		hears("healed", m.link.Heal, coord.Connected)
		hears("cut again", m.link.Cut, coord.Suspended)
		m.link.Heal()
		if n := len(c.record.find(anything)); n != begun {
			t.Errorf("the scheduler was not stuck: %d executions, and %d before", n, begun)
		}
		c.pass(2 * time.Minute)
		m.awaitSound()
		c.check()
	})
}
