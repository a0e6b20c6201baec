package decide_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func recovers(p pass) []decide.Change { return p.MarkForFailover(p.Orphans()) }

// underJVM makes a JVM member the leader.
func underJVM(f *fixture) { f.remove("leader/election/instance").jvms(jvm).leader(jvm) }

func TestMarkForFailover(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	const tick1 = "2026-01-05T10:00:05.000Z"
	signedOff := func(f *fixture) { f.remove("instances/B", "sessions/B") } // in a process that lives on
	for _, r := range []row{
		{
			name: "nothing was cut short",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)); f.claim("B", 1, tick(1)) },
		},
		{
			name: "a run whose instance has ended",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)); f.claim("B", 1, tick(1)); f.crash("B") },
			want: []string{"+ leader/failover/items/1 = " + tick1, "- sharding/1/running"},
		},
		{
			name: "an instance that has ended and whose run had finished",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.remove("sharding/1/running").crash("B") },
		},
		{
			name: "one that is leaving is not dead",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.remove("instances/B") },
		},
		{
			name: "nor is a JVM's, which has no session node",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.remove("sessions/B") },
		},
		{
			name: "a server that is disabled is compensated for too",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.disable("B").crash("B") },
			want: []string{"+ leader/failover/items/1 = " + tick1, "- sharding/1/running"},
		},
		{
			name: "an item that was assigned to somebody else meanwhile",
			tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.crash("B").own(1, "A") },
			want: []string{"+ leader/failover/items/1 = " + tick1, "- sharding/1/running"},
		},
		{
			name: "a taker that crashed",
			tree: func(f *fixture) { f.takenOver("B", 0, tick(1)); f.crash("B") },
			want: []string{"+ leader/failover/items/0 = " + tick1, "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name: "a taker that crashed before it ran, as a JVM may",
			tree: func(f *fixture) { f.put("sharding/0/failovering", "B").crash("B") },
			want: []string{"+ leader/failover/items/0 = 2026-01-05T10:00:00.000Z", "- sharding/0/failovering"},
		},
		{
			name: "a taker that has deregistered without knowing of it, in a process that lives on",
			tree: func(f *fixture) { f.takenOver("B", 0, tick(1)); signedOff(f) },
			want: []string{"+ leader/failover/items/0 = " + tick1, "- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name:  "with failover off, in a process that lives on",
			rules: failoverOff,
			tree:  func(f *fixture) { f.claim("B", 1, tick(1)); signedOff(f) },
			want:  []string{"- sharding/1/running"},
		},
		{
			name:  "with failover off now",
			rules: failoverOff,
			tree:  func(f *fixture) { f.put("sharding/1/running", "B").crash("B") },
			want:  []string{"- sharding/1/running"},
		},
		{
			name: "a taker that lives is left alone",
			tree: func(f *fixture) { f.takenOver("B", 0, tick(1)); f.crash("C") },
		},
		{
			name: "everything was down",
			tree: func(f *fixture) {
				f.claim("C", 0, tick(1))
				f.claim("D", 1, tick(1))
				f.takenOver("C", 2, tick(1))
				f.crash("C").crash("D")
			},
			want: []string{
				"+ leader/failover/items/0 = " + tick1, "+ leader/failover/items/1 = " + tick1, "+ leader/failover/items/2 = " + tick1,
				"- sharding/0/running", "- sharding/1/running", "- sharding/2/failovering", "- sharding/2/running",
			},
		},
		{
			name:  "an item beyond the total is not run again",
			rules: oneItem,
			tree:  func(f *fixture) { f.claim("B", 1, tick(1)); f.crash("B") },
			want:  []string{"- sharding/1/running"},
		},
		{
			name: "a record without an id is the owner's",
			tree: func(f *fixture) { f.put("sharding/1/running", "").crash("B") },
			want: []string{"+ leader/failover/items/1 = 2026-01-05T10:00:00.000Z", "- sharding/1/running"},
		},
		{
			name: "and its owner lives",
			tree: func(f *fixture) { f.put("sharding/0/running", "") },
		},
		{
			name: "a record of nobody",
			tree: func(f *fixture) { f.put("sharding/0/running", "").remove("sharding/0/instance") },
			want: []string{"+ leader/failover/items/0 = 2026-01-05T10:00:00.000Z", "- sharding/0/running"},
		},
		{
			name: "a record of one that cannot be an id",
			tree: func(f *fixture) { f.put("sharding/0/running", "../..") },
			want: []string{"+ leader/failover/items/0 = 2026-01-05T10:00:00.000Z", "- sharding/0/running"},
		},
		{
			name: "a record of one whose nodes are nobody's, until they are gone",
			tree: func(f *fixture) {
				f.put("sharding/0/running", "X").put("sessions/X", "")
				f.changes("A", tidies(f.pass("A"))...)
			},
			want: []string{"+ leader/failover/items/0 = 2026-01-05T10:00:00.000Z", "- sharding/0/running"},
		},
		{
			name: "an item that waits already waits for the later run",
			tree: func(f *fixture) {
				f.put("leader/failover/items/1", "2026-01-05T10:00:00.000Z")
				f.claim("B", 1, tick(1))
				f.crash("B")
			},
			want: []string{"+ leader/failover/items/1 = " + tick1, "- sharding/1/running"},
		},
		{
			name: "a triggered run is run again for when it was triggered",
			tree: func(f *fixture) {
				f.fired(1, tick(1)).now = tick(1).Add(2 * time.Second)
				f.submit(jobtree.RequestDocument{Items: []int{1}})
				f.changes("B", begins(f.pass("B"))...)
				f.crash("B")
			},
			want: []string{"+ leader/failover/items/1 = 2026-01-05T10:00:07.000Z", "+ " + firstRequest + "/1 = runner: B\n", "- sharding/1/running"},
		},
		{
			name: "a triggered run whose request is gone is not run again: its parameter is not known",
			tree: func(f *fixture) {
				f.put("sharding/1/running", "B").put("sharding/1/fired", "2026-01-05T10:00:05.000Z 2026-01-05T10:00:07.000Z")
				f.crash("B")
			},
			want: []string{"- sharding/1/running"},
		},
		{
			name: "an item of which nothing else is known",
			tree: func(f *fixture) { f.remove("sharding/1").put("sharding/1/running", "B").crash("B") },
			want: []string{"+ leader/failover/items/1 = ", "- sharding/1/running"},
		},
		{
			name: "the run of a JVM, of which fired does not tell, is for a tick that nobody knows",
			tree: func(f *fixture) { f.jvms(jvm).own(1, jvm).begun(jvm, 1).crash(jvm) },
			want: []string{"+ leader/failover/items/1 = ", "- sharding/1/running"},
		},
		{
			name: "the run of a JVM that was seen",
			tree: func(f *fixture) { f.jvms(jvm).own(1, jvm).begun(jvm, 1).fired(1, tick(1)).crash(jvm) },
			want: []string{"+ leader/failover/items/1 = " + tick1, "- sharding/1/running"},
		},
		{
			name: "a JVM leads: what it leaves",
			tree: func(f *fixture) { underJVM(f); f.claim("B", 1, tick(1)); f.crash("B") },
			want: []string{"+ leader/failover/items/1 = " + tick1, "- sharding/1/running"},
		},
	} {
		r.run(t, base, recovers)
	}
}

func TestRecoverIsConditional(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").leader("A").deal("A", "B", "A")
		f.claim("B", 1, tick(1))
		f.crash("B")
	}
	for _, c := range []conflict{
		{"another leader did it", func(f *fixture) { f.remove("sharding/1/running") }},
		{"it was done, and the item runs again", func(f *fixture) { f.remove("sharding/1/running").claim("C", 1, tick(2)) }},
		{"it was done, and the item runs again under a record that looks the same", func(f *fixture) {
			f.remove("sharding/1/running").claim("B", 1, tick(1))
		}},
		{"the record is written again", func(f *fixture) { f.put("sharding/1/running", "B") }},
		{"the instance is there after all", func(f *fixture) { f.create("D", "instances/B", "") }},
		{"its session is", func(f *fixture) { f.create("D", "sessions/B", "") }},
		{"failover was switched off", func(f *fixture) { f.configure(failoverOff) }},
		{"leadership is lost", func(f *fixture) { f.remove("leader/election/instance") }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance").members("C").leader("C") }},
	} {
		c.run(t, base, recovers)
	}
	for _, c := range []conflict{
		{"a JVM led, and has gone", func(f *fixture) { f.crash(jvm) }},
		{"a JVM leads, and has done it", func(f *fixture) { f.remove("sharding/1/running") }},
		{"a JVM leads, and the configuration changes", func(f *fixture) { f.reconfigure(failoverOff) }},
		{"a JVM leads, and the session of the coordinator ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); underJVM(f) }, recovers)
	}
}

// TestOrphansOfDifferentInstances: what is done about one instance does not depend on
// whether another one is dead.
func TestOrphansOfDifferentInstances(t *testing.T) {
	f := given(t).members("A", "B", "C").leader("A").deal("A", "B", "C")
	f.claim("B", 1, tick(1))
	f.claim("C", 2, tick(1))
	f.claim("C", 0, tick(1))
	f.crash("B").crash("C")
	changes := recovers(f.pass("A"))
	if len(changes) != 2 || len(changes[0].Parts) != 1 || len(changes[1].Parts) != 2 {
		t.Fatalf("got %+v", changes)
	}
	f.create("D", "sessions/B", "")
	if _, err := f.store.Commit(sessionOf("A"), changes[0].Ops...); err == nil {
		t.Error("B is there after all, and its item is recovered")
	}
	f.changes("A", changes[1])
}

// TestTornOrphans: only a snapshot that has both records of one commit can be trusted.
func TestTornOrphans(t *testing.T) {
	for _, c := range []struct {
		name string
		tree func(*fixture)
		want bool
	}{
		{"both records are of one claim", func(f *fixture) { f.claim("B", 1, tick(1)) }, false},
		{"the record of ticks is of a later one", func(f *fixture) { f.claim("B", 1, tick(1)); f.fired(1, tick(2)) }, true},
		{"the record of the run is", func(f *fixture) { f.claim("B", 1, tick(1)); f.put("sharding/1/running", "B") }, true},
		{"there is no record of ticks", func(f *fixture) { f.claim("B", 1, tick(1)); f.remove("sharding/1/fired") }, true},
		{"there is no record of the run", func(f *fixture) { f.put("sharding/1/failovering", "B") }, true},
	} {
		f := given(t).members("A", "B").leader("A").deal("A", "B", "A")
		c.tree(f)
		orphans := f.crash("B").pass("A").Orphans()
		if len(orphans) != 1 || orphans[0].Item != 1 || orphans[0].Runner != "B" || orphans[0].IsTorn() != c.want {
			t.Errorf("%s: got %+v", c.name, orphans)
		}
	}
}

// TestRecoverLeavesNothingBehind: after it no record of an instance that has ended stands,
// each of them waits if it may, and nothing of the living has changed.
func TestRecoverLeavesNothingBehind(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 5, 50, 120}).Draw(r, "total")
		f := given(t, func(rules *decide.Rules) {
			rules.Total = total
			rules.Failover = rapid.Bool().Draw(r, "failover")
		})
		f.members("A", "B", "C").leader("A")
		for i := range rapid.IntRange(0, total+5).Draw(r, "items") {
			who := rapid.SampledFrom([]string{"A", "B", "C", "X"}).Draw(r, "who")
			f.own(i, rapid.SampledFrom([]string{"A", "X"}).Draw(r, "owner"))
			switch rapid.IntRange(0, 5).Draw(r, "record") {
			case 0:
			case 1:
				f.takenOver(who, i, tick(1))
			case 2:
				f.put(fmt.Sprintf("sharding/%d/failovering", i), who)
			case 3: // an old one, or one that a JVM wrote
				f.put(fmt.Sprintf("sharding/%d/running", i), who)
			default:
				f.claim(who, i, tick(1))
			}
		}
		f.crash("B")                          // with everything that its session has
		f.remove("instances/C", "sessions/C") // in a process that lives on
		if rapid.Bool().Draw(r, "ephemeral records of X are gone") {
			f.crash("X")
		}
		before := f.pass("A")
		f.changes("A", recovers(before)...)
		after := f.pass("A")
		waits := map[int]bool{}
		for _, waiting := range after.FailoverItems {
			waits[waiting.Item] = true
		}
		for i := range before.Items {
			was, is := before.Item(i), after.Item(i)
			cut := was.Running != nil && before.IsDead(was.Running.ID) || was.Running == nil && was.Failovering != nil && before.IsDead(was.Failovering.ID)
			switch {
			case !cut && (was.Running == nil) != (is.Running == nil), !cut && (was.Failovering == nil) != (is.Failovering == nil):
				r.Fatalf("item %d of the living has changed: %+v, was %+v", i, is, was)
			case cut && (is.Running != nil || is.Failovering != nil || is.Failover != nil):
				r.Fatalf("item %d is still there: %+v", i, is)
			case waits[i] != (cut && f.rules.Failover && i < total):
				r.Fatalf("item %d waits: %v, and was cut short: %v", i, waits[i], cut)
			}
		}
		if more := recovers(after); len(more) > 0 {
			r.Fatalf("there is no end to it: %v", more[0].Ops)
		}
	})
}
