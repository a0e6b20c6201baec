package decide_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// pin says where an item belongs.
func (f *fixture) pin(item int, d jobtree.PinDocument) *fixture {
	f.Helper()
	return f.put(fmt.Sprintf("pins/%d", item), string(jobtree.EncodePin(d)))
}

func atMost(n int) func(*decide.Rules) { return func(r *decide.Rules) { r.MaxItems = n } }

// What becomes of the strategy's answer A, B, C.
func TestPlace(t *testing.T) {
	on := func(item int, d jobtree.PinDocument) func(*fixture) { return func(f *fixture) { f.pin(item, d) } }
	for _, tc := range []struct {
		name  string
		rules func(*decide.Rules)
		tree  func(*fixture)
		want  []string
	}{
		{name: "nothing is pinned", want: []string{"A", "B", "C"}},
		{name: "to an instance", tree: on(0, jobtree.PinDocument{Instance: "C"}), want: []string{"C", "B", "C"}},
		{name: "to an address", tree: on(0, jobtree.PinDocument{Address: "host-B"}), want: []string{"B", "B", "C"}},
		{name: "to a label", tree: on(0, jobtree.PinDocument{Label: "gpu"}), want: []string{"C", "B", "C"}},
		{name: "to where it is anyway", tree: on(2, jobtree.PinDocument{Label: "gpu", Strict: true}), want: []string{"A", "B", "C"}},
		{name: "to nobody", tree: on(0, jobtree.PinDocument{Label: "none"}), want: []string{"A", "B", "C"}},
		{name: "to nobody, strictly", tree: on(0, jobtree.PinDocument{Label: "none", Strict: true}), want: []string{"", "B", "C"}},
		{name: "to an instance that is disabled, strictly", tree: func(f *fixture) { f.pin(0, jobtree.PinDocument{Instance: "C", Strict: true}).disable("C") }, want: []string{"", "B", "C"}},
		{name: "to one of two, and it has another one of them", tree: func(f *fixture) { f.pin(0, jobtree.PinDocument{Label: "big"}).own(0, "C") }, want: []string{"C", "B", "C"}},
		{name: "unreadable", tree: func(f *fixture) { f.put("pins/0", "everywhere") }, want: []string{"A", "B", "C"}},
		{name: "an item that is not there", tree: on(9, jobtree.PinDocument{Label: "gpu"}), want: []string{"A", "B", "C"}},
		{name: "and a limit that is kept", rules: atMost(1), tree: on(0, jobtree.PinDocument{Instance: "C"}), want: []string{"C", "B", "A"}},
		{name: "two to one, and a limit", rules: atMost(1), tree: func(f *fixture) {
			f.pin(0, jobtree.PinDocument{Instance: "C"}).pin(1, jobtree.PinDocument{Instance: "C"})
		}, want: []string{"C", "C", "B"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := given(t, someOf(tc.rules)...).members("A")
			f.labels = []string{"big"}
			f.members("B")
			f.labels = []string{"gpu", "big"}
			f.members("C").deal("A", "B", "C")
			f.remove("sharding/0/instance")
			if tc.tree != nil {
				tc.tree(f)
			}
			answer := []string{"A", "B", "C"}
			if got := f.pass("A").Place(answer); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if !slices.Equal(answer, []string{"A", "B", "C"}) {
				t.Error("the strategy's answer was changed")
			}
		})
	}
	if got := given(t).members("A").pin(0, jobtree.PinDocument{Instance: "A"}).pass("A").Place(nil); got != nil {
		t.Errorf("no answer gives %q", got)
	}
}

// Whatever the strategy says: an item is where it is pinned, an instance has more than it may
// only because of pins, and an item has no owner only if it is pinned or all have enough.
func TestPlaceAnything(t *testing.T) {
	ids := []string{"A", "B", "C", "D"}
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(0, 4).Draw(rt, "at most")
		f := given(t, atMost(most))
		members := ids[:rapid.IntRange(1, 4).Draw(rt, "instances")]
		for n, id := range members {
			f.labels = []string{fmt.Sprint("half", n%2)}
			f.members(id)
		}
		anyone := rapid.SampledFrom(members)
		answer := rapid.SliceOfN(anyone, 1, 12).Draw(rt, "answer")
		pins := map[int]jobtree.PinDocument{}
		for i := range answer {
			if rapid.Bool().Draw(rt, "has an owner") {
				f.own(i, anyone.Draw(rt, "owner"))
			}
			if rapid.IntRange(0, 3).Draw(rt, "pin") == 0 {
				pins[i] = jobtree.PinDocument{Label: rapid.SampledFrom([]string{"half0", "half1", "none"}).Draw(rt, "label"), Strict: rapid.Bool().Draw(rt, "strict")}
				f.pin(i, pins[i])
			}
		}
		p := f.pass("A")
		got := p.Place(answer)
		if len(got) != len(answer) {
			rt.Fatalf("%d owners for %d items", len(got), len(answer))
		}
		has, unpinned := map[string]int{}, map[string]int{}
		for i, owner := range got {
			has[owner]++
			pin, isPinned := pins[i]
			if !isPinned {
				unpinned[owner]++
				continue
			}
			canBe := slices.ContainsFunc(members, func(id string) bool { return pin.Matches(p.Instances[id]) })
			switch {
			case canBe && !pin.Matches(p.Instances[owner]), !canBe && pin.Strict && owner != "":
				rt.Errorf("item %d with %+v is at %q", i, pin, owner)
			}
		}
		for _, id := range members {
			if most > 0 && has[id] > most && unpinned[id] > 0 {
				rt.Errorf("%s has %d items, %d of them not pinned", id, has[id], unpinned[id])
			}
			if unpinned[""] > 0 && (most == 0 || has[id] < most) {
				rt.Errorf("items have no owner, and %s has %d", id, has[id])
			}
		}
		if again := p.Place(answer); !slices.Equal(got, again) {
			rt.Errorf("%q, and then %q", got, again)
		}
	})
}
