package coord

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is put in and taken out, in whatever order, the tree stays balanced, and
// snapshots that were taken in between stay as they were.
func TestTreeStaysBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := NewTree()
		if rapid.Bool().Draw(t, "overflown") {
			tree.edition = 0
		}
		var snapshots []Snapshot
		var texts []string
		ascending, next := rapid.Bool().Draw(t, "ascending"), 0
		for range rapid.IntRange(0, 300).Draw(t, "writes") {
			switch i := rapid.IntRange(0, 60).Draw(t, "path"); {
			case i < 3:
				snapshots = append(snapshots, tree.Snapshot())
				texts = append(texts, text(tree.root))
			case i < 15:
				tree.Delete(fmt.Sprintf("%03d", rapid.IntRange(0, max(60, next)).Draw(t, "delete")))
			default:
				if ascending {
					i, next = next, next+1
				}
				tree.Put(Node{Path: fmt.Sprintf("%03d", i), Version: int64(len(snapshots))})
			}
			if problem := unbalanced(tree.root); problem != "" {
				t.Fatal(problem)
			}
		}
		for i, s := range snapshots {
			if got := text(s.tree); got != texts[i] {
				t.Fatalf("snapshot %d was %s, and is %s", i, texts[i], got)
			}
		}
	})
}

func unbalanced(b *branch) string {
	if b == nil {
		return ""
	}
	left, right := b.left.weight(), b.right.weight()
	if left+right > 3 && (left > maxWeightRatio*right || right > maxWeightRatio*left) {
		return fmt.Sprintf("at %s: %d nodes on the left, and %d on the right", b.node.Path, b.left.len(), b.right.len())
	}
	if b.len() != b.left.len()+b.right.len()+1 {
		return fmt.Sprintf("at %s: the size is %d, with %d and %d", b.node.Path, b.len(), b.left.len(), b.right.len())
	}
	if problem := unbalanced(b.left); problem != "" {
		return problem
	}
	return unbalanced(b.right)
}

func text(b *branch) (s string) {
	b.ascend("", func(n Node) bool { s += fmt.Sprintf("%s:%d ", n.Path, n.Version); return true })
	return s
}

// A branch is one allocation of 96 bytes. One field more would make it 112, for every node of
// every view.
func BenchmarkTree(b *testing.B) {
	for _, nodes := range []int{10, 1_000, 100_000} {
		paths := make([]string, nodes)
		for i := range paths {
			paths[i] = fmt.Sprintf("settle/sharding/%d/instance", i)
		}
		fill := func() *Tree {
			tree := NewTree()
			for _, path := range paths {
				tree.Put(Node{Path: path})
			}
			return tree
		}
		b.Run(fmt.Sprintf("fill-%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fill()
			}
		})
		b.Run(fmt.Sprintf("put-and-snapshot-%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			tree := fill()
			for i := 0; b.Loop(); i++ {
				tree.Put(Node{Path: paths[i*7919%nodes], Version: int64(i)})
				tree.Snapshot()
			}
		})
		b.Run(fmt.Sprintf("get-%d", nodes), func(b *testing.B) {
			s := fill().Snapshot()
			for i := 0; b.Loop(); i++ {
				s.Get(paths[i*7919%nodes])
			}
		})
		b.Run(fmt.Sprintf("diff-%d", nodes), func(b *testing.B) {
			b.ReportAllocs()
			tree := fill()
			before := tree.Snapshot()
			tree.Put(Node{Path: paths[nodes/3], Version: 1})
			now := tree.Snapshot()
			for b.Loop() {
				for range now.Diff(before) {
				}
			}
		})
	}
}
