package decide_test

import (
	"slices"
	"testing"
	"time"
)

// A JVM member of 3.0.6-SNAPSHOT keeps the records of items that have failed. J runs the items 0 and 1; A is the coordinator.
func TestLeftByJVM(t *testing.T) {
	freed := []string{"- sharding/0/running"}
	type moment struct {
		at       time.Duration // after tick 1
		happened func(*fixture)
		want     []string
		wait     time.Duration
	}
	begins := func(items ...int) func(*fixture) {
		return func(f *fixture) {
			for _, i := range items {
				f.begun(jvm, i).fired(i, tick(1))
			}
		}
	}
	ends := func(f *fixture) { f.remove("sharding/1/running") }
	for name, moments := range map[string][]moment{
		"the fire has ended": {
			{0, begins(0, 1), nil, 0},
			{time.Second, ends, nil, 5 * time.Second},
			{5999 * time.Millisecond, nil, nil, time.Millisecond},
			{6 * time.Second, nil, freed, 0},
		},
		"the fire goes on": {
			{0, begins(0, 1), nil, 0},
			{time.Hour, nil, nil, 0},
		},
		"it has ended, and the next one with the item has begun": {
			{0, begins(0, 1), nil, 0},
			{time.Second, ends, nil, 5 * time.Second},
			{2 * time.Second, func(f *fixture) { f.remove("sharding/0/running"); begins(0)(f) }, nil, 0},
			{time.Minute, nil, nil, 0},
		},
		"the item began after the other one had ended": {
			{0, begins(1), nil, 0},
			{time.Second, func(f *fixture) { ends(f); begins(0)(f) }, nil, 0},
			{time.Minute, nil, nil, 0},
		},
		"the next fire without the item has ended": {
			{0, begins(0), nil, 0},
			{time.Second, begins(1), nil, 0},
			{2 * time.Second, ends, nil, 5 * time.Second},
			{7 * time.Second, nil, freed, 0},
		},
		"another member has ended": {
			{0, func(f *fixture) { f.jvms(other).begun(jvm, 0).begun(other, 1).fired(0, tick(1)).fired(1, tick(1)) }, nil, 0},
			{time.Second, ends, nil, 0},
			{time.Minute, nil, nil, 0},
		},
		"it has gone, and is recovered": {
			{0, begins(0, 1), nil, 0},
			{time.Second, ends, nil, 5 * time.Second},
			{2 * time.Second, func(f *fixture) { f.crash(jvm) }, nil, 0},
			{time.Minute, nil, nil, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := given(t, minutely).members("A").jvms(jvm).leader(jvm).deal(jvm, jvm, "A")
			for _, m := range moments {
				if m.happened != nil {
					m.happened(f)
				}
				f.now = tick(1).Add(m.at)
				var got []string
				for _, line := range f.changes("A", witnesses(f.pass("A"))...) {
					if line[0] == '-' {
						got = append(got, line)
					}
				}
				if wait := f.pass("A").JVMRecordWait(); wait != m.wait {
					t.Errorf("after %v: waits for %v, want %v", m.at, wait, m.wait)
				}
				if !slices.Equal(got, m.want) {
					t.Errorf("after %v: got %q, want %q", m.at, got, m.want)
				}
			}
		})
	}
}
