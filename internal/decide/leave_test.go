package decide_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func stepsDown(p pass) []decide.Change { return one(p.Resign(len(p.work.Runs) > 0)) }

func TestResign(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	for _, r := range []row{
		{name: "a follower", want: []string{"- instances/A"}},
		{name: "the leader", tree: func(f *fixture) { f.leader("A") }, want: []string{"- instances/A", "- leader/election/instance"}},
		{name: "what runs keeps its records", tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) }, want: []string{"- instances/A"}},
		{name: "it has", tree: func(f *fixture) { f.remove("instances/A") }},
		{name: "it has, and was elected", tree: func(f *fixture) { f.remove("instances/A").leader("A") }, want: []string{"- leader/election/instance"}},
		{name: "somebody else leads", tree: func(f *fixture) { f.leader("B") }, want: []string{"- instances/A"}},
		{name: "its node is of another session", tree: func(f *fixture) { f.remove("instances/A").create("B", "instances/A", "") }},
		{
			name: "a stranger has put nodes below its own",
			tree: func(f *fixture) { f.leader("A").put("instances/A/x", "").put("leader/election/instance/x", "") },
			want: []string{"- instances/A", "- instances/A/x", "- leader/election/instance", "- leader/election/instance/x"},
		},
	} {
		r.run(t, base, stepsDown)
	}
	// JVM members take the end of instances/{id} for a crash of all that runs.
	const word, leaving = "+ leader/sharding/necessary = holding", "+ sessions/A = protocol: 2\nleaving: true\n (of A)"
	runs := func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) }
	beside := func(f *fixture) { base(f); f.jvms(jvm) }
	for _, r := range []row{
		{name: "beside a JVM: nothing runs", want: []string{"- instances/A"}},
		{name: "beside a JVM: something runs", tree: runs, want: []string{leaving}},
		{name: "beside a JVM: something runs, and it is said", tree: func(f *fixture) { runs(f); f.leaves("A") }},
		{name: "beside a JVM: nothing runs any more", tree: func(f *fixture) { f.leaves("A") }, want: []string{"- instances/A"}},
		{name: "beside a JVM: what runs is not in the tree any more", tree: func(f *fixture) { runs(f); f.remove("instances/A") }},
		{name: "beside a JVM that has gone: something runs", tree: func(f *fixture) { runs(f); f.leaves("A").crash(jvm) }, want: []string{"- instances/A"}},
		{
			name: "beside a JVM, the leader: something runs", tree: func(f *fixture) { runs(f); f.leader("A") },
			want: []string{"- leader/election/instance", word, leaving},
		},
		{
			name: "beside a JVM, the leader: it is elected although it is leaving", tree: func(f *fixture) { runs(f); f.leaves("A").leader("A") },
			want: []string{"- leader/election/instance", word},
		},
		{name: "beside a JVM, the leader: nothing runs", tree: func(f *fixture) { f.leader("A") }, want: []string{"- instances/A", "- leader/election/instance", word}},
		{
			name: "beside a JVM, the leader: the word is there",
			tree: func(f *fixture) { f.leader("A").put("leader/sharding/necessary", "") },
			want: []string{"- instances/A", "- leader/election/instance"},
		},
	} {
		r.run(t, beside, stepsDown)
	}
	for _, c := range []conflict{
		{"its session's node was written again", func(f *fixture) { f.put("sessions/A", "") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { beside(f); runs(f) }, stepsDown)
	}
	leads := func(f *fixture) { base(f); f.leader("A") }
	for _, c := range []conflict{
		{"somebody else leads by now", func(f *fixture) { f.remove("leader/election/instance").leader("B") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, leads, stepsDown)
	}
}

// leaves lets an instance say that it is leaving.
func (f *fixture) leaves(id string) *fixture {
	f.Helper()
	return f.put("sessions/"+id, string(jobtree.EncodeSession(jobtree.SessionDocument{Protocol: jobtree.Protocol, Leaving: true})))
}

func TestReleaseForFailover(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	handsOver := func(p pass) []decide.Change { return p.ReleaseForFailover(p.fixture.runs()) }
	for _, r := range []row{
		{
			name: "what was not finished waits for others",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) },
			want: []string{"+ leader/failover/items/0 = " + tick1, "- sharding/0/running"},
		},
		{
			name: "what was taken over waits again",
			tree: func(f *fixture) { f.work.Runs[0] = f.takenOver("A", 0, tick(1)) },
			want: []string{"+ leader/failover/items/0 = " + tick1, "- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name:  "with failover off nothing waits",
			rules: failoverOff,
			tree:  func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)) },
			want:  []string{"- sharding/0/running"},
		},
	} {
		r.run(t, base, handsOver)
	}
	claimed := func(f *fixture) { base(f); f.work.Runs[0] = f.claim("A", 0, tick(1)) }
	for _, c := range []conflict{
		{"somebody else has claimed the item", func(f *fixture) { f.remove("sharding/0/running").claim("B", 0, tick(1)) }},
		{"the session ends, and others see to it", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, claimed, handsOver)
	}
	endsEach(t, handsOver)
}

// endsEach checks that a step which ends runs says so of each.
func endsEach(t *testing.T, step func(pass) []decide.Change) {
	t.Run("ends each", func(t *testing.T) {
		f := given(t).members("A").deal("A", "A", "A")
		f.work.Runs[0], f.work.Runs[2] = f.claim("A", 0, tick(1)), f.claim("A", 2, tick(1))
		list := parts(step(f.pass("A")))
		if len(list) != 2 || list[0].Ends != f.work.Runs[0] || list[1].Ends != f.work.Runs[2] {
			t.Errorf("got %+v", list)
		}
	})
}

func TestRelease(t *testing.T) {
	releases := func(p pass) []decide.Change { return p.ReleaseClaims(p.fixture.runs()) }
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	for _, r := range []row{
		{
			name: "a regular run",
			tree: func(f *fixture) {
				f.work.Runs[0] = f.claim("A", 0, tick(1))
				f.work.Runs[0].Before = tick(0)
			},
			want: []string{"+ sharding/0/fired = 2026-01-05T10:00:00.000Z", "- sharding/0/running"},
		},
		{
			name: "a failover waits again",
			tree: func(f *fixture) {
				f.work.Runs[1] = f.takenOver("A", 1, tick(1))
				f.work.Runs[1].Before = tick(0)
			},
			want: []string{
				"+ leader/failover/items/1 = 2026-01-05T10:00:05.000Z", "- sharding/1/failover", "- sharding/1/failovering",
				"+ sharding/1/fired = 2026-01-05T10:00:00.000Z", "- sharding/1/running",
			},
		},
	} {
		r.run(t, base, releases)
	}
	for _, c := range []conflict{
		{"somebody has claimed the item", func(f *fixture) { f.remove("sharding/0/running").claim("B", 0, tick(2)) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { base(f); f.work.Runs[0] = f.claim("A", 0, tick(1)) }, releases)
	}
	endsEach(t, releases)
}

func TestDeregister(t *testing.T) {
	signsOff := func(p pass) []decide.Change { return []decide.Change{p.Deregister(false)} }
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A").put("trigger/A", "").put("trigger/B", "") }
	nobodyElse := func(f *fixture) { f.remove("instances/B") }
	for _, r := range []row{
		{name: "all that it has", want: []string{"- instances/A", "- sessions/A"}},
		{name: "its faults", tree: func(f *fixture) { f.put("faults/A", "").put("faults/B", "") }, want: []string{"- faults/A", "- instances/A", "- sessions/A"}},
		{name: "what is left of it", tree: func(f *fixture) { f.remove("instances/A", "trigger/A") }, want: []string{"- sessions/A"}},
		{name: "nothing is left of it", tree: func(f *fixture) { f.remove("instances/A", "trigger/A", "sessions/A") }, want: nothing},
		{name: "as leader", tree: func(f *fixture) { f.leader("A") }, want: []string{"- instances/A", "- leader/election/instance", "- sessions/A"}},
		{name: "not as leader", tree: func(f *fixture) { f.leader("B") }, want: []string{"- instances/A", "- sessions/A"}},
		{
			name: "as leader beside a JVM: that is to deal the items",
			tree: func(f *fixture) { f.jvms(jvm).leader("A") },
			want: []string{"- instances/A", "- leader/election/instance", "+ leader/sharding/necessary = holding", "- sessions/A"},
		},
		{name: "not as leader beside a JVM", tree: func(f *fixture) { f.jvms(jvm).leader(jvm) }, want: []string{"- instances/A", "- sessions/A"}},
		{
			name: "a stranger has put nodes below its own",
			tree: func(f *fixture) {
				f.leader("A").put("instances/A/x", "").put("sessions/A/x", "").put("trigger/A/x", "").put("faults/A/x", "").put("leader/election/instance/x", "")
			},
			want: []string{
				"- faults/A/x", "- instances/A", "- instances/A/x", "- leader/election/instance", "- leader/election/instance/x",
				"- sessions/A", "- sessions/A/x",
			},
		},
		{
			name: "with its trigger, which nobody is there to obey",
			tree: nobodyElse,
			want: []string{"- instances/A", "- sessions/A", "- trigger/A"},
		},
		{
			name: "with its trigger, and one is there whose node is nobody's",
			tree: func(f *fixture) { nobodyElse(f); f.put("instances/B", "") },
			want: []string{"- instances/A", "- sessions/A", "- trigger/A"},
		},
		{
			name: "with its trigger, because the job is no more",
			tree: func(f *fixture) { f.remove("config") },
			want: []string{"- instances/A", "- sessions/A", "- trigger/A"},
		},
	} {
		r.run(t, base, signsOff)
	}
	row{name: "but for the session's node", want: []string{"- instances/A"}}.run(t, base, func(p pass) []decide.Change {
		return []decide.Change{p.Deregister(true)}
	})
	conflict{"somebody else leads by now", func(f *fixture) { f.remove("leader/election/instance").leader("B") }}.run(t,
		func(f *fixture) { base(f); f.leader("A") }, signsOff)
}

func TestLeaveAtOnce(t *testing.T) {
	base := func(f *fixture) { f.members("A").deal("A", "A", "A").leader("A") }
	leaves := func(p pass) []decide.Change { return []decide.Change{p.LeaveInOneCommit()} }
	own := []string{"- instances/A", "- leader/election/instance", "- sessions/A"}
	for _, r := range []row{
		{name: "the last", want: own},
		{name: "a follower", tree: func(f *fixture) { f.remove("leader/election/instance").members("B").leader("B") }, want: []string{"- instances/A", "- sessions/A"}},
		{name: "it has faults", tree: func(f *fixture) { f.create("A", "faults/A", "") }, want: append([]string{"- faults/A"}, own...)},
		{name: "nobody else obeys its trigger", tree: func(f *fixture) { f.put("trigger/A", "") }, want: append(own, "- trigger/A")},
		{name: "others do", tree: func(f *fixture) { f.members("B").put("trigger/A", "") }, want: own},
	} {
		r.run(t, base, leaves)
	}
	for _, c := range []conflict{
		{"somebody else leads by now", func(f *fixture) { f.remove("leader/election/instance").members("B").leader("B") }},
		{"it is triggered, and nobody else would know", func(f *fixture) { f.put("trigger/A", "") }},
	} {
		c.run(t, base, leaves)
	}
}
