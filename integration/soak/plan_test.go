package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPlansComeFromSeedAndRound(t *testing.T) {
	names := []string{"w1", "w2", "w3", "w4", "w5"}
	text := func(seed, round uint64) string { return draw(rand.New(rand.NewPCG(seed, round)), names).String() }
	seen := map[string]bool{}
	for round := range uint64(100) {
		once, again := text(7, round), text(7, round)
		if once != again {
			t.Errorf("round %d is %q and then %q", round, once, again)
		}
		seen[once] = true
	}
	if len(seen) < 90 {
		t.Errorf("100 rounds have only %d plans", len(seen))
	}
}

// Over many rounds every kind of fault is drawn, and in one round no worker gets two.
func TestPlansHaveEverything(t *testing.T) {
	names := []string{"w1", "w2", "w3"}
	all := ""
	for round := range uint64(1000) {
		p := draw(rand.New(rand.NewPCG(1, round)), names)
		if len(p.steps) == 0 {
			t.Errorf("round %d has nothing to do", round)
		}
		all += p.String() + "\n"
		for _, name := range names {
			n := 0
			for _, s := range p.steps {
				if strings.HasPrefix(s.what, name+" ") {
					n++
				}
			}
			if n > 1 {
				t.Errorf("round %d does %d things to %s: %s", round, n, name, p)
			}
		}
	}
	for _, what := range []string{
		"killed", "and at once another", "stopped by a signal", "clock is off", "cut off", "black hole", "answers dropped",
		"requests dropped", "slow link", "leaves", "in a hurry", "all workers killed", "member 0 killed", "member 1 stopped",
		"majority lost", "store killed", "no space", "disk of member 2 full", "leader moved", "history dropped",
		"server of", "item 1 of j1 disabled", "items every", "removed", "triggered", "strategy that not all know",
		"error handler that not all know", "clock that jumps by 8760h", "clock that jumps by -20s", "clock that jumps by 17m", "clock that jumps by -1h", "all clocks jump by 8760h", "all clocks jump by -1h", "handlers that hang",
		"store put back by", "replaced by an empty one", "narrow revoked", "fired in the year 9999 of j10", "a leader that is nobody",
	} {
		if !strings.Contains(all, what) {
			t.Errorf("1000 rounds have no %q", what)
		}
	}
}

func TestOptions(t *testing.T) {
	good := options{store: "etcd", workers: 3, round: 1}
	if err := good.validate(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*options){
		func(o *options) { o.store = "redis" },
		func(o *options) { o.workers = 2 },
		func(o *options) { o.workers = 9 },
		func(o *options) { o.round = 0 },
	} {
		bad := good
		change(&bad)
		if bad.validate() == nil {
			t.Errorf("%+v is allowed", bad)
		}
	}
}
