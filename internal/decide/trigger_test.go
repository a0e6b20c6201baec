package decide_test

import (
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// ask writes a request for an instance as a stranger may.
func (f *fixture) ask(id string, r jobtree.Request) *fixture {
	f.Helper()
	value, err := jobtree.EncodeRequest(r)
	if err != nil {
		f.Fatal(err)
	}
	return f.put("trigger/"+id, string(value))
}

func TestObey(t *testing.T) {
	obeys := func(p pass) []decide.Change { change, _ := p.Obey(); return one(change) }
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	taken := []string{"- trigger/A"}
	some := jobtree.Request{ID: "1", Items: []int{0, 2}}
	for _, r := range []row{
		{name: "nothing is asked"},
		{name: "somebody else is", tree: func(f *fixture) { f.put("trigger/B", "") }},
		{name: "all items", tree: func(f *fixture) { f.put("trigger/A", "") }, want: taken},
		{name: "some items", tree: func(f *fixture) { f.ask("A", some) }, want: taken},
		{name: "nonsense", tree: func(f *fixture) { f.put("trigger/A", "items: all") }, want: taken},
		{name: "with a disabled server", tree: func(f *fixture) { f.put("trigger/A", "").disable("A") }, want: taken},
	} {
		r.run(t, base, obeys)
	}
	t.Run("conditions", func(t *testing.T) {
		asked := func(f *fixture) { base(f); f.put("trigger/A", "") }
		for _, c := range []conflict{
			{"more is asked", func(f *fixture) { f.put("trigger/A", "") }},
			{"it was taken, and no answer came", func(f *fixture) { f.remove("trigger/A") }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, asked, obeys)
		}
	})
	t.Run("what is taken", func(t *testing.T) {
		f := given(t)
		base(f)
		_, taken := f.ask("A", some).pass("A").Obey()
		if diff := gocmp.Diff(some, taken.Request); diff != "" || taken.Instance != "A" {
			t.Errorf("of %s (-want +got):\n%s", taken.Instance, diff)
		}
	})
}

func TestRequested(t *testing.T) {
	f := given(t).members("A", "B").deal("A", "B", "A", "A")
	for _, c := range []struct {
		of          string
		items, want []int
	}{
		{"A", nil, []int{0, 2}},           // item 3 is beyond the total
		{"A", []int{2, 1}, []int{2, 1}},   // those of others are passed on
		{"A", []int{3, 17}, []int{3, 17}}, // those that are no more are let go later
		{"B", nil, []int{1}},              // what another one was asked to do
	} {
		if got := f.pass("A").Requested(c.of, jobtree.Request{Items: c.items}); !slices.Equal(got, c.want) {
			t.Errorf("%v of %s: got %v, want %v", c.items, c.of, got, c.want)
		}
	}
}

func TestPassOn(t *testing.T) {
	passesOn := func(p pass) []decide.Change { return must(p.PassOn("B", []int{1}, decide.Pending{Parameter: "x"})) }
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	for _, r := range []row{
		{name: "to its owner", want: []string{"+ trigger/B = items: [1]\nparameter: \"x\"\n"}},
		{name: "to what waits there", tree: func(f *fixture) { f.put("trigger/B", "request: r\nitems: [4]\nparameter: y\n") }, want: []string{"+ trigger/B = items: [1, 4]\nparameter: \"x\"\n"}},
		{name: "its owner has gone", tree: func(f *fixture) { f.crash("B") }},
		{name: "its owner leaves", tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.remove("instances/B") }},
		{name: "its owner was disabled", tree: func(f *fixture) { f.disable("B") }},
	} {
		r.run(t, base, passesOn)
	}
	for _, c := range []conflict{
		{"its owner leaves", func(f *fixture) { f.remove("instances/B") }},
		{"somebody else asks", func(f *fixture) { f.put("trigger/B", "") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, passesOn)
	}
}

func TestBeginTriggered(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "A").fired(0, tick(1))
		f.now = tick(1).Add(1234 * time.Millisecond)
	}
	all := map[int]decide.Pending{0: {Parameter: "x"}, 1: {}, 2: {}, 7: {}}
	begins := func(p pass) []decide.Change { return p.BeginTriggered(p.work, all, p.free) }
	const at = "2026-01-05T10:00:06.234Z"
	zero := []string{"+ sharding/0/fired = 2026-01-05T10:00:05.000Z " + at, "+ sharding/0/running = A"}
	two := []string{"+ sharding/2/fired = 2026-01-05T10:00:00.000Z " + at, "+ sharding/2/running = A"}
	both := slices.Concat(zero, two)
	for _, r := range []row{
		{name: "its items, whatever their ticks", want: both},
		{name: "one that runs waits", tree: func(f *fixture) { f.claim("A", 2, tick(1)) }, want: zero},
		{name: "one that has not returned waits", tree: func(f *fixture) { f.work.Runs[0] = &decide.Run{} }, want: two},
		{name: "one thread", tree: func(f *fixture) { f.free = 1 }, want: zero},
		{name: "no thread", tree: func(f *fixture) { f.free = 0 }},
		{name: "a thread that the first does not need", tree: func(f *fixture) { f.free = 1; f.put("sharding/0/disabled", "") }, want: two},
		{name: "a disabled one", tree: func(f *fixture) { f.put("sharding/2/disabled", "") }, want: zero},
		{name: "a disabled server", tree: func(f *fixture) { f.disable("A") }},
		{name: "on the way out", tree: func(f *fixture) { f.leaving = true }},
		{name: "without records", rules: unrecorded},
		{
			name: "an item without a record of ticks",
			tree: func(f *fixture) { f.remove("sharding/2/fired") },
			want: append(slices.Clone(zero), "+ sharding/2/fired =  "+at, two[1]),
		},
		{
			name:  "without a schedule",
			rules: func(r *decide.Rules) { r.Cron = "" },
			want:  both,
		},
		{
			name: "its flag goes: what was missed is begun with it",
			tree: func(f *fixture) { f.put("sharding/0/misfire", "") },
			want: slices.Concat(zero[:1], []string{"- sharding/0/misfire"}, zero[1:], two),
		},
	} {
		r.run(t, base, begins)
	}
	for _, c := range []conflict{
		{"the item is given to somebody else", func(f *fixture) { f.own(0, "B") }},
		{"it begins to run", func(f *fixture) { f.put("sharding/0/running", "B") }},
		{"it ran", func(f *fixture) { f.claim("B", 0, tick(1)); f.remove("sharding/0/running") }},
		{"there are fewer items", func(f *fixture) { f.configure(oneItem) }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, begins)
	}
	t.Run("what begins", func(t *testing.T) {
		f := given(t)
		base(f)
		changes := begins(f.pass("A"))
		if len(changes) != 1 {
			t.Fatalf("got %+v", changes)
		}
		equalClaims(t, "triggered", claimsOf(changes), []decide.Claim{
			{Item: 0, Source: decide.Manual, Tick: f.now, Last: tick(1), Before: tick(1), Parameter: "x"},
			{Item: 2, Source: decide.Manual, Tick: f.now, Last: tick(0), Before: tick(0)},
		})
	})
	t.Run("one item was triggered", func(t *testing.T) {
		f := given(t)
		base(f)
		p := f.pass("A")
		claims := claimsOf(p.BeginTriggered(p.work, map[int]decide.Pending{2: {}}, p.free))
		if len(claims) != 1 || claims[0].Item != 2 {
			t.Errorf("got %+v", claims)
		}
	})
	t.Run("a tick is due all the same", func(t *testing.T) {
		f := given(t)
		base(f)
		f.now = tick(2).Add(-time.Second)
		f.changes("A", begins(f.pass("A"))...)
		f.remove("sharding/0/running", "sharding/2/running")
		f.now = tick(2)
		var items []int
		for _, claim := range claimsOf(fires(f.pass("A"))) {
			items = append(items, claim.Item)
		}
		if slices.Sort(items); !slices.Equal(items, []int{0, 2}) {
			t.Errorf("items %v begin", items)
		}
	})
	t.Run("nothing was triggered", func(t *testing.T) {
		p := given(t).members("A").deal("A").pass("A")
		if changes := p.BeginTriggered(p.work, nil, p.free); changes != nil {
			t.Errorf("got %v", changes)
		}
	})
}

// TestAsk: a request joins the one that waits, so that none of them is lost.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name    string
		waiting func(*fixture)
		r, want jobtree.Request
	}{
		{"nothing waits", nil, jobtree.Request{ID: "2", Items: []int{1}, Parameter: "y"}, jobtree.Request{ID: "2", Items: []int{1}, Parameter: "y"}},
		{
			"some items, and all wait", func(f *fixture) { f.ask("A", jobtree.Request{ID: "1"}) },
			jobtree.Request{ID: "2", Items: []int{1}}, jobtree.Request{ID: "2"},
		},
		{
			"all items, and some wait", func(f *fixture) { f.ask("A", jobtree.Request{ID: "1", Items: []int{1}}) },
			jobtree.Request{ID: "2"}, jobtree.Request{ID: "2"},
		},
		{
			"some items each", func(f *fixture) { f.ask("A", jobtree.Request{Items: []int{3, 1}}) },
			jobtree.Request{Items: []int{1, 0}}, jobtree.Request{Items: []int{0, 1, 3}},
		},
		{
			"a parameter each", func(f *fixture) { f.ask("A", jobtree.Request{Parameter: "x"}) },
			jobtree.Request{Parameter: "y"}, jobtree.Request{Parameter: "y"},
		},
		{
			"a parameter that waits", func(f *fixture) { f.ask("A", jobtree.Request{Parameter: "x"}) },
			jobtree.Request{}, jobtree.Request{Parameter: "x"},
		},
		{
			"joined to what waits", func(f *fixture) { f.put("trigger/A", "request: old\nitems: [0]\nparameter: x\n") },
			jobtree.Request{ID: "new", Items: []int{2}}, jobtree.Request{ID: "new", Items: []int{0, 2}, Parameter: "x"},
		},
		{
			"what waits is for all", func(f *fixture) { f.put("trigger/A", "") },
			jobtree.Request{ID: "new", Items: []int{2}}, jobtree.Request{ID: "new"},
		},
		{
			"what waits cannot be read", func(f *fixture) { f.put("trigger/A", "items: all") },
			jobtree.Request{ID: "new", Items: []int{2}}, jobtree.Request{ID: "new", Items: []int{2}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t).members("A")
			if c.waiting != nil {
				c.waiting(f)
			}
			ops, err := decide.Ask(f.pass("A").State, f.job, "A", c.r)
			if err != nil {
				t.Fatal(err)
			}
			trigger := f.must(0, ops...).pass("A").Triggers["A"]
			if diff := gocmp.Diff(c.want, trigger.Request, cmpopts.EquateEmpty()); diff != "" || trigger.Err != nil {
				t.Errorf("%v (-want +got):\n%s", trigger.Err, diff)
			}
			if _, err := f.remove("instances/A").store.Commit(0, ops...); err == nil {
				t.Error("one that has gone is asked")
			}
		})
	}
}
