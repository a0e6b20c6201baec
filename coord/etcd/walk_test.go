package etcd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// fill puts nodes at and below a, more than two pages of a walk.
func fill(t *testing.T, r coord.Registry) (count int) {
	t.Helper()
	const chunks, each = 60, 100
	commit(t, r, coord.Put("a", []byte("old")))
	for i := range chunks {
		var ops []coord.Op
		for j := range each {
			ops = append(ops, coord.Put(fmt.Sprintf("a/%02d/%02d", i, j), []byte("old")))
		}
		commit(t, r, ops...)
	}
	return 1 + chunks*each
}

// A walk shows the moment at which it began, whatever is written meanwhile.
func TestWalkIsOfOneMoment(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	want := fill(t, r)
	for _, path := range []string{"", "a"} {
		seen := 0
		for n, err := range r.Walk(within(t), path) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == 1 {
				commit(t, r, coord.DeleteTree("a/58"), coord.Put("a/59/99", []byte("new")), coord.Put("a/59/x", []byte("new")), coord.Put("a0", []byte("new")))
			}
			if string(n.Value) != "old" {
				t.Errorf("walk %q: got %+v", path, n)
			}
		}
		if seen != want {
			t.Errorf("walk %q: %d nodes, want %d", path, seen, want)
		}
		commit(t, r, coord.DeleteTree("a"), coord.DeleteTree("a0"))
		fill(t, r)
	}
}

// The store drops the revision in the middle of a walk. Its error says so, and the next walk
// reads what is there now.
func TestWalkOfARevisionThatIsCompacted(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	want := fill(t, r)
	seen, failed := 0, error(nil)
	for n, err := range r.Walk(within(t), "a") {
		if failed != nil {
			t.Errorf("after the error %s comes", n.Path)
		}
		if err != nil {
			failed = err
			continue
		}
		if seen++; seen == 1 {
			revision := commit(t, r, coord.Put("b", nil))
			if _, err := server.Admin().Compact(within(t), revision); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !errors.Is(failed, coord.ErrCompacted) || !strings.Contains(failed.Error(), `walk "a"`) {
		t.Errorf("got the error %v", failed)
	}
	if seen == 0 || seen >= want {
		t.Errorf("%d nodes before the error", seen)
	}
	seen = 0
	for _, err := range r.Walk(within(t), "a") {
		if err != nil {
			t.Fatal(err)
		}
		seen++
	}
	if seen != want {
		t.Errorf("%d nodes, want %d", seen, want)
	}
}
