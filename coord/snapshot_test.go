package coord_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
)

func TestSnapshotOfAnEmptyTree(t *testing.T) {
	for name, s := range map[string]coord.Snapshot{"zero": {}, "empty": coord.NewTree().Snapshot()} {
		if _, ok := s.Get("a"); ok || s.Exists("") || s.Len() != 0 || s.Children("") != nil {
			t.Errorf("%s: not empty", name)
		}
	}
}

func TestSnapshotSeesUnwrittenParents(t *testing.T) {
	tree := coord.NewTree()
	tree.Put(coord.Node{Path: "a/b/c", Value: []byte("v"), Version: 3})
	s := tree.Snapshot()
	if n, ok := s.Get("a"); !ok || n.Path != "a" || len(n.Value) != 0 {
		t.Errorf("parent: %+v, %v", n, ok)
	}
	if !s.Exists("a/b") || s.Exists("a/bc") {
		t.Error("Exists")
	}
	if s.Len() != 1 {
		t.Error("a parent that nobody wrote is counted")
	}
}

func TestSnapshotDoesNotChange(t *testing.T) {
	tree := coord.NewTree()
	tree.Put(coord.Node{Path: "a", Version: 1})
	before := tree.Snapshot()
	tree.Put(coord.Node{Path: "a", Version: 2})
	tree.Put(coord.Node{Path: "b"})
	if n, _ := before.Get("a"); n.Version != 1 || before.Exists("b") {
		t.Error("a later write shows in an earlier snapshot")
	}
	if !tree.Delete("a") || tree.Delete("a") {
		t.Error("Delete reports whether the node was there")
	}
	if !before.Exists("a") {
		t.Error("a later removal shows in an earlier snapshot")
	}
}

// What Diff yields is checked against a comparison of everything, between snapshots of one
// tree, of different trees, and of parts.
func TestDiffAgreesWithAComparison(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "a-b", "a.b", "ab", "1", "é"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "segments"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		tree, number := coord.NewTree(), int64(0)
		states := []coord.Snapshot{{}}
		for range rapid.IntRange(0, 12).Draw(t, "snapshots") {
			for range rapid.IntRange(0, 20).Draw(t, "writes") {
				number++
				switch p := path.Draw(t, "path"); rapid.IntRange(0, 3).Draw(t, "what") {
				case 0:
					tree.Delete(p)
				case 1: // as it was: no change
					if n, ok := tree.Get(p); ok {
						tree.Put(n)
					}
				default:
					tree.Put(coord.Node{Path: p, Modified: number})
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "anew") == 0 {
				again := coord.NewTree()
				for n := range tree.Snapshot().All("") {
					again.Put(n)
				}
				tree = again
			}
			states = append(states, tree.Snapshot().Sub(rapid.SampledFrom([]string{"", "", "a", "a/a", "1"}).Draw(t, "root")))
		}
		state := rapid.SampledFrom(states)
		now, before := state.Draw(t, "now"), state.Draw(t, "before")
		want := map[string]bool{}
		for n := range now.All("") {
			if old, ok := before.Get(n.Path); !ok || old.Modified != n.Modified {
				want[n.Path] = true
			}
		}
		for n := range before.All("") {
			if there, ok := now.Get(n.Path); !ok || there.Modified == 0 {
				want[n.Path] = false
			}
		}
		got, last := map[string]bool{}, ""
		for n, there := range now.Diff(before) {
			if _, again := got[n.Path]; again {
				t.Fatalf("%q twice", n.Path)
			}
			side := before
			if there {
				side = now
			}
			if known, ok := side.Get(n.Path); !ok || known.Modified != n.Modified {
				t.Fatalf("%+v, and there is %+v", n, known)
			}
			if last != "" && coord.Within(last, n.Path) {
				t.Fatalf("%q before its parent %q", last, n.Path)
			}
			got[n.Path], last = there, n.Path
		}
		if !maps.Equal(got, want) {
			t.Fatalf("Diff yields %v, want %v", got, want)
		}
	})
}

func TestDiffEndsWhenTheLoopDoes(t *testing.T) {
	tree := coord.NewTree()
	for _, path := range []string{"a", "b", "c"} {
		tree.Put(coord.Node{Path: path})
	}
	all := tree.Snapshot()
	for range all.Diff(coord.Snapshot{}) {
		break
	}
	for range (coord.Snapshot{}).Diff(all) {
		break
	}
}

// The tree keeps a subtree as one range. That could go wrong for names that are prefixes
// of each other, and for characters that sort just before and after the slash.
func TestSnapshotAgreesWithAPlainMap(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "a-b", "a.b", "a0", "ab", "1", "10", "😀", "\u00e9"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "segments"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		tree := coord.NewTree()
		model := map[string]coord.Node{}
		for range rapid.IntRange(0, 60).Draw(t, "writes") {
			p := path.Draw(t, "path")
			if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
				delete(model, p)
				tree.Delete(p)
				continue
			}
			n := coord.Node{Path: p, Version: int64(len(model))}
			model[p] = n
			tree.Put(n)
		}
		s := tree.Snapshot()
		if s.Len() != len(model) {
			t.Fatalf("Len %d, want %d", s.Len(), len(model))
		}
		for _, root := range append(slices.Sorted(maps.Keys(model)), "", "a", "a/a", "1") {
			var below, children []string
			for p := range model {
				if !coord.Within(p, root) {
					continue
				}
				below = append(below, p)
				rest := p
				if root != "" {
					rest = strings.TrimPrefix(strings.TrimPrefix(p, root), "/")
				}
				if first, _, _ := strings.Cut(rest, "/"); first != "" {
					children = append(children, first)
				}
			}
			slices.Sort(below)
			slices.Sort(children)
			children = slices.Compact(children)
			var all []string
			seen := map[string]bool{}
			for n := range s.All(root) {
				all = append(all, n.Path)
				seen[n.Path] = true
				if _, written := model[coord.Parent(n.Path)]; written && coord.Within(coord.Parent(n.Path), root) && !seen[coord.Parent(n.Path)] && n.Path != root {
					t.Fatalf("%q before its parent", n.Path)
				}
			}
			slices.Sort(all)
			if !slices.Equal(all, below) {
				t.Fatalf("All(%q) = %q, want %q", root, all, below)
			}
			if got := s.Children(root); !slices.Equal(got, children) {
				t.Fatalf("Children(%q) = %q, want %q", root, got, children)
			}
			if s.Exists(root) != (len(below) > 0) {
				t.Fatalf("Exists(%q)", root)
			}
			// A part agrees with a tree that holds only what is within its root.
			only := coord.NewTree()
			for _, p := range below {
				only.Put(model[p])
			}
			want, part := only.Snapshot(), s.Sub(root)
			if part.Len() != want.Len() {
				t.Fatalf("Sub(%q).Len() = %d, want %d", root, part.Len(), want.Len())
			}
			for _, p := range []string{"", "a", "a/a", "a/b", "1/a", root, coord.Join(root, "a"), coord.Parent(root)} {
				if got, want := part.Children(p), want.Children(p); !slices.Equal(got, want) {
					t.Fatalf("Sub(%q).Children(%q) = %q, want %q", root, p, got, want)
				}
				got, ok := part.Get(p)
				if n, there := want.Get(p); ok != there || got.Path != n.Path || got.Version != n.Version {
					t.Fatalf("Sub(%q).Get(%q) = %+v, %v, want %+v, %v", root, p, got, ok, n, there)
				}
				if a, b := part.Sub(p).Len(), len(slices.Collect(want.All(p))); a != b {
					t.Fatalf("Sub(%q).Sub(%q).Len() = %d, want %d", root, p, a, b)
				}
			}
		}
	})
}
