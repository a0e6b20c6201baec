package main

import (
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

const (
	idA = "10.0.0.1@-@101-aaaa"
	idB = "10.0.0.1@-@102-bbbb"
	idC = "10.0.0.1@-@103-cccc"
)

// tree is a snapshot of job "count": A leads and has items 0 and 3; B runs item 1; C is
// dead, its run of item 2 waits to be done again.
func tree() coord.Snapshot {
	t := coord.NewTree()
	for path, value := range map[string]string{
		"count/instances/" + idA:              "",
		"count/instances/" + idB:              "",
		"count/leader/election/instance":      idA,
		"count/leader/failover/items/2":       "",
		"count/sharding/0/instance":           idA,
		"count/sharding/1/instance":           idB,
		"count/sharding/1/running":            idB,
		"count/sharding/2/instance":           idC,
		"count/sharding/3/instance":           idA,
		"count/sharding/0/fired":              "2030-01-02T03:04:00.000Z",
		"counter/sharding/0/instance":         idC,
		"count/servers/10.0.0.1":              "ENABLED",
		"count/leader/election/latch/latch-1": "",
	} {
		t.Put(coord.Node{Path: path, Value: []byte(value), Modified: 7})
	}
	return t.Snapshot()
}

func TestPicture(t *testing.T) {
	p := newPicture(tree(), "count", 4)
	if p.leader != idA {
		t.Errorf("leader %q", p.leader)
	}
	for pid, want := range map[int]struct {
		has        bool
		owns, runs []int
	}{
		101: {has: true, owns: []int{0, 3}},
		102: {has: true, owns: []int{1}, runs: []int{1}},
		103: {has: false, owns: []int{2}},
		104: {},
	} {
		if got := p.has(pid); got != want.has {
			t.Errorf("process %d takes part: %v", pid, got)
		}
		if got := p.owns(pid); !slices.Equal(got, want.owns) {
			t.Errorf("process %d owns %v, want %v", pid, got, want.owns)
		}
		if got := p.runs(pid); !slices.Equal(got, want.runs) {
			t.Errorf("process %d runs %v, want %v", pid, got, want.runs)
		}
	}
	for item, want := range []bool{true, false, false, true} {
		if got := p.closed(item); got != want {
			t.Errorf("item %d is closed: %v", item, got)
		}
	}
	if !slices.Equal(p.token, []int64{7, 0, 0, 0}) {
		t.Errorf("tokens %v", p.token)
	}
}

func TestPictureOfNothing(t *testing.T) {
	p := newPicture(coord.Snapshot{}, "count", 2)
	if p.has(0) || p.has(101) || p.leader != "" {
		t.Errorf("picture %+v", p)
	}
}

func TestPIDOf(t *testing.T) {
	for id, want := range map[string]int{
		idA:                   101,
		"fe80::1@-@7-x":       7,
		"10.0.0.1@-@42":       42,
		"10.0.0.1":            0,
		"":                    0,
		"10.0.0.1@-@letter-x": 0,
	} {
		if got := pidOf(id); got != want {
			t.Errorf("process of %q is %d, want %d", id, got, want)
		}
	}
}
