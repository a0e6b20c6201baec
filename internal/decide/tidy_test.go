package decide_test

import (
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func tidies(p pass) []decide.Change { return p.Tidy() }

func TestTidy(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	for _, r := range []row{
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
			name: "the mark of one who takes a run over, which is nobody's",
			tree: func(f *fixture) { f.put("sharding/0/failover", "X").put("sharding/0/failover/x", "") },
			want: []string{"- sharding/0/failover", "- sharding/0/failover/x"},
		},
		{
			name: "the mark of one who does",
			tree: func(f *fixture) { f.takenOver("B", 0, tick(1)) },
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
		r.run(t, base, tidies)
	}
	for _, c := range []conflict{
		{"leadership is lost", func(f *fixture) { f.remove("leader/election/instance") }},
		{"an instance is there after all", func(f *fixture) { f.remove("instances/X").create("X", "instances/X", "") }},
		{"the node is another one", func(f *fixture) { f.put("sharding/0/running/x", "again") }},
	} {
		c.run(t, func(f *fixture) {
			base(f)
			f.put("instances/X", "").put("instances/X", "again").put("sharding/0/running/x", "")
		}, tidies)
	}
}

// What is in the way is no fault of the rest: it is removed beside what cannot be.
func TestTidyInParts(t *testing.T) {
	f := given(t).members("A").leader("A").put("sharding/0/running/x", "").put("sharding/1/running/x", "").put("instances/X", "")
	changes := tidies(f.pass("A"))
	if len(changes) != 1 || len(changes[0].Parts) != 3 {
		t.Fatalf("%+v, want one change of 3 parts", changes)
	}
}
