package decide_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// What a JVM leader leaves undone when it assigns. J leads. A is of ours; so are B, which comes before it in the
// job's order, and S, which comes after it.
func TestAskForDeal(t *testing.T) {
	asked := []string{"+ leader/sharding/necessary = "}
	base := func(f *fixture) { f.members("A").jvms(jvm).leader(jvm).deal("A", jvm, jvm) }
	coordinator := func(p pass) []decide.Change {
		if !p.NeedsReshard() {
			return nil
		}
		return []decide.Change{p.RequestReshard()}
	}
	for _, r := range []row{
		{name: "all is well"},
		{name: "an item has no owner", tree: func(f *fixture) { f.remove("sharding/1/instance") }, want: asked},
		{name: "nothing was ever assigned", tree: func(f *fixture) { f.remove("sharding") }, want: asked},
		{name: "there are more items now", rules: func(r *decide.Rules) { r.Total = 4 }, want: asked},
		{name: "an owner has gone, ours", tree: func(f *fixture) { f.own(1, "S") }, want: asked},
		{name: "an owner has gone, a JVM", tree: func(f *fixture) { f.own(1, other) }, want: asked},
		{name: "an owner's node is a stranger's", tree: func(f *fixture) { f.own(1, "X").put("instances/X", "") }, want: asked},
		{name: "an owner is disabled, a JVM", tree: func(f *fixture) { f.jvms(other).own(1, other).disable(other) }, want: asked},
		{name: "an owner is disabled, ours", tree: func(f *fixture) { f.disable("A") }, want: asked},
		{name: "one that is beyond the total has gone", rules: func(r *decide.Rules) { r.Total = 2 }, tree: func(f *fixture) { f.own(2, "X") }},
		{name: "one of ours came, and has none", tree: func(f *fixture) { f.own(0, jvm) }, want: asked},
		{name: "another one of ours came, and has none", tree: func(f *fixture) { f.members("S") }, want: asked},
		{name: "one that came is disabled", tree: func(f *fixture) { f.members("S").disable("S") }},
		{name: "one that came has refused the configuration", tree: func(f *fixture) { f.members("S").refuse("S", f.pass("A").Config.Modified) }},
		{name: "one of ours is leaving, and has none", tree: func(f *fixture) { f.members("S").leaves("S") }},
		{name: "one of ours is leaving, and has some: that is for when it has gone", tree: func(f *fixture) { f.members("S").own(1, "S").leaves("S") }},
		{name: "a JVM came, and has none: it asks itself", tree: func(f *fixture) { f.jvms(other) }},
		{name: "there are more instances than items", rules: oneItem, tree: func(f *fixture) { f.own(0, jvm) }},
		{name: "there are more instances than items, and one has no owner", rules: oneItem, tree: func(f *fixture) { f.remove("sharding/0") }, want: asked},
		{name: "one before it in the order asks", tree: func(f *fixture) { f.members("B").own(1, "X") }},
		{name: "one before it in the order is leaving, and does not", tree: func(f *fixture) { f.members("B").own(1, "X").leaves("B") }, want: asked},
		{name: "all servers are disabled", tree: func(f *fixture) { f.own(1, "X").disable("A", jvm) }},
		{name: "it is asked already", tree: func(f *fixture) { f.own(1, "X").put("leader/sharding/necessary", "") }},
		{name: "it assigns", tree: func(f *fixture) { f.own(1, "X").put("leader/sharding/processing", "") }},
		{name: "static sharding: it would not deal", rules: isStatic, tree: func(f *fixture) { f.own(1, "X") }},
		{name: "a broadcast job", rules: func(r *decide.Rules) { r.Broadcast = true }, tree: func(f *fixture) { f.own(1, "X") }},
		{name: "one of ours leads", tree: func(f *fixture) { f.own(1, "X").remove("leader/election").leader("A") }},
		{name: "nobody leads", tree: func(f *fixture) { f.own(1, "X").remove("leader/election") }},
	} {
		r.run(t, base, coordinator)
	}
	t.Run("one of them asks", func(t *testing.T) {
		f := given(t).members("A", "B").jvms(jvm).leader(jvm).deal("A", "B", "X")
		ask := 0
		for _, id := range []string{"A", "B"} {
			ask += len(coordinator(f.pass(id)))
		}
		if ask != 1 {
			t.Errorf("%d of them ask", ask)
		}
	})
	for _, c := range []conflict{
		{"somebody has asked", func(f *fixture) { f.put("leader/sharding/necessary", "") }},
		{"it assigns by now", func(f *fixture) { f.put("leader/sharding/processing", "") }},
		{"nobody leads by now", func(f *fixture) { f.crash(jvm) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); f.own(1, "X") }, coordinator)
	}
}
