package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func elects(p pass) []decide.Change { return one(p.Elect()) }

func TestElect(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B") }
	elected := []string{"+ leader/election/instance = A (of A)"}
	refuses := func(f *fixture) { f.refused = f.pass("A").Config.Modified }
	for _, r := range []row{
		{name: "nobody leads", want: elected},
		{name: "somebody leads", tree: func(f *fixture) { f.leader("B") }},
		{name: "it leads", tree: func(f *fixture) { f.leader("A") }},
		{name: "not registered", tree: func(f *fixture) { f.remove("instances/A") }},
		{name: "registered by an earlier session", tree: func(f *fixture) { f.remove("instances/A").create("\x01", "instances/A", "") }},
		{name: "its server is disabled", tree: func(f *fixture) { f.disable("A") }},
		{name: "another server is disabled", tree: func(f *fixture) { f.disable("B") }, want: elected},
		{name: "on the way out", tree: func(f *fixture) { f.leaving = true }},
		{name: "on the way out, but still there beside a JVM", tree: func(f *fixture) { f.jvms(jvm).leaves("A").leaving = true }},
		{name: "it has refused the configuration", tree: refuses},
		{name: "everybody has refused it", tree: func(f *fixture) { refuses(f); f.refuse("B", f.refused) }, want: elected},
		{name: "there is no configuration", tree: func(f *fixture) { f.remove("config") }},
	} {
		r.run(t, base, elects)
	}
	for _, c := range []conflict{
		{"somebody else is elected", func(f *fixture) { f.leader("B") }},
		{"an operator removes it", func(f *fixture) { f.remove("instances/A") }},
		{"it has stepped down", func(f *fixture) { f.changes("A", stepsDown(f.pass("A"))...) }},
		{"its session's node is removed, so that others take it for dead", func(f *fixture) { f.remove("sessions/A") }},
		{"it has deregistered", func(f *fixture) { f.changes("A", f.pass("A").Deregister(false)) }},
		{"the job is removed", func(f *fixture) { f.remove("config") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, elects)
	}
}

// TestTurn: instances stand for election one after the other, in an order that differs from
// job to job, and those who may not have items keep nobody waiting.
func TestTurn(t *testing.T) {
	f := given(t)
	var ids []string
	for i := range 40 {
		ids = append(ids, string(rune('A'+i)))
	}
	f.members(ids...)
	times := map[time.Duration]int{}
	for _, id := range ids {
		turn := f.pass(id).ElectionDelay()
		times[turn]++
		if turn%(30*time.Millisecond) != 0 && turn != time.Second {
			t.Errorf("the turn of %s is after %v", id, turn)
		}
		for _, c := range []struct {
			leaderless time.Duration
			elects     bool
		}{{turn - 1, false}, {turn, true}} {
			f.leaderless = c.leaderless
			if got := len(elects(f.pass(id))) > 0; got != c.elects {
				t.Errorf("%s, whose turn is after %v, stands for election after %v: %v", id, turn, c.leaderless, got)
			}
		}
	}
	for n := range 33 {
		if at := time.Duration(n) * 30 * time.Millisecond; at < time.Second && times[at] != 1 {
			t.Errorf("%d instances have their turn after %v", times[at], at)
		}
	}
	if times[time.Second] != len(ids)-34 {
		t.Errorf("%d instances have their turn in the end", times[time.Second])
	}

	turns := map[time.Duration]bool{}
	for n := range 20 {
		p := f.pass("A")
		p.Job = jobtree.Job(fmt.Sprint("job", n))
		turns[p.ElectionDelay()] = true
	}
	if len(turns) < 5 {
		t.Errorf("A has its turn at %d times in 20 jobs", len(turns))
	}
	for _, id := range ids[1:] {
		f.disable(id)
	}
	if turn := f.pass("A").ElectionDelay(); turn != 0 {
		t.Errorf("the only one that may lead has its turn after %v", turn)
	}
}

func TestDepose(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B") }
	deposed := []string{"- leader/election/instance"}
	for _, r := range []row{
		{name: "a leader that no session owns", tree: func(f *fixture) { f.put("leader/election/instance", "B") }, want: deposed},
		{name: "one of no known id, and no session", tree: func(f *fixture) { f.put("leader/election/instance", "nobody") }, want: deposed},
		{name: "one of no known id", tree: func(f *fixture) { f.create("Z", "leader/election/instance", "nobody") }, want: deposed},
		{name: "one whose name cannot be an id", tree: func(f *fixture) { f.create("Z", "leader/election/instance", "../..") }, want: deposed},
		{name: "one without a name", tree: func(f *fixture) { f.create("Z", "leader/election/instance", "") }, want: deposed},
		{
			name: "one with a node below it",
			tree: func(f *fixture) { f.put("leader/election/instance", "B").put("leader/election/instance/x", "") },
			want: []string{"- leader/election/instance", "- leader/election/instance/x"},
		},
		{name: "one that names an instance of another session", tree: func(f *fixture) { f.create("Z", "leader/election/instance", "B") }, want: deposed},
		{name: "a JVM leader, which has no session node", tree: func(f *fixture) { f.remove("sessions/B").leader("B") }},
		{name: "a leader that is on its way out", tree: func(f *fixture) { f.remove("instances/B").leader("B") }},
		{name: "its server is disabled", tree: func(f *fixture) { f.put("leader/election/instance", "B").disable("A") }},
	} {
		r.run(t, base, elects)
	}
	for _, c := range []conflict{
		{"the instance shows only now", func(f *fixture) { f.create("X", "instances/X", "") }},
		{"its session shows only now", func(f *fixture) { f.create("X", "sessions/X", "") }},
		{"nobody leads", func(f *fixture) { f.remove("leader/election/instance") }},
		{"somebody else leads by now", func(f *fixture) { f.put("leader/election/instance", "B") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); f.create("X", "leader/election/instance", "X") }, elects)
	}
	for _, c := range []conflict{
		{"its instance is another one", func(f *fixture) { f.put("instances/B", "again") }},
		{"its session is another one", func(f *fixture) { f.put("sessions/B", "again") }},
	} {
		c.run(t, func(f *fixture) { base(f); f.create("X", "leader/election/instance", "B") }, elects)
	}
	t.Run("a leader that no session owns goes, whatever becomes of the instance that it names", func(t *testing.T) {
		f := given(t)
		base(f)
		changes := elects(f.put("leader/election/instance", "B").pass("A"))
		f.put("instances/B", "again").remove("sessions/B").changes("A", changes...)
	})
}

func TestAbdicate(t *testing.T) {
	abdicates := func(p pass) []decide.Change { return one(p.Abdicate()) }
	base := func(f *fixture) { f.members("A", "B").leader("A") }
	gone := []string{"- leader/election/instance"}
	for _, r := range []row{
		{name: "no reason to"},
		{name: "its server is disabled", tree: func(f *fixture) { f.disable("A") }, want: gone},
		{name: "its clock is far off", tree: func(f *fixture) { f.ahead(time.Minute) }, want: gone},
		{name: "it has refused the configuration", tree: func(f *fixture) { f.refused = f.pass("A").Config.Modified }, want: gone},
		{
			name: "and a stranger has put a node below the leader's",
			tree: func(f *fixture) { f.disable("A").put("leader/election/instance/x", "") },
			want: []string{"- leader/election/instance", "- leader/election/instance/x"},
		},
		{name: "somebody else leads", tree: func(f *fixture) { f.disable("A").remove("leader/election/instance").leader("B") }},
		{
			name: "beside a JVM: it is to deal the items if it comes to lead",
			tree: func(f *fixture) { f.jvms(jvm).disable("A") },
			want: []string{"- leader/election/instance", "+ leader/sharding/necessary = holding"},
		},
		{
			name: "beside a JVM: it is told so already",
			tree: func(f *fixture) { f.jvms(jvm).disable("A").put("leader/sharding/necessary", "") },
			want: gone,
		},
	} {
		r.run(t, base, abdicates)
	}
	disabled := func(f *fixture) { base(f); f.disable("A") }
	conflict{"somebody else leads by now", func(f *fixture) { f.remove("leader/election/instance").leader("B") }}.run(t, disabled, abdicates)
}

func TestJVMLeads(t *testing.T) {
	for _, c := range []struct {
		name          string
		tree          func(*fixture)
		stands, isJVM bool
	}{
		{"nobody", func(*fixture) {}, false, false},
		{"one of ours", func(f *fixture) { f.leader("B") }, true, false},
		{"one of ours that is on its way out", func(f *fixture) { f.leader("B").remove("instances/B") }, true, false},
		{"a JVM", func(f *fixture) { f.leader("B").remove("sessions/B") }, true, true},
		{"one that is not there", func(f *fixture) { f.create("Z", "leader/election/instance", "Z") }, false, false},
		{"one that no session owns", func(f *fixture) { f.put("leader/election/instance", "B") }, false, false},
	} {
		f := given(t).members("A", "B")
		c.tree(f)
		if p := f.pass("A"); p.LeaderIsAlive() != c.stands || p.JVMLeads() != c.isJVM {
			t.Errorf("%s: stands %v, is a JVM %v", c.name, p.LeaderIsAlive(), p.JVMLeads())
		}
	}
}
