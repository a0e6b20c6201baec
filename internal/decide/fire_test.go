package decide_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// claimsPerCommit is what a commit of claims may have at most.
const claimsPerCommit = 30

// fires does all that is done about a tick.
func fires(p pass) []decide.Change {
	return slices.Concat(p.Fire(p.Due(p.work), p.free), p.MarkMisfire(p.work), p.Skip(p.work))
}

func unrecorded(r *decide.Rules) { r.Monitor, r.Failover = false, false }

func failoverOff(r *decide.Rules) { r.Failover = false }

func oneItem(r *decide.Rules) { r.Total = 1 }

func TestFire(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "A", "B") }
	const tick1, tick2 = "2026-01-05T10:00:05.000Z", "2026-01-05T10:00:10.000Z"
	begins := func(items ...int) (lines []string) {
		for _, i := range items {
			lines = append(lines, fmt.Sprintf("+ sharding/%d/fired = %s", i, tick1), fmt.Sprintf("+ sharding/%d/running = A", i))
		}
		return lines
	}
	for _, r := range []row{
		{
			name: "its items, and no others",
			want: begins(0, 1),
		},
		{
			name: "what a JVM has taken over is left to it, or it would run nothing else",
			tree: func(f *fixture) { f.jvms(jvm).create(jvm, "sharding/0/failover", jvm) },
			want: begins(1),
		},
		{
			name: "what a JVM had taken over",
			tree: func(f *fixture) { f.jvms(jvm).put("sharding/0/failover", jvm).crash(jvm) },
			want: begins(0, 1),
		},
		{
			name: "what one of ours is said to have taken over, and does not run",
			tree: func(f *fixture) { f.jvms(jvm).create("B", "sharding/0/failover", "B") },
			want: begins(0, 1),
		},
		{
			name: "before the tick",
			tree: func(f *fixture) { f.now = tick(1).Add(-1) },
		},
		{
			name: "what waits to be run again is run again first if its tick was missed",
			tree: func(f *fixture) { f.put("leader/failover/items/0", "").put("sharding/0/misfire", "") },
			want: begins(1),
		},
		{
			name: "what waits to be run again begins its tick if that comes just now",
			tree: func(f *fixture) { f.put("leader/failover/items/0", "") },
			want: begins(0, 1),
		},
		{
			name: "what has begun is not begun again",
			tree: func(f *fixture) { f.put("sharding/0/fired", tick1) },
			want: begins(1),
		},
		{
			name: "what began for a manual run and has fired for nothing",
			tree: func(f *fixture) { f.put("sharding/0/fired", "2026-01-05T10:00:00.000Z 2026-01-05T10:00:05.050Z") },
			want: begins(0, 1),
		},
		{
			name:  "without failover the record ends with the session",
			rules: failoverOff,
			want: []string{
				"+ sharding/0/fired = " + tick1, "+ sharding/0/running = A (of A)",
				"+ sharding/1/fired = " + tick1, "+ sharding/1/running = A (of A)",
			},
		},
		{
			name: "a running item is flagged, and the other does not wait",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(0)) },
			want: append([]string{"+ sharding/0/misfire = "}, begins(1)...),
		},
		{
			name: "an item that runs elsewhere is flagged too",
			tree: func(f *fixture) { f.claim("B", 0, tick(0)) },
			want: append([]string{"+ sharding/0/misfire = "}, begins(1)...),
		},
		{
			name: "an item that a JVM runs is not, although it has given it away",
			tree: func(f *fixture) { f.jvms(jvm).begun(jvm, 0) },
			want: begins(1),
		},
		{
			name: "nor is one whose JVM has gone",
			tree: func(f *fixture) { f.begun("10.0.0.1@-@1", 0) },
			want: begins(1),
		},
		{
			name: "nor is one that a JVM of an old release runs, whose records name nobody",
			tree: func(f *fixture) { f.begun("", 0) },
			want: begins(1),
		},
		{
			name: "nor is one of ours whose record a JVM has written over",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(0)); f.jvms(jvm).begun(jvm, 0) },
			want: begins(1),
		},
		{
			name: "an item of somebody else is flagged by its owner",
			tree: func(f *fixture) { f.claim("A", 2, tick(0)) },
			want: begins(0, 1),
		},
		{
			name: "once is enough",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(0)); f.put("sharding/0/misfire", "") },
			want: begins(1),
		},
		{
			name: "also when the snapshot does not show it yet",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(0)); f.work.Runs[0].Marked = true },
			want: begins(1),
		},
		{
			name:  "with misfire off nothing is flagged",
			rules: misfireOff,
			tree:  func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(0)) },
			want:  begins(1),
		},
		{
			name:  "without records nothing is flagged",
			rules: unrecorded,
			tree:  func(f *fixture) { f.claim("B", 0, tick(0)) },
		},
		{
			name: "a run whose record somebody has removed",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(0)); f.remove("sharding/0/running") },
			want: begins(1),
		},
		{
			name: "a run that the snapshot does not show yet",
			tree: func(f *fixture) { f.work.Runs[0] = &decide.Run{Claim: decide.Claim{Item: 0, Last: tick(1)}} },
			want: begins(1),
		},
		{
			name: "a run for this tick, of whose record the snapshot shows a part only",
			tree: func(f *fixture) {
				f.work.Runs[0] = f.claim("A", 0, tick(1))
				f.fired(0, tick(0))
			},
			want: begins(1),
		},
		{
			name: "a missed tick is made up, and its flag goes",
			tree: func(f *fixture) { f.now = tick(2); f.put("sharding/0/misfire", "") },
			want: []string{
				"+ sharding/0/fired = " + tick2, "- sharding/0/misfire", "+ sharding/0/running = A",
				"+ sharding/1/fired = " + tick2, "+ sharding/1/running = A",
			},
		},
		{
			name:  "a missed tick with misfire off",
			rules: misfireOff,
			tree:  func(f *fixture) { f.now = tick(1).Add(2 * time.Second) },
			want:  []string{"+ sharding/0/fired = " + tick1, "+ sharding/1/fired = " + tick1},
		},
		{
			name:  "a missed tick with misfire off, and a flag is left",
			rules: misfireOff,
			tree:  func(f *fixture) { f.now = tick(1).Add(2 * time.Second); f.put("sharding/0/misfire", "") },
			want:  []string{"+ sharding/0/fired = " + tick1, "- sharding/0/misfire", "+ sharding/1/fired = " + tick1},
		},
		{
			name:  "a tick that waited for a thread is not missed",
			rules: misfireOff,
			tree: func(f *fixture) {
				f.now = tick(1).Add(2 * time.Second)
				f.work.Waiting[0] = tick(1)
			},
			want: append(begins(0), "+ sharding/1/fired = "+tick1),
		},
		{
			name:  "one that waited for another tick is",
			rules: misfireOff,
			tree: func(f *fixture) {
				f.now = tick(1).Add(2 * time.Second)
				f.work.Waiting[0] = tick(0)
			},
			want: []string{"+ sharding/0/fired = " + tick1, "+ sharding/1/fired = " + tick1},
		},
		{
			name: "what began here, and was taken back",
			tree: func(f *fixture) { f.work.Begun[0], f.work.Begun[1] = tick(1), tick(0) },
			want: begins(1),
		},
		{
			name: "what began here, and was taken back, of a disabled item",
			tree: func(f *fixture) { f.work.Begun[0] = tick(1); f.put("sharding/0/disabled", "") },
			want: begins(1),
		},
		{
			name: "what began here, and was taken back, of an item that runs",
			tree: func(f *fixture) { f.work.Begun[0] = tick(1); f.claim("B", 0, tick(0)) },
			want: begins(1),
		},
		{
			name: "as many as there are threads for, and those that wait longest first",
			tree: func(f *fixture) { f.free = 1; f.fired(1, tick(-1)) },
			want: begins(1),
		},
		{
			name: "fewer threads than none",
			tree: func(f *fixture) { f.free = -3 },
		},
		{
			name: "a disabled item skips the tick",
			tree: func(f *fixture) { f.put("sharding/0/disabled", "") },
			want: append([]string{"+ sharding/0/fired = " + tick1}, begins(1)...),
		},
		{
			name: "a disabled server leaves the tick to who gets the item",
			tree: func(f *fixture) { f.disable("A") },
		},
		{
			name: "a disabled item on a disabled server",
			tree: func(f *fixture) { f.disable("A").put("sharding/0/disabled", "") },
			want: []string{"+ sharding/0/fired = " + tick1},
		},
		{
			name: "with every server disabled the ticks pass",
			tree: func(f *fixture) { f.disable("A", "B").remove("leader/election/instance") },
			want: []string{"+ sharding/0/fired = " + tick1, "+ sharding/1/fired = " + tick1},
		},
		{
			name:  "without records nothing is claimed",
			rules: unrecorded,
		},
		{
			name:  "items beyond the total",
			rules: oneItem,
			want:  begins(0),
		},
		{
			name: "an item whose record of ticks is missing waits for the leader",
			tree: func(f *fixture) { f.remove("sharding/0/fired") },
			want: begins(1),
		},
		{
			name: "an item whose record of ticks is from somebody who writes nonsense",
			tree: func(f *fixture) { f.put("sharding/0/fired", "yesterday") },
			want: begins(0, 1),
		},
		{
			name: "on the way out",
			tree: func(f *fixture) { f.leaving = true },
		},
	} {
		r.run(t, base, fires)
	}
}

func TestFireSaysWhatBegins(t *testing.T) {
	f := given(t).members("A").deal("A", "A", "A").put("sharding/1/misfire", "")
	f.work.Runs[2] = f.claim("A", 2, tick(0))
	f.now = tick(4)
	changes := fires(f.pass("A"))
	equalClaims(t, "two are due", claimsOf(changes), []decide.Claim{
		{Item: 0, Source: decide.Normal, Tick: tick(4), Last: tick(4), Before: begin},
		{Item: 1, Source: decide.Misfire, Tick: tick(4), Last: tick(4), Before: begin},
	})
	var flags []*decide.Run
	for _, p := range parts(changes) {
		if p.Misfires != nil {
			flags = append(flags, p.Misfires)
		}
	}
	if len(flags) != 1 || flags[0] != f.work.Runs[2] {
		t.Errorf("%v are flagged", flags)
	}
}

func TestFireIsConditional(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "B") }
	for _, c := range []conflict{
		{"the item is given to somebody else", func(f *fixture) { f.own(0, "B") }},
		{"it is given away and back", func(f *fixture) { f.own(0, "B").own(0, "A") }},
		{"it begins to run", func(f *fixture) { f.claim("B", 0, tick(0)) }},
		{"a JVM member begins it, which keeps no record of ticks", func(f *fixture) { f.put("sharding/0/running", "B") }},
		{"it is taken over", func(f *fixture) { f.takenOver("B", 0, tick(0)) }},
		{"it ran and is idle again", func(f *fixture) { f.claim("B", 0, tick(1)); f.remove("sharding/0/running") }},
		{"the tick is skipped", func(f *fixture) { f.fired(0, tick(1)) }},
		{"there are fewer items", func(f *fixture) { f.configure(oneItem) }},
		{"the item goes and comes again, all as it was", func(f *fixture) {
			f.reconfigure(func(r *decide.Rules) { r.Total = 2 })
			f.remove("sharding/0")
			f.reconfigure(func(r *decide.Rules) { r.Total = 3 })
			f.deal("A")
		}},
		{"the session ends", func(f *fixture) { f.crash("A") }},
		{"the instance has left", func(f *fixture) { f.remove("sessions/A", "instances/A") }},
	} {
		c.run(t, base, fires)
	}
	conflict{"a JVM has taken it over, and is about to run it", func(f *fixture) { f.create(jvm, "sharding/0/failover", jvm) }}.run(t,
		func(f *fixture) { base(f); f.jvms(jvm) }, fires)
	t.Run("mark misfire", func(t *testing.T) {
		base := func(f *fixture) {
			f.members("A", "B").deal("A", "B", "B")
			f.work.Runs[0] = f.claim("A", 0, tick(0))
		}
		for _, c := range []conflict{
			{"the run ends", func(f *fixture) { f.remove("sharding/0/running") }},
			{"the next one has begun", func(f *fixture) { f.remove("sharding/0/running").claim("A", 0, tick(1)) }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, fires)
		}
	})
	t.Run("skip an item", func(t *testing.T) {
		base := func(f *fixture) { f.members("A", "B").deal("A", "B", "B").put("sharding/0/disabled", "") }
		for _, c := range []conflict{
			{"it is enabled", func(f *fixture) { f.remove("sharding/0/disabled") }},
			{"it is given to somebody else", func(f *fixture) { f.own(0, "B") }},
			{"it begins to run", func(f *fixture) { f.claim("B", 0, tick(1)) }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, fires)
		}
	})
	t.Run("skip because nobody may", func(t *testing.T) {
		base := func(f *fixture) { f.members("A").deal("A", "B", "B").disable("A") }
		for _, c := range []conflict{
			{"somebody may", func(f *fixture) { f.members("C").leader("C") }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, base, fires)
		}
	})
}

// TestOnlyOneBegins: whoever thinks that an item is his, and for however many ticks, of
// those who look at the same state one begins it.
func TestOnlyOneBegins(t *testing.T) {
	f := given(t).members("A", "B").deal("A", "A", "A")
	a := fires(f.pass("A"))
	f.own(0, "B").own(1, "B").own(2, "B")
	b := fires(f.pass("B"))
	if _, err := f.store.Commit(sessionOf("B"), b[0].Ops...); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Commit(sessionOf("A"), a[0].Ops...); err == nil {
		t.Error("both began")
	}
}

// TestFireManyItems: what is due begins whatever the number, in commits that a store
// takes, with every item in exactly one of them.
func TestFireManyItems(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 29, 30, 31, 60, 61, 200}).Draw(r, "total")
		f := given(t, func(rules *decide.Rules) {
			rules.Total = total
			rules.Failover = rapid.Bool().Draw(r, "failover")
			rules.Misfire = rapid.Bool().Draw(r, "misfire")
		})
		f.members("A", "B")
		due, flagged, passes := map[int]bool{}, map[int]bool{}, map[int]bool{}
		for i := range total {
			owner := rapid.SampledFrom([]string{"A", "A", "A", "B"}).Draw(r, "owner")
			f.own(i, owner).fired(i, begin)
			mine := owner == "A"
			switch rapid.IntRange(0, 7).Draw(r, "state") {
			case 0:
				f.claim(rapid.SampledFrom([]string{"A", "B"}).Draw(r, "runner"), i, tick(0))
				flagged[i] = mine && f.rules.Misfire
			case 1:
				f.put(fmt.Sprintf("sharding/%d/disabled", i), "")
				passes[i] = mine
			case 2:
				f.put(fmt.Sprintf("sharding/%d/misfire", i), "")
				due[i] = mine
			case 3:
				f.fired(i, tick(1))
			default:
				due[i] = mine
			}
		}
		begun := map[int]bool{}
		for _, c := range fires(f.pass("A")) {
			claims := c.Claims()
			if len(claims) > claimsPerCommit {
				r.Fatalf("%d claims in a commit", len(claims))
			}
			revision, err := f.store.Commit(sessionOf("A"), c.Ops...)
			if err != nil {
				r.Fatal(err)
			}
			p := f.pass("A")
			for _, claim := range claims {
				if begun[claim.Item] {
					r.Fatalf("item %d begins twice", claim.Item)
				}
				begun[claim.Item] = true
				if fired := p.Item(claim.Item).Fired; fired.Modified != revision {
					r.Fatalf("item %d: its fired record is of %d, and the claim of %d", claim.Item, fired.Modified, revision)
				}
			}
		}
		p := f.pass("A")
		for i := range total {
			item := p.Item(i)
			switch {
			case begun[i] != due[i]:
				r.Fatalf("item %d begins: %v, want %v", i, begun[i], due[i])
			case due[i] && (!item.Running.Is("A") || !item.Fired.Tick.Equal(tick(1)) || item.Misfire && f.rules.Misfire):
				r.Fatalf("item %d was begun: %+v", i, item)
			case flagged[i] != item.Misfire && item.Running != nil && !begun[i]:
				r.Fatalf("item %d is flagged: %v", i, item.Misfire)
			case passes[i] && (item.Running != nil || !item.Fired.Tick.Equal(tick(1))):
				r.Fatalf("item %d skips the tick: %+v", i, item)
			}
		}
		if more := fires(f.pass("A")); len(more) > 0 {
			r.Fatalf("there is no end to it: %v", more[0].Ops)
		}
	})
}

// TestClaimIsOneCommit: thirty items of an instance cost one commit to begin, and one to
// finish.
func TestClaimIsOneCommit(t *testing.T) {
	f := given(t, func(r *decide.Rules) { r.Total = 30 }).members("A")
	for i := range 30 {
		f.own(i, "A").fired(i, begin)
	}
	changes := fires(f.pass("A"))
	if len(changes) != 1 {
		t.Fatalf("%d commits", len(changes))
	}
	revision, err := f.store.Commit(sessionOf("A"), changes[0].Ops...)
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range changes[0].Claims() {
		f.work.Runs[claim.Item] = &decide.Run{Claim: claim, Token: revision, Instance: "A", Recorded: true}
	}
	if changes = finishes(f.pass("A")); len(changes) != 1 {
		t.Fatalf("%d commits to finish", len(changes))
	}
	if cost := coord.Cost(changes[0].Ops...); cost > coord.MaxOps {
		t.Fatalf("it costs %d", cost)
	}
}

// TestStillWaiting: who was on time for a tick and has no thread is on time later, too.
func TestStillWaiting(t *testing.T) {
	for _, c := range []struct {
		name string
		free int
		tree func(*fixture)
		want map[int]time.Time
	}{
		{name: "there are threads for all", free: 3, want: map[int]time.Time{}},
		{name: "there is none", want: map[int]time.Time{0: tick(1), 1: tick(1), 2: tick(1)}},
		{name: "there is one", free: 1, want: map[int]time.Time{1: tick(1), 2: tick(1)}},
		{
			name: "one that has waited before, and had a thread, whose commit may have failed",
			free: 3, tree: func(f *fixture) { f.work.Waiting[0] = tick(1) },
			want: map[int]time.Time{0: tick(1)},
		},
		{
			name: "one that has waited for the tick before",
			free: 3, tree: func(f *fixture) { f.work.Waiting[0] = tick(0) },
			want: map[int]time.Time{},
		},
		{
			name: "one that is missed already",
			tree: func(f *fixture) { f.put("sharding/1/misfire", "") },
			want: map[int]time.Time{0: tick(1), 2: tick(1)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t).members("A").deal("A", "A", "A")
			if c.tree != nil {
				c.tree(f)
			}
			p := f.pass("A")
			if diff := gocmp.Diff(c.want, p.StillWaiting(p.work, p.Due(p.work), c.free), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("one that began", func(t *testing.T) {
		f := given(t).members("A").deal("A", "A", "A")
		p := f.pass("A")
		due := p.Due(p.work)
		f.work.Runs[2] = f.claim("A", 2, tick(1))
		got := slices.Sorted(maps.Keys(p.StillWaiting(p.work, due, 0)))
		if !slices.Equal(got, []int{0, 1}) {
			t.Errorf("items %v wait", got)
		}
	})
}

func TestIsBeingDealtByJVM(t *testing.T) {
	for _, c := range []struct {
		name string
		tree func(*fixture)
		want bool
	}{
		{"nobody leads", func(f *fixture) { f.put("leader/sharding/necessary", "") }, false},
		{"a JVM leads", func(f *fixture) { f.remove("sessions/B").leader("B") }, false},
		{"a JVM is to deal", func(f *fixture) { f.remove("sessions/B").leader("B").put("leader/sharding/necessary", "") }, true},
		{"a JVM assigns", func(f *fixture) { f.remove("sessions/B").leader("B").put("leader/sharding/processing", "") }, true},
		{"one of ours is to deal", func(f *fixture) { f.leader("B").put("leader/sharding/necessary", "") }, false},
	} {
		f := given(t).members("A", "B")
		c.tree(f)
		if got := f.pass("A").IsJVMResharding(); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}
