package decide_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// first is an execution from which a chain of others begins.
const first = "01a1fb06-79a5-8965-b3d8-69499cff4ab6"

// Who puts item 1 up to be run again for tick 1 notes what was cut short first.
func TestOriginals(t *testing.T) {
	const own = "that of the run"
	runs := func(f *fixture) *decide.Run {
		r := f.claim("A", 1, tick(1))
		r.TaskID = r.Claim.TaskID(f.job, "A", r.Token)
		f.work.Runs[1] = r
		return r
	}
	again := func(f *fixture) *decide.Run {
		r := f.takenOver("A", 1, tick(1))
		r.TaskID, r.Original = r.Claim.TaskID(f.job, "A", r.Token), first
		f.work.Runs[1] = r
		return r
	}
	note := func(f *fixture, id string) {
		f.put("sharding/1/original", string(jobtree.EncodeOriginal(id, tick(1))))
	}
	retry := func(f *fixture) {
		f.runsFor("A", 1, f.submit(jobtree.RequestDocument{Items: []int{1}, Source: "RETRY", Originals: []string{first}}))
	}
	crashed := func(p pass) []decide.Change { return recovers(p.fixture.pass("B")) }
	kills := func(f *fixture) {
		r := f.work.Runs[1]
		f.killedAgain(1, r.Token)
		r.Completed = &jobtree.CompletionDocument{Tick: tick(1), Token: r.Token, Outcome: jobtree.OutcomeKilled, Ended: f.now}
	}
	unheard := func(f *fixture) {
		r := runs(f)
		kills(f)
		r.Completed = nil
	}
	for name, tc := range map[string]struct {
		tree func(*fixture)
		step func(pass) []decide.Change
		by   string // A, if it is empty
		want string
	}{
		"a crash":                          {func(f *fixture) { runs(f); f.crash("A") }, crashed, "B", own},
		"of one that was run again":        {func(f *fixture) { note(f, first); again(f); f.crash("A") }, crashed, "B", first},
		"of a retry":                       {func(f *fixture) { runs(f); retry(f); f.crash("A") }, crashed, "B", first},
		"of a retry that was run again":    {func(f *fixture) { note(f, first); again(f); retry(f); f.crash("A") }, crashed, "B", first},
		"and the note is of an old one":    {func(f *fixture) { note(f, first); runs(f); f.crash("A") }, crashed, "B", own},
		"and an old version took over":     {func(f *fixture) { again(f); f.crash("A") }, crashed, "B", own},
		"of who does not say which run":    {func(f *fixture) { runs(f); f.put("sharding/1/running", "A").crash("A") }, crashed, "B", ""},
		"a JVM's":                          {func(f *fixture) { f.work.Runs[1] = f.claim("A", 1, tick(1)); f.put("sharding/1/running", "J") }, crashed, "B", ""},
		"a shutdown":                       {func(f *fixture) { runs(f) }, handsOver, "", own},
		"of one that is run again":         {func(f *fixture) { again(f) }, handsOver, "", first},
		"a kill":                           {func(f *fixture) { runs(f); kills(f) }, func(p pass) []decide.Change { return p.Finish(p.work, p.fixture.runs(), nil) }, "", own},
		"one that was not begun again":     {func(f *fixture) { note(f, first); again(f) }, releases, "", first},
		"a kill of one that was not begun": {func(f *fixture) { runs(f); kills(f) }, releases, "", own},
		"and the answer was lost":          {unheard, func(p pass) []decide.Change { p.work = decide.NewWork(); return settles(p) }, "", own},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A", "B").leader("B").deal("A", "A", "A")
			tc.tree(f)
			by := tc.by
			if by == "" {
				by = "A"
			}
			f.changes(by, tc.step(f.pass("A"))...)
			p := f.pass("B")
			if len(p.FailoverItems) != 1 || !p.FailoverItems[0].Tick.Equal(tick(1)) {
				t.Fatalf("it waits as %+v", p.FailoverItems)
			}
			want := tc.want
			if want == own {
				want = f.work.Runs[1].TaskID
			}
			p.work = decide.NewWork()
			if got := p.Item(1).Original.Of(tick(1)); got != want {
				t.Errorf("the note is %q, want %q", got, want)
			}
			if got := claimsOf(takesOver(p)); len(got) != 1 || got[0].Original != want {
				t.Errorf("it is taken over as %+v, want %s", got, want)
			}
		})
	}
}

// Claims know what they repeat, also when the answer to their commit was lost.
func TestOriginalsOfClaims(t *testing.T) {
	request := func(f *fixture, source string) string {
		d := jobtree.RequestDocument{Items: []int{1}, Source: source}
		if source == "RETRY" {
			d.Originals = []string{first}
		}
		return f.submit(d)
	}
	begins := func(p pass) []decide.Change { return p.ClaimRequested(p.Requested(p.work, false)) }
	for name, tc := range map[string]struct {
		tree func(*fixture)
		step func(pass) []decide.Change
		want string
	}{
		"a retry":                          {func(f *fixture) { request(f, "RETRY") }, begins, first},
		"a trigger":                        {func(f *fixture) { request(f, "MANUAL") }, begins, ""},
		"a retry, and the answer was lost": {func(f *fixture) { f.claim("A", 1, tick(1)); f.runsFor("A", 1, request(f, "RETRY")) }, settles, first},
		"a tick, and the answer was lost":  {func(f *fixture) { f.claim("A", 1, tick(1)) }, settles, ""},
		"a failover, and the answer was lost": {func(f *fixture) {
			f.put("sharding/1/original", string(jobtree.EncodeOriginal(first, tick(1))))
			f.takenOver("A", 1, tick(1))
		}, settles, first},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A").leader("A").deal("A", "A", "A")
			tc.tree(f)
			claims := claimsOf(tc.step(f.pass("A")))
			if len(claims) != 1 || claims[0].Original != tc.want {
				t.Errorf("it claims %+v, want %q", claims, tc.want)
			}
		})
	}
}
