package job

import (
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

func TestTidy(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	for _, c := range []stepCase{
		{name: "nothing is in the way", tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.put("trigger/B", "") }},
		{
			name: "nodes below the records of a run",
			tree: func(f *fixture) {
				f.claim("B", 1, tick(1))
				f.put("sharding/1/running/x", "").put("sharding/1/running/x/y", "").put("sharding/0/fired/x", "")
			},
			want: []string{"- sharding/0/fired/x", "- sharding/1/running/x", "- sharding/1/running/x/y"},
		},
		{
			name: "nodes below those of instances",
			tree: func(f *fixture) {
				f.put("instances/B/x", "").put("sessions/B/x", "").put("faults/B/x", "").put("trigger/B/x", "")
			},
			want: []string{"- faults/B/x", "- instances/B/x", "- sessions/B/x", "- trigger/B/x"},
		},
		{
			name: "nodes below the leader's and below waiting items",
			tree: func(f *fixture) {
				f.put("leader/failover/items/0", "").put("leader/failover/items/0/x", "").put("leader/election/instance/x", "")
			},
			want: []string{"- leader/election/instance/x", "- leader/failover/items/0/x"},
		},
		{
			name: "an instance and a session that nobody owns",
			tree: func(f *fixture) { f.put("instances/X", "serverIp: host-X").put("sessions/X", "") },
			want: []string{"- instances/X", "- sessions/X"},
		},
		{
			name: "and nodes below them",
			tree: func(f *fixture) {
				f.put("instances/X", "").put("instances/X/x", "").put("sessions/X", "").put("sessions/X/x/y", "")
			},
			want: []string{"- instances/X", "- instances/X/x", "- sessions/X", "- sessions/X/x/y"},
		},
		{
			name: "an instance that nobody owns, and whose session lives, goes by itself",
			tree: func(f *fixture) { f.remove("instances/B").put("instances/B", "") },
		},
		{
			name: "a session that nobody owns, of an instance that lives",
			tree: func(f *fixture) { f.remove("sessions/B").put("sessions/B", "") },
			want: []string{"- sessions/B"},
		},
		{
			name: "a JVM member has no session node, and is let alone",
			tree: func(f *fixture) { f.remove("sessions/B") },
		},
		{
			name: "more than a state lists",
			tree: func(f *fixture) {
				for i := range 101 {
					f.put(fmt.Sprintf("sharding/0/running/%03d", i), "")
				}
			},
			want: func() (gone []string) {
				for i := range 100 {
					gone = append(gone, fmt.Sprintf("- sharding/0/running/%03d", i))
				}
				return gone
			}(),
		},
	} {
		c.run(t, base, (*world).tidy)
	}
	for _, c := range []conflictCase{
		{"leadership is lost", func(f *fixture) { f.remove("leader/election/instance") }},
		{"an instance is there after all", func(f *fixture) { f.remove("instances/X").create("X", "instances/X", "") }},
		{"the node is another one", func(f *fixture) { f.put("sharding/0/running/x", "again") }},
	} {
		c.run(t, func(f *fixture) {
			base(f)
			f.must(sessionOf("X"), coord.Create(f.path("instances/X"), nil)).put("instances/X", "").put("sharding/0/running/x", "")
		}, (*world).tidy)
	}
}

// What is in the way is no fault of the rest: it is removed beside what cannot be.
func TestTidyInParts(t *testing.T) {
	f := given(t).members("A").leader("A").put("sharding/0/running/x", "").put("sharding/1/running/x", "").put("instances/X", "")
	commits := f.world("A").tidy()
	if len(commits) != 1 || len(commits[0].parts) != 3 {
		t.Fatalf("%+v, want one commit of 3 parts", commits)
	}
}

func TestDepose(t *testing.T) {
	elects := func(w *world) []commit { return one(w.elect()) }
	base := func(f *fixture) { f.members("A", "B") }
	deposed := []string{"- leader/election/instance"}
	for _, c := range []stepCase{
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
		{name: "its server is disabled", tree: func(f *fixture) { f.put("leader/election/instance", "B").put("servers/host-A", "DISABLED") }},
	} {
		c.run(t, base, elects)
	}
	for _, c := range []conflictCase{
		{"the instance shows only now", func(f *fixture) { f.create("X", "instances/X", "") }},
		{"its session shows only now", func(f *fixture) { f.create("X", "sessions/X", "") }},
		{"nobody leads", func(f *fixture) { f.remove("leader/election/instance") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); f.create("X", "leader/election/instance", "X") }, elects)
	}
}

// 24,000 items that wait go in commits that every store takes.
func TestCleanManyWaitingItems(t *testing.T) {
	const many = 24_000
	f := given(t, func(c *Config) { c.Failover, c.ShardingTotalCount = false, many })
	f.members("A").leader("A")
	for i := range many {
		f.put(fmt.Sprintf("leader/failover/items/%d", i), "2026-01-05T10:00:00.000Z")
	}
	commits := f.world("A").clean()
	f.changes("A", commits...) // each of them is a valid commit
	if n := len(commits); n < 2 || n > many/50 {
		t.Errorf("%d commits", n)
	}
	if left := len(f.world("A").FailoverItems); left > 0 {
		t.Errorf("%d items still wait", left)
	}
}
