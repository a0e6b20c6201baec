package job

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestStanding(t *testing.T) {
	f := given(t)
	f.members("A").deal("A", "A", "A")
	old := f.world("A")
	r := f.claim("A", 0, tick(1))
	now := f.world("A")
	f.remove("sharding/0/running")
	f.claim("B", 0, tick(2))
	later := f.world("A")
	f.remove("sharding/0")
	removed := f.world("A")
	for _, c := range []struct {
		name string
		w    *world
		r    *run
		want standing
	}{
		{"before the claim shows", old, r, behind},
		{"the claim shows", now, r, ours},
		{"somebody else has claimed since", later, r, foreign},
		{"the item is gone", removed, r, behind},
		{"of an earlier session", now, &run{item: 0, token: r.token, instance: "a"}, foreign},
		{"without records", now, &run{item: 0, instance: "A"}, foreign},
		{"an item that never was", now, &run{item: 7, token: 1, instance: "A"}, behind},
	} {
		if got := c.w.standing(c.r); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFinish(t *testing.T) {
	const tick2 = "2026-01-05T10:00:10.000Z"
	base := func(f *fixture) { f.members("A", "B").leader("A") }
	// ran begins item 0 for tick 1 and lets it return; the next tick comes meanwhile.
	ran := func(f *fixture) *run {
		f.deal("A", "B", "A")
		f.runs[0] = returned(f.claim("A", 0, tick(1)), nil)
		f.now = tick(2).Add(100 * time.Millisecond)
		return f.runs[0]
	}
	ended := []string{"- sharding/0/running"}
	again := []string{"+ sharding/0/fired = " + tick2, "+ sharding/0/running = A"}
	off := func(c *Config) { c.Misfire = Off }
	for _, c := range []stepCase{
		{
			name: "before the next tick",
			tree: func(f *fixture) { ran(f); f.now = tick(2).Add(-1) },
			want: ended,
		},
		{
			name: "a tick came meanwhile",
			tree: func(f *fixture) { ran(f) },
			want: again,
		},
		{
			name: "a tick came meanwhile, and was flagged",
			tree: func(f *fixture) { ran(f).flagged = true; f.put("sharding/0/misfire", "") },
			want: []string{again[0], "- sharding/0/misfire", again[1]},
		},
		{
			name: "a tick came meanwhile, and its flag does not show yet",
			tree: func(f *fixture) { ran(f).flagged = true },
			want: again,
		},
		{
			name: "many ticks came meanwhile",
			tree: func(f *fixture) { ran(f); f.now = tick(40) },
			want: []string{"+ sharding/0/fired = 2026-01-05T10:03:20.000Z", again[1]},
		},
		{
			name:   "ticks came meanwhile, and the window has passed",
			config: func(c *Config) { c.MisfireWindow = time.Second },
			tree:   func(f *fixture) { ran(f); f.now = tick(2).Add(2 * time.Second) },
			want:   again,
		},
		{
			name: "a run that failed is made up too",
			tree: func(f *fixture) { ran(f).err = ErrTimeout },
			want: again,
		},
		{
			name:   "misfire is off: the tick is passed over",
			config: off,
			tree:   func(f *fixture) { ran(f) },
			want:   []string{"+ sharding/0/fired = " + tick2, "- sharding/0/running"},
		},
		{
			name:   "misfire is off, and no tick came",
			config: off,
			tree:   func(f *fixture) { ran(f); f.now = tick(2).Add(-1) },
			want:   ended,
		},
		{
			name: "the item was disabled",
			tree: func(f *fixture) { ran(f); f.put("sharding/0/disabled", "") },
			want: ended,
		},
		{
			name: "the server was disabled",
			tree: func(f *fixture) { ran(f); f.put("servers/host-A", "DISABLED") },
			want: ended,
		},
		{
			name: "the instance is leaving",
			tree: func(f *fixture) { ran(f); f.leaving = true },
			want: ended,
		},
		{
			name: "an operator has removed the instance",
			tree: func(f *fixture) { ran(f); f.remove("instances/A") },
			want: ended,
		},
		{
			name: "the item is to go to somebody else, who makes up",
			tree: func(f *fixture) { ran(f); f.members("0") }, // its host is first in the order
			want: ended,
		},
		{
			name:   "there are fewer items",
			config: func(c *Config) { c.ShardingTotalCount = 1 },
			tree: func(f *fixture) {
				f.deal("A", "A")
				f.runs[1] = returned(f.claim("A", 1, tick(1)), nil)
				f.now = tick(2)
			},
			want: []string{"- sharding/1/running"},
		},
		{
			name: "the schedule in force is another one by now",
			tree: func(f *fixture) { ran(f); f.reconfigure(func(c *Config) { c.Cron = "* * * * * ?" }) },
			want: ended,
		},
		{
			name: "failover was switched on: the next run is begun anew, with a record that lasts",
			tree: func(f *fixture) {
				f.settings.Failover = false
				ran(f)
				f.settings.Failover = true
			},
			want: ended,
		},
		{
			name: "a failover of an own item: its tick is left to the owner, as a run of its own",
			tree: func(f *fixture) {
				f.deal("A", "B", "A")
				f.runs[0] = returned(f.takenOver("A", 0, tick(1)), nil)
				f.now = tick(2)
			},
			want: []string{"- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name:   "a failover with misfire off leaves the tick alone",
			config: off,
			tree: func(f *fixture) {
				f.deal("A", "B", "A")
				f.runs[0] = returned(f.takenOver("A", 0, tick(1)), nil)
				f.now = tick(2)
			},
			want: []string{"- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name: "one of whose record nothing is left",
			tree: func(f *fixture) { ran(f); f.now = tick(1); f.remove("sharding/0/running") },
		},
		{
			name: "several, one of which is made up",
			tree: func(f *fixture) {
				ran(f)
				f.runs[2] = returned(f.claim("A", 2, tick(2)), nil)
			},
			want: append(again, "- sharding/2/running"),
		},
	} {
		c.run(t, base, func(w *world) []commit {
			var runs []*run
			for i := range 3 {
				if r := w.runs[i]; r != nil {
					runs = append(runs, r)
				}
			}
			return w.finish(runs)
		})
	}
	t.Run("a make-up is for the last tick", func(t *testing.T) {
		f := given(t)
		base(f)
		r := ran(f)
		f.now = tick(7)
		commits := f.world("A").finish([]*run{r})
		if len(commits) != 1 || len(commits[0].ends) != 1 || len(commits[0].claims) != 1 {
			t.Fatalf("got %+v", commits)
		}
		next := commits[0].claims[0]
		if commits[0].ends[0] != r || next == r || next.source != SourceMisfire || !next.tick.Equal(tick(7)) || !next.last.Equal(tick(7)) || next.instance != "A" || next.failover {
			t.Errorf("got %+v", *next)
		}
	})
	t.Run("an end begins nothing", func(t *testing.T) {
		f := given(t)
		base(f)
		r := ran(f)
		f.now = tick(1)
		commits := f.world("A").finish([]*run{r})
		if len(commits) != 1 || len(commits[0].ends) != 1 || len(commits[0].claims) != 0 {
			t.Fatalf("got %+v", commits)
		}
	})
}

func TestFinishIsConditional(t *testing.T) {
	finish := func(w *world) []commit { return w.finish([]*run{w.runs[0]}) }
	t.Run("end", func(t *testing.T) {
		base := func(f *fixture) {
			f.members("A", "B").leader("A").deal("A", "B", "A")
			f.runs[0] = returned(f.claim("A", 0, tick(1)), nil)
		}
		for _, c := range []conflictCase{
			{"somebody else runs the item", func(f *fixture) { f.remove("sharding/0/running"); f.claim("B", 0, tick(2)) }},
			{"somebody else ran it", func(f *fixture) {
				f.remove("sharding/0/running")
				f.claim("B", 0, tick(2))
				f.put("sharding/0/running", "A")
			}},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, finish)
		}
	})
	t.Run("make up", func(t *testing.T) {
		base := func(f *fixture) {
			f.members("A", "B").leader("A").deal("A", "B", "A")
			f.runs[0] = returned(f.claim("A", 0, tick(1)), nil)
			f.now = tick(3)
		}
		for _, c := range []conflictCase{
			{"somebody has removed the record", func(f *fixture) { f.remove("sharding/0/running") }},
			{"somebody else runs the item", func(f *fixture) { f.remove("sharding/0/running"); f.claim("B", 0, tick(2)) }},
			{"the item is given to somebody else", func(f *fixture) { f.own(0, "B") }},
			{"the configuration changes", func(f *fixture) { f.configure(func(c *Config) { c.Misfire = Off }) }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, finish)
		}
	})
}

func TestSettle(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) { f.members("A", "B").leader("B").deal("A", "B", "A") }
	settles := func(w *world) (commits []commit) {
		for _, i := range w.leftovers() {
			commits = append(commits, w.settle(i))
		}
		return commits
	}
	for _, c := range []stepCase{
		{
			name: "nothing is left",
			tree: func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(1)); f.claim("B", 1, tick(1)) },
		},
		{
			name: "a claim of which this process did not hear",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)) },
			want: []string{"+ sharding/0/fired = " + tick1, "+ sharding/0/running = A"},
		},
		{
			name: "one that was triggered",
			tree: func(f *fixture) {
				f.put("sharding/0/running", "A").put("sharding/0/fired", tick1+" 2026-01-05T10:00:07.000Z")
			},
			want: []string{"+ sharding/0/fired = " + tick1 + " 2026-01-05T10:00:07.000Z", "+ sharding/0/running = A"},
		},
		{
			name: "an empty one, which no claim writes",
			tree: func(f *fixture) { f.put("sharding/0/running", "").put("sharding/1/running", "") },
			want: []string{"- sharding/0/running"},
		},
		{
			name: "one that has ended here",
			tree: func(f *fixture) { f.ended[0] = f.claim("A", 0, tick(1)).token },
			want: []string{"- sharding/0/running"},
		},
		{
			name: "the run after one that has ended",
			tree: func(f *fixture) { f.ended[0] = f.claim("A", 0, tick(1)).token - 1 },
			want: []string{"+ sharding/0/fired = " + tick1, "+ sharding/0/running = A"},
		},
		{
			name: "a failover that has ended here",
			tree: func(f *fixture) { f.ended[0] = f.takenOver("A", 0, tick(1)).token },
			want: []string{"- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name: "a failover of which this process did not hear",
			tree: func(f *fixture) { f.takenOver("A", 0, tick(1)) },
			want: []string{"+ sharding/0/fired = " + tick1, "+ sharding/0/running = A"},
		},
		{
			name: "a server that has been disabled since still runs what it has claimed",
			tree: func(f *fixture) { f.takenOver("A", 0, tick(1)); f.put("servers/host-A", "DISABLED") },
			want: []string{"+ sharding/0/fired = " + tick1, "+ sharding/0/running = A"},
		},
		{
			name: "a record without a claim",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)); f.remove("sharding/0/fired") },
			want: []string{"- sharding/0/running"},
		},
		{
			name:   "one of the time before records were off",
			config: func(c *Config) { c.MonitorExecution, c.Failover = Off, false },
			tree:   func(f *fixture) { f.claim("A", 0, tick(1)) },
			want:   []string{"- sharding/0/running"},
		},
	} {
		c.run(t, base, settles)
	}
	t.Run("what begins", func(t *testing.T) {
		for _, c := range []struct {
			name string
			tree func(*fixture)
			want run
		}{
			{"just due", func(f *fixture) { f.claim("A", 0, tick(1)) }, run{tick: tick(1), last: tick(1), source: SourceNormal}},
			{"late by now", func(f *fixture) { f.claim("A", 0, tick(1)); f.now = tick(2) }, run{tick: tick(1), last: tick(1), source: SourceMisfire}},
			{"taken over", func(f *fixture) { f.takenOver("A", 0, tick(1)) }, run{tick: tick(1), last: tick(1), source: SourceFailover, failover: true}},
			{"triggered", func(f *fixture) {
				f.claim("A", 0, tick(0))
				f.put("sharding/0/fired", string(jobtree.EncodeClaim(tick(0), tick(1).Add(time.Millisecond))))
			}, run{tick: tick(1).Add(time.Millisecond), last: tick(0), source: SourceManual}},
		} {
			f := given(t)
			base(f)
			c.tree(f)
			got := f.world("A").settle(0).claims
			if len(got) != 1 || got[0].source != c.want.source || !got[0].tick.Equal(c.want.tick) || !got[0].last.Equal(c.want.last) ||
				got[0].failover != c.want.failover || got[0].instance != "A" {
				t.Errorf("%s: got %+v", c.name, got)
			}
		}
	})
	t.Run("conditions", func(t *testing.T) {
		claimed := func(f *fixture) { base(f); f.claim("A", 0, tick(1)) }
		for _, c := range []conflictCase{
			{"it is settled already", func(f *fixture) { f.changes("A", f.world("A").settle(0)) }},
			{"the record goes", func(f *fixture) { f.remove("sharding/0/running") }},
			{"somebody else runs the item", func(f *fixture) { f.remove("sharding/0/running"); f.claim("B", 0, tick(1)) }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, claimed, settles)
		}
	})
}

func TestHandOver(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	handsOver := func(w *world) []commit { return w.handOver([]*run{w.runs[0]}) }
	for _, c := range []stepCase{
		{
			name: "what was not finished waits for others",
			tree: func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(1)) },
			want: []string{"+ leader/failover/items/0 = " + tick1, "- sharding/0/running"},
		},
		{
			name: "what was taken over waits again",
			tree: func(f *fixture) { f.runs[0] = f.takenOver("A", 0, tick(1)) },
			want: []string{"+ leader/failover/items/0 = " + tick1, "- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name:   "with failover off nothing waits",
			config: func(c *Config) { c.Failover = false },
			tree:   func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(1)) },
			want:   []string{"- sharding/0/running"},
		},
	} {
		c.run(t, base, handsOver)
	}
	claimed := func(f *fixture) { base(f); f.runs[0] = f.claim("A", 0, tick(1)) }
	for _, c := range []conflictCase{
		{"somebody else has claimed the item", func(f *fixture) { f.remove("sharding/0/running"); f.claim("B", 0, tick(1)) }},
		{"the session ends, and others see to it", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, claimed, handsOver)
	}
}

// TestFinishManyItems: whatever the runs, one pass finishes all of them, each in one
// commit that a store takes; what is made up keeps its record under a larger token,
// and nothing else of them is left.
func TestFinishManyItems(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 30, 31, 100}).Draw(r, "total")
		f := given(t, func(c *Config) {
			c.ShardingTotalCount = total
			c.Failover = rapid.Bool().Draw(r, "failover")
			c.Misfire = ToggleOf(rapid.Bool().Draw(r, "misfire"))
		})
		f.members("A")
		var runs []*run
		for i := range total {
			f.own(i, rapid.SampledFrom([]string{"A", "A", "A", "B"}).Draw(r, "owner"))
			var ran *run
			if f.settings.Failover && rapid.Bool().Draw(r, "failover run") {
				ran = f.takenOver("A", i, tick(1))
			} else {
				ran = f.claim("A", i, tick(1))
			}
			if rapid.Bool().Draw(r, "flagged") && f.settings.misfire {
				ran.flagged = true
				f.put(fmt.Sprintf("sharding/%d/misfire", i), "")
			}
			if rapid.IntRange(0, 5).Draw(r, "disabled") == 0 {
				f.put(fmt.Sprintf("sharding/%d/disabled", i), "")
			}
			f.runs[i] = returned(ran, nil)
			runs = append(runs, ran)
		}
		if rapid.Bool().Draw(r, "a tick came meanwhile") {
			f.now = tick(2)
		}
		before := f.world("A")
		ended, begun := map[int]bool{}, map[int]bool{}
		for _, c := range before.finish(runs) {
			if _, err := f.store.commit(sessionOf("A"), c.ops...); err != nil {
				r.Fatal(err)
			}
			for _, ran := range c.ends {
				if ended[ran.item] {
					r.Fatalf("item %d ends twice", ran.item)
				}
				ended[ran.item] = true
			}
			for _, next := range c.claims {
				begun[next.item] = true
			}
		}
		after := f.world("A")
		for _, ran := range runs {
			was, is := before.Item(ran.item), after.Item(ran.item)
			again := f.settings.misfire && f.now.Equal(tick(2)) && !was.Disabled && was.Owner.Is("A") && !ran.failover
			switch {
			case !ended[ran.item]:
				r.Fatalf("item %d does not end", ran.item)
			case begun[ran.item] != again:
				r.Fatalf("item %d is made up: %v", ran.item, begun[ran.item])
			case again && (!is.Running.Is("A") || is.Fired.Modified <= ran.token || !is.Fired.Tick.Equal(tick(2)) || is.Misfire):
				r.Fatalf("item %d is made up: %+v", ran.item, is)
			case !again && (is.Running != nil || is.Failover != nil || is.Failovering != nil):
				r.Fatalf("item %d leaves %+v", ran.item, is)
			case is.Fired.Tick.Before(was.Fired.Tick):
				r.Fatalf("item %d goes back", ran.item)
			}
		}
	})
}
