package zk_test

import (
	"errors"
	"fmt"
	"testing"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

func awaitFault(t testing.TB, v coord.View, want error, names ...string) {
	t.Helper()
	for {
		changed := v.Changed()
		err := v.Fault()
		if errors.Is(err, want) && (err == nil) == (want == nil) {
			if want != nil {
				wantErr(t, err, want, names...)
			}
			return
		}
		await(t, changed, fmt.Sprintf("the fault of a view to be %v, not %v", want, err))
	}
}

// their makes a node that only another user may read and write.
func their(t testing.TB, other *zookeeper.Conn, path string) {
	t.Helper()
	if _, err := other.Create("/"+namespace(t)+"/"+path, nil, 0, zookeeper.AuthACL(zookeeper.PermAll)); err != nil {
		t.Fatal(err)
	}
}

// If a view may not read a node it lacks that node only.
func TestAViewLeavesOutWhatItMayNotRead(t *testing.T) {
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}})
	other := dialBare(t, sharedServer(t).Addr(), "other:secret")
	commit(t, r, coord.Put("t/a/x", nil), coord.Put("t/b", []byte("1")))
	early := view(t, r, "t")
	if err := early.Fault(); err != nil {
		t.Errorf("fault: %v", err)
	}
	their(t, other, "t/theirs")
	their(t, other, "t/a/theirs")
	syncView(t, early) // it may have seen only one of them so far
	awaitFault(t, early, coord.ErrDenied, "2, ", "t/a/theirs")
	late := view(t, r, "t")
	link.Cut()
	link.Heal()
	// A node that may not be read any more is left out with everything below it.
	if _, err := other.SetACL("/"+namespace(t)+"/t/a", zookeeper.AuthACL(zookeeper.PermAll), -1); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Set("/"+namespace(t)+"/t/a", nil, -1); err != nil {
		t.Fatal(err)
	}
	link.Cut()
	link.Heal()
	for i, v := range []coord.View{early, late} {
		awaitFault(t, v, coord.ErrDenied)
		awaitView(t, v, "that a is gone", func(s coord.Snapshot) bool { return !s.Exists("t/a") })
		commit(t, r, coord.Put("t/b", fmt.Append(nil, "later", i)), coord.Put(fmt.Sprintf("t/c%d/d", i), nil))
		s := syncView(t, v)
		if n, _ := s.Get("t/b"); string(n.Value) != fmt.Sprint("later", i) || !s.Exists(fmt.Sprintf("t/c%d/d", i)) || s.Exists("t/theirs") {
			t.Errorf("the view shows %v", s.Children("t"))
		}
		wantErr(t, v.Fault(), coord.ErrDenied, "2, such as", "t/a")
		if err := v.Err(); err != nil {
			t.Error(err)
		}
	}
	// The view tries it again when its parent's list of children changes.
	if _, err := other.SetACL("/"+namespace(t)+"/t/a", zookeeper.WorldACL(zookeeper.PermAll), -1); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete("/"+namespace(t)+"/t/theirs", -1); err != nil {
		t.Fatal(err)
	}
	if err := other.Delete("/"+namespace(t)+"/t/a/theirs", -1); err != nil {
		t.Fatal(err)
	}
	commit(t, r, coord.Put("t/e", nil))
	for _, v := range []coord.View{early, late} {
		awaitFault(t, v, nil)
		if s := syncView(t, v); !s.Exists("t/a/x") {
			t.Errorf("the view shows %v", s.Children("t/a"))
		}
	}
}

// An open view does not end even if it may not read its root; it shows it again once it may.
func TestAViewWhoseRootMayNotBeReadAnyMore(t *testing.T) {
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}})
	other := dialBare(t, sharedServer(t).Addr(), "other:secret")
	their(t, other, "theirs")
	_, err := r.View(t.Context(), "theirs", coord.AllLevels)
	wantErr(t, err, coord.ErrDenied, "theirs")
	v, whole := view(t, r, "ours"), view(t, r, "")
	wantErr(t, whole.Fault(), coord.ErrDenied, "1, such as theirs")
	their(t, other, "ours")
	link.Cut()
	link.Heal()
	awaitFault(t, v, coord.ErrDenied, "ours")
	wantErr(t, v.Sync(t.Context()), coord.ErrDenied, "ours")
	if err := v.Err(); err != nil {
		t.Error(err)
	}
	if err := other.Delete("/"+namespace(t)+"/ours", -1); err != nil {
		t.Fatal(err)
	}
	commit(t, r, coord.Put("ours/a", nil))
	awaitFault(t, v, nil)
	if !syncView(t, v).Exists("ours/a") {
		t.Error("the view has not come back")
	}
}

// For every kind of op the conflict names the op that is not allowed.
func TestWhichOpIsDenied(t *testing.T) {
	r := dial(t, zk.Config{})
	other := dialBare(t, sharedServer(t).Addr(), "other:secret")
	commit(t, r, coord.Put("t/a/x", nil), coord.Put("mine", nil))
	their(t, other, "t/a/theirs")
	their(t, other, "theirs")
	for _, tc := range []struct {
		name string
		op   coord.Op
	}{
		{"create", coord.Create("theirs/a", nil)},
		{"create with parents", coord.Create("theirs/a/b/c", nil)},
		{"create ephemeral", coord.CreateEphemeral("theirs/a", nil)},
		{"put", coord.Put("theirs", nil)},
		{"set", coord.Set("theirs", nil)},
		{"set at", coord.SetAt("theirs", nil, 0)},
		{"delete tree", coord.DeleteTree("t")},
		{"at version", coord.AtVersion("theirs", 0)},
		{"absent", coord.Absent("theirs/a")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for index, ops := range [][]coord.Op{
				{tc.op},
				{coord.Put("new", nil), tc.op},
				{coord.Put("mine", nil), coord.Exists("mine"), tc.op, coord.Create("new", nil)},
			} {
				_, err := r.Commit(t.Context(), ops...)
				wantErr(t, err, coord.ErrConflict)
				wantErr(t, err, coord.ErrDenied, tc.op.Path)
				wantConflict(t, err, index, coord.ErrDenied)
			}
		})
	}
	if _, err := r.Get(t.Context(), "new"); !errors.Is(err, coord.ErrNoNode) {
		t.Errorf("a part of a refused commit was done: %v", err)
	}
}
