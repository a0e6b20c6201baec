package decide_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TestNamesOfSteps: each step has a name of its own, because one that fails waits before it
// is tried again, and the others must not. Those that only correct what somebody else has
// done say so: they wait also if they have to do it again and again.
func TestNamesOfSteps(t *testing.T) {
	const corrects = true
	seen := map[string]bool{}
	for _, c := range []struct {
		step  string
		heals bool
		tree  func(*fixture)
		asks  func(pass) []decide.Change
	}{
		{"register", false, func(f *fixture) { f.remove("instances/A", "sessions/A") }, registers},
		{"fence registration", false, nil, func(p pass) []decide.Change { return []decide.Change{p.FenceRegistration()} }},
		{"announce", false, func(f *fixture) { f.refused = 17 }, func(p pass) []decide.Change { return one(p.Announce()) }},
		{"remove stale self", corrects, func(f *fixture) { f.create("A", "sessions/A-2", "protocol: 2\nnode: process\n") }, removesStaleSelf},
		{"elect", false, func(f *fixture) { f.remove("leader/election/instance") }, elects},
		{"depose", corrects, func(f *fixture) { f.remove("leader").put("leader/election/instance", "X") }, elects},
		{"abdicate", corrects, func(f *fixture) { f.disable("A") }, func(p pass) []decide.Change { return one(p.Abdicate()) }},
		{"resign", false, nil, stepsDown},
		{"deregister", false, nil, func(p pass) []decide.Change { return []decide.Change{p.Deregister(false)} }},
		{"record schedule", false, func(f *fixture) { f.remove("schedule") }, puts},
		{"mark for failover", false, func(f *fixture) { f.put("sharding/0/running", "X") }, recovers},
		{"tidy", corrects, func(f *fixture) { f.put("sessions/X", "") }, tidies},
		{"clean", corrects, func(f *fixture) { f.put("kill/0", "token: 1") }, cleans},
		{"record JVM runs", false, func(f *fixture) { f.jvms(jvm).own(0, jvm).begun(jvm, 0) }, witnesses},
		{"unmark", corrects, func(f *fixture) { f.put("sharding/0/failovering", "A") }, unmarks},
		{"request reshard", corrects, nil, func(p pass) []decide.Change { return []decide.Change{p.RequestReshard()} }},
		{"sweep", corrects, func(f *fixture) { f.put("servers/host-X", "") }, func(p pass) []decide.Change { return p.Sweep() }},
		{"rewind", corrects, func(f *fixture) { f.ahead(0).fired(0, f.now.Add(time.Hour)) }, rewinds},
		{"assign", false, func(f *fixture) { f.own(0, "X") }, assigns},
		{"fire", false, nil, fires},
		{"mark misfire", false, func(f *fixture) { f.claim("A", 0, tick(0)) }, func(p pass) []decide.Change { return p.MarkMisfire(p.work) }},
		{"skip", false, func(f *fixture) { f.put("sharding/0/disabled", "") }, skips},
		{"fail over", false, func(f *fixture) { f.put("leader/failover/items/0", "") }, takesOver},
		{"claim requested", false, func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{0}}) }, begins},
		{"end requests", false, func(f *fixture) { f.put("requests/x", "") }, endsRequests},
		{"end requested", false, nil, func(p pass) []decide.Change { return p.EndUnmonitored([]*decide.Run{{}}) }},
		{"take trigger", false, func(f *fixture) { f.put("trigger/A", "") }, obeys},
		{"finish", false, func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) }, finishes},
		{"claim again", false, func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(0)) }, finishes},
		{"settle", corrects, func(f *fixture) { f.put("sharding/0/running", "") }, settles},
		{"restore", corrects, func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)); f.remove("sharding/0/running") }, restores},
		{"release for failover", false, func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) }, func(p pass) []decide.Change { return p.ReleaseForFailover(p.fixture.runs()) }},
		{"release", false, func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) }, func(p pass) []decide.Change { return p.ReleaseClaims(p.fixture.runs()) }},
	} {
		if seen[c.step] {
			t.Errorf("two steps are named %s", c.step)
		}
		seen[c.step] = true
		f := given(t).members("A", "B").leader("A").deal("A", "A", "A")
		if c.tree != nil {
			c.tree(f)
		}
		changes := c.asks(f.pass("A"))
		if len(changes) != 1 || changes[0].Step != c.step || changes[0].IsRepair != c.heals {
			t.Errorf("%s: got %+v", c.step, changes)
		}
	}
}
