package etcd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// The list needs several pages. It skips what is below the children, and there are siblings
// whose keys sort between a node and what is below it.
func TestReadsMoreThanAPage(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{Namespace: "shop/jobs"})
	neighbour, _ := dial(t, server, etcd.Config{Namespace: "shop"})
	commit(t, neighbour, coord.Put("jobs!", nil), coord.Put("jobs0", nil))

	written := map[string]bool{}
	write := func(paths ...string) {
		for chunk := range slices.Chunk(paths, coord.MaxOps) {
			var ops []coord.Op
			for _, path := range chunk {
				written[path] = true
				ops = append(ops, coord.Put(path, []byte(path)))
			}
			commit(t, r, ops...)
		}
	}
	var paths []string
	for i := range 2500 {
		paths = append(paths, fmt.Sprintf("flat/%d", i))
	}
	for i := range 40 {
		for j := range 60 {
			paths = append(paths, fmt.Sprintf("deep/%d/%d/x", i, j))
		}
	}
	paths = append(paths, "deep", "deep/7", "deep/7-", "deep/7-/x", "deep/7.y/z", "deep-", "deep!/x", "deep0", "!", "0", "flat/!/x", "flat/1/x")
	write(paths...)

	children := func(parent string) []string {
		names := map[string]bool{}
		for path := range written {
			if rest, ok := strings.CutPrefix(path, parent+"/"); parent == "" || ok {
				if parent == "" {
					rest = path
				}
				name, _, _ := strings.Cut(rest, "/")
				names[name] = true
			}
		}
		var sorted []string
		for name := range names {
			sorted = append(sorted, name)
		}
		slices.Sort(sorted)
		return sorted
	}
	for _, parent := range []string{"", "flat", "deep", "deep/7", "deep/7-", "deep/3", "deep/7.y", "deep!", "deep0"} {
		nodes, err := r.List(within(t), parent)
		if err != nil {
			t.Errorf("list %q: %v", parent, err)
		}
		var names []string
		for _, n := range nodes {
			names = append(names, coord.Base(n.Path))
			if want := n.Path; written[n.Path] != (string(n.Value) == want) || coord.Parent(n.Path) != parent {
				t.Errorf("list %q: got %+v", parent, n)
			}
		}
		if want := children(parent); !slices.Equal(names, want) {
			t.Errorf("list %q: got %d names, want %d: %.200q", parent, len(names), len(want), names)
		}

		snapshot := open(t, r, parent).Snapshot()
		count := 0
		for path := range written {
			if coord.Within(path, parent) {
				count++
				if n, ok := snapshot.Get(path); !ok || string(n.Value) != path {
					t.Errorf("view %q: got %+v, %v for %s", parent, n, ok, path)
				}
			}
		}
		if snapshot.Len() != count {
			t.Errorf("view %q: got %d nodes, want %d", parent, snapshot.Len(), count)
		}
	}
}
