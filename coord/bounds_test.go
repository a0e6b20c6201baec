package coord_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

// A tree with bounds holds no value that is longer than allowed, and no more of a child than allowed. What is written
// shorter, or when there is room again, is held.
func TestTreeWithBounds(t *testing.T) {
	const longest, most = 1000, 5000
	tree := coord.NewTree(coord.Bounds{Child: most, Value: func(path string) int {
		if strings.HasPrefix(path, "free/") {
			return 1 << 20
		}
		return longest
	}})
	put := func(path string, size int) coord.Node {
		value := bytes.Repeat([]byte("x"), size)
		held := tree.Put(coord.Node{Path: path, Value: value, Version: 1})
		if n, _ := tree.Get(path); !n.Holds(value) || !held.Holds(value) {
			t.Errorf("%s: %d bytes are held as %d, and %d omitted", path, size, len(n.Value), n.Omitted)
		}
		return held
	}
	for _, tc := range []struct {
		path    string
		size    int
		isGone  bool // it is removed
		omitted bool
	}{
		{path: "evil/a", size: longest},
		{path: "evil/b", size: longest + 1, omitted: true},
		{path: "evil/b", size: longest},
		{path: "free/a", size: most},
		{path: "free/b", size: coord.AlwaysHeld + 1, omitted: true},
		{path: "free/c", size: coord.AlwaysHeld},
		{path: "free/a", size: most},
		{path: "other/a", size: longest}, // another child has its own room
		{path: "free/a", isGone: true},
		{path: "free/b", size: most},
		{path: "free/d", size: most, omitted: true},
		{path: "free/b", size: 0},
		{path: "free/d", size: most},
	} {
		if tc.isGone {
			tree.Delete(tc.path)
		} else if n := put(tc.path, tc.size); (n.Omitted > 0) != tc.omitted {
			t.Errorf("%s with %d bytes: %d omitted", tc.path, tc.size, n.Omitted)
		}
	}
	held := map[string]int{}
	for i := range 100 {
		put(fmt.Sprintf("evil/%d", i), longest)
	}
	for n := range tree.Snapshot().All("") {
		child, _, _ := strings.Cut(n.Path, "/")
		held[child] += len(n.Value)
	}
	if held["evil"] != most || held["other"] != longest {
		t.Errorf("bytes held: %v", held)
	}
}

// A change of what is omitted is a change.
func TestDiffOfOmitted(t *testing.T) {
	tree := coord.NewTree(coord.Bounds{Value: func(string) int { return 0 }})
	tree.Put(coord.Node{Path: "a", Value: make([]byte, 1000)})
	before := tree.Snapshot()
	tree.Put(coord.Node{Path: "a", Value: make([]byte, 2000)})
	for n, isThere := range tree.Snapshot().Diff(before) {
		if n.Omitted != 2000 || !isThere {
			t.Errorf("%v %v", n, isThere)
		}
		return
	}
	t.Error("no change")
}
