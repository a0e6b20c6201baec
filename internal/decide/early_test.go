package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func TestEarly(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").leader("A").deal("A", "A", "B")
		for i := range 3 {
			f.put(fmt.Sprintf("sharding/%d/fired", i), "2026-01-05T10:00:05.000Z")
		}
		f.now = tick(2).Add(-time.Second)
	}
	const tick2 = "2026-01-05T10:00:10.000Z"
	begins := func(items ...int) (lines []string) {
		for _, i := range items {
			lines = append(lines, fmt.Sprintf("+ sharding/%d/fired = %s", i, tick2), fmt.Sprintf("+ sharding/%d/running = A", i))
		}
		return lines
	}
	lead := 2 * time.Second
	early := func(p pass) []decide.Change {
		p.Lead = lead
		return p.Fire(p.Early(p.work), p.free)
	}
	for _, r := range []row{
		{name: "its idle items", want: begins(0, 1)},
		{name: "too early", tree: func(f *fixture) { f.now = tick(2).Add(-lead - 1) }},
		{name: "in the first half of the time", tree: func(f *fixture) { f.now, lead = tick(2).Add(-3*time.Second), 4*time.Second }},
		{name: "what has another tick to begin first", tree: func(f *fixture) { f.put("sharding/0/fired", "2026-01-05T10:00:00.000Z") }, want: begins(1)},
		{name: "what has missed one", tree: func(f *fixture) { f.put("sharding/0/misfire", "") }, want: begins(1)},
		{name: "what runs", tree: func(f *fixture) { f.put("sharding/1/running", "B") }, want: begins(0)},
		{name: "what is disabled", tree: func(f *fixture) { f.put("sharding/1/disabled", "") }, want: begins(0)},
		{name: "what is claimed already", tree: func(f *fixture) { f.put("sharding/1/fired", tick2) }, want: begins(0)},
		{name: "what a request waits for", tree: func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{1}}) }, want: begins(0)},
		{name: "while its server is disabled", tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") }},
		{name: "without records", rules: unrecorded},
		{name: "while it leaves", tree: func(f *fixture) { f.leaving = true }},
		{name: "while there is one thread", tree: func(f *fixture) { f.free = 1 }, want: begins(0)},
	} {
		lead = 2 * time.Second
		r.run(t, base, early)
	}
}

// The commit that finishes a run claims its item for the next tick, if that comes soon and nothing else is to come first.
func TestClaimNext(t *testing.T) {
	const item = 1 // which the strategy gives to B, if that is there
	base := func(f *fixture) {
		f.members("A").leader("A").deal("A", "A", "A")
		r := f.claim("A", item, tick(1))
		r.Completed = &jobtree.CompletionDocument{Tick: r.Tick, Token: r.Token, Outcome: jobtree.OutcomeOK}
		f.work.Runs[item] = r
		f.now = tick(2).Add(-time.Second)
	}
	finish := func(p pass) []decide.Change {
		p.NextLead = time.Second
		return finishes(p)
	}
	for _, r := range []struct {
		name  string
		rules func(*decide.Rules)
		tree  func(*fixture)
		want  bool
	}{
		{name: "it stays here", want: true},
		{name: "it failed", tree: func(f *fixture) { f.work.Runs[item].Completed.Outcome = jobtree.OutcomeFailed }, want: true},
		{name: "it made up for an earlier tick", tree: func(f *fixture) { f.work.Runs[item].Source = decide.Misfire }, want: true},
		{name: "the strategy gives it to another", tree: func(f *fixture) { f.members("B") }},
		{name: "the tick is too far", tree: func(f *fixture) { f.now = f.now.Add(-1) }},
		{name: "a request waits for any item", tree: func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{2}}) }},
		{name: "an item awaits failover", tree: func(f *fixture) { f.put("leader/failover/items/2", "") }},
		{name: "it was requested", tree: func(f *fixture) { f.work.Runs[item].Source = decide.Manual }},
		{name: "it was taken over", tree: func(f *fixture) { f.work.Runs[item].Failover = true }},
		{name: "it was killed", tree: func(f *fixture) { f.killed(item, f.work.Runs[item].Token) }},
		{name: "it missed a tick", tree: func(f *fixture) { f.put("sharding/1/misfire", "") }},
		{name: "it missed a tick, which the view does not show", tree: func(f *fixture) { f.work.Runs[item].Marked = true }},
		{name: "it has begun the tick", tree: func(f *fixture) { f.work.Begun[item] = tick(2) }},
		{name: "it is not this instance's any more", tree: func(f *fixture) { f.own(item, "B") }},
		{name: "it is disabled", tree: func(f *fixture) { f.put("sharding/1/disabled", "") }},
		{name: "its server is disabled", tree: func(f *fixture) { f.disable("A") }},
		{name: "the job is paused", tree: func(f *fixture) { f.pause(f.now) }},
		{name: "this instance leaves", tree: func(f *fixture) { f.leaving = true }},
		{name: "its record is gone", tree: func(f *fixture) { f.remove("sharding/1/running") }},
		{name: "failover was switched on since", tree: func(f *fixture) {
			f.remove("sharding/1/running").create("A", "sharding/1/running", "A")
		}},
		{name: "a JVM member is there", tree: func(f *fixture) { f.jvms(jvm) }},
		{name: "how it ended is not known", tree: func(f *fixture) { f.work.Runs[item].Completed = nil }},
		{name: "how it ended cannot be written", tree: func(f *fixture) { f.work.Runs[item].NoCompletion = true }},
		{name: "items begin some time after their ticks", rules: jittered(time.Second)},
		{name: "somebody is told of ticks", rules: once},
		{name: "every instance runs the job", rules: isBroadcast},
		{name: "there is another schedule", tree: func(f *fixture) {
			f.put("schedule", "cron: 0/7 * * * * ?\nmisfire: true\nsince: 2026-01-05T10:00:00Z\n")
		}},
		{name: "the schedule begins with the tick", tree: func(f *fixture) {
			f.put("schedule", "cron: 0/5 * * * * ?\ntimeZone: UTC\nmisfire: true\nsince: 2026-01-05T10:00:10Z\n")
		}},
	} {
		t.Run(r.name, func(t *testing.T) {
			f := given(t, someOf(r.rules)...)
			base(f)
			if r.tree != nil {
				r.tree(f)
			}
			var want []decide.Claim
			if r.want {
				want = []decide.Claim{{Item: item, Source: decide.Normal, Tick: tick(2), Last: tick(2), Before: tick(1)}}
			}
			equalClaims(t, "claimed", claimsOf(finish(f.pass("A"))), want)
		})
	}
	for _, c := range []conflict{
		{"the job is paused", func(f *fixture) { f.pause(f.now) }},
		{"the item is given to somebody else", func(f *fixture) { f.own(item, "B") }},
		{"the configuration changes", func(f *fixture) { f.configure(misfireOff) }},
		{"somebody else has claimed the item", func(f *fixture) { f.remove("sharding/1/running").claim("B", item, tick(2)) }},
		{"somebody has removed the record", func(f *fixture) { f.remove("sharding/1/running") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, finish)
	}
}

func TestMayHold(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fixture)
		want   bool
	}{
		{name: "nothing has changed", want: true},
		{name: "the item is disabled", change: func(f *fixture) { f.put("sharding/0/disabled", "") }},
		{name: "the item is another's", change: func(f *fixture) { f.put("sharding/0/instance", "B") }},
		{name: "the server is disabled", change: func(f *fixture) { f.put("servers/host-A", "DISABLED") }},
		{name: "the schedule is another", change: func(f *fixture) { f.rules.Ticks = nil }},
		{name: "somebody wants the item to run at once", change: func(f *fixture) { f.submit(jobtree.RequestDocument{Items: []int{0}}) }},
		{name: "a backfill waits", change: func(f *fixture) {
			f.submit(jobtree.RequestDocument{Items: []int{0}, Source: "BACKFILL", Ticks: []time.Time{tick(-9)}})
		}, want: true},
		{name: "the clock was set back", change: func(f *fixture) { f.now = tick(0) }},
		{name: "its tick has come", change: func(f *fixture) { f.now = tick(2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t).members("A", "B").leader("A").deal("A", "A", "B")
			f.now = tick(2).Add(-time.Second)
			r := f.claim("A", 0, tick(2))
			if c.change != nil {
				c.change(f)
			}
			if got := f.pass("A").MayKeepEarlyClaim(r); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
