package decide_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func witnesses(p pass) []decide.Change { return p.RecordJVMRuns() }

// The coordinator writes what JVM members do not. J, which has the items 0 and 1, leads, and A is the only member of
// ours, but where a row says otherwise: B comes before it in the job's order, and S after it.
func TestWitness(t *testing.T) {
	const (
		zero  = "2026-01-05T10:00:00.000Z"
		tick1 = "2026-01-05T10:00:05.000Z"
		tick2 = "2026-01-05T10:00:10.000Z"
		now   = "2026-01-05T10:00:05.100Z"
	)
	base := func(f *fixture) { f.members("A").jvms(jvm).leader(jvm).deal(jvm, jvm, "A") }
	begun := func(f *fixture) { f.begun(jvm, 0) }
	disabled := func(after time.Duration) func(*fixture) {
		return func(f *fixture) { f.disable(jvm).seen(after); f.now = tick(2).Add(100 * time.Millisecond) }
	}
	told := func(value string) func(*fixture) {
		return func(f *fixture) { f.put("leader/sharding/"+value, "").seen(100 * time.Millisecond) }
	}
	ran := []string{"+ sharding/0/fired = " + tick1}
	all := []string{"+ sharding/0/fired = " + tick1, "+ sharding/1/fired = " + tick1}
	for _, r := range []row{
		{name: "nothing is known of what came"},
		{name: "a JVM runs an item", tree: begun, want: ran},
		{name: "it runs two", tree: func(f *fixture) { begun(f); f.begun(jvm, 1) }, want: all},
		{name: "its run is known", tree: func(f *fixture) { begun(f); f.fired(0, tick(1)) }},
		{name: "its run is known, although that is of the tick before", tree: func(f *fixture) { begun(f); f.fired(0, begin) }},
		{name: "its clock is a bit ahead", tree: func(f *fixture) { begun(f); f.now = tick(1).Add(-200 * time.Millisecond) }, want: ran},
		{
			name: "it was triggered: the tick stays, and the run is known",
			tree: func(f *fixture) { begun(f); f.now = tick(1).Add(-201 * time.Millisecond) },
			want: []string{"+ sharding/0/fired = " + zero},
		},
		{name: "it was triggered after the tick", tree: func(f *fixture) { f.fired(0, tick(1)); begun(f) }, want: ran},
		{name: "it runs what somebody else began for another tick", tree: func(f *fixture) { begun(f); f.create(jvm, "sharding/0/failover", jvm) }},
		{name: "it runs what it has given to one of ours", tree: func(f *fixture) { begun(f); f.own(0, "A") }, want: ran},
		{name: "it runs what it has given to another JVM", tree: func(f *fixture) { f.jvms(other); begun(f); f.own(0, other) }, want: ran},
		{name: "it runs what it has taken from its owner", tree: func(f *fixture) { begun(f); f.remove("sharding/0/instance") }, want: ran},
		{
			name: "it has written over the record of one of ours, whose claim stands",
			tree: func(f *fixture) { f.own(0, "A").claim("A", 0, tick(1)); begun(f) },
		},
		{name: "one of ours runs", tree: func(f *fixture) { f.fired(2, begin).put("sharding/2/running", "A") }},
		{name: "a JVM that has gone runs", tree: func(f *fixture) { begun(f); f.crash(jvm) }},

		{name: "its server is disabled: it began what came before that", tree: disabled(100 * time.Millisecond), want: all},
		{name: "its server is disabled: so soon after the tick that it cannot have begun", tree: disabled(29 * time.Millisecond)},
		{
			name: "its server is disabled: and the leader is new, so nobody may have seen its run",
			tree: func(f *fixture) { f.remove("leader/election").leader(jvm); disabled(29 * time.Millisecond)(f) }, want: all,
		},
		{name: "its server is disabled: late enough", tree: disabled(30 * time.Millisecond), want: all},
		{
			name: "its server is disabled: its run of the tick before was seen, and it may be slow",
			tree: func(f *fixture) { f.fired(0, tick(1)).disable(jvm).seen(5249 * time.Millisecond) },
			want: []string{"+ sharding/1/fired = " + tick2},
		},
		{
			name: "its server is disabled: it is not that slow",
			tree: func(f *fixture) { f.fired(0, tick(1)).disable(jvm).seen(5250 * time.Millisecond) },
			want: []string{"+ sharding/0/fired = " + tick2, "+ sharding/1/fired = " + tick2},
		},
		{name: "its server is disabled: just before it", tree: disabled(-1)},
		{name: "it has gone: it began what came before that", tree: func(f *fixture) { f.crash(jvm).seen(time.Second); f.now = tick(2) }, want: nil},
		{
			name: "it has gone, and one of ours leads",
			tree: func(f *fixture) { f.crash(jvm).leader("A").seen(time.Second); f.now = tick(2) },
			want: all,
		},
		{name: "it is told to begin nothing: it began what came before that", tree: told("necessary"), want: all},
		{name: "items are assigned: it began what came before that", tree: told("processing"), want: all},
		{name: "it is told to begin nothing: it waits with the next tick", tree: func(f *fixture) { told("necessary")(f); f.fired(0, tick(1)).fired(1, tick(1)).now = tick(2) }},
		{
			name: "it was told to begin nothing, and is not any more",
			tree: func(f *fixture) { told("necessary")(f); f.remove("leader/sharding").seen(time.Second) },
		},
		{
			name: "it was told to begin nothing before it was disabled",
			tree: func(f *fixture) {
				told("necessary")(f)
				f.disable(jvm).seen(5100 * time.Millisecond)
				f.fired(1, tick(1))
			},
			want: ran,
		},
		{
			name: "it was disabled before it was told to begin nothing",
			tree: func(f *fixture) {
				f.disable(jvm).seen(50*time.Millisecond).put("leader/sharding/necessary", "").seen(5100 * time.Millisecond)
				f.fired(1, tick(1))
			},
			want: ran,
		},
		{
			name: "what runs has not come to its end",
			tree: func(f *fixture) { told("necessary")(f); f.begun(jvm, 0).fired(0, begin) },
			want: all[1:],
		},
		{
			name: "what waits to be run again is for the tick that was cut short",
			tree: func(f *fixture) {
				f.fired(1, tick(1)).put("sharding/0/fired", string(jobtree.EncodeClaim(begin, tick(-1)))).put("leader/failover/items/0", "")
				f.disable(jvm).seen(50 * time.Millisecond)
			},
			want: []string{"+ sharding/0/fired = " + tick1 + " 2026-01-05T09:59:55.000Z"},
		},
		{
			name: "what somebody else has taken over, it leaves alone",
			tree: func(f *fixture) { told("necessary")(f); f.create("A", "sharding/0/failover", "A") }, want: all[1:],
		},
		{
			name: "what it has taken over itself",
			tree: func(f *fixture) { told("necessary")(f); f.create(jvm, "sharding/0/failover", jvm) }, want: all,
		},
		{name: "an item of nobody", tree: func(f *fixture) { told("necessary")(f); f.remove("sharding/0/instance").fired(1, tick(1)) }},
		{name: "an item of ours", tree: func(f *fixture) { told("necessary")(f); f.own(0, "A").own(1, "A") }},

		{name: "an item without fired", tree: func(f *fixture) { f.remove("sharding/1/fired") }, want: []string{"+ sharding/1/fired = " + now}},
		{
			name: "new items, before they have owners", rules: func(r *decide.Rules) { r.Total = 5 },
			want: []string{"+ sharding/3/fired = " + now, "+ sharding/4/fired = " + now},
		},
		{
			name: "a new job", tree: func(f *fixture) { f.remove("sharding") },
			want: []string{"+ sharding/0/fired = " + now, "+ sharding/1/fired = " + now, "+ sharding/2/fired = " + now},
		},
		{name: "a new job with static sharding: JVM members would not deal it", rules: isStatic, tree: func(f *fixture) { f.remove("sharding") }},
		{name: "a new item with static sharding", rules: isStatic, tree: func(f *fixture) { f.remove("sharding/1/fired") }, want: []string{"+ sharding/1/fired = " + now}},
		{
			name: "an item without fired, and no JVM is there",
			tree: func(f *fixture) { f.remove("sharding/1/fired").crash(jvm).leader("A").own(0, "A").own(1, "A") },
		},

		{
			name: "an item without fired, and of the JVM members only their items are left",
			tree: func(f *fixture) { f.remove("sharding/2/fired").crash(jvm).leader("A") },
			want: all,
		},

		{name: "it leads", tree: func(f *fixture) { begun(f); f.remove("leader/election").leader("A") }, want: ran},
		{name: "somebody else of ours leads", tree: func(f *fixture) { begun(f); f.remove("leader/election").members("B").leader("B") }},
		{name: "another one of ours is the coordinator", tree: func(f *fixture) { begun(f); f.members("B") }},
		{name: "another one of ours is not", tree: func(f *fixture) { begun(f); f.members("S") }, want: ran},
		{name: "the coordinator is leaving, and another one is it", tree: func(f *fixture) { begun(f); f.members("B").leaves("B") }, want: ran},
		{name: "nobody leads", tree: func(f *fixture) { begun(f); f.remove("leader/election") }},
		{name: "the schedule is not in force", tree: func(f *fixture) { begun(f); f.remove("schedule") }},
		{name: "no records", rules: unrecorded, tree: begun},
		{name: "a broadcast job", rules: func(r *decide.Rules) { r.Broadcast = true }, tree: begun},
		{name: "a one-off job", rules: func(r *decide.Rules) { r.Cron = "" }, tree: begun},
		{name: "beyond the total", rules: oneItem, tree: func(f *fixture) { f.begun(jvm, 1) }},
	} {
		var f *fixture
		r.run(t, base, func(p pass) []decide.Change { f = p.fixture; return witnesses(p) })
		if more := witnesses(f.pass("A")); len(more) > 0 {
			t.Errorf("%s: there is no end to it: %v", r.name, more[0].Ops)
		}
	}

	runs := func(f *fixture) { base(f); begun(f) }
	for _, c := range []conflict{
		{"the run has ended, and the next one began", func(f *fixture) { f.remove("sharding/0/running").begun(jvm, 0).begun(jvm, 0) }},
		{"the run has ended", func(f *fixture) { f.remove("sharding/0/running") }},
		{"somebody has claimed the item", func(f *fixture) { f.fired(0, tick(2)) }},
		{"the configuration changes", func(f *fixture) { f.reconfigure(hourly) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, runs, witnesses)
	}
	out := func(f *fixture) { base(f); f.fired(1, tick(1)).disable(jvm).seen(100 * time.Millisecond) }
	for _, c := range []conflict{
		{"it runs, and it shows only now", func(f *fixture) { f.begun(jvm, 0) }},
		{"somebody else has the item", func(f *fixture) { f.own(0, "A") }},
		{"somebody has claimed the item", func(f *fixture) { f.fired(0, tick(2)) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, out, witnesses)
	}
	conflict{"somebody has written it", func(f *fixture) { f.fired(0, tick(1)) }}.run(t, func(f *fixture) { base(f); f.remove("sharding/0/fired") }, witnesses)
}
