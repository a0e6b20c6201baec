package decide_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func isBroadcast(r *decide.Rules) { r.Broadcast, r.Failover, r.Total = true, false, 4 }

func spreads(p pass) []decide.Change { return p.Assign(p.Spread()) }

func TestSpread(t *testing.T) {
	base := func(f *fixture) {
		f.configure(isBroadcast)
		f.members("A", "B").leader("A").deal("A", "B")
	}
	const now = "2026-01-05T10:00:05.100Z"
	for _, r := range []row{
		{name: "all is well"},
		{
			name: "a new job",
			tree: func(f *fixture) { f.remove("sharding") },
			want: []string{
				"+ sharding/0/fired = " + now, "+ sharding/0/instance = A",
				"+ sharding/1/fired = " + now, "+ sharding/1/instance = B",
			},
		},
		{
			name: "an instance joins",
			tree: func(f *fixture) { f.members("C") },
			want: []string{"+ sharding/2/fired = " + now, "+ sharding/2/instance = C"},
		},
		{
			name: "two join: who came first has the lower one",
			tree: func(f *fixture) { f.members("D", "C") },
			want: []string{
				"+ sharding/2/fired = " + now, "+ sharding/2/instance = D",
				"+ sharding/3/fired = " + now, "+ sharding/3/instance = C",
			},
		},
		{
			name: "there are more instances than items",
			tree: func(f *fixture) {
				f.members("C", "D").own(2, "C").own(3, "D").fired(2, begin).fired(3, begin).members("E")
			},
		},
		{
			name: "an instance has gone, and nobody gets its item",
			tree: func(f *fixture) { f.crash("B") },
			want: []string{"- sharding/1/instance"},
		},
		{
			name: "an instance gets the item of one that has gone, which begins anew",
			tree: func(f *fixture) {
				f.crash("B").members("C")
				f.put("sharding/1/misfire", "").put("sharding/1/completed", "out: FAILED\n").put("cursor/1", "at: x\n")
			},
			want: []string{
				"- cursor/1", "- sharding/1/completed", "+ sharding/1/fired = " + now, "+ sharding/1/instance = C", "- sharding/1/misfire",
			},
		},
		{
			name: "and one that had no owner any more",
			tree: func(f *fixture) { f.remove("sharding/0/instance").disable("A").members("C") },
			want: []string{"+ sharding/0/fired = " + now, "+ sharding/0/instance = C"},
		},
		{
			name: "an item that runs keeps its owner, and a new instance gets another one",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.remove("instances/B").members("C") },
			want: []string{"+ sharding/2/fired = " + now, "+ sharding/2/instance = C"},
		},
		{
			name: "so with a disabled one",
			tree: func(f *fixture) { f.crash("B").put("sharding/1/disabled", "").members("C") },
			want: []string{"- sharding/1/instance", "+ sharding/2/fired = " + now, "+ sharding/2/instance = C"},
		},
		{
			name: "and with one for which a request waits",
			tree: func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{1}}); f.crash("B").members("C") },
			want: []string{"- sharding/1/instance", "+ sharding/2/fired = " + now, "+ sharding/2/instance = C"},
		},
		{
			name: "the owner of a disabled item keeps it",
			tree: func(f *fixture) { f.put("sharding/1/disabled", "") },
		},
		{
			name: "an instance with several keeps the one that it has had for longest",
			tree: func(f *fixture) { f.own(2, "A").fired(2, begin).remove("sharding/0/instance").own(0, "A") },
			want: []string{"- sharding/0/instance"},
		},
		{
			name: "also if that is the lowest",
			tree: func(f *fixture) { f.own(2, "A").fired(2, begin) },
			want: []string{"- sharding/2/instance"},
		},
		{
			name: "a server was disabled",
			tree: func(f *fixture) { f.disable("B") },
			want: []string{"- sharding/1/instance"},
		},
		{
			name: "nobody may have items: all stays",
			tree: func(f *fixture) { f.disable("A", "B") },
		},
		{
			name: "an item that lost its record of ticks",
			tree: func(f *fixture) { f.remove("sharding/1/fired") },
			want: []string{"+ sharding/1/fired = " + now},
		},
		{
			name: "pins have no effect",
			tree: func(f *fixture) { f.put("pins/1", "instance: A\n") },
		},
	} {
		r.run(t, base, spreads)
	}
}

// What is taken from an instance, or given to another one, is as it was seen.
func TestSpreadIsConditional(t *testing.T) {
	base := func(f *fixture) {
		f.configure(isBroadcast)
		f.members("A", "B").leader("A").deal("A", "B", "C")
	}
	for _, c := range []conflict{
		{"its owner is there after all", func(f *fixture) { f.members("C") }},
		{"it begins to run", func(f *fixture) { f.claim("C", 2, tick(1)) }},
		{"another instance has got it, and has lost it, and it came back", func(f *fixture) {
			f.remove("sharding/2/instance").own(2, "C").fired(2, tick(1))
		}},
		{"the job is a broadcast job no more", func(f *fixture) { f.configure(func(r *decide.Rules) { r.Broadcast = false }) }},
	} {
		c.run(t, base, spreads)
	}
	given := func(f *fixture) { base(f); f.members("D") }
	for _, c := range []conflict{
		{"its owner is there after all", func(f *fixture) { f.members("C") }},
		{"its owner has begun a tick", func(f *fixture) { f.fired(2, tick(1)) }},
	} {
		c.run(t, given, spreads)
	}
	free := func(f *fixture) { f.configure(isBroadcast); f.members("A", "B").leader("A").deal("A").fired(1, begin) }
	for _, c := range []conflict{
		{"another leader has given it away", func(f *fixture) { f.own(1, "B") }},
		{"it runs", func(f *fixture) { f.put("sharding/1/running", "X") }},
	} {
		c.run(t, free, spreads)
	}
}

// Whatever stands in the tree, after a few assigns each instance has one item, as far as there are
// free ones, and nobody who keeps one has got another.
func TestSpreadComesToRest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := given(t, isBroadcast)
		f.configure(func(rules *decide.Rules) { rules.Total = rapid.IntRange(1, 6).Draw(r, "total") })
		anyDeal(r, f, rapid.IntRange(0, 7).Draw(r, "items"))
		before := f.pass("A")
		for range 2 {
			f.changes("A", spreads(f.pass("A"))...)
		}
		p := f.pass("A")
		if more := spreads(p); len(more) > 0 {
			r.Fatalf("there is no end to it: %v", more[0].Ops)
		}
		has, free := map[string]int{}, 0
		for i := range f.rules.Total {
			item, was := p.Item(i), before.Item(i)
			switch {
			case was.Running != nil && was.Owner != nil && !item.Owner.Is(was.Owner.ID):
				r.Fatalf("item %d has moved while it ran", i)
			case item.Owner == nil && item.Running == nil:
				free++
			case item.Owner != nil && item.Running == nil:
				has[item.Owner.ID]++
			}
		}
		for id := range p.Instances {
			keeps := 0
			for i := range f.rules.Total {
				if item := p.Item(i); item.Owner.Is(id) {
					keeps++
				}
			}
			if keeps == 0 && free > 0 || has[id] > 1 {
				r.Fatalf("%s has %d items, and %d are free", id, keeps, free)
			}
		}
	})
}

// An instance begins a tick of a broadcast job once, whatever it owns, and whoever it was before.
func TestBroadcastTickBeginsOnce(t *testing.T) {
	ticked := func(instance string, item int, at time.Time) func(*fixture) {
		return func(f *fixture) { f.work.LastBegun = decide.LastBegun{Instance: instance, Item: item, Tick: at} }
	}
	claimed := func(item int) func(*fixture) {
		return func(f *fixture) {
			f.work.Runs[item] = &decide.Run{Claim: decide.Claim{Item: item, Source: decide.Normal, Tick: tick(1)}, Instance: "A"}
		}
	}
	const now = " = 2026-01-05T10:00:05.000Z"
	one := []string{"+ sharding/0/fired" + now, "+ sharding/0/running = A (of A)"}
	other := []string{"+ sharding/2/fired" + now, "+ sharding/2/running = A (of A)"}
	passed := []string{"+ sharding/0/fired" + now, "+ sharding/2/fired" + now}
	for _, r := range []row{
		{name: "with one of two items", want: one},
		{name: "the one that it has claimed is not shown yet", tree: claimed(0)},
		{name: "a tick before", tree: ticked("A", 2, begin), want: one},
		{name: "another item", tree: ticked("A", 1, tick(1)), want: passed},
		{name: "another instance", tree: ticked("A-before", 2, tick(1)), want: passed},
		{name: "a claim that was released", tree: func(f *fixture) { ticked("A", 2, tick(1))(f); f.put("sharding/0/disabled", "") }, want: append(other, "+ sharding/0/fired"+now)},
		{name: "a clock that was wrong", tree: ticked("A", 1, tick(1).Add(decide.FutureTolerance+time.Minute)), want: one},
	} {
		base := func(f *fixture) { f.members("A", "B").leader("B").deal("A", "B", "A") }
		t.Run(r.name, func(t *testing.T) {
			f := given(t, isBroadcast)
			base(f)
			if r.tree != nil {
				r.tree(f)
			}
			p := f.pass("A")
			got := f.changes("A", append(p.Fire(p.Due(p.work), p.free), p.Skip(p.work)...)...)
			if diff := gocmp.Diff(r.want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// A claim whose answer was lost does not begin, if the tick has begun with another item.
func TestBroadcastClaimIsLeftOver(t *testing.T) {
	f := given(t, isBroadcast).members("A").leader("A").deal("A", "", "A")
	f.claim("A", 0, tick(1))
	f.work.LastBegun = decide.LastBegun{Instance: "A", Item: 2, Tick: tick(1)}
	if got := f.changes("A", settles(f.pass("A"))...); !gocmp.Equal(got, []string{"- sharding/0/running"}) {
		t.Errorf("got %v", got)
	}
	f = given(t, isBroadcast).members("A").leader("A").deal("A")
	f.claim("A", 0, tick(1))
	f.work.LastBegun = decide.LastBegun{Instance: "A", Item: 0, Tick: begin}
	if claims := claimsOf(settles(f.pass("A"))); len(claims) != 1 {
		t.Errorf("the only one: %v", claims)
	}
}

// Without records, too, an instance begins a tick with one item.
func TestBroadcastWithoutRecords(t *testing.T) {
	f := given(t, isBroadcast, unrecorded).members("A").deal("A", "", "A")
	claims, _ := f.pass("A").FireUnmonitored(f.work, decide.Unmonitored{Last: begin})
	equalClaims(t, "two items", claims, []decide.Claim{{Item: 0, Source: decide.Normal, Tick: tick(1)}})
}

// Items without an instance are as they should be; an instance without an item is not.
func TestBroadcastStalls(t *testing.T) {
	f := given(t, isBroadcast).members("A", "B").leader("A").deal("A", "B").fired(0, tick(1)).fired(1, tick(1))
	if list := f.pass("A").StalledElsewhere(f.work); len(list) > 0 {
		t.Errorf("all is well, and %v", list)
	}
	lack := func(id string, want bool) {
		t.Helper()
		if got := f.pass(id).LacksItem(); got != want {
			t.Errorf("%s lacks an item: %v", id, got)
		}
	}
	lack("B", false)
	f.members("C")
	lack("C", true)
	f.disable("C")
	lack("C", false)
	f.put("servers/host-C", jobtree.Enabled).members("D", "E")
	lack("C", false) // there are too many
	if id := f.pass("A").AnyJVM(); id != "" {
		t.Errorf("%s is no JVM member", id)
	}
	f.remove("sessions/C", "sessions/B")
	if id := f.pass("A").AnyJVM(); id != "B" {
		t.Errorf("%q is the first JVM member", id)
	}
}

// A request for an item without an instance ends, if the item has got none meanwhile.
func TestBroadcastRequestWithoutAnInstance(t *testing.T) {
	tree := func() *fixture {
		f := given(t, isBroadcast).members("A", "B").leader("A").deal("A", "B")
		f.submit(jobtree.RequestDocument{Items: []int{1, 3}, Kept: true})
		return f
	}
	f := tree()
	f.changes("A", endsRequests(f.pass("A"))...)
	skipped := func(i int) bool {
		p := f.pass("A").Requests[0].Progress(i)
		return p != nil && p.Outcome == jobtree.OutcomeSkipped
	}
	if skipped(1) || !skipped(3) {
		t.Errorf("skipped: item 1 %v, item 3 %v; want the one that nobody has", skipped(1), skipped(3))
	}
	f = tree()
	late := endsRequests(f.pass("A"))
	f.own(3, "B")
	if _, err := f.store.Commit(sessionOf("A"), late[0].Ops...); err == nil {
		t.Error("an item is skipped that has an instance")
	}
}
