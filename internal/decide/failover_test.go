package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func takesOver(p pass) []decide.Change { return p.FailOver(p.work, p.free) }

func TestFailOver(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "B")
		f.put("sharding/1/fired", tick1).put("leader/failover/items/1", tick1)
	}
	taken := []string{
		"- leader/failover/items/1", "+ sharding/1/failover = A (of A)", "+ sharding/1/failovering = A",
		"+ sharding/1/fired = " + tick1, "+ sharding/1/running = A",
	}
	for _, r := range []row{
		{
			name: "an item of somebody else",
			want: taken,
		},
		{
			name: "one of its own",
			tree: func(f *fixture) { f.own(1, "A") },
			want: taken,
		},
		{
			name: "for a tick before the last one",
			tree: func(f *fixture) { f.put("leader/failover/items/1", "2026-01-05T10:00:00.000Z") },
			want: append(slices.Clone(taken[:3]), "+ sharding/1/fired = "+tick1+" 2026-01-05T10:00:00.000Z", taken[4]),
		},
		{
			name: "for nobody knows which tick, as JVM members write it",
			tree: func(f *fixture) { f.put("leader/failover/items/1", "") },
			want: taken,
		},
		{
			name: "an item without a record of ticks",
			tree: func(f *fixture) { f.remove("sharding/1/fired") },
			want: taken,
		},
		{
			name: "an item of which nothing at all is there",
			tree: func(f *fixture) { f.remove("sharding/1") },
			want: taken,
		},
		{
			name: "its flag is for whoever makes up",
			tree: func(f *fixture) { f.put("sharding/1/misfire", "") },
			want: taken,
		},
		{
			name: "no free slot",
			tree: func(f *fixture) { f.free = 0 },
		},
		{
			name: "queued more than there are slots",
			tree: func(f *fixture) { f.free = -3 },
		},
		{
			name: "one slot, for the first in the order of numbers",
			tree: func(f *fixture) {
				f.free = 1
				for _, i := range []int{9, 10, 11} {
					f.put(fmt.Sprintf("leader/failover/items/%d", i), tick1)
				}
			},
			want: taken,
		},
		{
			name: "a disabled item waits",
			tree: func(f *fixture) { f.put("sharding/1/disabled", "") },
		},
		{
			name: "so does one that runs",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)) },
		},
		{
			name: "or that a JVM takes just now",
			tree: func(f *fixture) { f.put("sharding/1/failovering", "B") },
		},
		{
			name: "or that has not returned here yet",
			tree: func(f *fixture) { f.work.Runs[1] = &decide.Run{} },
		},
		{
			name: "it does not keep another one",
			tree: func(f *fixture) { f.work.Runs[1] = &decide.Run{}; f.put("leader/failover/items/0", tick1) },
			want: []string{
				"- leader/failover/items/0", "+ sharding/0/failover = A (of A)", "+ sharding/0/failovering = A",
				"+ sharding/0/fired = 2026-01-05T10:00:00.000Z 2026-01-05T10:00:05.000Z", "+ sharding/0/running = A",
			},
		},
		{
			name: "own items that run do not keep it",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) },
			want: taken,
		},
		{
			name: "a server that is disabled",
			tree: func(f *fixture) { f.disable("A") },
		},
		{
			name: "on the way out",
			tree: func(f *fixture) { f.leaving = true },
		},
		{
			name: "not registered",
			tree: func(f *fixture) { f.remove("instances/A") },
		},
		{
			name:  "failover is off",
			rules: failoverOff,
		},
		{
			name:  "without records",
			rules: func(r *decide.Rules) { r.Monitor = false },
		},
		{
			name:  "an item beyond the total",
			rules: oneItem,
		},
		{
			name:  "an instance without the label",
			rules: func(r *decide.Rules) { r.Label = "big" },
		},
	} {
		r.run(t, base, takesOver)
	}
}

func TestTakeOverSaysWhatBegins(t *testing.T) {
	f := given(t).members("A").deal("B", "B", "B").fired(1, tick(1))
	f.put("leader/failover/items/0", "2026-01-05T09:59:55.000Z").put("leader/failover/items/1", "")
	f.remove("sharding/2/fired").put("leader/failover/items/2", "2026-01-05T10:00:05.000Z")
	equalClaims(t, "three wait", claimsOf(takesOver(f.pass("A"))), []decide.Claim{
		{Item: 0, Source: decide.Failover, Failover: true, Tick: tick(-1), Last: tick(0), Before: tick(0)},
		{Item: 1, Source: decide.Failover, Failover: true, Tick: tick(1), Last: tick(1), Before: tick(1)},
		{Item: 2, Source: decide.Failover, Failover: true, Tick: tick(1), Last: tick(1)},
	})
}

// TestTakeOverOfAJVM: JVM members do not say for which tick they put an item up.
func TestTakeOverOfAJVM(t *testing.T) {
	started := begin.Add(time.Second) // when the item was assigned, which is no tick
	for _, c := range []struct {
		name string
		tree func(*fixture)
		want time.Time
	}{
		{"its last run is known", func(f *fixture) { f.fired(1, tick(1)) }, tick(1)},
		{"its last run is known, and was before", func(f *fixture) { f.fired(1, tick(0)) }, tick(0)},
		{"it never ran, for all that is known: the last tick due", func(f *fixture) { f.fired(1, started) }, tick(2)},
		{"nothing is known", func(f *fixture) { f.remove("sharding/1/fired") }, tick(2)},
		{"nothing at all is there", func(f *fixture) { f.remove("sharding/1") }, tick(2)},
		{"who has put it up says for which", func(f *fixture) { f.put("leader/failover/items/1", "2026-01-05T10:00:05.000Z") }, tick(1)},
		{"there are no ticks", func(f *fixture) {
			f.fired(1, started).configure(func(r *decide.Rules) { r.Cron = "" })
		}, started},
		{"there are no JVM members, nor was there one", func(f *fixture) { f.fired(1, started).crash(jvm) }, started},
	} {
		f := given(t).members("A").jvms(jvm).deal("A", "B", "B").put("leader/failover/items/1", "")
		c.tree(f)
		f.now = tick(2).Add(time.Second)
		claims := claimsOf(takesOver(f.pass("A")))
		if len(claims) != 1 || !claims[0].Tick.Equal(c.want) {
			t.Errorf("%s: got %+v, want the tick %v", c.name, claims, c.want)
		}
	}
}

func TestTakeOverIsConditional(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "B").put("sharding/1/fired", tick1).put("leader/failover/items/1", tick1)
	}
	for _, c := range []conflict{
		{"somebody else takes it", func(f *fixture) { f.remove("leader/failover/items/1").takenOver("B", 1, tick(1)) }},
		{"somebody else took it, and is done", func(f *fixture) {
			f.remove("leader/failover/items/1").claim("B", 1, tick(1))
			f.remove("sharding/1/running")
		}},
		{"it was cut short once more and waits again", func(f *fixture) {
			f.claim("B", 1, tick(1))
			f.remove("sharding/1/running").put("leader/failover/items/1", tick1)
		}},
		{"it waits for another tick", func(f *fixture) { f.put("leader/failover/items/1", "2026-01-05T10:00:00.000Z") }},
		{"its owner begins the next tick", func(f *fixture) { f.claim("B", 1, tick(2)) }},
		{"its owner skips the next tick", func(f *fixture) { f.fired(1, tick(2)) }},
		{"a JVM member begins it, which keeps no record of ticks", func(f *fixture) { f.put("sharding/1/running", "B") }},
		{"failover is switched off", func(f *fixture) { f.configure(failoverOff) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, takesOver)
	}
}

// TestTakeOverInTurn: instances with few slots take what waits between them, each item
// once, none more than it has room for.
func TestTakeOverInTurn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 9, 64}).Draw(r, "total")
		f := given(t, func(r *decide.Rules) { r.Total = total }).members("A", "B", "C")
		waiting := map[int]bool{}
		for i := range total {
			f.own(i, "A").fired(i, begin)
			if rapid.Bool().Draw(r, "waits") {
				f.put(fmt.Sprintf("leader/failover/items/%d", i), string(jobtree.EncodeFired(begin)))
				waiting[i] = true
			}
		}
		old := map[string]pass{}
		for _, id := range []string{"A", "B", "C"} {
			old[id] = f.pass(id)
		}
		for len(waiting) > 0 {
			id := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(r, "taker")
			p := f.pass(id)
			if rapid.Bool().Draw(r, "late view") {
				p = old[id]
			}
			p.free = rapid.IntRange(1, 40).Draw(r, "free")
			claims := 0
			for _, c := range takesOver(p) {
				_, err := f.store.Commit(sessionOf(id), c.Ops...)
				for _, claim := range c.Claims() {
					claims++
					if err == nil && !waiting[claim.Item] {
						r.Fatalf("item %d is taken twice", claim.Item)
					}
					if err == nil {
						delete(waiting, claim.Item)
					}
				}
			}
			if claims > p.free {
				r.Fatalf("%d taken with %d free slots", claims, p.free)
			}
		}
		if left := f.pass("A").FailoverItems; len(left) > 0 {
			r.Fatalf("left: %v", left)
		}
	})
}

// TestTakeOverApart: instances that look at the same list at the same time, each with a
// thread or two, do not try for the same items.
func TestTakeOverApart(t *testing.T) {
	f := given(t, func(r *decide.Rules) { r.Total = 9 }).members("A", "B", "C")
	for i := range 9 {
		f.put(fmt.Sprintf("leader/failover/items/%d", i), "")
	}
	f.free = 3
	seen := map[int]string{}
	for _, id := range []string{"A", "B", "C"} {
		claims := claimsOf(takesOver(f.pass(id)))
		if len(claims) != 3 {
			t.Errorf("%s takes %v", id, claims)
		}
		for _, claim := range claims {
			if other, ok := seen[claim.Item]; ok {
				t.Errorf("%s and %s try for item %d", other, id, claim.Item)
			}
			seen[claim.Item] = id
		}
	}
}

// TestChainOfCrashes: a run that is cut short is run again by one after the other, for
// the same tick and with a larger token each time, until one of them finishes it.
func TestChainOfCrashes(t *testing.T) {
	f := given(t).members("A").deal("B", "B", "B")
	ran := f.claim("B", 1, tick(1))
	token, first := ran.Token, jobtree.TaskID(f.job, 1, "B", ran.Token, tick(1))
	f.crash("B")
	for _, id := range []string{"C", "D", "E"} {
		f.remove("leader/election/instance").leader("A")
		f.changes("A", recovers(f.pass("A"))...)
		f.members(id)
		changes := takesOver(f.pass(id))
		equalClaims(t, id, claimsOf(changes), []decide.Claim{
			{Item: 1, Source: decide.Failover, Failover: true, Tick: tick(1), Last: tick(1), Before: tick(1), Original: first},
		})
		f.changes(id, changes...)
		is := f.pass("A").Item(1).Fired.Modified
		if is <= token {
			t.Fatalf("the token of %s is %d after %d", id, is, token)
		}
		token = is
		f.crash(id)
	}
}

// Instances do not take the same items, even if some see items wait that others do not see.
// Each takes something as long as anything waits, because the others may have no threads.
func TestTakersShare(t *testing.T) {
	const total = 30
	rapid.Check(t, func(rt *rapid.T) {
		members := []string{"A", "B", "C", "D", "E"}[:rapid.IntRange(1, 5).Draw(rt, "members")]
		f := given(t).members(members...)
		f.rules.Total, f.free = total, total
		for i := range total {
			f.put(fmt.Sprintf("leader/failover/items/%d", i), "")
		}
		all := jobtree.Read(f.store.Snapshot(), f.job).FailoverItems
		take := func(id string, waiting []jobtree.FailoverItem) (items []int) {
			p := f.pass(id)
			p.FailoverItems = waiting
			for _, claim := range claimsOf(takesOver(p)) {
				items = append(items, claim.Item)
			}
			return items
		}
		takers := map[int]string{}
		for _, id := range members {
			for _, i := range take(id, all) {
				if other, taken := takers[i]; taken {
					rt.Fatalf("%s and %s both take item %d", id, other, i)
				}
				takers[i] = id
			}
		}
		if len(takers) != total {
			rt.Fatalf("only %d items are taken", len(takers))
		}
		for _, id := range members {
			some := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, total, func(i jobtree.FailoverItem) int { return i.Item }).Draw(rt, "seen by "+id)
			slices.SortFunc(some, func(a, b jobtree.FailoverItem) int { return a.Item - b.Item })
			items := take(id, some)
			if len(items) == 0 {
				rt.Fatalf("%s takes none of %d items", id, len(some))
			}
			isOwn := func(f jobtree.FailoverItem) bool { return takers[f.Item] == id }
			for _, i := range items {
				if takers[i] != id && slices.ContainsFunc(some, isOwn) {
					rt.Fatalf("%s takes item %d of %s, and has some of its own", id, i, takers[i])
				}
			}
		}
	})
}
