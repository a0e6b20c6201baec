package footprint_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord/internal/footprint"
)

func TestWhatMayShareARequest(t *testing.T) {
	node := func(path string) footprint.Place { return footprint.Place{Path: path} }
	below := func(path string) footprint.Place { return footprint.Place{Path: path, Below: true} }
	written := func(p footprint.Place) footprint.Place { p.Written = true; return p }
	for _, c := range []struct {
		name string
		a, b footprint.Place
		want bool
	}{
		{"both read a node", node("a"), node("a"), true},
		{"one reads what the other writes", node("a"), written(node("a")), false},
		{"both write a node", written(node("a")), written(node("a")), false},
		{"other nodes", written(node("a/b")), written(node("a/c")), true},
		{"a node and its parent", written(node("a/b")), written(node("a")), true},
		{"both read a tree", below("a"), below("a"), true},
		{"a tree and a node in it, both read", below("a"), node("a/b/c"), true},
		{"a tree is read, a node in it is written", below("a"), written(node("a/b/c")), false},
		{"a tree is removed, a node in it is read", written(below("a")), node("a/b"), false},
		{"a tree is removed, a node in it is written", written(below("a")), written(node("a/b")), false},
		{"a tree does not have its root", written(below("a")), written(node("a")), true},
		{"a tree does not have siblings of its root", written(below("a")), written(node("a-b/c")), true},
		{"a tree does not have names that only begin alike", written(below("a")), written(node("ab")), true},
		{"a tree is removed, the same is read", written(below("a")), below("a"), false},
		{"a tree is removed, a part of it is read", written(below("a")), below("a/b"), false},
		{"a tree is removed, one around it is read", written(below("a/b")), below("a"), false},
		{"the same tree is removed twice", written(below("a")), written(below("a")), false},
		{"trees side by side are removed", written(below("a")), written(below("b")), true},
	} {
		for _, order := range [][2]footprint.Place{{c.a, c.b}, {c.b, c.a}} {
			var s footprint.Set
			s.Add([]footprint.Place{node("z"), order[0], written(below("y"))})
			if got := s.Admits([]footprint.Place{node("x"), order[1]}); got != c.want {
				t.Errorf("%s: %+v after %+v: %t", c.name, order[1], order[0], got)
			}
			s.Clear()
			if !s.Admits([]footprint.Place{order[1]}) {
				t.Errorf("%s: %+v does not fit an empty group", c.name, order[1])
			}
		}
	}
}

// A group admits what each of its members admits, whatever their order.
func TestAGroupAdmitsWhatItsMembersAdmit(t *testing.T) {
	footprints := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) footprint.Place {
		path := rapid.SampledFrom([]string{"a", "b", "a/b", "a-b", "a/b/c", "a/bc", "b/a"}).Draw(t, "path")
		return footprint.Place{path, rapid.Bool().Draw(t, "below"), rapid.Bool().Draw(t, "written")}
	}), 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		var together footprint.Set
		all := true
		candidate := footprints.Draw(t, "candidate")
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			member := footprints.Draw(t, fmt.Sprint("member ", i))
			together.Add(member)
			all = all && !clash(member, candidate)
		}
		if got := together.Admits(candidate); got != all {
			t.Errorf("admits: %t, one by one: %t", got, all)
		}
	})
}

// clash says the same as Set, in the plainest way: by the keys that each may have.
func clash(a, b []footprint.Place) bool {
	has := func(p footprint.Place, path string) bool {
		if p.Below {
			return len(path) > len(p.Path) && path[:len(p.Path)+1] == p.Path+"/"
		}
		return path == p.Path
	}
	// Every key that matters: the paths of the generator and one below each of them.
	for _, root := range []string{"a", "b", "a/b", "a-b", "a/b/c", "a/bc", "b/a"} {
		for _, path := range []string{root, root + "/leaf"} {
			for _, x := range a {
				for _, y := range b {
					if (x.Written || y.Written) && has(x, path) && has(y, path) {
						return true
					}
				}
			}
		}
	}
	return false
}
