package decide_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func settles(p pass) []decide.Change {
	var changes []decide.Change
	for _, i := range p.Leftovers(p.work) {
		changes = append(changes, p.Settle(p.work, i))
	}
	return changes
}

func TestSettle(t *testing.T) {
	const tick1 = "2026-01-05T10:00:05.000Z"
	base := func(f *fixture) { f.members("A", "B").leader("B").deal("A", "B", "A") }
	gone := []string{"- sharding/0/running"}
	for _, r := range []row{
		{
			name: "nothing is left",
			tree: func(f *fixture) { f.work.Runs[0] = f.claim("A", 0, tick(1)); f.claim("B", 1, tick(1)) },
		},
		{
			name: "a claim of which this process did not hear",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)) },
			want: nothing,
		},
		{
			name: "one for a request that is gone",
			tree: func(f *fixture) {
				f.put("sharding/0/running", "A").put("sharding/0/fired", tick1+" 2026-01-05T10:00:07.000Z")
			},
			want: gone,
		},
		{
			name: "one for a request",
			tree: func(f *fixture) {
				f.claim("A", 0, tick(1))
				f.runsFor("A", 0, f.submit(jobtree.RequestDocument{Items: []int{0}}))
			},
			want: nothing,
		},
		{
			name: "one for a request that has been cancelled",
			tree: func(f *fixture) {
				f.claim("A", 0, tick(1))
				f.runsFor("A", 0, f.submit(jobtree.RequestDocument{Items: []int{0}})).cancel(firstRequest)
			},
			want: []string{"+ " + firstRequest + "/0 = ", "- sharding/0/running"},
		},
		{
			name: "a failover for a request that has been cancelled",
			tree: func(f *fixture) {
				f.takenOver("A", 0, tick(1))
				f.runsFor("A", 0, f.submit(jobtree.RequestDocument{Items: []int{0}})).cancel(firstRequest)
			},
			want: []string{"+ " + firstRequest + "/0 = ", "- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name: "a pause that came after the claim does not concern it",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)); f.pause(tick(1).Add(time.Millisecond)); f.now = tick(2) },
			want: nothing,
		},
		{
			name: "an empty one, which no claim writes",
			tree: func(f *fixture) { f.put("sharding/0/running", "").put("sharding/1/running", "") },
			want: gone,
		},
		{
			name: "one that has ended here",
			tree: func(f *fixture) { f.work.Ended[0] = f.claim("A", 0, tick(1)).Token },
			want: gone,
		},
		{
			name: "the run after one that has ended",
			tree: func(f *fixture) { f.work.Ended[0] = f.claim("A", 0, tick(1)).Token - 1 },
			want: nothing,
		},
		{
			name:  "one that has ended here, with misfire off, and a tick came since",
			rules: misfireOff,
			tree:  func(f *fixture) { f.work.Ended[0] = f.claim("A", 0, tick(1)).Token; f.now = tick(2) },
			want:  []string{"+ sharding/0/fired = 2026-01-05T10:00:10.000Z", "- sharding/0/running"},
		},
		{
			name: "a failover that has ended here",
			tree: func(f *fixture) { f.work.Ended[0] = f.takenOver("A", 0, tick(1)).Token },
			want: []string{"- sharding/0/failover", "- sharding/0/failovering", "- sharding/0/running"},
		},
		{
			name: "a failover of which this process did not hear",
			tree: func(f *fixture) { f.takenOver("A", 0, tick(1)) },
			want: nothing,
		},
		{
			name: "a server that has been disabled since still runs what it has claimed",
			tree: func(f *fixture) { f.takenOver("A", 0, tick(1)); f.disable("A") },
			want: nothing,
		},
		{
			name: "a record without a claim",
			tree: func(f *fixture) { f.claim("A", 0, tick(1)); f.remove("sharding/0/fired") },
			want: gone,
		},
		{
			name:  "one of the time before records were off",
			rules: unrecorded,
			tree:  func(f *fixture) { f.claim("A", 0, tick(1)) },
			want:  gone,
		},
	} {
		r.run(t, base, settles)
	}
	t.Run("what begins", func(t *testing.T) {
		for _, c := range []struct {
			name string
			tree func(*fixture)
			want decide.Claim
		}{
			{"just due", func(f *fixture) { f.claim("A", 0, tick(1)) }, decide.Claim{Tick: tick(1), Last: tick(1), Before: tick(0), Source: decide.Normal}},
			{"as late as it may be", func(f *fixture) { f.claim("A", 0, tick(1)); f.now = tick(1).Add(time.Second) }, decide.Claim{Tick: tick(1), Last: tick(1), Before: tick(0), Source: decide.Normal}},
			{"late by now", func(f *fixture) { f.claim("A", 0, tick(1)); f.now = tick(2) }, decide.Claim{Tick: tick(1), Last: tick(1), Before: tick(0), Source: decide.Misfire}},
			{"taken over", func(f *fixture) { f.takenOver("A", 0, tick(1)) }, decide.Claim{Tick: tick(1), Last: tick(1), Before: tick(1), Source: decide.Failover, Failover: true}},
			{"for a request", func(f *fixture) {
				f.claim("A", 0, tick(0))
				f.put("sharding/0/fired", string(jobtree.EncodeClaim(tick(0), tick(1).Add(time.Millisecond))))
				f.runsFor("A", 0, f.submit(jobtree.RequestDocument{Items: []int{0}, Parameter: "2026-09"}))
			}, decide.Claim{Tick: tick(1).Add(time.Millisecond), Last: tick(0), Before: tick(0), Source: decide.Manual, Request: "000000000001-r0", Parameter: "2026-09"}},
			{"a failover for a request", func(f *fixture) {
				f.takenOver("A", 0, tick(1))
				f.runsFor("A", 0, f.submit(jobtree.RequestDocument{Items: []int{0}, Parameter: "2026-09"}))
			}, decide.Claim{Tick: tick(1), Last: tick(1), Before: tick(1), Source: decide.Failover, Failover: true, Request: "000000000001-r0", Parameter: "2026-09"}},
		} {
			f := given(t)
			base(f)
			c.tree(f)
			change := f.pass("A").Settle(f.work, 0)
			c.want.Since = f.pass("A").Item(0).Fired.Modified
			equalClaims(t, c.name, change.Claims(), []decide.Claim{c.want})
			if change.IsRepair {
				t.Errorf("%s: a claim that begins corrects nothing of others", c.name)
			}
		}
	})
	t.Run("what is removed begins nothing", func(t *testing.T) {
		f := given(t)
		base(f)
		f.put("sharding/0/running", "")
		if change := f.pass("A").Settle(f.work, 0); len(change.Claims()) > 0 || !change.IsRepair {
			t.Errorf("got %+v", change)
		}
	})
	t.Run("conditions", func(t *testing.T) {
		claimed := func(f *fixture) { base(f); f.claim("A", 0, tick(1)) }
		for _, c := range []conflict{
			{"the record goes", func(f *fixture) { f.remove("sharding/0/running") }},
			{"somebody else runs the item", func(f *fixture) { f.remove("sharding/0/running").claim("B", 0, tick(1)) }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, claimed, settles)
		}
	})
	t.Run("conditions of one for a request", func(t *testing.T) {
		claimed := func(f *fixture) {
			base(f)
			f.claim("A", 0, tick(1))
			f.runsFor("A", 0, f.submit(jobtree.RequestDocument{Items: []int{0}}))
		}
		conflict{"it is cancelled", func(f *fixture) { f.cancel(firstRequest) }}.run(t, claimed, settles)
	})
	t.Run("conditions of one for a tick, by a view that shows commits in parts", func(t *testing.T) {
		claimed := func(f *fixture) {
			base(f)
			f.claim("A", 0, tick(1))
			f.submit(jobtree.RequestDocument{Items: []int{0}})
		}
		conflict{"its request shows", func(f *fixture) { f.progress(firstRequest, 0, jobtree.ProgressDocument{Runner: "A"}) }}.run(t, claimed, settles)
	})
	t.Run("conditions of the removal of one that has ended", func(t *testing.T) {
		ended := func(f *fixture) { base(f); f.work.Ended[0] = f.claim("A", 0, tick(1)).Token }
		conflict{"the next one has begun", func(f *fixture) { f.remove("sharding/0/running").claim("A", 0, tick(2)) }}.run(t, ended, settles)
	})
	t.Run("conditions of the removal of an empty one", func(t *testing.T) {
		empty := func(f *fixture) { base(f); f.put("sharding/0/running", "") }
		conflict{"it is written again", func(f *fixture) { f.put("sharding/0/running", "A") }}.run(t, empty, settles)
	})
}

// A claim for a request whose progress the snapshot does not show yet is told from all others.
func TestLacksRequest(t *testing.T) {
	const ofRequest = "2026-01-05T10:00:05.000Z 2026-01-05T10:00:07.000Z"
	for name, tc := range map[string]struct {
		tree func(*fixture)
		want bool
	}{
		"of a tick": {tree: func(f *fixture) { f.claim("A", 0, tick(1)) }},
		"of a request that is not shown": {
			tree: func(f *fixture) { f.put("sharding/0/running", "A").put("sharding/0/fired", ofRequest) }, want: true,
		},
		"of a request that is shown": {
			tree: func(f *fixture) {
				f.put("sharding/0/running", "A").put("sharding/0/fired", ofRequest)
				f.runsFor("A", 0, f.submit(jobtree.RequestDocument{Items: []int{0}}))
			},
		},
		"of a request whose progress names who ran it before": {
			tree: func(f *fixture) {
				f.put("sharding/0/running", "A").put("sharding/0/fired", ofRequest)
				f.progress(f.submit(jobtree.RequestDocument{Items: []int{0}}), 0, jobtree.ProgressDocument{Runner: "C"})
			}, want: true,
		},
		"of a failover": {tree: func(f *fixture) { f.takenOver("A", 0, tick(1)) }},
		"of nothing":    {tree: func(f *fixture) { f.put("sharding/0/running", "A") }},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t)
			f.members("A", "B").leader("B").deal("A", "B", "A")
			tc.tree(f)
			p := f.pass("A")
			if got := p.LacksRequest(0); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// A claim of a tick whose answer was lost is not for the request that another instance ran when it was cut short.
func TestSettleLeavesACutRequest(t *testing.T) {
	f := given(t)
	f.members("A", "B").leader("B").deal("A", "B", "A")
	f.progress(f.submit(jobtree.RequestDocument{Items: []int{0}, Source: "MANUAL"}), 0, jobtree.ProgressDocument{Runner: "C"})
	f.claim("A", 0, tick(1))
	change := f.pass("A").Settle(f.work, 0)
	claims := change.Claims()
	if len(claims) != 1 || claims[0].Request != "" || claims[0].Source == decide.Manual || !claims[0].Tick.Equal(tick(1)) {
		t.Errorf("got %+v", claims)
	}
}

// What was missed before a claim whose answer was lost is not forgotten: only this process knows it.
func TestSettleRecallsWhatWasMissedBefore(t *testing.T) {
	for name, c := range map[string]struct {
		sent decide.Claim
		want time.Time
	}{
		"the same claim":    {decide.Claim{Item: 0, Source: decide.Normal, Tick: tick(3), Last: tick(3), Before: begin}, begin},
		"an earlier one":    {decide.Claim{Item: 0, Source: decide.Normal, Tick: tick(2), Last: tick(2), Before: begin}, tick(2)},
		"that of a request": {decide.Claim{Item: 0, Source: decide.Manual, Tick: tick(3), Last: tick(3), Before: begin}, tick(2)},
	} {
		f := given(t)
		f.members("A").leader("A").own(0, "A")
		f.now = tick(3)
		f.claim("A", 0, tick(3))
		f.work.Unconfirmed[0] = c.sent
		got := settles(f.pass("A"))
		if len(got) != 1 || len(got[0].Claims()) != 1 || !got[0].Claims()[0].Before.Equal(c.want) {
			t.Errorf("%s: got %+v, want %v", name, got, c.want)
		}
	}
}

// A tick that came while an item ran is told of, also if it is only the leftover that is removed.
func TestSettleTellsOfTicksThatPass(t *testing.T) {
	f := given(t, misfireOff)
	f.members("A").leader("A").own(0, "A")
	f.work.Ended[0] = f.claim("A", 0, tick(1)).Token
	f.now = tick(2)
	got := settles(f.pass("A"))
	if len(got) != 1 || got[0].Parts[0].Skips == nil || *got[0].Parts[0].Skips != (decide.Skipped{Tick: tick(2), Reason: decide.WhileRunning}) {
		t.Errorf("got %+v", got)
	}
}
