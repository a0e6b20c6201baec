package job

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestTakeOver(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "B")
		f.put("sharding/1/fired", tick1).put("leader/failover/items/1", tick1)
	}
	taken := []string{
		"- leader/failover/items/1", "+ sharding/1/failover = A (of A)", "+ sharding/1/failovering = A",
		"+ sharding/1/fired = " + tick1, "+ sharding/1/running = A",
	}
	for _, c := range []stepCase{
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
			tree: func(f *fixture) { f.runs[1] = &run{item: 1} },
		},
		{
			name: "it does not keep another one",
			tree: func(f *fixture) { f.runs[1] = &run{item: 1}; f.put("leader/failover/items/0", tick1) },
			want: []string{
				"- leader/failover/items/0", "+ sharding/0/failover = A (of A)", "+ sharding/0/failovering = A",
				"+ sharding/0/fired = 2026-01-05T10:00:00.000Z 2026-01-05T10:00:05.000Z", "+ sharding/0/running = A",
			},
		},
		{
			name: "own items that run do not keep it",
			tree: func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(1)) },
			want: taken,
		},
		{
			name: "a server that is disabled",
			tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") },
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
			name:   "failover is off",
			config: func(c *Config) { c.Failover = false },
		},
		{
			name:   "an item beyond the total",
			config: func(c *Config) { c.ShardingTotalCount = 1 },
		},
		{
			name:   "an instance without the label",
			config: func(c *Config) { c.Label = "big" },
		},
	} {
		c.run(t, base, (*world).takeOver)
	}
}

func TestTakeOverIsConditional(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "B").put("sharding/1/fired", tick1).put("leader/failover/items/1", tick1)
	}
	for _, c := range []conflictCase{
		{"somebody else takes it", func(f *fixture) { f.remove("leader/failover/items/1"); f.takenOver("B", 1, tick(1)) }},
		{"somebody else took it, and is done", func(f *fixture) {
			f.remove("leader/failover/items/1")
			f.claim("B", 1, tick(1))
			f.remove("sharding/1/running")
		}},
		{"it was cut short once more and waits again", func(f *fixture) {
			f.claim("B", 1, tick(1))
			f.remove("sharding/1/running").put("leader/failover/items/1", tick1)
		}},
		{"its owner begins the next tick", func(f *fixture) { f.claim("B", 1, tick(2)) }},
		{"a JVM member begins it, which keeps no record of ticks", func(f *fixture) { f.put("sharding/1/running", "B") }},
		{"failover is switched off", func(f *fixture) { f.configure(func(c *Config) { c.Failover = false }) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, (*world).takeOver)
	}
}

// TestTakeOverInTurn: instances with few slots take what waits between them, each item
// once, none more than it has room for.
func TestTakeOverInTurn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 9, 64}).Draw(r, "total")
		f := given(t, func(c *Config) { c.ShardingTotalCount = total })
		f.members("A", "B", "C")
		waiting := map[int]bool{}
		for i := range total {
			f.own(i, "A")
			f.put(fmt.Sprintf("sharding/%d/fired", i), string(jobtree.EncodeFired(stepStart)))
			if rapid.Bool().Draw(r, "waits") {
				f.put(fmt.Sprintf("leader/failover/items/%d", i), string(jobtree.EncodeFired(stepStart)))
				waiting[i] = true
			}
		}
		old := map[string]*world{}
		for _, id := range []string{"A", "B", "C"} {
			old[id] = f.world(id)
		}
		for len(waiting) > 0 {
			id := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(r, "taker")
			w := f.world(id)
			if rapid.Bool().Draw(r, "late view") {
				w = old[id]
			}
			w.free = rapid.IntRange(1, 40).Draw(r, "free")
			claims := 0
			for _, c := range w.takeOver() {
				_, err := f.store.commit(sessionOf(id), c.ops...)
				for _, run := range c.claims {
					claims++
					if err == nil && !waiting[run.item] {
						r.Fatalf("item %d is taken twice", run.item)
					}
					if err == nil {
						delete(waiting, run.item)
					}
				}
			}
			if claims > w.free {
				r.Fatalf("%d taken with %d free slots", claims, w.free)
			}
		}
		if left := f.world("A").FailoverItems; len(left) > 0 {
			r.Fatalf("left: %v", left)
		}
	})
}

// TestChainOfCrashes: a run that is cut short is run again by one after the other, for
// the same tick and with a larger token each time, until one of them finishes it.
func TestChainOfCrashes(t *testing.T) {
	f := given(t)
	f.members("A").deal("B", "B", "B")
	f.claim("B", 1, tick(1))
	token := f.world("A").Item(1).Fired.Modified
	f.crash("B")
	for _, id := range []string{"C", "D", "E"} {
		f.remove("leader/election/instance").leader("A")
		f.changes("A", recovers(f.world("A"))...)
		f.members(id)
		commits := f.world(id).takeOver()
		if len(commits) != 1 || len(commits[0].claims) != 1 {
			t.Fatalf("%s takes %v", id, commits)
		}
		if r := commits[0].claims[0]; r.item != 1 || !r.tick.Equal(tick(1)) || r.source != SourceFailover || !r.failover {
			t.Fatalf("%s takes %+v", id, r)
		}
		f.changes(id, commits...)
		if is := f.world("A").Item(1).Fired.Modified; is <= token {
			t.Fatalf("the token of %s is %d after %d", id, is, token)
		} else {
			token = is
		}
		f.crash(id)
	}
}
