package decide_test

import (
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// What is decided on a snapshot must not be done when the tree has become another one meanwhile.
func TestOvertaken(t *testing.T) {
	skips := func(r *decide.Rules) { r.SkipOverlap = true }
	for name, r := range map[string]struct {
		rules     func(*decide.Rules)
		tree      func(*fixture)
		step      func(pass) []decide.Change
		meanwhile func(*fixture)
	}{
		"take over, and Started is called again": {
			rules: once,
			tree: func(f *fixture) {
				f.fired(1, tick(1)).told(1, nil, 1).put("leader/failover/items/1", string(jobtree.EncodeFired(tick(1))))
			},
			step: takesOver,
			meanwhile: func(f *fixture) {
				f.told(1, func(d *jobtree.GuaranteeDocument) { d.Starter, d.StartBy = "B", tick(1).Add(time.Hour) }, 1)
			},
		},
		"finish and skip a tick, and an earlier finish lands": {
			rules: skips,
			tree: func(f *fixture) {
				f.work.Runs[0] = f.claim("A", 0, tick(1))
				f.now = tick(2).Add(100 * time.Millisecond)
			},
			step:      finishes,
			meanwhile: func(f *fixture) { f.remove("sharding/0/running") },
		},
		"skip a tick that was missed, and misfire is switched on": {
			rules: misfireOff,
			tree: func(f *fixture) {
				f.put("config", "misfire: false")
				f.now = tick(1).Add(2 * time.Second)
			},
			step:      func(p pass) []decide.Change { return p.Skip(p.work) },
			meanwhile: func(f *fixture) { f.put("config", "misfire: true") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t, r.rules)
			f.members("A", "B").deal("A", "B", "B")
			r.tree(f)
			changes := r.step(f.pass("A"))
			if len(changes) != 1 {
				t.Fatalf("%d changes", len(changes))
			}
			r.meanwhile(f)
			if _, err := f.store.Commit(sessionOf("A"), changes[0].Ops...); !errors.Is(err, coord.ErrConflict) {
				t.Errorf("got %v: %v", err, changes[0].Ops)
			}
		})
	}
}
