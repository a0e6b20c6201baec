package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// killed asks for the end of a run.
func (f *fixture) killed(item int, token int64) *fixture {
	f.Helper()
	return f.kill(item, jobtree.KillDocument{Token: token})
}

// killedAgain asks for the end of a run that is to begin again.
func (f *fixture) killedAgain(item int, token int64) *fixture {
	f.Helper()
	return f.kill(item, jobtree.KillDocument{Token: token, Failover: true})
}

func (f *fixture) kill(item int, d jobtree.KillDocument) *fixture {
	f.Helper()
	return f.put(fmt.Sprintf("kill/%d", item), string(jobtree.EncodeKill(d)))
}

func handsOver(p pass) []decide.Change { return p.ReleaseForFailover(p.fixture.runs()) }

func releases(p pass) []decide.Change { return p.ReleaseClaims(p.fixture.runs()) }

// lines are the paths of changes, without the values of completions, which have tokens.
func shown(lines []string) (list []string) {
	for _, line := range lines {
		if path, value, _ := strings.Cut(line, " = "); strings.HasSuffix(path, "/completed") || strings.HasPrefix(path, "+ requests/") {
			for part := range strings.Lines(value) {
				if outcome, ok := strings.CutPrefix(part, "out: "); ok {
					line = path + " " + strings.TrimSpace(outcome)
				}
			}
		}
		list = append(list, line)
	}
	return list
}

// What a kill makes of each way in which a run of item 0 for tick 1 can end.
func TestKilledRuns(t *testing.T) {
	const again = "+ leader/failover/items/0 = 2026-01-05T10:00:05.000Z"
	// ends makes the handler of the run return.
	ends := func(f *fixture, o jobtree.Outcome) {
		f.work.Runs[0].Completed = &jobtree.CompletionDocument{Tick: tick(1), Token: f.work.Runs[0].Token, Outcome: o, Ended: f.now}
	}
	crashed := func(p pass) []decide.Change { return recovers(p.fixture.pass("B")) }
	type kill func(f *fixture, r *decide.Run)
	forGood := func(f *fixture, r *decide.Run) { f.killed(0, r.Token) }
	toRunAgain := func(f *fixture, r *decide.Run) { f.killedAgain(0, r.Token) }
	late := func(f *fixture, r *decide.Run) { f.killed(0, r.Token-1) }
	unreadable := func(f *fixture, _ *decide.Run) { f.put("kill/0", "all") }
	for _, tc := range []struct {
		name  string
		rules func(*decide.Rules)
		kill  kill
		then  func(*fixture) // after the kill
		step  func(pass) []decide.Change
		by    string // A, the runner, if it is empty
		want  []string
	}{
		{name: "finish", kill: forGood, then: func(f *fixture) { ends(f, "KILLED") }, step: finishes, want: []string{"- kill/0", "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "finish, to run again", kill: toRunAgain, then: func(f *fixture) { ends(f, "KILLED") }, step: finishes, want: []string{"- kill/0", again, "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "finish, to run again, without failover", rules: failoverOff, kill: toRunAgain, then: func(f *fixture) { ends(f, "KILLED") }, step: finishes, want: []string{"- kill/0", "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "finish, to run again, and it has succeeded all the same", kill: toRunAgain, then: func(f *fixture) { ends(f, "OK") }, step: finishes, want: []string{"- kill/0", "+ sharding/0/completed OK", "- sharding/0/running"}},
		{name: "finish, and a tick came meanwhile", kill: forGood, then: func(f *fixture) { ends(f, "KILLED"); f.now = tick(2) }, step: finishes, want: []string{"- kill/0", "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "finish, and the kill is of another run", kill: late, then: func(f *fixture) { ends(f, "OK") }, step: finishes, want: []string{"- kill/0", "+ sharding/0/completed OK", "- sharding/0/running"}},

		{name: "mark for failover", kill: forGood, then: func(f *fixture) { f.crash("A") }, step: crashed, by: "B", want: []string{"- kill/0", "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "recover, to run again", kill: toRunAgain, then: func(f *fixture) { f.crash("A") }, step: crashed, by: "B", want: []string{"- kill/0", again, "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "recover, and the kill is of another run", kill: late, then: func(f *fixture) { f.crash("A") }, step: crashed, by: "B", want: []string{"- kill/0", again, "- sharding/0/running"}},
		{name: "recover, and nobody can read the kill", kill: unreadable, then: func(f *fixture) { f.crash("A") }, step: crashed, by: "B", want: []string{"- kill/0", again, "- sharding/0/running"}},

		{name: "release for failover", kill: forGood, then: func(f *fixture) { ends(f, "CUT") }, step: handsOver, want: []string{"- kill/0", "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "hand over, to run again", kill: toRunAgain, then: func(f *fixture) { ends(f, "CUT") }, step: handsOver, want: []string{"- kill/0", again, "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "hand over, and the kill is of another run", kill: late, then: func(f *fixture) { ends(f, "CUT") }, step: handsOver, want: []string{"- kill/0", again, "+ sharding/0/completed CUT", "- sharding/0/running"}},

		{name: "release", kill: forGood, step: releases, want: []string{"- kill/0", "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "release, to run again", kill: toRunAgain, step: releases, want: []string{"- kill/0", again, "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "release, and the kill is of another run", kill: late, step: releases, want: []string{"+ sharding/0/fired = 2026-01-05T10:00:00.000Z", "- sharding/0/running"}},

		{name: "settle", kill: forGood, then: func(f *fixture) { clear(f.work.Runs) }, step: settles, want: []string{"- kill/0", "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "settle, to run again", kill: toRunAgain, then: func(f *fixture) { clear(f.work.Runs) }, step: settles, want: []string{"- kill/0", again, "+ sharding/0/completed KILLED", "- sharding/0/running"}},
		{name: "settle, and the kill is of another run", kill: late, then: func(f *fixture) { clear(f.work.Runs) }, step: settles, want: nothing},

		{name: "clean, and it runs", kill: forGood, step: cleans, by: "B"},
		{name: "clean, and another one runs", kill: late, step: cleans, by: "B", want: []string{"- kill/0"}},
		{name: "clean, and nothing runs", kill: forGood, then: func(f *fixture) { f.remove("sharding/0/running") }, step: cleans, by: "B", want: []string{"- kill/0"}},
		{name: "clean, and nobody can read it", kill: unreadable, step: cleans, by: "B", want: []string{"- kill/0"}},
		{name: "clean, and nobody knows what runs", kill: forGood, then: func(f *fixture) { f.remove("sharding/0/fired") }, step: cleans, by: "B", want: []string{"- kill/0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := given(t, someOf(tc.rules)...).members("A", "B").leader("B").deal("A", "B", "B")
			r := f.claim("A", 0, tick(1))
			r.Before = tick(0)
			f.work.Runs[0] = r
			tc.kill(f, r)
			if tc.then != nil {
				tc.then(f)
			}
			by := "A"
			if tc.by != "" {
				by = tc.by
			}
			changes := tc.step(f.pass(by))
			if tc.want == nil && len(changes) > 0 {
				t.Errorf("a commit that need not be: %v", changes[0].Ops)
			}
			if got := shown(f.changes(by, changes...)); strings.Join(got, "\n") != strings.Join(tc.want, "\n") {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// Whoever would have an item run again finds out if a kill comes meanwhile.
func TestKillThatComesMeanwhile(t *testing.T) {
	for name, step := range map[string]func(pass) []decide.Change{"release for failover": handsOver, "release": releases, "mark for failover": func(p pass) []decide.Change {
		p.fixture.crash("A")
		p.fixture.work.Runs = nil
		return recovers(p.fixture.pass("B"))
	}} {
		for _, before := range []string{"", "token: 1\n"} {
			t.Run(fmt.Sprintf("%s after %q", name, before), func(t *testing.T) {
				f := given(t).members("A", "B").leader("B").deal("A", "B", "B")
				r := f.claim("A", 0, tick(1))
				f.work.Runs[0] = r
				if before != "" {
					f.put("kill/0", before)
				}
				changes := step(f.pass("A"))
				if len(changes) != 1 {
					t.Fatalf("%d changes", len(changes))
				}
				f.killed(0, r.Token)
				by := "A"
				if name == "mark for failover" {
					by = "B"
				}
				if _, err := f.store.Commit(sessionOf(by), changes[0].Ops...); err == nil {
					t.Error("the kill was overlooked")
				}
			})
		}
	}
}

// The end of a run that was killed to run again is committed once more if its answer was lost. The item waits to be
// run again, so nobody is told that it has ended.
func TestKilledRunEndsOnce(t *testing.T) {
	f := given(t, once).members("A", "B").leader("B").deal("A", "B", "B").told(1, nil, 0)
	r := f.claim("A", 0, tick(1))
	f.work.Runs[0] = r
	f.killedAgain(0, r.Token)
	r.Completed = &jobtree.CompletionDocument{Tick: tick(1), Token: r.Token, Outcome: jobtree.OutcomeKilled, Ended: f.now}
	for _, want := range [][]string{
		{"- kill/0", "+ leader/failover/items/0 = 2026-01-05T10:00:05.000Z", "+ sharding/0/completed KILLED", "- sharding/0/running"},
		{"+ sharding/0/completed KILLED"},
	} {
		if got := shown(f.changes("A", finishes(f.pass("A"))...)); !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}

// A run for a request that is killed ends that item's part of the request, unless it is to
// begin again.
func TestKilledRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		again bool
		want  string
	}{"for good": {false, "KILLED"}, "to run again": {true, ""}} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A", "B").leader("B").deal("A", "B", "B")
			f.submit(jobtree.RequestDocument{Items: []int{0}})
			f.changes("A", begins(f.pass("A"))...)
			token := jobtree.Read(f.store.Snapshot(), f.job).Item(0).Fired.Modified
			f.kill(0, jobtree.KillDocument{Token: token, Failover: tc.again})
			f.crash("A")
			f.changes("B", recovers(f.pass("B"))...)
			p := jobtree.Read(f.store.Snapshot(), f.job).Requests[0].Progress(0)
			if string(p.Outcome) != tc.want || tc.again && p.Runner != "A" {
				t.Errorf("progress %+v", p)
			}
		})
	}
}

// A pause keeps every tick from beginning, and ends nothing.
func TestPausedJob(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	paused := func(f *fixture) { f.pause(tick(1)) }
	early := func(p pass) []decide.Change {
		p.Lead = 2 * time.Second
		return p.Fire(p.Early(p.work), p.free)
	}
	for _, r := range []struct {
		row
		step func(pass) []decide.Change
	}{
		{row{name: "fire", tree: paused}, fires},
		{row{name: "fire what was missed", tree: func(f *fixture) { paused(f); f.now = tick(9); f.put("sharding/0/misfire", "") }}, fires},
		{row{name: "early", tree: func(f *fixture) { f.fired(0, tick(1)).fired(2, tick(1)); paused(f); f.now = tick(2).Add(-time.Second) }}, early},
		{
			row{
				name: "finish, and a tick came meanwhile",
				tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)); f.pause(tick(2)); f.now = tick(3) },
				want: []string{"- sharding/0/running"},
			}, finishes,
		},
		{
			row{
				name: "fail over",
				tree: func(f *fixture) { f.put("leader/failover/items/1", ""); paused(f) },
				want: []string{"- leader/failover/items/1", "+ sharding/1/failover = A (of A)", "+ sharding/1/failovering = A", "+ sharding/1/fired = 2026-01-05T10:00:00.000Z", "+ sharding/1/running = A"},
			}, takesOver,
		},
		{row{name: "put in force what is", tree: paused}, puts},
		{
			row{name: "put another schedule in force", tree: func(f *fixture) {
				paused(f)
				f.reconfigure(func(r *decide.Rules) { r.Cron = "0/7 * * * * ?" })
			}, want: []string{"+ schedule = cron: 0/7 * * * * ?\ntimeZone: UTC\nmisfire: true\nsince: 2026-01-05T10:00:05.1Z\npaused: 2026-01-05T10:00:05Z\n"}}, puts,
		},
	} {
		r.run(t, base, r.step)
	}
	for name, step := range map[string]func(pass) []decide.Change{"fire": fires, "make up": func(p pass) []decide.Change {
		p.fixture.work.Runs[0] = p.fixture.claim("A", 0, tick(1))
		p.fixture.claim("A", 2, tick(1))
		p.fixture.now = tick(2)
		return finishes(p.fixture.pass("A"))
	}} {
		conflict{name + ", and it is paused meanwhile", paused}.run(t, base, step)
	}
}

// If ticks that overlap are to be skipped, nobody makes up for a tick that came while the item
// ran.
func TestSkippedOverlap(t *testing.T) {
	skips := func(r *decide.Rules) { r.SkipOverlap = true }
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "B") }
	runs := func(f *fixture) {
		f.work.Runs[0] = f.claim("A", 0, tick(1))
		f.now = tick(2).Add(100 * time.Millisecond)
	}
	passed := []string{"+ sharding/0/fired = 2026-01-05T10:00:10.000Z", "- sharding/0/running"}
	for _, r := range []struct {
		row
		step func(pass) []decide.Change
	}{
		{row{name: "finish", rules: skips, tree: runs, want: passed}, finishes},
		{row{name: "finish a backfill, which ticks wait for", rules: skips, tree: func(f *fixture) { runs(f); f.work.Runs[0].Source = decide.Backfill }, want: passed[1:]}, finishes},
		{row{name: "finish, but an earlier one has landed late", rules: skips, tree: func(f *fixture) { runs(f); f.remove("sharding/0/running") }, want: nothing}, finishes},
		{row{name: "mark misfire", rules: skips, tree: runs}, func(p pass) []decide.Change { return p.MarkMisfire(p.work) }},
		{row{name: "fire", rules: skips, tree: runs}, fires},
	} {
		r.run(t, base, r.step)
	}
}
