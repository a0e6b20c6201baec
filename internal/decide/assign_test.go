package decide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// staticGrace is how long static sharding waits for an owner that is gone.
const staticGrace = 10 * time.Minute

func assigns(p pass) []decide.Change { return p.Assign(p.Place(p.owners())) }

func isStatic(r *decide.Rules) { r.StaticSharding = true }

func TestAssign(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	const now = "2026-01-05T10:00:05.100Z"
	for _, r := range []row{
		{
			name: "all is well",
		},
		{
			name: "a new job",
			tree: func(f *fixture) { f.remove("sharding") },
			want: []string{
				"+ sharding/0/fired = " + now, "+ sharding/0/instance = A",
				"+ sharding/1/fired = " + now, "+ sharding/1/instance = B",
				"+ sharding/2/fired = " + now, "+ sharding/2/instance = A",
			},
		},
		{
			name: "a new job, and the local clock is ahead of the store's",
			tree: func(f *fixture) {
				f.remove("sharding").clock = decide.Clock{Known: true, Store: f.now.Add(-time.Second), Ahead: time.Second}
			},
			want: []string{
				"+ sharding/0/fired = 2026-01-05T10:00:04.100Z", "+ sharding/0/instance = A",
				"+ sharding/1/fired = 2026-01-05T10:00:04.100Z", "+ sharding/1/instance = B",
				"+ sharding/2/fired = 2026-01-05T10:00:04.100Z", "+ sharding/2/instance = A",
			},
		},
		{
			name: "nobody is available",
			tree: func(f *fixture) { f.disable("A", "B") },
		},
		{
			name: "the owner of one item has gone",
			tree: func(f *fixture) { f.crash("B") },
			want: []string{"+ sharding/1/instance = A"},
		},
		{
			name: "a server was disabled",
			tree: func(f *fixture) { f.disable("B") },
			want: []string{"+ sharding/1/instance = A"},
		},
		{
			name: "a running item keeps its owner, also one that has gone",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.crash("B") },
		},
		{
			name: "what runs does not keep others from moving",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)); f.disable("A") },
			want: []string{"+ sharding/2/instance = B"},
		},
		{
			name:  "more items",
			rules: func(r *decide.Rules) { r.Total = 4 },
			want: []string{
				"+ sharding/1/instance = A", "+ sharding/2/instance = B",
				"+ sharding/3/fired = " + now, "+ sharding/3/instance = B",
			},
		},
		{
			name:  "fewer items: what is idle goes, with what waits for failover",
			rules: func(r *decide.Rules) { r.Total = 1 },
			tree: func(f *fixture) {
				f.put("leader/failover/items/2", "")
				f.put("sharding/2/disabled", "")
				f.claim("B", 1, tick(1))
			},
			want: []string{"- leader/failover/items/2", "- sharding/2/disabled", "- sharding/2/fired", "- sharding/2/instance"},
		},
		{
			name:  "fewer items: once-listeners are told how one had ended",
			rules: func(r *decide.Rules) { r.Total, r.Once = 2, true },
			tree: func(f *fixture) {
				f.told(1, nil, 0, 2)
				f.put("sharding/2/completed", string(jobtree.EncodeCompletion(jobtree.CompletionDocument{Tick: tick(1), Token: 7, Outcome: jobtree.OutcomeOK})))
			},
			want: []string{"+ " + at(1) + "/2 = OK", "- sharding/2/completed", "- sharding/2/fired", "- sharding/2/instance"},
		},
		{
			name:  "fewer items: one of which nothing is there is no item",
			rules: func(r *decide.Rules) { r.Total = 1 },
			tree:  func(f *fixture) { f.remove("sharding/1").put("leader/failover/items/1", "") },
			want:  []string{"- sharding/2/fired", "- sharding/2/instance"},
		},
		{
			name: "an item that lost its record of ticks",
			tree: func(f *fixture) { f.remove("sharding/1/fired") },
			want: []string{"+ sharding/1/fired = " + now},
		},
		{
			name: "asked to deal again, with nothing to deal",
			tree: func(f *fixture) { f.put("leader/sharding/necessary", "") },
			want: []string{"- leader/sharding/necessary"},
		},
		{
			name: "asked to deal again, with something to deal",
			tree: func(f *fixture) { f.put("leader/sharding/necessary", "").own(1, "A") },
			want: []string{"+ sharding/1/instance = B"},
		},
		{
			name:  "a label that nobody has",
			rules: func(r *decide.Rules) { r.Label = "big" },
		},
		{
			name:  "a label that one has",
			rules: func(r *decide.Rules) { r.Label = "big" },
			tree:  func(f *fixture) { f.labels = []string{"big"}; f.members("C") },
			want:  []string{"+ sharding/0/instance = C", "+ sharding/1/instance = C", "+ sharding/2/instance = C"},
		},
		{
			name:  "static: an owner that is away",
			rules: isStatic,
			tree: func(f *fixture) {
				f.crash("B")
				f.absent["B"] = momentOf(f.now.Add(-staticGrace + time.Second))
			},
		},
		{
			name:  "static: an owner that is away for too long",
			rules: isStatic,
			tree:  func(f *fixture) { f.crash("B"); f.absent["B"] = momentOf(f.now.Add(-staticGrace)) },
			want:  []string{"+ sharding/1/instance = A"},
		},
		{
			name:  "static: an owner that is away, nobody knows since when",
			rules: isStatic,
			tree:  func(f *fixture) { f.crash("B") },
		},
		{
			name:  "static: an owner that is disabled",
			rules: isStatic,
			tree:  func(f *fixture) { f.disable("B") },
			want:  []string{"+ sharding/1/instance = A"},
		},
		{
			name:  "static: a new member gets nothing",
			rules: isStatic,
			tree:  func(f *fixture) { f.members("C") },
		},
		{
			name:  "static: pinned to another one",
			rules: isStatic,
			tree:  func(f *fixture) { f.pin(1, jobtree.PinDocument{Instance: "A"}) },
			want:  []string{"+ sharding/1/instance = A"},
		},
		{
			name:  "static: pinned to nobody",
			rules: isStatic,
			tree:  func(f *fixture) { f.pin(1, jobtree.PinDocument{Label: "none"}) },
		},
		{
			name:  "static: pinned to nobody, strictly",
			rules: isStatic,
			tree:  func(f *fixture) { f.pin(1, jobtree.PinDocument{Label: "none", Strict: true}) },
			want:  []string{"- sharding/1/instance"},
		},
		{
			name:  "static: an owner that is away, and nobody else is one of those that the item is pinned to",
			rules: isStatic,
			tree:  func(f *fixture) { f.crash("B").pin(1, jobtree.PinDocument{Instance: "B", Strict: true}) },
		},
	} {
		r.run(t, base, assigns)
	}
}

func TestAssignIsConditional(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "A", "A") }
	for _, c := range []conflict{
		{"the item begins to run", func(f *fixture) { f.claim("A", 1, tick(1)) }},
		{"the item is taken over", func(f *fixture) { f.takenOver("B", 1, tick(1)) }},
		{"somebody else assigns", func(f *fixture) { f.own(1, "A") }},
		{"the configuration changes", func(f *fixture) { f.configure(func(r *decide.Rules) { r.Total = 2 }) }},
		{"leadership is lost", func(f *fixture) { f.remove("leader/election/instance") }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance").leader("B") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, assigns)
	}
	t.Run("removal of an item", func(t *testing.T) {
		base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A", "B") }
		for _, c := range []conflict{
			{"the item begins to run", func(f *fixture) { f.claim("B", 3, tick(1)) }},
			{"there are to be more items again", func(f *fixture) { f.configure(func(r *decide.Rules) { r.Total = 4 }) }},
		} {
			c.run(t, base, assigns)
		}
	})
	t.Run("a new item", func(t *testing.T) {
		base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B") }
		conflict{"somebody else has assigned it", func(f *fixture) { f.own(2, "A") }}.run(t, base, assigns)
	})
}

// anyDeal draws a tree in which items have all sorts of owners, and some run.
func anyDeal(t *rapid.T, f *fixture, items int) {
	members := rapid.IntRange(1, 4).Draw(t, "members")
	ids := []string{"A", "B", "C", "D"}
	f.members(ids[:members]...).leader("A")
	owner := func() string { return rapid.SampledFrom(ids).Draw(t, "owner") }
	for i := range items {
		switch rapid.IntRange(0, 9).Draw(t, "item") {
		case 0: // is not there
		case 1:
			f.own(i, owner())
		case 2:
			f.own(i, owner())
			f.put(fmt.Sprintf("sharding/%d/running", i), rapid.SampledFrom(ids).Draw(t, "runner"))
		default:
			f.own(i, owner()).fired(i, begin)
		}
	}
}

// TestAssignNeverStrandsAnItem: whichever of the changes of an assignment happen, in
// whichever order, no item that had an owner is without one, none that runs has moved,
// and the next leader brings it to the same end in one more go.
func TestAssignNeverStrandsAnItem(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 2, 5, 40, 150}).Draw(r, "total")
		f := given(t, func(r *decide.Rules) { r.Total = total })
		f.strategy = rapid.SampledFrom([]string{strategy.AvgAllocation, strategy.Sticky, strategy.RoundRobin}).Draw(r, "strategy")
		anyDeal(r, f, rapid.IntRange(0, total+total/2).Draw(r, "items"))
		before := f.pass("A")
		want := before.owners()

		changes := rapid.Permutation(assigns(before)).Draw(r, "order")
		for _, c := range changes[:rapid.IntRange(0, len(changes)).Draw(r, "happen")] {
			if _, err := f.store.Commit(sessionOf("A"), c.Ops...); err != nil {
				r.Fatal(err)
			}
		}
		middle := f.pass("A")
		for i := range total {
			was, is := before.Item(i).Owner, middle.Item(i).Owner
			switch {
			case was != nil && is == nil:
				r.Fatalf("item %d has lost its owner", i)
			case was != nil && before.Item(i).Running != nil && was.ID != is.ID:
				r.Fatalf("item %d has moved while it ran", i)
			case was == nil && is != nil && middle.Item(i).Fired == nil:
				r.Fatalf("item %d is assigned and does not know since when", i)
			}
		}

		f.changes("A", assigns(f.pass("A"))...)
		after := f.pass("A")
		for i := range total {
			item := after.Item(i)
			if item.Owner == nil || item.Fired == nil {
				r.Fatalf("item %d: %+v", i, item)
			}
			if item.Running == nil && before.Item(i).Running == nil && f.strategy != strategy.Sticky && item.Owner.ID != want[i] {
				r.Fatalf("item %d went to %s, not to %s", i, item.Owner.ID, want[i])
			}
		}
		if more := assigns(after); len(more) > 0 {
			r.Fatalf("there is no end to it: %v", more[0].Ops)
		}
	})
}

// TestAssignDisturbsNobody: when an instance comes or goes, STICKY moves only what has to
// move.
func TestAssignDisturbsNobody(t *testing.T) {
	f := given(t, func(r *decide.Rules) { r.Total = 4 })
	f.strategy = strategy.Sticky
	f.members("A", "B").leader("A").deal("A", "A", "B", "B")
	f.members("C")
	moved := f.changes("A", assigns(f.pass("A"))...)
	if len(moved) != 1 {
		t.Fatalf("C came, and %q", moved)
	}
	f.crash("C")
	back := f.changes("A", assigns(f.pass("A"))...)
	item, _, _ := strings.Cut(moved[0], " = ")
	if len(back) != 1 || !strings.HasPrefix(back[0], item+" = ") {
		t.Fatalf("C went, and %q", back)
	}
}

// TestRequest: a strategy is told all that it may base its answer on, and what it must not
// answer is seen.
func TestRequest(t *testing.T) {
	f := given(t).members("B", "A").leader("A").deal("A", "B").disable("B")
	got := f.pass("A").Question()
	want := strategy.Request{
		Job: "settle", Total: 3, Previous: []string{"A", "B", ""},
		Instances: []strategy.Instance{{ID: "A", IP: "host-A"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, owners := range [][]string{{"A", "Z", "A"}, {"A", "B", "A"}, {"A", "A"}} {
		if strategy.Check(got, owners) == nil {
			t.Errorf("%v is no error", owners)
		}
	}
	if nobody := f.disable("A").pass("A").Question(); len(nobody.Instances) > 0 {
		t.Errorf("%v may have items", nobody.Instances)
	}
}

func TestAbsences(t *testing.T) {
	f := given(t).members("A").leader("A").deal("A", "B", "C")
	first := decide.Absences(f.pass("A").State, nil, momentOf(f.now))
	later := momentOf(f.now.Add(time.Minute))
	f.members("C").own(0, "D")
	second := decide.Absences(f.pass("A").State, first, later)
	for id, want := range map[string]clocks.Moment{"B": momentOf(f.now), "D": later} {
		if !second[id].Equal(want) {
			t.Errorf("%s is gone since %v, want %v", id, second[id], want)
		}
	}
	if len(second) != 2 {
		t.Errorf("got %v", second)
	}
	f.own(0, "A").own(1, "A").remove("sharding/2/instance")
	if third := decide.Absences(f.pass("A").State, second, later); len(third) != 0 {
		t.Errorf("nobody is gone, and %v", third)
	}
}
