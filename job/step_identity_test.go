package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestAnnounce(t *testing.T) {
	announces := func(w *world) []commit {
		cm, err := w.announce()
		if err != nil {
			t.Fatal(err)
		}
		return one(cm)
	}
	base := func(f *fixture) { f.members("A", "B") }
	for _, c := range []stepCase{
		{name: "nothing to say"},
		{name: "it has refused a configuration", tree: func(f *fixture) { f.refused = 17 }, want: []string{"+ sessions/A = refused: 17\n (of A)"}},
		{name: "which it has said", tree: func(f *fixture) { f.refused = 17; f.put("sessions/A", "refused: 17") }},
		{name: "it follows again", tree: func(f *fixture) { f.put("sessions/A", "refused: 17") }, want: []string{"+ sessions/A =  (of A)"}},
		{name: "its session is somebody else's", tree: func(f *fixture) { f.refused = 17; f.remove("sessions/A").create("B", "sessions/A", "") }},
		{name: "it has none", tree: func(f *fixture) { f.refused = 17; f.remove("sessions/A") }},
	} {
		c.run(t, base, announces)
	}
	for _, c := range []conflictCase{
		{"the session ends", func(f *fixture) { f.crash("A") }},
		{"its node is another one", func(f *fixture) { f.remove("sessions/A").create("B", "sessions/A", "") }},
	} {
		c.run(t, func(f *fixture) { base(f); f.refused = 17 }, announces)
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
		"all have":                     {func(f *fixture, at int64) { f.refused = at; f.refuse("B", at); f.refuse("C", at) }, []string{"A", "B", "C"}},
		"all have who may have items":  {func(f *fixture, at int64) { f.refused = at; f.refuse("B", at); f.put("servers/host-C", "DISABLED") }, []string{"A", "B"}},
		"a clock that is off":          {func(f *fixture, _ int64) { f.put("sessions/B", "clockOff: true") }, []string{"A", "C"}},
		"an instance that nobody owns": {func(f *fixture, _ int64) { f.remove("instances/B").put("instances/B", "serverIp: host-B") }, []string{"A", "C"}},
		"a JVM member says nothing":    {func(f *fixture, at int64) { f.refused = at; f.refuse("B", at); f.remove("sessions/C") }, []string{"C"}},
		"a session that is no text":    {func(f *fixture, _ int64) { f.put("sessions/B", "\x00\xff") }, []string{"A", "B", "C"}},
	} {
		f := given(t).members("A", "B", "C")
		if tc.tree != nil {
			tc.tree(f, f.world("A").Config.Modified)
		}
		var got []string
		for _, in := range f.world("A").available() {
			got = append(got, in.ID)
		}
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// refuse makes an instance say that it has refused a configuration.
func (f *fixture) refuse(id string, modified int64) {
	f.Helper()
	document, err := jobtree.EncodeSession(jobtree.SessionDocument{Refused: modified})
	if err != nil {
		f.Fatal(err)
	}
	f.put("sessions/"+id, string(document))
}

func TestMend(t *testing.T) {
	mends := func(w *world) []commit {
		c := chunk{step: "mend", head: []coord.Op{w.mine()}}
		c.add(0, w.mend(0)...)
		return c.commits
	}
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A"); f.claim("A", 0, tick(1)) }
	for _, c := range []stepCase{
		{name: "removed", tree: func(f *fixture) { f.remove("sharding/0/running") }, want: []string{"+ sharding/0/running = A"}},
		{name: "removed, and failover is off", config: func(c *Config) { c.Failover = false }, tree: func(f *fixture) { f.remove("sharding/0/running") },
			want: []string{"+ sharding/0/running = A (of A)"}},
		{name: "somebody else's name", tree: func(f *fixture) { f.put("sharding/0/running", "X") }, want: []string{"+ sharding/0/running = A"}},
	} {
		c.run(t, base, mends)
	}
	for _, c := range []conflictCase{
		{"somebody has claimed the item", func(f *fixture) { f.claim("B", 0, tick(2)) }},
		{"it was put back", func(f *fixture) { f.put("sharding/0/running", "A") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); f.remove("sharding/0/running") }, mends)
	}
}

func TestHandBack(t *testing.T) {
	var r *run
	back := func(w *world) []commit { return w.handBack([]*run{r}) }
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	for _, c := range []stepCase{
		{
			name: "a regular run",
			tree: func(f *fixture) { r = f.claim("A", 0, tick(1)); r.before = tick(0) },
			want: []string{"+ sharding/0/fired = 2026-01-05T10:00:00.000Z", "- sharding/0/running"},
		},
		{
			name: "a failover waits again",
			tree: func(f *fixture) { r = f.takenOver("A", 1, tick(1)); r.before = tick(0) },
			want: []string{
				"+ leader/failover/items/1 = 2026-01-05T10:00:05.000Z", "- sharding/1/failover", "- sharding/1/failovering",
				"+ sharding/1/fired = 2026-01-05T10:00:00.000Z", "- sharding/1/running",
			},
		},
	} {
		c.run(t, base, back)
	}
	for _, c := range []conflictCase{
		{"somebody has claimed the item", func(f *fixture) { f.remove("sharding/0/running"); f.claim("B", 0, tick(2)) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); r = f.claim("A", 0, tick(1)) }, back)
	}
}

func TestLetGo(t *testing.T) {
	base := func(f *fixture) { f.members("A").deal("A", "B", "A") }
	const now = " = 2026-01-05T10:00:05.000Z"
	for _, c := range []stepCase{
		{name: "what is due is not let go"},
		{name: "an item that is disabled", tree: func(f *fixture) { f.put("sharding/0/disabled", "") }, want: []string{"+ sharding/0/fired" + now}},
		{name: "all servers are disabled", tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") },
			want: []string{"+ sharding/0/fired" + now, "+ sharding/2/fired" + now}},
		{name: "another one may have the items", tree: func(f *fixture) { f.members("C").put("servers/host-A", "DISABLED") }},
		{name: "somebody leads, and deals them", tree: func(f *fixture) { f.put("sharding/0/disabled", "").leader("A") }, want: []string{"+ sharding/0/fired" + now}},
		{name: "it runs", tree: func(f *fixture) { f.claim("A", 0, tick(0)); f.put("sharding/0/disabled", "") }},
		{name: "on the way out", tree: func(f *fixture) { f.put("sharding/0/disabled", ""); f.leaving = true }},
		{name: "an owner that is gone, whose server was disabled", tree: func(f *fixture) {
			const gone = "host-B@-@1-x"
			f.own(1, gone)
			f.put("servers/host-B", "DISABLED").put("servers/host-A", "DISABLED")
		}, want: []string{"+ sharding/0/fired" + now, "+ sharding/1/fired" + now, "+ sharding/2/fired" + now}},
	} {
		c.run(t, base, (*world).letGo)
	}
}
