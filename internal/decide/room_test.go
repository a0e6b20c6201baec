package decide_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func TestPlaceWithRoom(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tree   func(*fixture)
		owners []string
		want   []string
	}{
		{"no bound", func(*fixture) {}, []string{"A", "A", "A"}, []string{"A", "A", "A"}},
		{"the surplus goes to the other", func(f *fixture) { f.reconfigure(atMost(2)) }, []string{"A", "A", "A"}, []string{"A", "A", "B"}},
		{"no room anywhere", func(f *fixture) { f.reconfigure(atMost(1)) }, []string{"A", "A", "A"}, []string{"A", "B", ""}},
		{"what is there stays", func(f *fixture) { f.deal("B", "B", "A").reconfigure(atMost(2)) }, []string{"A", "A", "A"}, []string{"A", "B", "A"}},
		{"what runs stays", func(f *fixture) { f.deal("A", "A", "A").reconfigure(atMost(2)); f.claim("A", 2, tick(1)) }, []string{"A", "A", "A"}, []string{"A", "B", "A"}},
		{"what is pinned there stays", func(f *fixture) {
			f.put("pins/2", "instance: A\n").put("pins/1", "instance: A\n").reconfigure(atMost(1))
		}, []string{"A", "A", "A"}, []string{"B", "A", "A"}},
		{"a pin that matches nobody does not count", func(f *fixture) { f.put("pins/2", "label: gpu\n").reconfigure(atMost(2)) }, []string{"A", "A", "A"}, []string{"A", "A", "B"}},
		{"what runs where it may not stay comes later", func(f *fixture) {
			f.members("C").deal("C", "C").disable("C").reconfigure(atMost(1))
			f.claim("C", 0, tick(1))
			f.claim("C", 1, tick(1))
		}, []string{"A", "A", "A"}, []string{"B", "", "A"}},
		{"what runs keeps its room until it ends", func(f *fixture) {
			f.reconfigure(atMost(1))
			f.deal("A").claim("A", 0, tick(1))
		}, []string{"B", "A", "B"}, []string{"A", "", "B"}},
		{"what runs elsewhere has room there, and at its owner", func(f *fixture) {
			f.reconfigure(atMost(1))
			f.own(2, "B").takenOver("A", 2, tick(1))
		}, []string{"A", "B", "B"}, []string{"", "", "B"}},
		{"more run than may: the last goes", func(f *fixture) {
			f.deal("A", "A").claim("A", 0, tick(1))
			f.claim("A", 1, tick(1))
			f.reconfigure(atMost(1))
		}, []string{"A", "A", "B"}, []string{"A", "", "B"}},
		{"what was cut short comes first", func(f *fixture) {
			f.reconfigure(atMost(1))
			f.deal("gone", "gone", "gone").put("leader/failover/items/2", "")
		}, []string{"A", "A", "A"}, []string{"B", "", "A"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t)
			f.members("A", "B").leader("A")
			tt.tree(f)
			if diff := cmp.Diff(tt.want, f.pass("A").Place(tt.owners)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the strategy answers: nobody has more than it may; nothing moves without need;
// all items are placed as far as there is room; and the answer stays the same when it is in force.
func TestPlaceKeepsToTheRoom(t *testing.T) {
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(1, 6).Draw(t, "room")
		f := given(tb, atMost(room), func(r *decide.Rules) { r.Total = rapid.IntRange(1, 12).Draw(t, "total") })
		ids := []string{"A", "B", "C", "D"}[:rapid.IntRange(1, 4).Draw(t, "instances")]
		f.members(ids...).leader("A")
		before, answer := make([]string, f.rules.Total), make([]string, f.rules.Total)
		for i := range before {
			before[i] = rapid.SampledFrom(append([]string{"", "gone"}, ids...)).Draw(t, "owner")
			answer[i] = rapid.SampledFrom(ids).Draw(t, "answer")
			if before[i] != "" {
				f.own(i, before[i])
			}
		}
		got := f.pass("A").Place(answer)
		has, wanted := map[string]int{}, map[string]int{}
		for i, id := range got {
			has[id]++
			wanted[answer[i]]++
		}
		for _, id := range ids {
			if has[id] > room {
				t.Fatalf("%s has %d, and room for %d: %q", id, has[id], room, got)
			}
		}
		if has[""] != max(f.rules.Total-room*len(ids), 0) {
			t.Fatalf("%d have no owner, with room for %d: %q", has[""], room*len(ids), got)
		}
		for i, id := range got {
			if id != answer[i] && wanted[answer[i]] <= room {
				t.Fatalf("item %d is not where the strategy wants it, although there is room: %q", i, got)
			}
		}
		for i, id := range got {
			if id != "" {
				f.own(i, id)
			} else if before[i] != "" {
				f.remove(fmt.Sprintf("sharding/%d/instance", i))
			}
		}
		if diff := cmp.Diff(got, f.pass("A").Place(answer)); diff != "" {
			t.Fatalf("in force (-before +after):\n%s", diff)
		}
	})
}

// Items that change places wait until there is room, with the one without an owner for whose room another waits.
func TestItemsMoveInTurn(t *testing.T) {
	f := given(t, atMost(1), func(r *decide.Rules) { r.Total = 2 })
	f.members("A", "B").leader("A").deal("A", "B")
	want := []string{"B", "A"}
	for _, changes := range [][]string{
		{"- sharding/0/instance", "- sharding/1/instance"},
		{"+ sharding/0/instance = B", "+ sharding/1/instance = A"},
		nil,
	} {
		if got := f.changes("A", f.pass("A").Assign(want)...); !slices.Equal(got, changes) {
			t.Errorf("%q, want %q", got, changes)
		}
	}
	f.members("C")
	if got := f.changes("A", f.pass("A").Assign([]string{"A", "C"})...); !slices.Equal(got, []string{"+ sharding/1/instance = C"}) {
		t.Errorf("%q: item 0 has nowhere to go, and nobody waits for its room", got)
	}
}

// A deal may have to wait for what runs elsewhere than it belongs.
func TestAwaitsRuns(t *testing.T) {
	f := given(t)
	f.members("A", "B").leader("A").deal("A", "B", "A").claim("A", 0, tick(1))
	for _, tt := range []struct {
		name   string
		tree   func()
		answer []string
		want   bool
	}{
		{"no bound", func() {}, []string{"B", "B", "A"}, false},
		{"it is to go", func() { f.reconfigure(atMost(2)) }, []string{"B", "B", "A"}, true},
		{"it is where it belongs", func() {}, []string{"A", "A", "B"}, false},
		{"it runs elsewhere", func() { f.takenOver("B", 2, tick(1)) }, []string{"A", "B", "A"}, true},
		{"no answer", func() {}, nil, false},
	} {
		if tt.tree(); f.pass("A").AwaitsRunEnds(tt.answer) != tt.want {
			t.Errorf("%s: not %v", tt.name, tt.want)
		}
	}
}

// An instance begins no more items than it may run, and takes over only its own: no room is taken but by Assign.
func TestMayBegin(t *testing.T) {
	f := given(t, atMost(2), func(r *decide.Rules) { r.Total = 5 })
	f.members("A", "B").leader("B").deal("A", "A", "B", "gone", "gone")
	f.put("leader/failover/items/3", "").put("leader/failover/items/4", "")
	may := func(want, taken int) {
		t.Helper()
		p := f.pass("A")
		n := 0
		for _, c := range p.FailOver(f.work, 10) {
			n += len(c.Claims())
		}
		if got := p.ClaimCapacity(f.work, 10); got != want || n != taken {
			t.Errorf("may begin %d, want %d; took over %d, want %d", got, want, n, taken)
		}
	}
	may(2, 0)
	f.remove("sharding/1/instance")
	may(2, 0)
	f.put("sharding/3/instance", "A")
	may(2, 1)
	f.work.Runs[0] = f.claim("A", 0, tick(1))
	may(1, 1)
	f.work.Runs[4] = f.claim("A", 4, tick(1))
	may(0, 0)
	for _, i := range []string{"0", "1", "2"} {
		f.put("sharding/"+i+"/instance", "A").put("pins/"+i, "instance: A\n")
	}
	may(1, 1)
	p := f.pass("A")
	p.UnansweredClaims = 1
	if got := p.ClaimCapacity(f.work, 10); got != 0 {
		t.Errorf("may begin %d beside a claim whose answer was lost", got)
	}
}

// Static sharding keeps no item where there is no room for it.
func TestStaticItemsLeaveWhereThereIsNoRoom(t *testing.T) {
	f := given(t, atMost(2), func(r *decide.Rules) { r.StaticSharding = true })
	f.members("A", "B").leader("A").deal("A", "A", "A")
	p := f.pass("A")
	if got := f.changes("A", p.Assign(p.Place(p.owners()))...); !slices.Equal(got, []string{"+ sharding/1/instance = B"}) { // as AVG_ALLOCATION assigns
		t.Errorf("%q", got)
	}
}

// An item that waits to be run again comes to an instance by Assign, with static sharding too, and is claimed there
// only while that owns it.
func TestItemThatWaitsMovesFirst(t *testing.T) {
	for _, static := range []bool{false, true} {
		f := given(t, atMost(2), func(r *decide.Rules) { r.StaticSharding = static })
		f.members("A", "B").leader("B").deal("A", "gone", "B").put("leader/failover/items/1", "")
		p := f.pass("B")
		if got := f.changes("B", p.Assign(p.Place([]string{"A", "A", "B"}))...); !slices.Equal(got, []string{"+ sharding/1/instance = A"}) {
			t.Errorf("static %v: %q", static, got)
		}
		claims := f.pass("A").FailOver(f.work, 1)
		if len(claims) != 1 {
			t.Fatalf("static %v: %d commits claim it", static, len(claims))
		}
		f.put("sharding/1/instance", "B")
		if _, err := f.store.Commit(sessionOf("A"), claims[0].Ops...); !errors.Is(err, coord.ErrVersion) {
			t.Errorf("static %v: it is claimed when it has moved on: %v", static, err)
		}
	}
}
