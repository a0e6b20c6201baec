package decide_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// eligible are the ids of those who may have items, as instance A sees it.
func eligible(p pass) []string {
	var ids []string
	for _, in := range p.Eligible() {
		ids = append(ids, in.ID)
	}
	return ids
}

func TestEligible(t *testing.T) {
	f := given(t, func(r *decide.Rules) { r.Label = "big" })
	f.labels = []string{"big", "fast"}
	f.members("B", "D")
	f.labels = []string{"big", "weight=3"}
	f.members("A")
	f.labels = nil
	f.members("C")
	f.put("servers/host-D", "disabled")
	// In order, with the label, and enabled.
	want := []strategy.Instance{{ID: "A", IP: "host-A", Weight: 3}, {ID: "B", IP: "host-B"}}
	if diff := cmp.Diff(want, f.pass("A").Eligible()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhoMayHaveItems(t *testing.T) {
	for name, tc := range map[string]struct {
		tree func(f *fixture, configured int64)
		want []string
	}{
		"all":                          {want: []string{"A", "B", "C"}},
		"one has refused":              {func(f *fixture, at int64) { f.refuse("B", at) }, []string{"A", "C"}},
		"one has refused another":      {func(f *fixture, at int64) { f.refuse("B", at-1) }, []string{"A", "B", "C"}},
		"the one who decides has":      {func(f *fixture, at int64) { f.refused = at }, []string{"B", "C"}},
		"all have":                     {func(f *fixture, at int64) { f.refused = at; f.refuse("B", at).refuse("C", at) }, []string{"A", "B", "C"}},
		"all have who may have items":  {func(f *fixture, at int64) { f.refused = at; f.refuse("B", at).disable("C") }, []string{"A", "B"}},
		"a clock that is off":          {func(f *fixture, _ int64) { f.put("sessions/B", "clockOff: true") }, []string{"A", "C"}},
		"an instance that nobody owns": {func(f *fixture, _ int64) { f.remove("instances/B").put("instances/B", "serverIp: host-B") }, []string{"A", "C"}},
		"a JVM member says nothing":    {func(f *fixture, at int64) { f.refused = at; f.refuse("B", at).remove("sessions/C") }, []string{"C"}},
		"a session that is no text":    {func(f *fixture, _ int64) { f.put("sessions/B", "\x00\xff") }, []string{"A", "B", "C"}},
		"one that leaves beside a JVM": {func(f *fixture, _ int64) { f.leaves("B") }, []string{"A", "C"}},
		"no configuration to refuse":   {func(f *fixture, at int64) { f.refuse("B", at).remove("config") }, []string{"A", "B", "C"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A", "B", "C")
			if tc.tree != nil {
				tc.tree(f, f.pass("A").Config.Modified)
			}
			if diff := cmp.Diff(tc.want, eligible(f.pass("A")), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOrderBesideJVMs: JVM members list instances by id, descending. So do we beside them, so that a change of
// leader moves little.
func TestOrderBesideJVMs(t *testing.T) {
	for _, c := range []struct {
		name string
		tree func(*fixture)
		want []string
	}{
		{"none is there", func(*fixture) {}, []string{"A", "B", "C"}},
		{"one is there", func(f *fixture) { f.jvms(jvm) }, []string{jvm, "C", "B", "A"}},
		{"two are there", func(f *fixture) { f.jvms(jvm, other) }, []string{other, jvm, "C", "B", "A"}},
		{"one is there, and disabled", func(f *fixture) { f.jvms(jvm).disable(jvm) }, []string{"C", "B", "A"}},
		{"one that had items has gone", func(f *fixture) { f.own(0, jvm) }, []string{"A", "B", "C"}},
		{"the one who decides is leaving", func(f *fixture) { f.jvms(jvm).leaving = true }, []string{jvm, "C", "B"}},
		{"the one who decides is leaving, and none is there", func(f *fixture) { f.leaving = true }, []string{"A", "B", "C"}},
	} {
		f := given(t).members("B", "A", "C")
		c.tree(f)
		if diff := cmp.Diff(c.want, eligible(f.pass("A"))); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", c.name, diff)
		}
	}
}

// refuse makes an instance say that it has refused a configuration.
func (f *fixture) refuse(id string, modified int64) *fixture {
	f.Helper()
	return f.put("sessions/"+id, string(jobtree.EncodeSession(jobtree.SessionDocument{Refused: modified})))
}
