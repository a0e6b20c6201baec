package etcd_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// A view holds no more nodes of a group than allowed, and counts the others, whether it reads them or is told of them.
func TestViewOfTooManyNodes(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	bounds := coord.Bounds{Group: func(path string) (string, int) {
		group, _, isBelow := strings.Cut(path, "/")
		if !isBelow || group == "free" {
			return "", 0
		}
		return group, 2
	}}
	open := func(depth int) coord.View {
		v, err := r.View(within(t), "", depth, bounds)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Close)
		return v
	}
	views := map[string]coord.View{"followed": open(coord.AllLevels), "two levels": open(2)}
	check := func(step, want string, left int) {
		t.Helper()
		views["read"], views["two levels read"] = open(coord.AllLevels), open(2)
		for name, v := range views {
			s := syncView(t, v)
			var paths []string
			for n := range s.All("") {
				if _, name, isBelow := strings.Cut(n.Path, "/"); isBelow {
					paths = append(paths, n.Path[:1]+name)
				}
			}
			counts := map[string]int{}
			if left > 0 {
				counts["evil"] = left
			}
			if got := strings.Join(paths, " "); got != want || !maps.Equal(maps.Collect(s.LeftOut()), counts) {
				t.Errorf("%s: %s: %s, left out %v, want %s and %d", step, name, got, maps.Collect(s.LeftOut()), want, left)
			}
		}
	}
	for _, path := range []string{"evil/a", "evil/b", "evil/c", "evil/d", "free/a", "free/b", "free/c", "good/a"} {
		commit(t, r, coord.Put(path, []byte("v")))
	}
	check("created", "ea eb fa fb fc ga", 2)
	commit(t, r, coord.Set("evil/a", []byte("w")), coord.Set("evil/d", []byte("w")), coord.Put("good/b", nil))
	check("set", "ea eb fa fb fc ga gb", 2)
	commit(t, r, coord.Delete("evil/d"), coord.Delete("free/a"))
	check("one that is not held is removed", "ea eb fb fc ga gb", 1)
	commit(t, r, coord.Delete("evil/c"), coord.Delete("evil/a"))
	check("there is room again", "eb fb fc ga gb", 0)
	commit(t, r, coord.Put("evil/e", nil))
	check("and it is taken", "eb ee fb fc ga gb", 0)
}

// A parent at the lowest level counts as a node, and what is below one that is not held is counted.
func TestViewOfTooManyParents(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	v, err := r.View(within(t), "", 1, coord.Bounds{Group: func(string) (string, int) { return "all", 2 }})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for i, step := range []struct {
		op   coord.Op
		want string
		left int
	}{
		{coord.Put("a/1", nil), "a", 0},
		{coord.Put("b/1", nil), "a b", 0},
		{coord.Put("c/1", nil), "a b", 1},
		{coord.Put("c/2", nil), "a b", 2},
		{coord.Put("b/2", nil), "a b", 2},
		{coord.Delete("c/1"), "a b", 1},
		{coord.DeleteTree("b"), "a", 1},
		{coord.Put("d/1", nil), "a d", 1},
	} {
		commit(t, r, step.op)
		s := syncView(t, v)
		var paths []string
		for n := range s.All("") {
			paths = append(paths, n.Path)
		}
		left := 0
		for _, nodes := range s.LeftOut() {
			left += nodes
		}
		if diff := cmp.Diff(strings.Fields(step.want), slices.Sorted(slices.Values(paths))); diff != "" || left != step.left {
			t.Errorf("step %d: %v, left out %d: %s", i, paths, left, diff)
		}
	}
}

// What is read again after the store has dropped the events has the room of what has gone meanwhile.
func TestViewOfOtherNodesThanBefore(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{})
	writer, _ := dial(t, server, etcd.Config{})
	v, err := r.View(within(t), "", coord.AllLevels, coord.Bounds{Group: func(string) (string, int) { return "all", 2 }})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	check := func(step, want string, left int) {
		t.Helper()
		s := syncView(t, v)
		var paths []string
		for n := range s.All("") {
			paths = append(paths, n.Path)
		}
		if got := strings.Join(paths, " "); got != want || maps.Collect(s.LeftOut())["all"] != left {
			t.Errorf("%s: %s, left out %v, want %s and %d", step, got, maps.Collect(s.LeftOut()), want, left)
		}
	}
	commit(t, writer, coord.Put("b", nil), coord.Put("d", nil))
	check("before", "b d", 0)
	links[0].Cut()
	commit(t, writer, coord.Delete("b"), coord.Delete("d"))
	newest := commit(t, writer, coord.Put("a", nil), coord.Put("c", nil), coord.Put("e", nil))
	if _, err := server.Admin().Compact(within(t), newest); err != nil {
		t.Fatal(err)
	}
	links[0].Heal()
	check("after", "a c", 1)
}
