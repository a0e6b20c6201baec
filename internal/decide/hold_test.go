package decide_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Item 1 belongs to B, by the strategy, and is A's. A has run it until half a second ago.
func givenMove(t *testing.T, rules func(*decide.Rules)) *fixture {
	f := given(t, someOf(rules)...).members("A", "B").leader("B").deal("A", "A", "A")
	f.now = tick(2)
	f.work.LastEnded[1] = momentOf(f.now).Add(-500 * time.Millisecond)
	return f
}

func TestYield(t *testing.T) {
	for name, tc := range map[string]struct {
		rules func(*decide.Rules)
		tree  func(*fixture)
		goes  bool // on here
	}{
		"it is left to its next owner":        {},
		"so is what nobody may have":          {tree: func(f *fixture) { f.pin(1, jobtree.PinDocument{Instance: "C", Strict: true}) }},
		"it belongs here":                     {tree: func(f *fixture) { f.pin(1, jobtree.PinDocument{Instance: "A"}) }, goes: true},
		"it has not run here of late":         {tree: func(f *fixture) { f.now = f.now.Add(2500 * time.Millisecond) }, goes: true},
		"it has never run here":               {tree: func(f *fixture) { clear(f.work.LastEnded) }, goes: true},
		"static sharding keeps it":            {rules: func(r *decide.Rules) { r.StaticSharding = true }, goes: true},
		"a JVM leader assigns by other means": {tree: func(f *fixture) { f.remove("leader/election/instance").jvms(jvm).put("leader/election/instance", jvm) }, goes: true},
		"a broadcast job's items never move":  {rules: func(r *decide.Rules) { r.Broadcast = true }, goes: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := givenMove(t, tc.rules)
			if tc.tree != nil {
				tc.tree(f)
			}
			p := f.pass("A")
			if left := p.HoldForRebalance(p.work, 1, p.Place(p.owners())); (left == 0) != tc.goes {
				t.Errorf("left idle for %v", left)
			}
			if left := p.HoldForRebalance(p.work, 1, nil); left != 0 {
				t.Errorf("left idle for %v, although nobody knows where it belongs", left)
			}
		})
	}
}

// What nobody has moved for three seconds goes on here for half a minute, whenever its runs end.
func TestYieldInVain(t *testing.T) {
	f := givenMove(t, nil)
	began := f.now
	yields := func() bool {
		f.work.LastEnded[1] = momentOf(f.now)
		p := f.pass("A")
		return p.HoldForRebalance(p.work, 1, p.owners()) > 0
	}
	for _, tc := range []struct {
		after time.Duration
		want  bool
	}{
		{0, true}, {2999 * time.Millisecond, true}, {3 * time.Second, false}, {29 * time.Second, false}, {30 * time.Second, true}, {32 * time.Second, true}, {33 * time.Second, false},
	} {
		if f.now = began.Add(tc.after); yields() != tc.want {
			t.Errorf("after %v: left idle is %v", tc.after, !tc.want)
		}
	}
	r := f.claim("A", 1, tick(2))
	if f.now = began.Add(40 * time.Second); f.pass("A").Stop(f.work, r, []string{"A", "B", "A"}) != decide.GoOn {
		t.Error("asked to stop for a move that does not come")
	}
	if f.own(1, "B").own(1, "A"); !yields() {
		t.Error("not left idle when it has moved and come back")
	}
}

// An item is not left idle if its tick would be lost by that.
func TestYieldLosesNoTick(t *testing.T) {
	for name, tc := range map[string]struct {
		rules func(*decide.Rules)
		late  time.Duration
		want  bool
	}{
		"it is made up for":        {late: time.Minute, want: true},
		"misfire is off":           {rules: func(r *decide.Rules) { r.Misfire = false }},
		"its time is over by then": {rules: func(r *decide.Rules) { r.Window = 12 * time.Second }, late: 10 * time.Second},
		"it is not over by then":   {rules: func(r *decide.Rules) { r.Window = 12 * time.Second }, late: 8 * time.Second, want: true},
		"its tick comes only now":  {rules: func(r *decide.Rules) { r.Misfire = false }, late: -time.Second, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := givenMove(t, tc.rules)
			f.now = tick(2).Add(tc.late)
			if got := f.pass("A").CanHold(decide.Due{Item: 1, Tick: tick(2)}); got != tc.want {
				t.Errorf("may be left idle: %v", got)
			}
		})
	}
}
