package jobtree_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Of what items do not bound, only so many nodes are read.
func TestGroup(t *testing.T) {
	const some, many = 20_000, 200_000
	for path, want := range map[string]struct {
		group string
		most  int
	}{
		"settle":                                    {"", 0},
		"settle/config":                             {"", 0},
		"settle/faults":                             {"", 0},
		"settle/faults/" + id:                       {"settle/faults", some},
		"settle/instances/" + id:                    {"settle/instances", some},
		"settle/instances/" + id + "/x":             {"settle", some},
		"settle/leader/election/latch/x":            {"settle/leader", some},
		"settle/sharding/99999/instance":            {"", 0},
		"settle/sharding/7/x":                       {"settle/sharding", some},
		"settle/sharding/7/running/x":               {"settle", some},
		"settle/sharding/100000/instance":           {"settle", some},
		"settle/kill/7":                             {"", 0},
		"settle/leader/failover/items/7":            {"", 0},
		"settle/requests/1":                         {"settle/requests", many},
		"settle/requests/1/7":                       {"settle/requests", many},
		"settle/guarantee/2026-05-01T02:00:00.000Z": {"settle/guarantee", many},
		"settle/junk/x/y":                           {"settle", some},
		jobtree.Removals + "/settle":                {jobtree.Removals, many},
		jobtree.Audits + "/1":                       {jobtree.Audits, some},
	} {
		if group, most := jobtree.Group(path); group != want.group || most != want.most {
			t.Errorf("%s: %q, %d, want %q, %d", path, group, most, want.group, want.most)
		}
	}
}

// What is left out is named, whoever has the job in a view or reads it node by node.
func TestNodesThatAreTooMany(t *testing.T) {
	const most, more = 20_000, 7
	tree, reader := coord.NewTree(jobtree.SharedBounds()), jobtree.NewReader("settle")
	for i := range most + more {
		n := coord.Node{Path: fmt.Sprintf("settle/servers/%d", i), Version: 1}
		if reader.Add(n); !tree.Offer(n) {
			tree.LeaveOut(n.Path, 1)
		}
	}
	followed := jobtree.Read(coord.Snapshot{}, "settle")
	if c := followed.Follow(tree.Snapshot(), coord.Snapshot{}, "settle"); !c.Others {
		t.Error("no change")
	}
	want := map[string]int{"settle/servers": more}
	for name, s := range map[string]*jobtree.State{"view": jobtree.Read(tree.Snapshot(), "settle"), "reader": reader.State(), "followed": followed} {
		if len(s.Servers) != most || !maps.Equal(s.LeftOut, want) {
			t.Errorf("%s: %d servers, left out %v", name, len(s.Servers), s.LeftOut)
		}
	}
	before := tree.Snapshot()
	for range more {
		tree.LeaveOut("settle/servers/x", -1)
	}
	if c := followed.Follow(tree.Snapshot(), before, "settle"); !c.Others || len(followed.LeftOut) > 0 {
		t.Errorf("still left out: %v", followed.LeftOut)
	}
}
