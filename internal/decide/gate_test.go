package decide_test

import (
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// dealing is one look of the leader A at who should own what.
type dealing struct {
	at        time.Duration // after tick 1
	meanwhile func(*fixture)
	want      []string      // what it writes
	wait      time.Duration // when it looks again
}

// Items that move from and to JVM members. All belong to A, or in the cases of "from" the first to the JVM
// member J, and nobody has a tick to begin but where it says so.
func TestGate(t *testing.T) {
	const (
		ms    = time.Millisecond
		tick1 = "2026-01-05T10:00:05.000Z"
	)
	holds := []string{"+ leader/sharding/necessary = holding"}
	goesOn := []string{"- leader/sharding/necessary"}
	toJ := []string{"+ sharding/0/instance = " + jvm}
	fromJ := []string{"+ sharding/0/fired = " + tick1, "+ sharding/0/instance = A"}
	ofJ := func(f *fixture) { f.own(0, jvm).fired(0, begin) }
	gone := func(f *fixture) { f.remove("instances/" + jvm) }
	fast := func(r *decide.Rules) { r.Cron = "* * * * * ?" }
	processing := func(f *fixture) { f.put("leader/sharding/processing", "") }
	for _, c := range []struct {
		name   string
		rules  func(*decide.Rules)
		tree   func(*fixture)
		owners []string
		looks  []dealing
	}{
		{
			name: "nothing moves", owners: []string{"A", "A", "B"},
			looks: []dealing{{at: time.Second}},
		},
		{
			name: "from a JVM: it is held, has time to show what it began, and then the item moves", tree: ofJ, owners: []string{"A", "A", "B"},
			looks: []dealing{
				{at: time.Second, want: holds, wait: 500 * ms},
				{at: 1010 * ms, wait: 500 * ms},
				{at: 1509 * ms, wait: 1 * ms},
				{at: 1510 * ms, want: fromJ},
				{at: 1520 * ms, wait: 500 * ms}, // the caches of JVM members are behind
				{at: 2020 * ms, want: goesOn},
				{at: 2030 * ms},
			},
		},
		{
			name: "from a JVM: it began the item, which moves when it has run", tree: ofJ, owners: []string{"A", "A", "B"},
			looks: []dealing{
				{at: time.Second, want: holds, wait: 500 * ms},
				{at: 1010 * ms, wait: 500 * ms},
				{at: 1600 * ms, meanwhile: func(f *fixture) { f.begun(jvm, 0) }, want: goesOn},
				{at: 1700 * ms},
				{at: 1800 * ms, meanwhile: func(f *fixture) { f.remove("sharding/0/running") }, wait: 400 * ms},
				{at: 2200 * ms, want: holds, wait: 500 * ms},
			},
		},
		{
			name: "from a JVM: at any time, also at a tick, which its new owner begins", tree: ofJ, owners: []string{"A", "A", "B"},
			looks: []dealing{
				{at: -100 * ms, want: holds, wait: 500 * ms},
				{at: -90 * ms, wait: 500 * ms},
				{at: 410 * ms, want: fromJ[1:]},
				{at: 420 * ms, wait: 500 * ms},
				{at: 920 * ms, want: goesOn},
			},
		},
		{
			name: "from a JVM: it is held already", tree: func(f *fixture) { ofJ(f); f.holds().seen(0) }, owners: []string{"A", "A", "B"},
			looks: []dealing{{at: 300 * ms, wait: 200 * ms}, {at: 500 * ms, want: fromJ[1:]}},
		},
		{
			name: "from a JVM that has gone: at once", tree: func(f *fixture) { ofJ(f); gone(f); f.jvms(other) }, owners: []string{"A", "A", "B"},
			looks: []dealing{{at: 2 * time.Second, want: fromJ}},
		},
		{
			name: "between two ticks to a JVM", owners: []string{jvm, "A", "B"},
			looks: []dealing{
				{at: 500 * ms, want: holds, wait: 500 * ms},
				{at: 510 * ms, wait: 500 * ms},
				{at: 1010 * ms, want: toJ},
				{at: 1020 * ms, wait: 500 * ms},
				{at: 1520 * ms, want: goesOn},
				{at: 1530 * ms},
			},
		},
		{
			name: "to a JVM: not soon after a tick", owners: []string{jvm, "A", "B"},
			looks: []dealing{{at: 300 * ms, wait: 200 * ms}, {at: 499 * ms, wait: 1 * ms}, {at: 500 * ms, want: holds, wait: 500 * ms}},
		},
		{
			name: "to a JVM: not soon before a tick", owners: []string{jvm, "A", "B"},
			looks: []dealing{{at: 4201 * ms, wait: 1299 * ms}, {at: 4900 * ms, wait: 600 * ms}},
		},
		{
			name: "to a JVM: just in time before a tick", owners: []string{jvm, "A", "B"},
			looks: []dealing{{at: 4200 * ms, want: holds, wait: 500 * ms}, {at: 4210 * ms, wait: 500 * ms}, {at: 4710 * ms, want: toJ}},
		},
		{
			name: "to a JVM: a tick comes meanwhile, and the item stays", owners: []string{jvm, "A", "B"},
			looks: []dealing{
				{at: 4200 * ms, want: holds, wait: 500 * ms},
				{at: 4690 * ms, wait: 500 * ms},
				{at: 5200 * ms, meanwhile: func(f *fixture) { f.fired(0, tick(2)) }, want: goesOn, wait: 500 * ms},
				{at: 5210 * ms, wait: 500 * ms},
				{at: 5710 * ms, want: holds, wait: 500 * ms},
			},
		},
		{
			name: "to a JVM: not soon after it was held, because it may still be at what it waited for", owners: []string{jvm, "A", "B"},
			tree:  func(f *fixture) { f.holds().seen(0).remove("leader/sharding").seen(600 * ms) },
			looks: []dealing{{at: 800 * ms, wait: 300 * ms}, {at: 1100 * ms, want: holds, wait: 500 * ms}},
		},
		{
			name: "to a JVM: not while its owner is still to begin a tick", owners: []string{jvm, "A", "B"},
			tree: func(f *fixture) { f.fired(0, begin) },
			looks: []dealing{
				{at: 500 * ms, wait: 500 * ms}, // and nobody is held for that
				{at: 1600 * ms, meanwhile: func(f *fixture) { f.fired(0, tick(1)) }, want: holds, wait: 500 * ms},
				{at: 1610 * ms, wait: 500 * ms},
				{at: 2110 * ms, want: toJ},
			},
		},
		{
			name: "to a JVM: its owner is not to begin a disabled item", owners: []string{jvm, "A", "B"},
			tree:  func(f *fixture) { f.fired(0, begin).put("sharding/0/disabled", "").holds().seen(600 * ms) },
			looks: []dealing{{at: 1100 * ms, want: toJ}},
		},
		{
			name: "to a JVM: ticks are too close for a better moment", rules: fast, owners: []string{jvm, "A", "B"},
			tree:  func(f *fixture) { f.fired(0, tick(2)) },
			looks: []dealing{{at: 10 * ms, want: holds, wait: 500 * ms}, {at: 20 * ms, wait: 500 * ms}, {at: 520 * ms, want: toJ}},
		},
		{
			name: "to a JVM: no tick comes while the job is paused", owners: []string{jvm, "A", "B"},
			tree:  func(f *fixture) { f.pause(begin) },
			looks: []dealing{{at: 10 * ms, want: holds, wait: 500 * ms}},
		},
		{
			name: "to a JVM: a one-off job has no ticks", rules: func(r *decide.Rules) { r.Cron = "" }, owners: []string{jvm, "A", "B"},
			looks: []dealing{{at: 10 * ms, want: holds, wait: 500 * ms}},
		},
		{
			name: "from a disabled JVM to another one: nobody has begun the tick, which the other one waits to begin", owners: []string{other, "A", "B"},
			tree: func(f *fixture) { ofJ(f); f.jvms(other).disable(jvm).seen(-time.Second) },
			looks: []dealing{
				{at: 100 * ms, want: holds, wait: 500 * ms},
				{at: 110 * ms, wait: 500 * ms},
				{at: 610 * ms, want: []string{"+ sharding/0/instance = " + other}},
				{at: 620 * ms, wait: 500 * ms},
				{at: 1120 * ms, want: goesOn},
			},
		},
		{
			name: "from a JVM: its server is enabled again at once, and it may not know that yet", tree: func(f *fixture) { ofJ(f); f.disable(jvm).seen(0) }, owners: []string{jvm, "A", "B"},
			looks: []dealing{
				{at: 10 * ms, meanwhile: func(f *fixture) { f.holds().put("servers/host-"+jvm, "") }, wait: 500 * ms},
				{at: 510 * ms, want: goesOn},
			},
		},
		{
			name: "servers go on changing: a deal ends all the same", tree: func(f *fixture) { f.holds().seen(0) }, owners: []string{"A", "A", "B"},
			looks: []dealing{
				{at: 4900 * ms, meanwhile: func(f *fixture) { f.disable(jvm) }, wait: 500 * ms},
				{at: 5000 * ms, meanwhile: func(f *fixture) { f.put("servers/host-"+jvm, "") }, want: goesOn},
			},
		},
		{
			name: "from a disabled JVM to another one: the tick comes while it is held", owners: []string{other, "A", "B"},
			tree: func(f *fixture) { ofJ(f); f.jvms(other).disable(jvm).seen(-time.Second) },
			looks: []dealing{
				{at: -300 * ms, want: holds, wait: 500 * ms},
				{at: -290 * ms, wait: 500 * ms},
				{at: 210 * ms, want: []string{"+ sharding/0/instance = " + other}},
			},
		},
		{
			name: "from a disabled JVM to another one: that runs something, so it does not wait for the tick", owners: []string{other, "A", "B"},
			tree: func(f *fixture) { ofJ(f); f.jvms(other).disable(jvm).seen(-time.Second).own(2, other).begun(other, 2) },
			looks: []dealing{
				{at: 100 * ms, want: holds, wait: 500 * ms},
				{at: 110 * ms, wait: 500 * ms},
				{at: 610 * ms, want: goesOn, wait: 500 * ms},
			},
		},
		{
			name: "from a JVM that was disabled after the tick: it may have begun it, and the other one must not", owners: []string{other, "A", "B"},
			tree: func(f *fixture) { ofJ(f); f.jvms(other).disable(jvm).seen(50 * ms) },
			looks: []dealing{
				{at: 100 * ms, want: holds, wait: 500 * ms},
				{at: 110 * ms, wait: 500 * ms},
				{at: 610 * ms, want: goesOn, wait: 500 * ms},
			},
		},
		{
			name: "between members of ours: at once", owners: []string{"A", "B", "A"},
			looks: []dealing{{at: 10 * ms, want: []string{"+ sharding/1/instance = B", "+ sharding/2/instance = A"}}},
		},
		{
			name: "between members of ours: others that wait do not keep them", owners: []string{jvm, "B", "B"},
			looks: []dealing{{at: 10 * ms, want: []string{"+ sharding/1/instance = B"}, wait: 490 * ms}},
		},
		{
			name: "a new item: at once", tree: func(f *fixture) { f.remove("sharding/0") }, owners: []string{jvm, "A", "B"},
			looks: []dealing{{at: 10 * ms, want: []string{"+ sharding/0/fired = 2026-01-05T10:00:05.010Z", "+ sharding/0/instance = " + jvm}}},
		},
		{
			name: "nobody may have it: it is taken from a JVM, too, when that begins nothing", tree: ofJ, owners: []string{"", "A", "B"},
			looks: []dealing{{at: 10 * ms, want: holds, wait: 500 * ms}},
		},
		{
			name: "a broadcast job is not assigned", rules: func(r *decide.Rules) { r.Broadcast = true }, owners: []string{jvm, "A", "B"},
			looks: []dealing{{at: 10 * ms, want: []string{"+ sharding/0/fired = 2026-01-05T10:00:05.010Z", toJ[0]}}},
		},
		{
			name: "without records nothing shows", rules: unrecorded, owners: []string{jvm, "A", "B"},
			looks: []dealing{{at: 10 * ms, want: toJ}},
		},
		{
			name: "a JVM assigns: nothing moves until it has, or does not go on", tree: processing, owners: []string{"B", "A", "B"},
			looks: []dealing{
				{at: time.Second, wait: 5 * time.Second},
				{at: 5999 * ms, wait: 1 * ms},
				{at: 6 * time.Second, want: []string{"- leader/sharding/processing", "+ sharding/0/instance = B"}},
				{at: 6010 * ms},
			},
		},
		{
			name: "a JVM assigns: new items have no owners, and what a JVM removes has none", owners: []string{"A", "A", "B"},
			tree:  func(f *fixture) { processing(f); f.remove("sharding/0", "sharding/1/instance") },
			looks: []dealing{{at: time.Second, wait: 5 * time.Second}},
		},
		{
			name: "a JVM assigned, and all are gone", owners: []string{"A", "A", "B"},
			tree: func(f *fixture) { processing(f); f.put("leader/sharding/necessary", "").seen(0); gone(f) },
			looks: []dealing{
				{at: 4 * time.Second, wait: time.Second},
				{at: 5 * time.Second, want: []string{"- leader/sharding/processing"}},
				{at: 5010 * ms, want: goesOn},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t, someOf(c.rules)...).members("A", "B").jvms(jvm).leader("A").deal("A", "A", "B")
			for i := range 3 {
				f.fired(i, tick(1))
			}
			if c.tree != nil {
				c.tree(f)
			}
			for _, look := range c.looks {
				if look.meanwhile != nil {
					look.meanwhile(f)
				}
				f.now = tick(1).Add(look.at)
				p := f.pass("A")
				owners := slices.Clone(c.owners)
				if got := p.AssignWait(owners); got != look.wait {
					t.Errorf("after %v: waits for %v, want %v", look.at, got, look.wait)
				}
				got := f.changes("A", p.Assign(owners)...)
				if diff := gocmp.Diff(look.want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("after %v (-want +got):\n%s", look.at, diff)
				}
				if !slices.Equal(owners, c.owners) {
					t.Error("the strategy's answer was changed")
				}
			}
		})
	}
}

// What is kept back is kept back for as long as the leader leads, and by the configuration that it knows.
func TestGateIsConditional(t *testing.T) {
	fromJ := func(p pass) []decide.Change { return p.Assign([]string{"A", "A", "B"}) }
	base := func(f *fixture) { f.members("A", "B").jvms(jvm).leader("A").deal(jvm, "A", "B") }
	held := func(f *fixture) { base(f); f.holds().seen(0).seen(time.Second) }
	dead := func(f *fixture) {
		base(f)
		f.put("leader/sharding/processing", "").seen(0).seen(5 * time.Second)
		f.own(0, "A")
	}
	for _, c := range []conflict{
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance").leader("B") }},
		{"the configuration changes", func(f *fixture) { f.reconfigure(hourly) }},
	} {
		c.run(t, base, fromJ)
		c.run(t, held, fromJ)
		c.run(t, dead, fromJ)
	}
	conflict{"a JVM begins the item", func(f *fixture) { f.begun(jvm, 0) }}.run(t, held, fromJ)
}

// The word that only keeps JVM members from beginning anything is no request to deal as if nobody had had
// any items.
func TestHoldingIsNoRequestToDeal(t *testing.T) {
	f := given(t, isStatic).members("A", "B").jvms(jvm).leader("A").deal("B", "B", "A")
	for _, c := range []struct {
		says     string
		previous []string
		moves    []string
	}{
		{"holding", []string{"B", "B", "A"}, nil},
		{"", []string{"", "", ""}, []string{"+ sharding/0/instance = A"}},
	} {
		p := f.put("leader/sharding/necessary", c.says).pass("A")
		if got := p.Question().Previous; !slices.Equal(got, c.previous) {
			t.Errorf("%q: the strategy is told of %q, want %q", c.says, got, c.previous)
		}
		p.Mixed.MarkedSince = momentOf(f.now.Add(-time.Minute))
		changes := slices.DeleteFunc(p.Assign([]string{"A", "B", "A"}), func(c decide.Change) bool { return c.Parts[0].Item == decide.NoItem })
		if diff := gocmp.Diff(c.moves, f.changes("A", changes...), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: (-want +got):\n%s", c.says, diff)
		}
	}
}
