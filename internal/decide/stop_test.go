package decide_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// A run that asks goes on unless its item belongs elsewhere, or nobody is to run it here.
func TestStop(t *testing.T) {
	static := func(r *decide.Rules) { r.StaticSharding = true }
	for name, tc := range map[string]struct {
		rules []func(*decide.Rules)
		tree  func(*fixture)
		want  decide.Stop
	}{
		"nothing has changed":                        {},
		"the strategy wants it elsewhere":            {tree: func(f *fixture) { f.members("C") }, want: decide.Moves},
		"its owner has ended, and it was taken over": {tree: func(f *fixture) { f.own(2, "X") }, want: decide.Moves},
		"static sharding keeps it":                   {rules: []func(*decide.Rules){static}, tree: func(f *fixture) { f.members("C") }},
		"static sharding keeps it, but it is pinned elsewhere": {rules: []func(*decide.Rules){static},
			tree: func(f *fixture) { f.pin(2, jobtree.PinDocument{Instance: "B"}) }, want: decide.Moves},
		"static sharding has it elsewhere": {rules: []func(*decide.Rules){static},
			tree: func(f *fixture) { f.own(2, "B").members("C") }, want: decide.Moves},
		"the item is disabled":         {tree: func(f *fixture) { f.put("sharding/2/disabled", "") }, want: decide.Disabled},
		"another item is disabled":     {tree: func(f *fixture) { f.put("sharding/1/disabled", "") }},
		"the server is disabled":       {tree: func(f *fixture) { f.disable("A") }, want: decide.Moves},
		"all servers are disabled":     {tree: func(f *fixture) { f.disable("A", "B") }, want: decide.Disabled},
		"the item is beyond the total": {tree: func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.Total = 2 }) }, want: decide.Moves},
		"a JVM leader is to deal": {tree: func(f *fixture) {
			f.remove("leader/election/instance").put("leader/election/instance", "10.0.0.9@-@1").put("leader/sharding/necessary", "")
		}, want: decide.Moves},
		"our leader is to deal": {tree: func(f *fixture) { f.put("leader/sharding/necessary", "") }},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t, tc.rules...).members("A", "B").leader("B").deal("A", "B", "A")
			r := f.claim("A", 2, tick(1))
			if tc.tree != nil {
				tc.tree(f)
			}
			f.now = tick(2)
			p := f.pass("A")
			if got := p.Stop(p.work, r, p.Place(p.owners())); got != tc.want {
				t.Errorf("got %v, want %v; the strategy says %q", got, tc.want, p.owners())
			}
			if got := p.Stop(p.work, r, nil); tc.want == decide.Disabled && got != tc.want || tc.want == decide.GoOn && got != tc.want {
				t.Errorf("without the strategy's answer: got %v", got)
			}
		})
	}
}
