package zk_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// Watches are per node, but a commit shows as a whole, as long as commits do not come faster
// than a view reads.
func TestACommitShowsAtOnce(t *testing.T) {
	r, s := dial(t, zk.Config{}), dial(t, zk.Config{})
	const nodes, commits = 20, 100
	v := view(t, s, "")
	for i := range commits {
		var ops []coord.Op
		for n := range nodes {
			ops = append(ops, coord.Put(fmt.Sprintf("%d/x", n), fmt.Append(nil, i)))
		}
		// Some nodes are created and removed.
		ops = append(ops, coord.Create(fmt.Sprintf("at/%d", i), nil))
		if i > 0 {
			ops = append(ops, coord.Delete(fmt.Sprintf("at/%d", i-1)))
		}
		commit(t, r, ops...)
		awaitView(t, v, fmt.Sprintf("commit %d", i), func(s coord.Snapshot) bool {
			seen := 0
			for n := range nodes {
				if node, _ := s.Get(fmt.Sprintf("%d/x", n)); string(node.Value) == fmt.Sprint(i) {
					seen++
				}
			}
			if s.Exists(fmt.Sprintf("at/%d", i)) {
				seen++
			}
			if i > 0 && !s.Exists(fmt.Sprintf("at/%d", i-1)) {
				seen++
			}
			all := nodes + 1 + min(i, 1)
			if seen != 0 && seen != all {
				t.Fatalf("commit %d shows in part: %d of %d", i, seen, all)
			}
			return seen == all
		})
	}
}

// Watches cannot be removed. When nobody needs too many of them any more, their connection
// is replaced, and views do not notice.
func TestAbandonedWatchesAreGivenBack(t *testing.T) {
	server := zkserver.Start(t, zkserver.Config{})
	r := dial(t, zk.Config{Servers: []string{server.Addr()}})
	r.SetMaxOrphans(200)
	for i := range 20 {
		commit(t, r, coord.Put(fmt.Sprintf("t/%d", i), nil))
	}
	kept := view(t, r, "kept")
	for range 20 {
		v, err := r.View(t.Context(), "t", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		v.Close()
	}
	// 20 views of 21 nodes with two watches each would make 840. But a server counts
	// the watches of one node on one connection once, and in the end there is only one
	// connection.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for watches := math.MaxInt; watches > 100; { // those of a connection go a moment after it
		n, err := server.Metric(ctx, "zk_watch_count")
		if err != nil {
			t.Fatalf("%d watches, %v", watches, err)
		}
		watches = n
	}
	commit(t, r, coord.Put("kept/a", nil))
	if !syncView(t, kept).Exists("kept/a") {
		t.Error("the view that was kept has stopped")
	}
}

// While nobody watches a registry has one connection with one session, and no other.
func TestWatchConnectionIsOpenWhileItIsNeeded(t *testing.T) {
	server := zkserver.Start(t, zkserver.Config{})
	sessions := func(want int) {
		t.Helper()
		for {
			got, err := server.Metric(t.Context(), "zk_global_sessions")
			if err != nil {
				t.Fatal(err)
			}
			if got == want {
				return
			}
			if t.Context().Err() != nil {
				t.Fatalf("%d sessions, want %d", got, want)
			}
		}
	}
	r := dial(t, zk.Config{Servers: []string{server.Addr()}})
	commit(t, r, coord.Put("a", nil))
	sessions(1)
	v, w := view(t, r, ""), view(t, r, "a")
	sessions(2)
	v.Close()
	sessions(2)
	w.Close()
	sessions(1)
	view(t, r, "")
	sessions(2)
}

func TestManyNodes(t *testing.T) {
	patient := zk.Config{RequestTimeout: time.Minute, SessionTimeout: time.Minute} // many nodes on a busy machine
	r, s := dial(t, patient), dial(t, patient)
	v := view(t, s, "")
	const chunks = 15
	for i := range chunks {
		var ops []coord.Op
		for j := range 100 {
			ops = append(ops, coord.Create(fmt.Sprintf("t/%d/%d", i, j), nil))
		}
		commit(t, r, ops...)
	}
	if got, want := syncView(t, v).Len(), 100*chunks+chunks+1; got != want {
		t.Errorf("%d nodes, want %d", got, want)
	}
	for i := range chunks {
		commit(t, r, coord.DeleteTree(fmt.Sprintf("t/%d", i)))
	}
	if got := syncView(t, v).Len(); got != 1 {
		t.Errorf("%d nodes are left", got)
	}
}
