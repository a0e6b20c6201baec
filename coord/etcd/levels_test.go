package etcd_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// What was counted below the lowest level does not count any more after the store was put
// back, also if the view shows the same nodes as before.
func TestUpperLevelsOfAStoreThatIsPutBack(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{SessionTimeout: 30 * time.Second})
	s := session(t, r)
	commit(t, r, coord.Put("job/a", nil), coord.Put("old/a", nil), coord.Put("set", []byte("1")))
	saved := save(t, server)
	v, err := r.View(within(t), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	commit(t, r, coord.Put("job/b", nil), coord.DeleteTree("old"), coord.Put("new/a", nil), coord.Put("set", []byte("2")))
	if got := syncView(t, v).Children(""); !slices.Equal(got, []string{"job", "new", "set"}) {
		t.Errorf("it shows %q", got)
	}
	putBack(t, server, saved)
	restored(t, s)
	if got := syncView(t, v).Children(""); !slices.Equal(got, []string{"job", "old", "set"}) {
		t.Errorf("after the store was put back it shows %q", got)
	}
	if n, _ := v.Snapshot().Get("set"); string(n.Value) != "1" {
		t.Errorf("it shows %+v", n)
	}
	commit(t, r, coord.Delete("job/a"))
	if got := syncView(t, v).Children(""); !slices.Equal(got, []string{"old", "set"}) {
		t.Errorf("without the last node below job it shows %q", got)
	}
}

// Others may remove the key of a node and leave what is below it. It is still a parent then.
func TestUpperLevelsWhenOnlyTheKeyOfAParentIsRemoved(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	commit(t, r, coord.Put("job", []byte("v")), coord.Put("job/a", nil))
	v, err := r.View(within(t), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, err := server.Admin().Delete(within(t), "/test/job"); err != nil {
		t.Fatal(err)
	}
	if n, ok := syncView(t, v).Get("job"); !ok || len(n.Value) != 0 {
		t.Errorf("it shows %+v, %v", n, ok)
	}
	commit(t, r, coord.Delete("job/a"))
	if syncView(t, v).Exists("job") {
		t.Error("it shows a parent of nothing")
	}
}
