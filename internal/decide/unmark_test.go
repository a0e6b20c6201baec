package decide_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// unmarks removes the marks of failovers that do not run here any more.
func unmarks(p pass) []decide.Change { return p.Unmark(p.work) }

func TestUnmark(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("B").deal("A", "B", "A") }
	// A ran item 1 for a failover, and somebody has removed its record.
	dropped := func(f *fixture) { f.takenOver("A", 1, tick(1)); f.remove("sharding/1/running") }
	runs := func(f *fixture) { f.work.Runs[1] = f.takenOver("A", 1, tick(1)) }
	again := func(f *fixture) { runs(f); f.jvms(jvm).put("leader/failover/items/1", "") }
	for _, r := range []row{
		{name: "it has none"},
		{name: "its failover runs", tree: runs},
		{name: "its failover runs, by the tree, and has not begun here yet", tree: func(f *fixture) { f.takenOver("A", 1, tick(1)) }},
		{name: "its failover runs, and the record was removed: restored, or ended with the marks", tree: func(f *fixture) { runs(f); f.remove("sharding/1/running") }},
		{name: "nothing runs", tree: dropped, want: []string{"- sharding/1/failover", "- sharding/1/failovering"}},
		{name: "the owner has claimed the item since", tree: func(f *fixture) { dropped(f); f.claim("B", 1, tick(2)) }, want: []string{"- sharding/1/failover", "- sharding/1/failovering"}},
		{
			name: "a JVM owner has begun the item since",
			tree: func(f *fixture) { dropped(f); f.jvms(jvm).own(1, jvm).begun(jvm, 1) },
			want: []string{"- sharding/1/failover", "- sharding/1/failovering"},
		},
		{name: "only one mark is left", tree: func(f *fixture) { dropped(f); f.remove("sharding/1/failover") }, want: []string{"- sharding/1/failovering"}},
		{
			name: "somebody else takes it over by now",
			tree: func(f *fixture) { dropped(f); f.remove("sharding/1/failover").create("B", "sharding/1/failover", "B") },
			want: []string{"- sharding/1/failovering"},
		},
		{name: "an item without fired", tree: func(f *fixture) { dropped(f); f.remove("sharding/1/fired") }, want: []string{"- sharding/1/failover", "- sharding/1/failovering"}},
		{name: "of somebody else", tree: func(f *fixture) { f.takenOver("B", 1, tick(1)); f.remove("sharding/1/running") }},
		{name: "a run of another source has its own record", tree: func(f *fixture) { dropped(f); f.work.Runs[1] = f.claim("A", 1, tick(2)) }},

		{name: "a JVM has put up what runs here", tree: again, want: []string{"- leader/failover/items/1"}},
		{name: "a JVM has put up what runs here by its tick only", tree: func(f *fixture) { again(f); f.work.Runs[1].Failover = false }},
		{name: "there are no JVM members, and it was cut short", tree: func(f *fixture) { runs(f); f.put("leader/failover/items/1", "") }},
		{name: "somebody else runs it by now", tree: func(f *fixture) { again(f); f.remove("sharding/1/running").claim("B", 1, tick(2)) }},
	} {
		r.run(t, base, unmarks)
	}
	marked := func(f *fixture) { base(f); dropped(f) }
	taken := func(f *fixture) { marked(f); f.claim("B", 1, tick(2)) }
	put := func(f *fixture) { base(f); again(f) }
	ends := conflict{"the session ends", func(f *fixture) { f.crash("A") }}
	for _, tree := range []func(*fixture){marked, taken, put} {
		ends.run(t, tree, unmarks)
	}
	for _, c := range []conflict{
		{"it is taken over here once more", func(f *fixture) { f.put("sharding/1/failovering", "A") }},
		{"it runs, which shows only now", func(f *fixture) { f.put("sharding/1/running", "A") }},
		{"somebody has claimed the item, and is done", func(f *fixture) { f.claim("B", 1, tick(2)); f.remove("sharding/1/running") }},
	} {
		c.run(t, marked, unmarks)
	}
	for _, c := range []conflict{
		{"the run of somebody else has ended", func(f *fixture) { f.remove("sharding/1/running") }},
		{"another run has begun", func(f *fixture) { f.put("sharding/1/running", "A") }},
	} {
		c.run(t, taken, unmarks)
	}
	conflict{"somebody has claimed the item", func(f *fixture) { f.fired(1, tick(2)) }}.run(t, put, unmarks)
}
