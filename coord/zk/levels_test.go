package zk_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

func viewDepth(t testing.TB, r coord.Registry, path string, depth int) coord.View {
	t.Helper()
	v, err := r.View(t.Context(), path, depth)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

// A view of the upper levels has watches on what it shows, and on no list of children that it
// does not show.
func TestUpperLevelsCostFewWatches(t *testing.T) {
	server := zkserver.Start(t, zkserver.Config{})
	r := dial(t, zk.Config{Servers: []string{server.Addr()}})
	const jobs = 50
	for i := range jobs {
		commit(t, r, coord.Put(fmt.Sprintf("job-%d/config", i), nil), coord.Put(fmt.Sprintf("job-%d/instances/x", i), nil))
	}
	watches := func() int {
		t.Helper()
		n, err := server.Metric(t.Context(), "zk_watch_count")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	v := viewDepth(t, r, "", 1)
	if got := watches(); got != jobs+1 {
		t.Errorf("%d watches, want %d", got, jobs+1)
	}
	commit(t, r, coord.Put("job-0/leader", nil), coord.Put("more/config", nil), coord.DeleteTree("job-1"))
	if got := len(syncView(t, v).Children("")); got != jobs {
		t.Errorf("%d children", got)
	}
	if got := watches(); got != jobs+1 {
		t.Errorf("%d watches after changes, want %d", got, jobs+1)
	}
}

// A node that may not be read is left out, and a fault, only where the view would show it.
func TestUpperLevelsLeaveOutWhatTheyMayNotRead(t *testing.T) {
	r := dial(t, zk.Config{})
	other := dialBare(t, sharedServer(t).Addr(), "other:secret")
	commit(t, r, coord.Put("t/a/x", nil))
	their(t, other, "t/a/theirs")
	v := viewDepth(t, r, "t", 1)
	if err := v.Fault(); err != nil {
		t.Errorf("the fault %v, below what it shows", err)
	}
	their(t, other, "t/theirs")
	awaitFault(t, v, coord.ErrDenied, "1, ", "t/theirs")
	if got := syncView(t, v).Children("t"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("it shows %q", got)
	}
	if err := other.Delete("/"+namespace(t)+"/t/theirs", -1); err != nil {
		t.Fatal(err)
	}
	awaitFault(t, v, nil)
}

// A view of the upper levels knows nothing about what lies deeper, so commits do not take it
// for a proof that nothing is there.
func TestUpperLevelsProveNothingAboutWhatIsDeeper(t *testing.T) {
	r := dial(t, zk.Config{})
	commit(t, r, coord.Put("a/b/c", nil))
	viewDepth(t, r, "", 1)
	for path, lacks := range map[string]bool{"a": false, "a/b/c": false, "a/x": false, "x": true} {
		if got := r.Lacks(path); got != lacks {
			t.Errorf("%s: %v", path, got)
		}
	}
}
