package decide_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestLateElsewhere(t *testing.T) {
	// All have begun the last tick.
	base := func(f *fixture) {
		f.members("A", "B", "C").leader("A").deal("A", "B", "C").fired(0, tick(1)).fired(1, tick(1)).fired(2, tick(1))
	}
	behind := func(f *fixture, items ...int) {
		for _, i := range items {
			f.fired(i, begin)
		}
	}
	labelled := func(r *decide.Rules) { r.Label = "big" }
	jvmLeads := func(f *fixture) { f.remove("leader/election/instance", "sessions/B").leader("B") }
	requested := func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{1}}) }
	nobody := func(why decide.Reason) []decide.Stalled {
		return []decide.Stalled{{Item: 0, Reason: why}, {Item: 1, Reason: why}, {Item: 2, Reason: why}}
	}
	for _, tt := range []struct {
		name  string
		id    string // who looks; A, the leader, if it is empty
		rules func(*decide.Rules)
		tree  func(*fixture)
		want  []decide.Stalled
	}{
		{name: "all is well"},
		{name: "nothing is assigned", tree: func(f *fixture) { f.remove("sharding") }, want: nobody(decide.HasNoOwner)},

		// Items that are idle.
		{name: "an item is not begun", tree: func(f *fixture) { behind(f, 1) }, want: []decide.Stalled{{Item: 1, Reason: decide.OwnerDoesNotBegin, Instance: "B"}}},
		{name: "an item of its own, which it knows better", tree: func(f *fixture) { behind(f, 0) }},
		{name: "a disabled item", tree: func(f *fixture) { behind(f, 1); f.put("sharding/1/disabled", "") }},
		{name: "an item of a JVM member, which records no ticks", tree: func(f *fixture) { behind(f, 1); f.remove("sessions/B") }},
		{name: "an item without a record of ticks", tree: func(f *fixture) { f.remove("sharding/1/fired") }},
		{name: "no tick has come", tree: func(f *fixture) { behind(f, 1); f.remove("schedule") }},
		{name: "there are no records", rules: unrecorded, tree: func(f *fixture) { behind(f, 1) }},
		{name: "an item has no owner", tree: func(f *fixture) { f.remove("sharding/1/instance") }, want: []decide.Stalled{{Item: 1, Reason: decide.HasNoOwner}}},
		{name: "an owner is gone", tree: func(f *fixture) { f.crash("B") }, want: []decide.Stalled{{Item: 1, Reason: decide.OwnerIsGone, Instance: "B"}}},
		{name: "an owner is disabled", tree: func(f *fixture) { f.disable("B") }, want: []decide.Stalled{{Item: 1, Reason: decide.OwnerMayNot, Instance: "B"}}},
		{name: "static sharding waits for an owner", rules: isStatic, tree: func(f *fixture) { f.crash("B") }},
		{
			name: "static sharding waits for an owner, and a tick comes", rules: isStatic,
			tree: func(f *fixture) { behind(f, 1); f.crash("B") },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerIsStatic, Instance: "B"}},
		},
		{
			name: "static sharding has waited for too long", rules: isStatic,
			tree: func(f *fixture) { f.crash("B"); f.absent["B"] = momentOf(f.now.Add(-staticGrace)) },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerIsGone, Instance: "B"}},
		},

		// Items that run.
		{
			name: "an execution goes on over the next tick", tree: func(f *fixture) { f.claim("B", 1, begin) },
			want: []decide.Stalled{{Item: 1, Reason: decide.RunnerGoesOn, Instance: "B", Tick: begin}},
		},
		{
			name: "an execution goes on elsewhere than at its owner", tree: func(f *fixture) { f.claim("C", 1, begin) },
			want: []decide.Stalled{{Item: 1, Reason: decide.RunnerGoesOn, Instance: "C", Tick: begin}},
		},
		{
			name: "a record without an id is the owner's", tree: func(f *fixture) { behind(f, 1); f.put("sharding/1/running", "") },
			want: []decide.Stalled{{Item: 1, Reason: decide.RunnerGoesOn, Instance: "B", Tick: begin}},
		},
		{name: "an execution of the last tick goes on", tree: func(f *fixture) { f.claim("B", 1, tick(1)) }},
		{name: "an execution goes on here", tree: func(f *fixture) { f.claim("A", 1, begin) }},
		{name: "an execution goes on in a JVM", tree: func(f *fixture) { f.claim("B", 1, begin); f.remove("sessions/B") }},
		{name: "an execution goes on, and there is no record of ticks", tree: func(f *fixture) { f.claim("B", 1, begin); f.remove("sharding/1/fired") }},
		{name: "an execution goes on, and no tick has come", tree: func(f *fixture) { f.claim("B", 1, begin); f.remove("schedule") }},
		{
			name: "an execution was cut short", tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.crash("B") },
			want: []decide.Stalled{{Item: 1, Reason: decide.RunnerIsDead, Instance: "B"}},
		},

		// Nobody may have items.
		{name: "nobody has the label", rules: labelled, want: nobody(decide.NobodyHasLabel)},
		{
			name: "nobody who is enabled has the label", rules: labelled, want: nobody(decide.NobodyHasLabel),
			tree: func(f *fixture) { f.labels = []string{"big"}; f.members("D").disable("D") },
		},
		{
			name: "all clocks are off", want: nobody(decide.NobodyMay),
			tree: func(f *fixture) {
				f.put("sessions/A", "clockOff: true").put("sessions/B", "clockOff: true").put("sessions/C", "clockOff: true")
			},
		},
		{
			name: "who has the label has a clock that is off", rules: labelled, want: nobody(decide.NobodyMay),
			tree: func(f *fixture) { f.labels = []string{"big"}; f.members("D").put("sessions/D", "clockOff: true") },
		},
		{
			name: "nobody has the label, and an item runs", rules: labelled, want: nobody(decide.NobodyHasLabel)[:2],
			tree: func(f *fixture) { f.claim("C", 2, tick(1)) },
		},
		{name: "all servers are disabled, which is meant to be so", tree: func(f *fixture) { behind(f, 1); f.disable("A", "B", "C") }},
		{
			name: "and an instance is there that nobody owns",
			tree: func(f *fixture) { behind(f, 1); f.disable("A", "B", "C").put("instances/X", "serverIp: host-X") },
		},

		// Who looks after which items.
		{
			name: "the leader looks after all", tree: func(f *fixture) { behind(f, 0, 1, 2) },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerDoesNotBegin, Instance: "B"}, {Item: 2, Reason: decide.OwnerDoesNotBegin, Instance: "C"}},
		},
		{
			name: "another one looks after the item that comes after its own", id: "B", tree: func(f *fixture) { behind(f, 0, 1, 2) },
			want: []decide.Stalled{{Item: 2, Reason: decide.OwnerDoesNotBegin, Instance: "C"}},
		},
		{
			name: "after the last item comes the first", id: "C", tree: func(f *fixture) { behind(f, 0, 1, 2) },
			want: []decide.Stalled{{Item: 0, Reason: decide.OwnerDoesNotBegin, Instance: "A"}},
		},
		{
			name: "one that owns several", id: "B", tree: func(f *fixture) { f.own(2, "B"); behind(f, 0, 1, 2) },
			want: []decide.Stalled{{Item: 0, Reason: decide.OwnerDoesNotBegin, Instance: "A"}},
		},
		{name: "one that owns all", id: "B", tree: func(f *fixture) { f.own(0, "B").own(2, "B"); behind(f, 0, 1, 2) }},
		{
			name: "one that owns none", id: "D", tree: func(f *fixture) { f.members("D"); behind(f, 0, 1, 2) },
			want: []decide.Stalled{{Item: 0, Reason: decide.OwnerDoesNotBegin, Instance: "A"}},
		},
		{
			name: "one that owns none but beyond the total", id: "B", rules: oneItem, tree: func(f *fixture) { behind(f, 0, 1, 2) },
			want: []decide.Stalled{{Item: 0, Reason: decide.OwnerDoesNotBegin, Instance: "A"}},
		},

		// A JVM leader assigns and recovers when the next tick comes.
		{
			name: "a JVM leads, and an item is not begun", tree: func(f *fixture) { jvmLeads(f); f.own(1, "C"); behind(f, 1) },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerDoesNotBegin, Instance: "C"}},
		},
		{
			name: "a JVM leads, and an owner is gone when a tick comes",
			tree: func(f *fixture) { jvmLeads(f); f.own(1, "C"); behind(f, 1); f.crash("C") },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerIsGone, Instance: "C"}},
		},
		{name: "a JVM leads, and an item has no owner", tree: func(f *fixture) { jvmLeads(f); f.remove("sharding/1/instance") }},
		{name: "a JVM leads, and an execution goes on over the next tick", tree: func(f *fixture) { jvmLeads(f); f.own(1, "C").claim("C", 1, begin) }},
		{name: "a JVM leads, and an owner is disabled", tree: func(f *fixture) { jvmLeads(f); f.own(1, "C").disable("C") }},
		{name: "a JVM leads, and an execution was cut short", tree: func(f *fixture) { jvmLeads(f); f.claim("C", 1, tick(1)); f.crash("C") }},
		{name: "a JVM leads, and nobody has the label", rules: labelled, tree: jvmLeads},

		// What waits to be run again.
		{
			name: "an item waits for a thread", tree: func(f *fixture) { f.put("leader/failover/items/1", "") },
			want: []decide.Stalled{{Item: 1, Reason: decide.NobodyHasThread}},
		},
		{
			name: "an item waits, and runs", tree: func(f *fixture) { f.put("leader/failover/items/1", "").put("sharding/1/running", "B") },
			want: []decide.Stalled{{Item: 1, Reason: decide.WaitsForEarlier}},
		},
		{
			name: "an item waits, and is run again just now", tree: func(f *fixture) { f.put("leader/failover/items/1", "").put("sharding/1/failovering", "B") },
			want: []decide.Stalled{{Item: 1, Reason: decide.WaitsForEarlier}},
		},
		{
			name: "an item waits, and has not returned here yet",
			tree: func(f *fixture) { f.put("leader/failover/items/1", ""); f.work.Runs[1] = &decide.Run{} },
			want: []decide.Stalled{{Item: 1, Reason: decide.WaitsForEarlier}},
		},
		{name: "a disabled item waits", tree: func(f *fixture) { f.put("leader/failover/items/1", "").put("sharding/1/disabled", "") }},
		{name: "an item beyond the total waits", tree: func(f *fixture) { f.put("leader/failover/items/3", "") }},
		{name: "an item waits, and another one looks", id: "B", tree: func(f *fixture) { f.put("leader/failover/items/2", "") }},
		{
			name: "an item waits, and is not begun either",
			tree: func(f *fixture) { behind(f, 1); f.put("leader/failover/items/1", "") },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerDoesNotBegin, Instance: "B"}, {Item: 1, Reason: decide.NobodyHasThread}},
		},

		// Requests that wait, in a job all of whose items have begun the last tick.
		{
			name: "nobody begins a request", tree: requested,
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerDoesNotBegin, Instance: "B", Request: "000000000001-r0"}},
		},
		{name: "a request that waits here", tree: func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{0}}) }},
		{name: "a request for an item that is disabled", tree: func(f *fixture) { requested(f); f.put("sharding/1/disabled", "") }},
		{name: "a request that has begun", tree: func(f *fixture) {
			requested(f)
			f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "B"}).claim("B", 1, tick(1))
		}},
		{
			name: "another one waits behind it", tree: func(f *fixture) {
				requested(f)
				requested(f)
				f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "B"}).claim("B", 1, tick(1))
			},
			want: []decide.Stalled{{Item: 1, Reason: decide.RunnerGoesOn, Instance: "B", Tick: tick(1), Request: "000000000002-r1"}},
		},
		{
			name: "a request waits for a run elsewhere", tree: func(f *fixture) { requested(f); f.claim("C", 1, tick(1)) },
			want: []decide.Stalled{{Item: 1, Reason: decide.RunnerGoesOn, Instance: "C", Tick: tick(1), Request: "000000000001-r0"}},
		},
		{
			name: "a request waits for a run of a JVM", tree: func(f *fixture) { requested(f); f.claim("C", 1, tick(1)); f.remove("sessions/C") },
			want: []decide.Stalled{{Item: 1, Reason: decide.RunnerGoesOn, Instance: "C", Tick: tick(1), Request: "000000000001-r0"}},
		},
		{
			name: "a request for an item without an owner", tree: func(f *fixture) { requested(f); f.remove("sharding/1/instance") },
			want: []decide.Stalled{{Item: 1, Reason: decide.HasNoOwner, Request: "000000000001-r0"}},
		},
		{
			name: "and a JVM leads", tree: func(f *fixture) { jvmLeads(f); requested(f); f.remove("sharding/1/instance") },
			want: []decide.Stalled{{Item: 1, Reason: decide.HasNoOwner, Request: "000000000001-r0"}},
		},
		{name: "a request for an item of a JVM, to which it is passed on", tree: func(f *fixture) { requested(f); f.remove("sessions/B") }},
		{
			name: "a request for an item of an instance that knows none", tree: func(f *fixture) { requested(f); f.put("sessions/B", "protocol: 1\n") },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerIsOld, Instance: "B", Request: "000000000001-r0"}},
		},
		{
			name: "static sharding waits for an owner, and a request waits", rules: isStatic, tree: func(f *fixture) { requested(f); f.crash("B") },
			want: []decide.Stalled{{Item: 1, Reason: decide.OwnerIsStatic, Instance: "B", Request: "000000000001-r0"}},
		},
		{
			name: "all servers are disabled, and a request waits", tree: func(f *fixture) { requested(f); f.disable("A", "B", "C") },
			want: []decide.Stalled{{Item: 1, Reason: decide.AllDisabled, Request: "000000000001-r0"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t, someOf(tt.rules)...)
			base(f)
			if tt.tree != nil {
				tt.tree(f)
			}
			id := "A"
			if tt.id != "" {
				id = tt.id
			}
			p := f.pass(id)
			if diff := gocmp.Diff(tt.want, p.StalledElsewhere(p.work), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// An instance that does not know what operators have asked for is named, if it should obey.
func TestOldMember(t *testing.T) {
	for _, tt := range []struct {
		name     string
		tree     func(*fixture)
		id, what string
	}{
		{name: "nothing is asked"},
		{name: "a pause", tree: func(f *fixture) { f.pause(begin) }, id: "B", what: "does not know the pause"},
		{name: "a pin, and another one leads", tree: func(f *fixture) { f.put("pins/0", "label: gpu\n") }},
		{name: "a pin", tree: func(f *fixture) { f.put("pins/0", "label: gpu\n").remove("leader/election/instance").leader("B") }, id: "B", what: "leads, and does not know pins"},
		{name: "a kill of another run", tree: func(f *fixture) { f.killed(0, f.claim("A", 0, tick(1)).Token); f.claim("B", 1, tick(1)) }},
		{name: "a kill", tree: func(f *fixture) { f.killed(1, f.claim("B", 1, tick(1)).Token) }, id: "B", what: "does not know kills"},
		{name: "a kill that came late", tree: func(f *fixture) { f.killed(1, f.claim("B", 1, tick(1)).Token-1) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t).members("A", "B", "C").leader("A").deal("A", "B", "C")
			f.put("sessions/B", "protocol: 1\n").remove("sessions/C") // C is a JVM member
			f.put("sessions/X", "protocol: 1\n")                      // and X is no member
			if tt.tree != nil {
				tt.tree(f)
			}
			if id, what := f.pass("A").OldMember(); id != tt.id || what != tt.what {
				t.Errorf("got %q, %q", id, what)
			}
		})
	}
}
