package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/strategy"
)

func assigns(w *world) []commit {
	owners, err := w.desired()
	if err != nil {
		panic(err)
	}
	return w.assign(owners)
}

func TestAssign(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	now := "2026-01-05T10:00:05.100Z"
	for _, c := range []stepCase{
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
			name: "nobody is available",
			tree: func(f *fixture) { f.put("servers/host-A", "DISABLED").put("servers/host-B", "DISABLED") },
		},
		{
			name: "the owner of one item has gone",
			tree: func(f *fixture) { f.crash("B") },
			want: []string{"+ sharding/1/instance = A"},
		},
		{
			name: "a server was disabled",
			tree: func(f *fixture) { f.put("servers/host-B", "DISABLED") },
			want: []string{"+ sharding/1/instance = A"},
		},
		{
			name: "a running item keeps its owner, also one that has gone",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.crash("B") },
		},
		{
			name: "what runs does not keep others from moving",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)); f.put("servers/host-A", "DISABLED") },
			want: []string{"+ sharding/2/instance = B"},
		},
		{
			name:   "more items",
			config: func(c *Config) { c.ShardingTotalCount = 4 },
			want: []string{
				"+ sharding/1/instance = A", "+ sharding/2/instance = B",
				"+ sharding/3/fired = " + now, "+ sharding/3/instance = B",
			},
		},
		{
			name:   "fewer items: what is idle goes, with what waits for failover",
			config: func(c *Config) { c.ShardingTotalCount = 1 },
			tree: func(f *fixture) {
				f.put("leader/failover/items/2", "")
				f.put("sharding/2/disabled", "")
				f.claim("B", 1, tick(1))
			},
			want: []string{"- leader/failover/items/2", "- sharding/2/disabled", "- sharding/2/fired", "- sharding/2/instance"},
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
			tree: func(f *fixture) { f.put("leader/sharding/necessary", ""); f.own(1, "A") },
			want: []string{"+ sharding/1/instance = B"},
		},
		{
			name:   "a label that nobody has",
			config: func(c *Config) { c.Label = "big" },
		},
		{
			name:   "a label that one has",
			config: func(c *Config) { c.Label = "big" },
			tree:   func(f *fixture) { f.labels = []string{"big"}; f.members("C") },
			want:   []string{"+ sharding/0/instance = C", "+ sharding/1/instance = C", "+ sharding/2/instance = C"},
		},
		{
			name:   "static: an owner that is away",
			config: func(c *Config) { c.StaticSharding = true },
			tree: func(f *fixture) {
				f.crash("B")
				f.gone["B"] = f.now.Add(-staticGrace + time.Second)
			},
		},
		{
			name:   "static: an owner that is away for too long",
			config: func(c *Config) { c.StaticSharding = true },
			tree:   func(f *fixture) { f.crash("B"); f.gone["B"] = f.now.Add(-staticGrace) },
			want:   []string{"+ sharding/1/instance = A"},
		},
		{
			name:   "static: an owner that is disabled",
			config: func(c *Config) { c.StaticSharding = true },
			tree:   func(f *fixture) { f.put("servers/host-B", "DISABLED") },
			want:   []string{"+ sharding/1/instance = A"},
		},
		{
			name:   "static: a new member gets nothing",
			config: func(c *Config) { c.StaticSharding = true },
			tree:   func(f *fixture) { f.members("C") },
		},
	} {
		c.run(t, base, assigns)
	}
}

func TestAssignIsConditional(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "A", "A") }
	for _, c := range []conflictCase{
		{"the item begins to run", func(f *fixture) { f.claim("A", 1, tick(1)) }},
		{"the item is taken over", func(f *fixture) { f.takenOver("B", 1, tick(1)) }},
		{"somebody else deals", func(f *fixture) { f.own(1, "A") }},
		{"the configuration changes", func(f *fixture) { f.configure(func(c *Config) { c.ShardingTotalCount = 2 }) }},
		{"leadership is lost", func(f *fixture) { f.remove("leader/election/instance") }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance").leader("B") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, assigns)
	}
	t.Run("removal of an item", func(t *testing.T) {
		base := func(f *fixture) {
			f.members("A", "B").leader("A").deal("A", "B", "A", "B")
		}
		for _, c := range []conflictCase{
			{"the item begins to run", func(f *fixture) { f.claim("B", 3, tick(1)) }},
			{"there are to be more items again", func(f *fixture) { f.configure(func(c *Config) { c.ShardingTotalCount = 4 }) }},
		} {
			c.run(t, base, assigns)
		}
	})
}

// anyDeal draws a tree in which items have all sorts of owners, and some run.
func anyDeal(t *rapid.T, f *fixture, items int) {
	members := rapid.IntRange(1, 4).Draw(t, "members")
	ids := []string{"A", "B", "C", "D"}
	f.members(ids[:members]...).leader("A")
	for i := range items {
		switch rapid.IntRange(0, 9).Draw(t, "item") {
		case 0: // is not there
		case 1:
			f.own(i, rapid.SampledFrom(ids).Draw(t, "owner"))
		case 2:
			f.own(i, rapid.SampledFrom(ids).Draw(t, "owner"))
			f.put(fmt.Sprintf("sharding/%d/running", i), rapid.SampledFrom(ids).Draw(t, "runner"))
		default:
			f.own(i, rapid.SampledFrom(ids).Draw(t, "owner"))
			f.put(fmt.Sprintf("sharding/%d/fired", i), "2026-01-05T10:00:00.000Z")
		}
	}
}

// TestAssignNeverStrandsAnItem: whichever of the commits of an assignment happen, in
// whichever order, no item that had an owner is without one, none that runs has moved,
// and the next leader brings it to the same end in one more go.
func TestAssignNeverStrandsAnItem(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 2, 5, 40, 150}).Draw(r, "total")
		f := given(t, func(c *Config) {
			c.ShardingTotalCount = total
			c.Strategy = rapid.SampledFrom([]string{"AVG_ALLOCATION", "STICKY", "ROUND_ROBIN"}).Draw(r, "strategy")
		})
		anyDeal(r, f, rapid.IntRange(0, total+total/2).Draw(r, "items"))
		before := f.world("A")
		want, err := before.desired()
		if err != nil {
			r.Fatal(err)
		}

		commits := rapid.Permutation(assigns(before)).Draw(r, "order")
		for _, c := range commits[:rapid.IntRange(0, len(commits)).Draw(r, "happen")] {
			if _, err := f.store.commit(sessionOf("A"), c.ops...); err != nil {
				r.Fatal(err)
			}
		}
		middle := f.world("A")
		for i := range total {
			was, is := before.Item(i).Owner, middle.Item(i).Owner
			if was != nil && is == nil {
				r.Fatalf("item %d has lost its owner", i)
			}
			if before.Item(i).Running != nil && (was == nil) == (is == nil) && was != nil && was.ID != is.ID {
				r.Fatalf("item %d has moved while it ran", i)
			}
			if is != nil && middle.Item(i).Fired == nil && (was == nil) {
				r.Fatalf("item %d is dealt and does not know since when", i)
			}
		}

		f.changes("A", assigns(f.world("A"))...)
		after := f.world("A")
		for i := range total {
			item := after.Item(i)
			if item.Owner == nil || item.Fired == nil {
				r.Fatalf("item %d: %+v", i, item)
			}
			if item.Running == nil && before.Item(i).Running == nil && f.settings.Strategy != "STICKY" && item.Owner.ID != want[i] {
				r.Fatalf("item %d went to %s, not to %s", i, item.Owner.ID, want[i])
			}
		}
		if more := assigns(after); len(more) > 0 {
			r.Fatalf("there is no end to it: %v", more[0].ops)
		}
	})
}

// TestAssignDisturbsNobody: when an instance comes or goes, STICKY moves only what has
// to move.
func TestAssignDisturbsNobody(t *testing.T) {
	f := given(t, func(c *Config) { c.Strategy = "STICKY"; c.ShardingTotalCount = 4 })
	f.members("A", "B").leader("A").deal("A", "A", "B", "B")
	f.members("C")
	moved := f.changes("A", assigns(f.world("A"))...)
	if len(moved) != 1 {
		t.Fatalf("C came, and %q", moved)
	}
	f.crash("C")
	back := f.changes("A", assigns(f.world("A"))...)
	if len(back) != 1 || back[0][:len("+ sharding/0/instance")] != moved[0][:len("+ sharding/0/instance")] {
		t.Fatalf("C went, and %q", back)
	}
}

func TestAssignRefusesAWrongStrategy(t *testing.T) {
	f := given(t)
	f.members("A").leader("A").deal("A", "A", "A")
	w := f.world("A")
	broken := *w.settings
	broken.strategy = strategy.Func(func(strategy.Request) []string { return []string{"A", "Z", "A"} })
	w.settings = &broken
	w.ask = func(r strategy.Request) ([]string, error) { return broken.strategy.Assign(r), nil }
	if owners, err := w.desired(); err == nil {
		t.Errorf("no error, and %v", owners)
	}
}

func TestAbsences(t *testing.T) {
	f := given(t)
	f.members("A").leader("A").deal("A", "B", "C")
	first := absences(f.world("A").State, nil, f.now)
	later := f.now.Add(time.Minute)
	f.members("C")
	f.own(0, "D")
	second := absences(f.world("A").State, first, later)
	for id, want := range map[string]time.Time{"B": f.now, "D": later} {
		if !second[id].Equal(want) {
			t.Errorf("%s is gone since %v, want %v", id, second[id], want)
		}
	}
	if len(second) != 2 {
		t.Errorf("got %v", second)
	}
	f.own(0, "A")
	f.own(1, "A")
	if third := absences(f.world("A").State, second, later); len(third) != 0 {
		t.Errorf("nobody is gone, and %v", third)
	}
}

func TestAvailable(t *testing.T) {
	f := given(t, func(c *Config) { c.Label = "big" })
	f.labels = []string{"big", "fast"}
	f.members("B", "A", "D")
	f.labels = nil
	f.members("C")
	f.put("servers/host-D", "disabled")
	var ids []string
	for _, in := range f.world("A").available() {
		ids = append(ids, in.ID)
	}
	if !slices.Equal(ids, []string{"A", "B"}) {
		t.Errorf("got %v: in order, with the label, and enabled are A and B", ids)
	}
}

// TestChunkStaysWithinACommit: ops that belong together stay together, in commits that
// a store takes, each under the same conditions.
func TestChunkStaysWithinACommit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := chunk{step: "s", head: []coord.Op{coord.Owned("a/x"), coord.Exists("a/y")}}
		groups := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 300).Draw(r, "groups")
		for i, n := range groups {
			var ops []coord.Op
			for k := range n {
				ops = append(ops, coord.Delete(fmt.Sprintf("a/%d/%d", i, k)))
			}
			last := c.add(i, ops...)
			if got := last.ops[len(last.ops)-n:]; got[0].Path != ops[0].Path {
				r.Fatalf("group %d is torn", i)
			}
		}
		total := 0
		for _, commit := range c.commits {
			if err := coord.ValidateCommit(commit.ops...); err != nil {
				r.Fatal(err)
			}
			if commit.step != "s" || commit.ops[0].Path != "a/x" || commit.ops[1].Path != "a/y" {
				r.Fatalf("a commit begins with %v", commit.ops[:2])
			}
			total += len(commit.ops) - 2
		}
		want := 0
		for _, n := range groups {
			want += n
		}
		if total != want {
			r.Fatalf("%d ops, want %d", total, want)
		}
	})
}
