package decide_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// once is a job with a once-listener.
func once(r *decide.Rules) { r.Once, r.StartTime, r.TickTime = true, time.Minute, time.Hour }

// onceAnd is once and another change.
func onceAnd(change func(*decide.Rules)) func(*decide.Rules) {
	return func(r *decide.Rules) { once(r); change(r) }
}

// told writes a tick that once-listeners are told of: A calls Started, its members are the items.
func (f *fixture) told(n int, change func(*jobtree.GuaranteeDocument), items ...int) *fixture {
	f.Helper()
	d := jobtree.GuaranteeDocument{Items: items, Starter: "A", StartBy: tick(n).Add(time.Minute), Begun: tick(n), CompleteBy: tick(n).Add(time.Hour)}
	if change != nil {
		change(&d)
	}
	value, err := jobtree.EncodeGuarantee(d)
	if err != nil {
		f.Fatal(err)
	}
	f.put("guarantee", string(jobtree.EncodeFired(tick(n))))
	return f.put(at(n), string(value))
}

// at is the path of a tick that once-listeners are told of.
func at(n int) string { return "guarantee/" + string(jobtree.EncodeFired(tick(n))) }

// ended writes how a run of an item has ended.
func (f *fixture) ended(item int, d jobtree.CompletionDocument) *fixture {
	f.Helper()
	return f.put(fmt.Sprintf("sharding/%d/completed", item), string(jobtree.EncodeCompletion(d)))
}

func beginsTick(p pass) []decide.Change {
	due := p.Due(p.work)
	if len(due) == 0 {
		return nil
	}
	change, tooMany, err := p.OpenTick(p.work, due[0].Tick)
	if tooMany {
		return nil
	}
	return must(change, err)
}

// The members of a tick are the items that are enabled, have an owner of ours, are idle and due.
func TestBeginTick(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	with := func(items string) []string {
		return []string{
			"+ guarantee = 2026-01-05T10:00:05.000Z",
			"+ " + at(1) + " = items: \"" + items + "\"\nstarter: A\nstartBy: 2026-01-05T10:01:05.100Z\nbegun: 2026-01-05T10:00:05.100Z\ncompleteBy: 2026-01-05T11:00:05.100Z\n",
		}
	}
	for _, r := range []row{
		{name: "nobody listens"},
		{name: "all", rules: once, want: with("0-2")},
		{name: "what others have is disabled", rules: once, tree: func(f *fixture) { f.put("sharding/1/disabled", "") }, want: with("0,2")},
		{name: "what others have runs", rules: once, tree: func(f *fixture) { f.claim("B", 1, begin) }, want: with("0,2")},
		{name: "has begun", rules: once, tree: func(f *fixture) { f.fired(1, tick(1)) }, want: with("0,2")},
		{name: "has no owner", rules: once, tree: func(f *fixture) { f.remove("sharding/1/instance") }, want: with("0,2")},
		{name: "has an owner that has ended", rules: once, tree: func(f *fixture) { f.crash("B") }, want: with("0-2")},
		{name: "has a JVM owner", rules: once, tree: func(f *fixture) {
			f.create("J", "instances/J", "").own(1, "J")
		}, want: with("0,2")},
		{name: "is made up", rules: once, tree: func(f *fixture) { f.now = tick(1).Add(3 * time.Second) }, want: []string{
			"+ guarantee = 2026-01-05T10:00:05.000Z",
			"+ " + at(1) + " = items: \"0-2\"\nstarter: A\nstartBy: 2026-01-05T10:01:08.000Z\nbegun: 2026-01-05T10:00:08.000Z\ncompleteBy: 2026-01-05T11:00:08.000Z\n",
		}},
		{name: "nothing is due here", rules: once, tree: func(f *fixture) { f.fired(0, tick(1)).fired(2, tick(1)) }},
		{name: "it was told of", rules: once, tree: func(f *fixture) { f.told(1, nil, 0, 1, 2) }},
		{name: "it was told of, and is over", rules: once, tree: func(f *fixture) { f.told(1, nil, 0).remove(at(1)) }},
		{name: "an earlier one was told of", rules: once, tree: func(f *fixture) { f.told(0, nil, 0).remove(at(0)) }, want: with("0-2")},
		{name: "the parent is a JVM member's", rules: once, tree: func(f *fixture) { f.put("guarantee", "").put("guarantee/started/0", "") }, want: with("0-2")},
		{name: "the parent is nonsense", rules: once, tree: func(f *fixture) { f.put("guarantee", "x") }, want: with("0-2")},
		{name: "the parent is from the future", rules: once, tree: func(f *fixture) {
			f.clock = decide.Clock{Known: true, Store: f.now}
			f.put("guarantee", string(jobtree.EncodeFired(tick(1000))))
		}, want: with("0-2")},
		{name: "many are told of", rules: once, tree: func(f *fixture) {
			for n := range 50 {
				f.told(-n, nil, 0)
			}
		}},
	} {
		r.run(t, base, beginsTick)
	}
	for _, c := range []conflict{
		{"somebody else begins it", func(f *fixture) { f.told(1, nil, 0, 1, 2) }},
		{"it was begun, and is over", func(f *fixture) { f.told(1, nil, 0).remove(at(1)) }},
		{"the job is paused", func(f *fixture) { f.put("schedule", "cron: x") }},
		{"the configuration changes", func(f *fixture) { f.reconfigure() }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(f *fixture) { f.reconfigure(once); base(f) }, beginsTick)
	}
}

func firesAll(p pass) []decide.Change { return p.Fire(p.Due(p.work), p.free) }

// Claims of members hold only while nobody has skipped them. Other items do not wait for the tick.
func TestFireOfATickThatIsToldOf(t *testing.T) {
	base := func(f *fixture) { f.reconfigure(once); f.members("A").deal("A", "A", "A") }
	for _, c := range []conflict{
		{"a member is skipped", func(f *fixture) { f.told(1, func(d *jobtree.GuaranteeDocument) { d.Skipped = []int{1} }, 0, 1, 2) }},
		{"it is over", func(f *fixture) { f.remove(at(1)) }},
	} {
		c.run(t, func(f *fixture) { base(f); f.told(1, nil, 0, 1, 2) }, firesAll)
	}
	conflict{"the view shows it late", func(f *fixture) { f.put(at(1), "") }}.run(t, func(f *fixture) { base(f); f.told(1, nil, 0).remove(at(1)) }, firesAll)
	f := given(t, once)
	base(f)
	f.told(1, nil, 0, 2).put(f.job.GuaranteeItem(tick(1), 2)[len("settle/"):], "CUT")
	changes := firesAll(f.pass("A"))
	f.told(1, func(d *jobtree.GuaranteeDocument) { d.Again = true }, 0, 2)
	var begun []int
	for _, c := range changes {
		if _, err := f.store.Commit(sessionOf("A"), c.Ops...); err == nil {
			for _, claim := range c.Claims() {
				begun = append(begun, claim.Item)
			}
		}
	}
	if slices.Sort(begun); !slices.Equal(begun, []int{1, 2}) {
		t.Errorf("items %v begin although the tick has changed, want those that are no members", begun)
	}
}

// The coordinator brings ticks to their end, whoever has ended meanwhile.
func TestTendTicks(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	of := func(n int, is func(d *jobtree.GuaranteeDocument), items ...int) func(*fixture) {
		return func(f *fixture) { f.told(n, is, items...).put(at(n)+"/open", "") }
	}
	through := func(f *fixture, items ...int) {
		for _, i := range items {
			f.fired(i, tick(1)).ended(i, jobtree.CompletionDocument{Tick: tick(1), Token: 9, Outcome: jobtree.OutcomeOK})
		}
	}
	wants := func(d string, more ...string) []string {
		const until = "until: 2026-01-05T10:02:05.100Z\n"
		d = strings.Replace(d, "UNTIL\n", until, 1)
		return append([]string{"+ " + at(1) + " = " + d}, more...)
	}
	const head, times = "starter: A\nstartBy: 2026-01-05T10:01:05.000Z\n", "begun: 2026-01-05T10:00:05.000Z\ncompleteBy: 2026-01-05T11:00:05.000Z\n"
	const changed = "cron: 0/5 * * * * ?\ntimeZone: UTC\nmisfire: true\nsince: 2026-01-05T10:00:05.05Z\n"
	for _, r := range []row{
		{name: "members are to begin", rules: once, tree: of(1, nil, 0, 1)},
		{name: "all have ended", rules: once, tree: func(f *fixture) { of(1, nil, 0, 1)(f); through(f, 0, 1) },
			want: wants("items: \"0-1\"\n" + head + "completer: A\nUNTIL\n" + times)},
		{name: "all have ended, and Started has not", rules: once, tree: func(f *fixture) { f.told(1, nil, 0, 1); through(f, 0, 1) }},
		{name: "one goes on", rules: once, tree: func(f *fixture) { of(1, nil, 0, 1)(f); through(f, 0); f.claim("B", 1, tick(1)) }},
		{name: "one waits to be run again", rules: once, tree: func(f *fixture) {
			of(1, nil, 0, 1)(f)
			through(f, 0)
			f.fired(1, tick(1)).put("leader/failover/items/1", string(jobtree.EncodeFired(tick(1))))
		}},
		{name: "one was taken over by an instance that has ended", rules: once, tree: func(f *fixture) {
			of(1, nil, 0, 1)(f)
			through(f, 0)
			f.fired(1, tick(1)).put("sharding/1/failovering", "B").crash("B")
		}},
		{name: "one was cut short, and leaves no trace", rules: once, tree: func(f *fixture) { of(1, nil, 0, 1)(f); through(f, 0); f.fired(1, tick(1)) },
			want: []string{"+ " + at(1) + "/1 = CUT"}},
		{name: "one is disabled", rules: once, tree: func(f *fixture) { of(1, nil, 0, 1)(f); f.put("sharding/1/disabled", "") },
			want: wants("items: \"0-1\"\nskipped: \"1\"\n" + head + times)},
		{name: "one has no instance in a broadcast job", rules: onceAnd(isBroadcast), tree: func(f *fixture) {
			of(1, nil, 0, 1)(f)
			f.remove("sharding/1/instance")
			f.now = tick(1).Add(15 * time.Second)
		},
			want: wants("items: \"0-1\"\nskipped: \"1\"\n" + head + times)},
		{name: "one has no owner yet", rules: once, tree: func(f *fixture) { of(1, nil, 0, 1)(f); f.remove("sharding/1/instance") }},
		{name: "one has begun a later tick", rules: once, tree: func(f *fixture) { of(1, nil, 0, 1)(f); f.claim("B", 1, tick(2)) },
			want: wants("items: \"0-1\"\nskipped: \"1\"\n" + head + times)},
		{name: "a later tick has come", rules: once, tree: func(f *fixture) {
			of(1, nil, 0, 1)(f)
			through(f, 0)
			f.now = tick(2).Add(15 * time.Second)
		},
			want: wants("items: \"0-1\"\nskipped: \"1\"\n" + head + times)},
		{name: "the schedule was changed, and has not its tick", rules: once, tree: func(f *fixture) {
			of(1, nil, 0, 1)(f)
			through(f, 0)
			f.put("schedule", changed+"lastBefore: 2026-01-05T10:00:00Z\n")
		},
			want: wants("items: \"0-1\"\nskipped: \"1\"\n" + head + times)},
		{name: "the schedule was changed, and its tick is owed", rules: once, tree: func(f *fixture) {
			of(1, nil, 0, 1)(f)
			through(f, 0)
			f.put("schedule", changed+"lastBefore: 2026-01-05T10:00:05Z\n")
		}},
		{name: "the item is gone", rules: once, tree: func(f *fixture) { of(1, nil, 0, 7)(f) },
			want: wants("items: \"0,7\"\nskipped: \"7\"\n" + head + times)},
		{name: "its time is over", rules: once, tree: func(f *fixture) {
			of(1, func(d *jobtree.GuaranteeDocument) { d.CompleteBy = tick(1) }, 0, 1)(f)
		}, want: wants("items: \"0-1\"\n" + head + "completer: A\nUNTIL\nbegun: 2026-01-05T10:00:05.000Z\ncompleteBy: 2026-01-05T10:00:05.000Z\n")},
		{name: "the caller of Started has ended", rules: once, tree: func(f *fixture) {
			f.told(1, func(d *jobtree.GuaranteeDocument) { d.Starter = "B" }, 0, 1).crash("B")
		}, want: wants("items: \"0-1\"\nstarter: A\nstartBy: 2026-01-05T10:01:05.100Z\n" + times + "again: true\n")},
		{name: "the caller of Completed has ended", rules: once, tree: func(f *fixture) {
			of(1, func(d *jobtree.GuaranteeDocument) { d.Completer = "B" }, 0, 1)(f)
			f.crash("B")
		}, want: wants("items: \"0-1\"\n" + head + "completer: A\nUNTIL\n" + times + "again: true\n")},
		{name: "the caller of Started says nothing", rules: once, tree: func(f *fixture) {
			f.told(1, func(d *jobtree.GuaranteeDocument) { d.Starter, d.StartBy = "B", tick(1).Add(-10*time.Second) }, 0, 1)
		}, want: []string{"+ " + at(1) + "/open = "}},
		{name: "the caller of Completed says nothing", rules: once, tree: func(f *fixture) {
			f.told(1, func(d *jobtree.GuaranteeDocument) { d.Completer, d.Until = "B", tick(0) }, 0, 1)
		}, want: []string{"- " + at(1)}},
		{name: "it is over", rules: once, tree: of(1, func(d *jobtree.GuaranteeDocument) { d.Ended = true }, 0), want: []string{"- " + at(1), "- " + at(1) + "/open"}},
		{name: "it is nonsense", rules: once, tree: func(f *fixture) { f.put(at(1), "x") }, want: []string{"- " + at(1)}},
		{name: "only a part is left", rules: once, tree: func(f *fixture) { f.put(at(1)+"/3", "OK") }, want: []string{"- " + at(1) + "/3"}},
		{name: "another one leads", rules: once, tree: func(f *fixture) {
			f.remove("leader/election/instance").leader("B")
			of(1, func(d *jobtree.GuaranteeDocument) { d.Ended = true }, 0)(f)
		}},
		{name: "a JVM member leads", rules: once, tree: func(f *fixture) {
			f.remove("leader/election/instance").create("J", "instances/J", "").leader("J").crash("B")
			of(1, func(d *jobtree.GuaranteeDocument) { d.Ended = true }, 0)(f)
		}, want: []string{"- " + at(1), "- " + at(1) + "/open"}},
	} {
		r.run(t, base, func(p pass) []decide.Change { return p.AdvanceTicks() })
	}
	t.Run("nobody listens any more", func(t *testing.T) {
		f := given(t)
		base(f)
		f.told(1, nil, 0)
		p := f.pass("A")
		if len(p.AdvanceTicks()) > 0 {
			t.Error("by a configuration that is not the one in the tree")
		}
		p.Accepted = p.Config.Modified
		if got, want := f.changes("A", p.AdvanceTicks()...), []string{"- " + at(1)}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
	for _, c := range []conflict{
		{"it is claimed", func(f *fixture) { f.claim("B", 1, tick(1)) }},
		{"somebody else has Completed called", func(f *fixture) { f.told(1, func(d *jobtree.GuaranteeDocument) { d.Completer = "B" }, 0, 1) }},
	} {
		c.run(t, func(f *fixture) { f.reconfigure(once); base(f); of(1, nil, 0, 1)(f); f.put("sharding/1/disabled", "") }, func(p pass) []decide.Change { return p.AdvanceTicks() })
	}
	for _, c := range []conflict{
		{"it still runs", func(f *fixture) { f.create("B", "sharding/1/running", "B") }},
		{"it waits to be run again", func(f *fixture) { f.put("leader/failover/items/1", "") }},
	} {
		c.run(t, func(f *fixture) { f.reconfigure(once); base(f); of(1, nil, 0, 1)(f); f.fired(1, tick(1)) }, func(p pass) []decide.Change { return p.AdvanceTicks() })
	}
}

// Members begin by the clocks of their owners, not by that of the coordinator. So it skips one only
// when a later tick has come by the slowest clock that an instance with items may have, or if
// the tree says that nobody begins it.
func TestMembersGoByTheClocksOfTheirOwners(t *testing.T) {
	const farBehind = "clockFar: true\nahead: -25\n"
	for _, tt := range []struct {
		name  string
		rules func(*decide.Rules)
		after time.Duration // after tick 1, by the clock of A
		ahead time.Duration // the clock of A
		tree  func(*fixture)
		next  time.Duration // when A looks again, after tick 1 by the store's clock
		skips bool
	}{
		{name: "the tick has just come", after: 100 * time.Millisecond, next: 20 * time.Second},
		{name: "the next one, too", after: 5 * time.Second, next: 20 * time.Second},
		{name: "it has not come by the slowest clock", after: 20*time.Second - 1, next: 20 * time.Second},
		{name: "now it has", after: 20 * time.Second, next: time.Hour, skips: true},
		{name: "the clock of the coordinator is ahead", ahead: 8 * time.Second, after: 28*time.Second - 1, next: 20 * time.Second},
		{name: "it is ahead, and the tick has come", ahead: 8 * time.Second, after: 28 * time.Second, next: time.Hour, skips: true},
		{name: "it is behind", ahead: -8 * time.Second, after: 12 * time.Second, next: time.Hour, skips: true},
		{name: "another one is far behind, and so begins nothing", after: 20 * time.Second, tree: func(f *fixture) { f.put("sessions/B", farBehind) }, next: time.Hour, skips: true},
		{name: "all are far behind", ahead: -11 * time.Second, after: 24*time.Second - 1, tree: func(f *fixture) { f.put("sessions/B", farBehind) }, next: 35 * time.Second},
		{name: "all are, and for all of them it has come", ahead: -11 * time.Second, after: 24 * time.Second, tree: func(f *fixture) { f.put("sessions/B", farBehind) }, next: time.Hour, skips: true},
		{name: "all are, and one runs nothing", ahead: -11 * time.Second, after: 10*time.Second - 1, tree: func(f *fixture) { f.put("sessions/B", farBehind+"clockOff: true\n") }, next: 21 * time.Second},
		{name: "all are, one runs nothing, and for the others it has come", ahead: -11 * time.Second, after: 10 * time.Second, tree: func(f *fixture) { f.put("sessions/B", farBehind+"clockOff: true\n") }, next: time.Hour, skips: true},
		{name: "all are far ahead of the store", ahead: time.Minute, after: 79 * time.Second, tree: func(f *fixture) { f.put("sessions/B", "clockFar: true\nahead: 58\n") }, next: 20 * time.Second},
		{name: "the item has begun the next one", tree: func(f *fixture) { f.fired(1, tick(2)) }, next: 20 * time.Second, skips: true},
		{name: "the schedule has the tick no more", tree: func(f *fixture) { f.configure(func(r *decide.Rules) { r.Cron = "0 0 * * * ?" }) }, next: time.Hour, skips: true},
		{name: "the job has no schedule any more", tree: func(f *fixture) { f.configure(func(r *decide.Rules) { r.Cron = "" }) }, next: time.Hour, skips: true},
		{name: "nobody has it in a broadcast job, and somebody may get it before the tick", rules: isBroadcast, after: 15*time.Second - 1,
			tree: func(f *fixture) { f.remove("sharding/1/instance") }, next: 15 * time.Second},
		{name: "nobody has it in a broadcast job", rules: isBroadcast, after: 15 * time.Second,
			tree: func(f *fixture) { f.remove("sharding/1/instance") }, next: 20 * time.Second, skips: true},
		{name: "with jitter the item would begin before its next start", rules: func(r *decide.Rules) { r.Jitter = 5 * time.Second }, after: 20 * time.Second, next: 25 * time.Second},
		{name: "with jitter that has come, too", rules: func(r *decide.Rules) { r.Jitter = 5 * time.Second }, after: 25 * time.Second, next: time.Hour, skips: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t, once)
			f.configure(someOf(tt.rules)...)
			f.members("A", "B").leader("A").deal("A", "B", "A")
			f.told(1, nil, 1).put(at(1)+"/open", "")
			f.now = tick(1).Add(tt.after)
			f.ahead(tt.ahead)
			if tt.tree != nil {
				tt.tree(f)
			}
			p := f.pass("A")
			if got, want := p.NextDeadline(), tick(1).Add(tt.next); !got.Equal(want) {
				t.Errorf("it looks again at %v, want %v", got, want)
			}
			f.changes("A", p.AdvanceTicks()...)
			if got := f.pass("A").Guarantee(tick(1)).IsSkipped(1); got != tt.skips {
				t.Errorf("skipped: %v", got)
			}
		})
	}
}

// How a member has ended is kept when the item runs again before the tick is through, and told
// where its end alone does not say that nobody goes on with it.
func TestOutcomesOfMembers(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	finish := func(d jobtree.CompletionDocument, n int) func(pass) []decide.Change {
		return func(p pass) []decide.Change {
			r := p.fixture.runs()[0]
			d.Tick = r.Tick
			r.Completed = &d
			return p.Finish(p.work, []*decide.Run{r}, nil)
		}
	}
	keeps := func(f *fixture, changes []decide.Change) []string {
		t.Helper()
		var lines []string
		for _, line := range f.changes("A", changes...) {
			if strings.HasPrefix(line[2:], "guarantee") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	for name, tc := range map[string]struct {
		before *jobtree.CompletionDocument
		n      int // the tick that now ends
		now    jobtree.CompletionDocument
		run    func(*decide.Run)
		want   []string
	}{
		"ends well":               {n: 1, now: jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK}},
		"is cut short":            {n: 1, now: jobtree.CompletionDocument{Outcome: jobtree.OutcomeCut}, want: []string{"+ " + at(1) + "/0 = CUT"}},
		"is killed":               {n: 1, now: jobtree.CompletionDocument{Outcome: jobtree.OutcomeKilled}, want: []string{"+ " + at(1) + "/0 = KILLED"}},
		"a request is killed":     {n: 1, now: jobtree.CompletionDocument{Outcome: jobtree.OutcomeKilled}, run: func(r *decide.Run) { r.Request = "r" }},
		"a later one ends":        {before: &jobtree.CompletionDocument{Tick: tick(1), Outcome: jobtree.OutcomeFailed}, n: 2, now: jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK}, want: []string{"+ " + at(1) + "/0 = FAILED"}},
		"an earlier one ended":    {before: &jobtree.CompletionDocument{Tick: tick(0), Outcome: jobtree.OutcomeFailed}, n: 1, now: jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK}},
		"a later one is cut, too": {before: &jobtree.CompletionDocument{Tick: tick(1), Outcome: jobtree.OutcomeOK}, n: 2, now: jobtree.CompletionDocument{Outcome: jobtree.OutcomeCut}, want: []string{"+ " + at(1) + "/0 = OK"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t, once)
			base(f)
			f.told(1, nil, 0, 1)
			if tc.before != nil {
				f.ended(0, *tc.before)
			}
			r := f.claim("A", 0, tick(tc.n))
			if tc.run != nil {
				tc.run(r)
			}
			f.work.Runs[0] = r
			if got := keeps(f, finish(tc.now, tc.n)(f.pass("A"))); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	t.Run("without failover", func(t *testing.T) {
		f := given(t, onceAnd(func(r *decide.Rules) { r.Failover = false }))
		base(f)
		f.told(1, nil, 0, 1)
		f.work.Runs[0] = f.claim("A", 0, tick(1))
		if got, want := keeps(f, f.pass("A").ReleaseForFailover(f.runs())), []string{"+ " + at(1) + "/0 = CUT"}; !slices.Equal(got, want) {
			t.Errorf("handed over: %q, want %q", got, want)
		}
	})
	for name, tc := range map[string]struct {
		past func(*fixture)
		want []string
	}{
		"has begun":     {func(f *fixture) { f.fired(1, tick(1)) }, []string{"+ " + at(1) + "/1 = CUT"}},
		"has not begun": {func(f *fixture) { f.fired(1, tick(0)) }, nil},
		"has ended": {func(f *fixture) {
			f.fired(1, tick(1)).ended(1, jobtree.CompletionDocument{Tick: tick(1), Outcome: jobtree.OutcomeOK})
		}, []string{"+ " + at(1) + "/1 = OK"}},
		"is noted as cut": {func(f *fixture) { f.fired(1, tick(1)).put(at(1)+"/1", "CUT") }, nil},
	} {
		t.Run("broadcast, another instance gets the item, which "+name, func(t *testing.T) {
			f := given(t, onceAnd(isBroadcast))
			f.members("A", "B").leader("A").deal("A", "C") // C is gone
			f.told(1, nil, 0, 1)
			tc.past(f)
			if got := keeps(f, spreads(f.pass("A"))); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	t.Run("result", func(t *testing.T) {
		f := given(t, once)
		base(f)
		f.told(1, func(d *jobtree.GuaranteeDocument) { d.Skipped = []int{2} }, 0, 1, 2, 3, 4).put(at(1)+"/3", "CUT")
		f.ended(0, jobtree.CompletionDocument{Tick: tick(1), Outcome: jobtree.OutcomeTimeout})
		f.claim("B", 1, tick(1))
		p := f.pass("A")
		ended, missing := p.Outcomes(p.Guarantee(tick(1)))
		if want := map[int]jobtree.Outcome{0: jobtree.OutcomeTimeout, 2: jobtree.OutcomeSkipped, 3: jobtree.OutcomeCut}; !maps.Equal(ended, want) {
			t.Errorf("ended %v", ended)
		}
		if want := map[int]string{1: "B", 4: ""}; !maps.Equal(missing, want) {
			t.Errorf("missing %v", missing)
		}
	})
}

// What is large goes in parts, and nobody calls again meanwhile.
func TestLargeTicksGoInParts(t *testing.T) {
	f := given(t, once)
	f.members("A").leader("A").deal("A")
	items := make([]int, 60)
	for i := range items {
		items[i] = i
		f.put(fmt.Sprintf("%s/%d", at(1), i), "CUT")
	}
	f.told(1, func(d *jobtree.GuaranteeDocument) { d.Completer = "A" }, items...).put(at(1)+"/open", "")
	p := f.pass("A")
	f.changes("A", p.EndCall(p.Calls()[0]))
	for range 5 {
		p = f.pass("A")
		if len(p.Guarantees) == 0 {
			break
		}
		if len(p.Calls()) > 0 {
			t.Error("it is to be called again")
		}
		for _, c := range p.AdvanceTicks() {
			if n := coord.Cost(c.Ops...); n > coord.MaxOps {
				t.Errorf("a commit of %d operations", n)
			}
			f.changes("A", c)
		}
	}
	if left := f.pass("A").Guarantees; len(left) > 0 {
		t.Errorf("left: %+v", left[0])
	}
}

// Nothing is claimed before its tick, because the members are fixed when that comes.
func TestNothingIsEarlyIfTicksAreToldOf(t *testing.T) {
	f := given(t, once)
	f.members("A").deal("A", "A", "A").fired(0, tick(1)).fired(1, tick(1)).fired(2, tick(1))
	f.now = tick(2).Add(-time.Second)
	p := f.pass("A")
	p.Lead = 2 * time.Second
	if early := p.Early(p.work); len(early) > 0 {
		t.Errorf("early: %v", early)
	}
}
