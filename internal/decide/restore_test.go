package decide_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// restores puts the records of runs back that do not show what runs here.
func restores(p pass) []decide.Change {
	var runs []*decide.Run
	for _, r := range p.fixture.runs() {
		if p.LacksRunningNode(r) {
			runs = append(runs, r)
		}
	}
	return p.Restore(runs)
}

func TestRestore(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "A")
		f.work.Runs[0] = f.claim("A", 0, tick(1))
	}
	removed := func(f *fixture) { f.remove("sharding/0/running") }
	for _, r := range []row{
		{name: "as it should be"},
		{name: "removed", tree: removed, want: []string{"+ sharding/0/running = A"}},
		{name: "removed, and failover is off", rules: failoverOff, tree: removed, want: []string{"+ sharding/0/running = A (of A)"}},
		{name: "removed, and there are no records by now", tree: func(f *fixture) { removed(f); f.configure(unrecorded) }},
		{name: "somebody else's name", tree: func(f *fixture) { f.put("sharding/0/running", "X") }, want: []string{"+ sharding/0/running = A"}},
		{
			name: "two of them",
			tree: func(f *fixture) {
				removed(f)
				f.work.Runs[2] = f.claim("A", 2, tick(1))
				f.remove("sharding/2/running")
			},
			want: []string{"+ sharding/0/running = A", "+ sharding/2/running = A"},
		},
	} {
		r.run(t, base, restores)
	}
	for _, c := range []conflict{
		{"somebody has claimed the item", func(f *fixture) { f.claim("B", 0, tick(2)) }},
		{"somebody has claimed the item, and is done", func(f *fixture) { f.claim("B", 0, tick(2)); removed(f) }},
		{"it was put back", func(f *fixture) { f.put("sharding/0/running", "A") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); removed(f) }, restores)
	}
	for _, c := range []conflict{
		{"a name that has changed again", func(f *fixture) { f.put("sharding/0/running", "Y") }},
		{"a name, and somebody has claimed the item", func(f *fixture) { f.fired(0, tick(2)) }},
	} {
		c.run(t, func(f *fixture) { base(f); f.put("sharding/0/running", "X") }, restores)
	}
}
