package decide_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// finishes finishes all that this process runs. The strategy is asked if that matters.
func finishes(p pass) []decide.Change {
	runs := p.fixture.runs()
	var owners []string
	if p.MayClaimAgain(p.work, runs) {
		owners = p.owners()
	}
	return p.Finish(p.work, runs, owners)
}

func TestStanding(t *testing.T) {
	f := given(t).members("A").deal("A", "A", "A")
	old := f.pass("A")
	r := f.claim("A", 0, tick(1))
	now := f.pass("A")
	f.remove("sharding/0/running").claim("B", 0, tick(2))
	later := f.pass("A")
	f.remove("sharding/0")
	removed := f.pass("A")
	ofItem := func(item int) decide.Claim { return decide.Claim{Item: item} }
	for _, c := range []struct {
		name string
		p    pass
		r    *decide.Run
		want decide.RecordOwner
	}{
		{"before the claim shows", old, r, decide.ViewBehind},
		{"the claim shows", now, r, decide.Ours},
		{"somebody else has claimed since", later, r, decide.NotOurs},
		{"the item is gone", removed, r, decide.ViewBehind},
		{"of an earlier session", now, &decide.Run{Token: r.Token, Instance: "a", Recorded: true}, decide.NotOurs},
		{"without records", now, &decide.Run{Instance: "A"}, decide.NotOurs},
		{"whose records were removed from here", now, &decide.Run{Token: r.Token, Instance: "A"}, decide.NotOurs},
		{"an item that never was", now, &decide.Run{Claim: ofItem(7), Token: 1, Instance: "A", Recorded: true}, decide.ViewBehind},
	} {
		if got := c.p.RecordOwner(c.r); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFinish(t *testing.T) {
	const tick2 = "2026-01-05T10:00:10.000Z"
	base := func(f *fixture) { f.members("A", "B").leader("A") }
	// ran begins item 0 for tick 1, and the next tick comes meanwhile.
	ran := func(f *fixture) *decide.Run {
		f.deal("A", "B", "A")
		f.work.Runs[0] = f.claim("A", 0, tick(1))
		f.now = tick(2).Add(100 * time.Millisecond)
		return f.work.Runs[0]
	}
	tookOver := func(f *fixture) {
		f.deal("A", "B", "A")
		f.work.Runs[0] = f.takenOver("A", 0, tick(1))
		f.now = tick(2)
	}
	ended := []string{"- sharding/0/running"}
	endedFailover := []string{"- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"}
	again := []string{"+ sharding/0/fired = " + tick2, "+ sharding/0/running = A"}
	for _, r := range []row{
		{
			name: "before the next tick",
			tree: func(f *fixture) { ran(f); f.now = tick(2).Add(-1) },
			want: ended,
		},
		{
			name: "a tick came meanwhile, and a request waits",
			tree: func(f *fixture) { ran(f); f.submit(jobtree.RequestDocument{Items: []int{0}}) },
			want: ended,
		},
		{
			name: "a tick came meanwhile, and a request waits for another item",
			tree: func(f *fixture) { ran(f); f.submit(jobtree.RequestDocument{Items: []int{1}}) },
			want: again,
		},
		{
			name: "a tick came meanwhile, and a backfill waits",
			tree: func(f *fixture) {
				ran(f)
				f.submit(jobtree.RequestDocument{Items: []int{0}, Source: "BACKFILL", Ticks: []time.Time{tick(-9)}})
				f.submit(jobtree.RequestDocument{Items: []int{0}})
			},
			want: again,
		},
		{
			name: "a tick came meanwhile, and a request waits behind the one for which it ran",
			tree: func(f *fixture) {
				r := ran(f)
				path := f.submit(jobtree.RequestDocument{Items: []int{0}})
				f.progress(path, 0, jobtree.ProgressDocument{Runner: "A"})
				r.Request = strings.TrimPrefix(path, "requests/")
				f.submit(jobtree.RequestDocument{Items: []int{0}})
			},
			want: ended,
		},
		{
			name: "a tick came meanwhile, and no request waits behind the one for which it ran",
			tree: func(f *fixture) {
				r := ran(f)
				path := f.submit(jobtree.RequestDocument{Items: []int{0}})
				f.progress(path, 0, jobtree.ProgressDocument{Runner: "A"})
				r.Request = strings.TrimPrefix(path, "requests/")
			},
			want: again,
		},
		{
			name: "a tick came meanwhile, and the item waits to be run again",
			tree: func(f *fixture) { ran(f); f.put("leader/failover/items/0", "") },
			want: ended,
		},
		{
			name: "a tick came meanwhile",
			tree: func(f *fixture) { ran(f) },
			want: again,
		},
		{
			name: "a tick came meanwhile, and was flagged",
			tree: func(f *fixture) { ran(f).Marked = true; f.put("sharding/0/misfire", "") },
			want: []string{again[0], "- sharding/0/misfire", again[1]},
		},
		{
			name: "a tick came meanwhile, and its flag does not show yet",
			tree: func(f *fixture) { ran(f).Marked = true },
			want: again,
		},
		{
			name: "a tick came meanwhile, and somebody else has flagged it",
			tree: func(f *fixture) { ran(f); f.put("sharding/0/misfire", "") },
			want: []string{again[0], "- sharding/0/misfire", again[1]},
		},
		{
			name: "many ticks came meanwhile",
			tree: func(f *fixture) { ran(f); f.now = tick(40) },
			want: []string{"+ sharding/0/fired = 2026-01-05T10:03:20.000Z", again[1]},
		},
		{
			name:  "ticks came meanwhile, and the window has passed",
			rules: func(r *decide.Rules) { r.Window = time.Second },
			tree:  func(f *fixture) { ran(f); f.now = tick(2).Add(2 * time.Second) },
			want:  again,
		},
		{
			name: "one that was triggered is made up too",
			tree: func(f *fixture) { ran(f).Source = decide.Manual },
			want: again,
		},
		{
			name: "a tick came meanwhile, which was begun here and taken back",
			tree: func(f *fixture) { ran(f); f.work.Begun[0] = tick(2) },
			want: ended,
		},
		{
			name:  "misfire is off: the tick is skipped",
			rules: misfireOff,
			tree:  func(f *fixture) { ran(f) },
			want:  []string{"+ sharding/0/fired = " + tick2, "- sharding/0/running"},
		},
		{
			name:  "misfire is off, and no tick came",
			rules: misfireOff,
			tree:  func(f *fixture) { ran(f); f.now = tick(2).Add(-1) },
			want:  ended,
		},
		{
			name:  "misfire is off, and the run was for that tick",
			rules: misfireOff,
			tree:  func(f *fixture) { ran(f).Last = tick(2) },
			want:  ended,
		},
		{
			name:  "misfire is off, and the record is of that tick already",
			rules: misfireOff,
			tree:  func(f *fixture) { ran(f).Last = begin; f.now = tick(2).Add(-1) },
			want:  ended,
		},
		{
			name: "the item was disabled",
			tree: func(f *fixture) { ran(f); f.put("sharding/0/disabled", "") },
			want: ended,
		},
		{
			name: "the server was disabled",
			tree: func(f *fixture) { ran(f); f.disable("A") },
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
			name: "the item is somebody else's by now",
			tree: func(f *fixture) { ran(f); f.own(0, "B") },
			want: ended,
		},
		{
			name:  "there are fewer items",
			rules: oneItem,
			tree: func(f *fixture) {
				f.deal("A", "A")
				f.work.Runs[1] = f.claim("A", 1, tick(1))
				f.now = tick(2)
			},
			want: []string{"- sharding/1/running"},
		},
		{
			name: "the schedule in force is another one by now",
			tree: func(f *fixture) { ran(f); f.reconfigure(func(r *decide.Rules) { r.Cron = "* * * * * ?" }) },
			want: ended,
		},
		{
			name: "failover was switched on: the next run is begun anew, with a record that lasts",
			tree: func(f *fixture) {
				f.rules.Failover = false
				ran(f)
				f.rules.Failover = true
			},
			want: ended,
		},
		{
			name:  "failover was switched off: the next run is begun anew, with a record that does not last",
			rules: failoverOff,
			tree: func(f *fixture) {
				f.rules.Failover = true
				ran(f)
				f.rules.Failover = false
			},
			want: ended,
		},
		{
			name:  "with failover off",
			rules: failoverOff,
			tree:  func(f *fixture) { ran(f) },
			want:  []string{again[0], again[1] + " (of A)"},
		},
		{
			name: "what was cut short elsewhere gets the thread",
			tree: func(f *fixture) { ran(f); f.put("leader/failover/items/1", "") },
			want: ended,
		},
		{
			name:  "what was cut short elsewhere, and failover is off by now",
			rules: failoverOff,
			tree:  func(f *fixture) { ran(f); f.put("leader/failover/items/1", "") },
			want:  []string{again[0], again[1] + " (of A)"},
		},
		{
			name: "what was cut short elsewhere, of an item that runs",
			tree: func(f *fixture) { ran(f); f.put("leader/failover/items/1", "").put("sharding/1/running", "B") },
			want: again,
		},
		{
			name: "a failover of an own item: its tick is left to the owner, as a run of its own",
			tree: tookOver,
			want: endedFailover,
		},
		{
			name:  "a failover with misfire off leaves the tick alone",
			rules: misfireOff,
			tree:  tookOver,
			want:  endedFailover,
		},
		{
			name: "one of whose record nothing is left",
			tree: func(f *fixture) { ran(f); f.now = tick(1); f.remove("sharding/0/running") },
			want: nothing,
		},
		{
			name: "one of whose record nothing is left, and a tick came meanwhile",
			tree: func(f *fixture) { ran(f); f.remove("sharding/0/running") },
			want: nothing,
		},
		{
			name: "several, one of which is made up",
			tree: func(f *fixture) { ran(f); f.work.Runs[2] = f.claim("A", 2, tick(2)) },
			want: append(again, "- sharding/2/running"),
		},
	} {
		r.run(t, base, finishes)
	}
	t.Run("a make-up is for the last tick", func(t *testing.T) {
		f := given(t)
		base(f)
		r := ran(f)
		f.now = tick(7)
		changes := finishes(f.pass("A"))
		if len(changes) != 1 || len(changes[0].Parts) != 1 || changes[0].Parts[0].Ends != r {
			t.Fatalf("got %+v", changes)
		}
		equalClaims(t, "made up", claimsOf(changes), []decide.Claim{
			{Item: 0, Source: decide.Misfire, Tick: tick(7), Last: tick(7), Before: tick(1)},
		})
	})
	t.Run("an end begins nothing", func(t *testing.T) {
		f := given(t)
		base(f)
		r := ran(f)
		f.now = tick(1)
		changes := finishes(f.pass("A"))
		if len(changes) != 1 || len(changes[0].Parts) != 1 || changes[0].Parts[0].Ends != r || len(claimsOf(changes)) > 0 {
			t.Fatalf("got %+v", changes)
		}
	})
	t.Run("a flag that this instance has set, and that shows only later, goes too", func(t *testing.T) {
		f := given(t)
		base(f)
		ran(f).Marked = true
		p := f.pass("A")
		f.put("sharding/0/misfire", "").changes("A", finishes(p)...)
		if f.pass("A").Item(0).Misfire {
			t.Error("it is left")
		}
	})
	t.Run("nobody knows who should own the items", func(t *testing.T) {
		f := given(t)
		base(f)
		ran(f)
		p := f.pass("A")
		if changes := p.Finish(p.work, f.runs(), nil); len(changes) != 1 || len(claimsOf(changes)) > 0 {
			t.Fatalf("got %+v", changes)
		}
	})
}

// The strategy is asked only where its answer matters.
func TestMayClaimAgain(t *testing.T) {
	f := given(t).members("A", "B").deal("A", "B", "A")
	f.work.Runs[0], f.work.Runs[1] = f.claim("A", 0, tick(1)), f.claim("A", 1, tick(1))
	may := func() bool { p := f.pass("A"); return p.MayClaimAgain(p.work, f.runs()) }
	if may() {
		t.Error("no tick came")
	}
	f.now = tick(2)
	if !may() {
		t.Error("a tick came")
	}
	f.jvms(jvm).leader(jvm).put("leader/sharding/necessary", "")
	if may() {
		t.Error("a tick came, but a JVM is to deal the items")
	}
	f.remove("leader/sharding").create(jvm, "sharding/0/failover", jvm)
	if may() {
		t.Error("a tick came, but a JVM has taken the item over")
	}
	f.remove("sharding/0/failover")
	if may() {
		t.Error("a tick came, but what the JVM runs by its cache need not show yet")
	}
	f.now = f.now.Add(time.Second)
	if !may() {
		t.Error("a tick came, and the JVM has done")
	}
	f.put("sharding/0/disabled", "")
	if may() {
		t.Error("a tick came, but for no item that this instance may begin")
	}
	f.remove("sharding/0/disabled", "sharding/0/fired")
	if may() {
		t.Error("nobody knows what was begun")
	}
}

func TestFinishIsConditional(t *testing.T) {
	t.Run("end", func(t *testing.T) {
		base := func(f *fixture) {
			f.members("A", "B").leader("A").deal("A", "B", "A")
			f.work.Runs[0] = f.claim("A", 0, tick(1))
		}
		for _, c := range []conflict{
			{"somebody else runs the item", func(f *fixture) { f.remove("sharding/0/running").claim("B", 0, tick(2)) }},
			{"somebody else ran it", func(f *fixture) {
				f.remove("sharding/0/running").claim("B", 0, tick(2))
				f.put("sharding/0/running", "A")
			}},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, finishes)
		}
	})
	t.Run("make up", func(t *testing.T) {
		base := func(f *fixture) {
			f.members("A", "B").leader("A").deal("A", "B", "A")
			f.work.Runs[0] = f.claim("A", 0, tick(1))
			f.now = tick(3)
		}
		for _, c := range []conflict{
			{"somebody has removed the record", func(f *fixture) { f.remove("sharding/0/running") }},
			{"somebody else runs the item", func(f *fixture) { f.remove("sharding/0/running").claim("B", 0, tick(2)) }},
			{"somebody else has claimed the item, and its record looks as if not", func(f *fixture) {
				f.remove("sharding/0/running").claim("B", 0, tick(1))
				f.put("sharding/0/running", "A")
			}},
			{"the item is given to somebody else", func(f *fixture) { f.own(0, "B") }},
			{"the configuration changes", func(f *fixture) { f.configure(misfireOff) }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, finishes)
		}
	})
	t.Run("skip", func(t *testing.T) {
		base := func(f *fixture) {
			f.configure(misfireOff)
			f.members("A", "B").leader("A").deal("A", "B", "A")
			f.work.Runs[0] = f.claim("A", 0, tick(1))
			f.now = tick(3)
		}
		for _, c := range []conflict{
			{"somebody else runs the item", func(f *fixture) { f.remove("sharding/0/running").claim("B", 0, tick(2)) }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, finishes)
		}
	})
}

// TestFinishManyItems: whatever the runs, one pass finishes all of them, each in one
// commit that a store takes; what is made up keeps its record under a larger token,
// and nothing else of them is left.
func TestFinishManyItems(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 30, 31, 100}).Draw(r, "total")
		f := given(t, func(rules *decide.Rules) {
			rules.Total = total
			rules.Failover = rapid.Bool().Draw(r, "failover")
			rules.Misfire = rapid.Bool().Draw(r, "misfire")
		})
		f.members("A")
		for i := range total {
			f.own(i, rapid.SampledFrom([]string{"A", "A", "A", "B"}).Draw(r, "owner"))
			var ran *decide.Run
			if f.rules.Failover && rapid.Bool().Draw(r, "failover run") {
				ran = f.takenOver("A", i, tick(1))
			} else {
				ran = f.claim("A", i, tick(1))
			}
			if rapid.Bool().Draw(r, "flagged") && f.rules.Misfire {
				ran.Marked = true
				f.put(fmt.Sprintf("sharding/%d/misfire", i), "")
			}
			if rapid.IntRange(0, 5).Draw(r, "disabled") == 0 {
				f.put(fmt.Sprintf("sharding/%d/disabled", i), "")
			}
			f.work.Runs[i] = ran
		}
		if rapid.Bool().Draw(r, "a tick came meanwhile") {
			f.now = tick(2)
		}
		before := f.pass("A")
		ended, begun := map[int]bool{}, map[int]bool{}
		for _, c := range finishes(before) {
			if _, err := f.store.Commit(sessionOf("A"), c.Ops...); err != nil {
				r.Fatal(err)
			}
			for _, p := range c.Parts {
				if p.Ends == nil || p.Ends.Item != p.Item || ended[p.Item] {
					r.Fatalf("item %d ends %+v, and has ended: %v", p.Item, p.Ends, ended[p.Item])
				}
				ended[p.Item] = true
			}
			for _, next := range c.Claims() {
				begun[next.Item] = true
			}
		}
		after := f.pass("A")
		for _, ran := range f.runs() {
			was, is := before.Item(ran.Item), after.Item(ran.Item)
			again := f.rules.Misfire && f.now.Equal(tick(2)) && !was.Disabled && was.Owner.Is("A") && !ran.Failover
			switch {
			case !ended[ran.Item]:
				r.Fatalf("item %d does not end", ran.Item)
			case begun[ran.Item] != again:
				r.Fatalf("item %d is made up: %v", ran.Item, begun[ran.Item])
			case again && (!is.Running.Is("A") || is.Fired.Modified <= ran.Token || !is.Fired.Tick.Equal(tick(2)) || is.Misfire):
				r.Fatalf("item %d is made up: %+v", ran.Item, is)
			case !again && (is.Running != nil || is.Failover != nil || is.Failovering != nil):
				r.Fatalf("item %d leaves %+v", ran.Item, is)
			case is.Fired.Tick.Before(was.Fired.Tick):
				r.Fatalf("item %d goes back", ran.Item)
			}
		}
	})
}
