package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func cleans(p pass) []decide.Change { return p.Clean() }

func TestClean(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	left := func(f *fixture) {
		f.put("leader/failover/items/0", "").put("leader/failover/items/2", "")
		f.put("sharding/0/misfire", "").put("sharding/1/misfire", "")
	}
	for _, r := range []row{
		{
			name: "what is in use stays",
			tree: func(f *fixture) { left(f); f.takenOver("B", 1, tick(1)); f.put("trigger/B", "") },
		},
		{
			name:  "failover is off",
			rules: failoverOff,
			tree: func(f *fixture) {
				left(f)
				f.put("sharding/1/failovering", "B").create("B", "sharding/1/failover", "B")
			},
			want: []string{"- leader/failover/items/0", "- leader/failover/items/2", "- sharding/1/failover", "- sharding/1/failovering"},
		},
		{
			name:  "failover is off, and one still runs by it",
			rules: failoverOff,
			tree:  func(f *fixture) { f.takenOver("B", 1, tick(1)) },
		},
		{
			name:  "everything is off, and nothing is left",
			rules: func(r *decide.Rules) { r.Failover, r.Misfire = false, false },
		},
		{
			name: "everything is on, and nothing is left",
			tree: func(f *fixture) { f.fired(0, tick(1)).fired(1, tick(1)) },
		},
		{
			name:  "misfire is off",
			rules: misfireOff,
			tree:  left,
			want:  []string{"- sharding/0/misfire", "- sharding/1/misfire"},
		},
		{
			name:  "misfire is off, and a JVM has an item, which keeps its own account",
			rules: misfireOff,
			tree:  func(f *fixture) { left(f); f.jvms(jvm).own(0, jvm) },
			want:  []string{"- sharding/1/misfire"},
		},
		{
			name: "misfires of a schedule that was changed, but not of what still runs",
			tree: func(f *fixture) {
				left(f)
				f.put("sharding/1/running", "B")
				f.now = tick(0).Add(time.Second)
			},
			want: []string{"- sharding/0/misfire"},
		},
		{
			name: "misfires of a schedule that is not in force yet",
			tree: func(f *fixture) { left(f); f.reconfigure(hourly) },
		},
		{
			name: "a misfire of an item that has no record of ticks",
			tree: func(f *fixture) { f.remove("sharding/0/fired").put("sharding/0/misfire", "") },
		},
		{
			name:  "records are off: whoever still has one removes it",
			rules: unrecorded,
			tree:  func(f *fixture) { f.put("sharding/1/running", "B") },
		},
		{
			name: "kills of what does not run, of another run, and such as nobody can read",
			tree: func(f *fixture) {
				f.put("kill/0", "token: 1").put("kill/2", "token: x")
				f.claim("B", 1, tick(1))
				f.put("kill/1", "token: 1")
			},
			want: []string{"- kill/0", "- kill/1", "- kill/2"},
		},
		{
			name: "a kill of what runs",
			tree: func(f *fixture) {
				f.put("kill/1", string(jobtree.EncodeKill(jobtree.KillDocument{Token: f.claim("B", 1, tick(1)).Token})))
			},
		},
	} {
		r.run(t, base, cleans)
	}
	late := func(f *fixture) { base(f); f.put("kill/0", "token: 1") }
	for _, c := range []conflict{
		{"it is written again", func(f *fixture) { f.put("kill/0", "token: 2") }},
		{"the item runs all the same", func(f *fixture) { f.put("sharding/0/running", "B") }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
	} {
		c.run(t, late, cleans)
	}
	flagged := func(f *fixture) { base(f); f.fired(0, tick(1)).put("sharding/0/misfire", "") }
	for _, c := range []conflict{
		{"the item begins to run", func(f *fixture) { f.claim("A", 0, tick(1)) }},
		{"the configuration changes", func(f *fixture) { f.configure() }},
	} {
		c.run(t, flagged, cleans)
	}
	t.Run("options that are switched on again", func(t *testing.T) {
		f := given(t, failoverOff)
		base(f)
		f.put("leader/failover/items/0", "")
		changes := cleans(f.pass("A"))
		f.configure(func(r *decide.Rules) { r.Failover = true })
		if _, err := f.store.Commit(sessionOf("A"), changes[0].Ops...); err == nil {
			t.Error("what waits under the new configuration is removed because of the old one")
		}
	})
}

func TestSweep(t *testing.T) {
	sweeps := func(p pass) []decide.Change { return p.Sweep() }
	base := func(f *fixture) {
		f.members("A", "B").leader("A").put("servers/host-X", "ENABLED").put("servers/host-Y", "DISABLED").put("servers/host-Z", "")
	}
	beginDisabled := func(r *decide.Rules) { r.Disabled = true }
	for _, r := range []row{
		{name: "servers that nobody uses and of which nothing is said", want: []string{"- servers/host-X", "- servers/host-Z"}},
		{name: "servers begin disabled: an enabled one is an operator's", rules: beginDisabled, want: []string{"- servers/host-Y"}},
	} {
		r.run(t, base, sweeps)
	}
	unused := func(f *fixture) { f.members("A").leader("A").put("servers/host-X", "ENABLED") }
	for _, c := range []conflict{
		{"an operator disables it", func(f *fixture) { f.disable("X") }},
		{"servers are to begin disabled", func(f *fixture) { f.configure(beginDisabled) }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
	} {
		c.run(t, unused, sweeps)
	}
}

// 24,000 items that wait go in commits that every store takes.
func TestCleanManyWaitingItems(t *testing.T) {
	const many = 24_000
	f := given(t, func(r *decide.Rules) { r.Failover, r.Total = false, many }).members("A").leader("A")
	for i := range many {
		f.put(fmt.Sprintf("leader/failover/items/%d", i), "2026-01-05T10:00:00.000Z")
	}
	changes := cleans(f.pass("A"))
	f.changes("A", changes...) // each of them is a valid commit
	if n := len(changes); n < 2 || n > many/50 {
		t.Errorf("%d commits", n)
	}
	if left := len(f.pass("A").FailoverItems); left > 0 {
		t.Errorf("%d items still wait", left)
	}
}
