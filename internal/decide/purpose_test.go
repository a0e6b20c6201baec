package decide_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// What is cut short for a request is run again for that request, with its parameter; and not at all once the
// request has been cancelled, whenever that was.
func TestRequestThatIsCutShort(t *testing.T) {
	source := map[string]time.Time{"MANUAL": {}, "RETRY": tick(-1), "BACKFILL": tick(-9)}
	taken := func(f *fixture) []decide.Claim { return claimsOf(takesOver(f.pass("A"))) }
	recover := func(f *fixture) { f.changes("A", recovers(f.pass("A"))...) }
	crash := func(f *fixture) { f.crash("B"); recover(f) }
	cancel := func(f *fixture) { f.cancel(firstRequest) }
	tickOf := func(f *fixture) { // its item runs for a tick while it waits
		f.now = tick(2)
		f.remove("sharding/1/running").own(1, "A").claim("A", 1, tick(2))
		f.remove("sharding/1/running")
	}
	for name, tc := range map[string]struct {
		then []func(*fixture)
		want bool // it is run again
	}{
		"it is run again":                       {[]func(*fixture){crash}, true},
		"a tick began and ended while it waits": {[]func(*fixture){crash, tickOf}, true},
		"cancelled while it runs":               {[]func(*fixture){cancel, crash}, false},
		"cancelled before it is recovered":      {[]func(*fixture){func(f *fixture) { f.crash("B") }, cancel, recover}, false},
		"cancelled while it waits":              {[]func(*fixture){crash, cancel}, false},
		"cancelled after a tick":                {[]func(*fixture){crash, tickOf, cancel}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for source, at := range source {
				f := given(t).members("A", "B").leader("A").deal("A", "B", "A")
				d := jobtree.RequestDocument{Items: []int{1}, Parameter: "2026-09", Source: source}
				if !at.IsZero() {
					d.Ticks = []time.Time{at}
				}
				f.submit(d)
				f.changes("B", begins(f.pass("B"))...)
				for _, then := range tc.then {
					then(f)
				}
				claims := taken(f)
				if !tc.want {
					if len(claims) > 0 {
						t.Errorf("%s: it is run again as %+v", source, claims)
					}
					for range 3 { // its coordinator clears up
						f.changes("A", endsRequests(f.pass("A"))...)
					}
					if s := jobtree.Read(f.store.Snapshot(), f.job); len(s.Requests)+len(s.FailoverItems) > 0 {
						t.Errorf("%s: left are %+v, %+v", source, s.Requests, s.FailoverItems)
					}
					continue
				}
				if len(claims) != 1 || claims[0].Source != decide.Failover || claims[0].Parameter != "2026-09" || claims[0].Request != "000000000001-r0" {
					t.Errorf("%s: it is run again as %+v", source, claims)
				}
			}
		})
	}
}

// While an item runs for a request that has been cancelled, the request stays, and says so.
func TestCancelledRequestStaysWhileItRuns(t *testing.T) {
	f := given(t).members("A", "B").leader("A").deal("A", "B", "A")
	f.submit(jobtree.RequestDocument{Items: []int{1}})
	f.changes("B", begins(f.pass("B"))...)
	f.cancel(firstRequest)
	if changes := endsRequests(f.pass("A")); len(changes) > 0 {
		t.Fatalf("it goes: %+v", changes[0].Ops)
	}
	r := &decide.Run{Claim: decide.Claim{Item: 1, Source: decide.Manual, Request: "000000000001-r0"}, Instance: "B", Recorded: true, Completed: &jobtree.CompletionDocument{Outcome: "OK", Ended: f.now}}
	r.Token = f.pass("B").Item(1).Fired.Modified
	f.work.Runs[1] = r
	f.changes("B", finishes(f.pass("B"))...)
	if got := f.changes("A", endsRequests(f.pass("A"))...); !slices.Contains(got, "- "+firstRequest) {
		t.Errorf("it has ended, and what goes is %q", got)
	}
}

// An item waits once. Of a tick and a request that were both cut short the tick waits, and the request has
// its turn again: so neither is run as the other.
func TestTickAndRequestAreCutShort(t *testing.T) {
	ofTick := func(f *fixture) {
		f.own(1, "B").changes("B", f.pass("B").Fire(f.pass("B").Due(decide.NewWork()), 9)...)
		f.crash("B").changes("A", recovers(f.pass("A"))...)
	}
	ofRequest := func(f *fixture) {
		f.members("C").own(1, "C").changes("C", begins(f.pass("C"))...)
		f.crash("C").changes("A", recovers(f.pass("A"))...)
	}
	for name, both := range map[string][]func(*fixture){"the tick first": {ofTick, ofRequest}, "the request first": {ofRequest, ofTick}} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A", "B").leader("A").deal("A", "B", "A")
			f.submit(jobtree.RequestDocument{Items: []int{1}, Parameter: "2026-09"})
			for _, step := range both {
				step(f)
			}
			claims := claimsOf(takesOver(f.pass("A")))
			if len(claims) != 1 || !claims[0].Tick.Equal(tick(1)) || claims[0].Parameter != "" || claims[0].Request != "" {
				t.Errorf("run again as %+v", claims)
			}
			claims = claimsOf(begins(f.own(1, "A").pass("A")))
			if len(claims) != 1 || claims[0].Parameter != "2026-09" || claims[0].Source != decide.Manual {
				t.Errorf("the request begins as %+v", claims)
			}
		})
	}
}

// A view may show that an item waits before it shows for which request.
func TestTakeOverByAViewThatShowsCommitsInParts(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").leader("A").deal("A", "B", "A")
		f.submit(jobtree.RequestDocument{Items: []int{1}})
		f.put("leader/failover/items/1", string(jobtree.EncodeFired(tick(1))))
	}
	shows := func(f *fixture) { f.progress(firstRequest, 1, jobtree.ProgressDocument{Runner: "B"}) }
	conflict{"it waits for a request", shows}.run(t, base, takesOver)
}

// The end of a run is written once more if the answer was lost. If it is to be run again by then, nothing of that changes.
func TestEndOfAKilledRequestIsWrittenOnceMore(t *testing.T) {
	for name, step := range map[string]func(pass) []decide.Change{"finish": finishes, "release for failover": handsOver} {
		t.Run(name, func(t *testing.T) {
			f := given(t).members("A", "B").leader("B").deal("A", "B", "B")
			f.submit(jobtree.RequestDocument{Items: []int{0}, Parameter: "2026-09"})
			r := &decide.Run{Claim: claimsOf(begins(f.pass("A")))[0], Instance: "A", Recorded: true, Completed: &jobtree.CompletionDocument{Outcome: "KILLED", Ended: f.now}}
			f.changes("A", begins(f.pass("A"))...)
			r.Token = f.pass("A").Item(0).Fired.Modified
			f.killedAgain(0, r.Token)
			f.work.Runs[0] = r
			f.changes("A", finishes(f.pass("A"))...)
			f.changes("A", step(f.pass("A"))...)
			f.work = decide.NewWork()
			claims := claimsOf(takesOver(f.pass("A")))
			if len(claims) != 1 || claims[0].Parameter != "2026-09" {
				t.Errorf("run again as %+v", claims)
			}
		})
	}
}
