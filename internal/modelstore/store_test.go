package modelstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/modelstore"
)

func commit(t *testing.T, s *modelstore.Store, session coord.SessionID, ops ...coord.Op) {
	t.Helper()
	if _, err := s.Commit(session, ops...); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutASession(t *testing.T) {
	s := modelstore.New()
	commit(t, s, 0, coord.Put("a", nil))
	for _, op := range []coord.Op{coord.CreateEphemeral("e", nil), coord.Owned("a"), coord.Owned("none")} {
		if _, err := s.Commit(0, op); !errors.Is(err, coord.ErrSessionLost) {
			t.Errorf("%v: got %v", op, err)
		}
	}
	s.Expire(0)
	if !s.Snapshot().Exists("a") {
		t.Error("a node without an owner ended with nobody's session")
	}
}

// What is written and removed is told in the order of the ops, in which a tree goes from
// its root on, and not before all of it is done.
func TestWritten(t *testing.T) {
	s := modelstore.New()
	commit(t, s, 1, coord.Put("t", nil), coord.Put("t/a/b", nil), coord.Put("x", []byte("old")))
	commit(t, s, 1, coord.CreateEphemeral("f", nil), coord.CreateEphemeral("e", nil))
	var told []string
	value := func(n *coord.Node) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprintf("%s=%s", n.Path, n.Value)
	}
	s.Written = func(before, after *coord.Node) {
		told = append(told, value(before)+" "+value(after))
		if x, _ := s.Snapshot().Get("x"); string(x.Value) != "new" || s.Snapshot().Exists("t") {
			t.Error("told before it was done")
		}
	}
	commit(t, s, 1, coord.DeleteTree("t"), coord.Put("n", []byte("v")), coord.Set("x", []byte("new")))
	commit(t, s, 1, coord.Exists("x"), coord.DeleteTree("none"))
	_, err := s.Commit(1, coord.Put("y", nil), coord.Exists("none"))
	if !errors.Is(err, coord.ErrNoNode) {
		t.Errorf("got %v", err)
	}
	s.Expire(1)
	want := []string{"t= -", "t/a/b= -", "- n=v", "x=old x=new", "e= -", "f= -"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// A parent that nobody wrote is no node, and goes with the last one below it.
func TestParents(t *testing.T) {
	s := modelstore.New()
	commit(t, s, 0, coord.Put("a/b/c", nil))
	if n, ok := s.Snapshot().Get("a/b"); !ok || n.Modified != 0 || s.Snapshot().Len() != 1 {
		t.Errorf("got %+v, %v, and %d nodes", n, ok, s.Snapshot().Len())
	}
	commit(t, s, 0, coord.Delete("a/b/c"))
	commit(t, s, 0, coord.Absent("a"))
}

// What a stranger has put below an ephemeral node stays when that goes.
func TestPlant(t *testing.T) {
	s := modelstore.New()
	commit(t, s, 1, coord.CreateEphemeral("e", nil))
	for _, value := range []string{"v", "w"} {
		if err := s.Plant("e/x", []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if x, _ := s.Snapshot().Get("e/x"); string(x.Value) != "w" || x.Version != 1 || x.Created >= x.Modified || x.Modified != s.Revision() {
		t.Errorf("got %+v at %d", x, s.Revision())
	}
	if _, err := s.Commit(1, coord.Delete("e")); !errors.Is(err, coord.ErrNotEmpty) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Commit(1, coord.Put("e/y", nil)); !errors.Is(err, coord.ErrInvalidCommit) {
		t.Errorf("a commit puts a node below an ephemeral one: %v", err)
	}
	if err := s.Plant("e//x", nil); !errors.Is(err, coord.ErrInvalidPath) {
		t.Errorf("got %v", err)
	}
	s.Expire(1)
	if n, ok := s.Snapshot().Get("e"); !ok || n.Ephemeral() || !s.Snapshot().Exists("e/x") {
		t.Errorf("got %+v, %v", n, ok)
	}
}

func TestValuesAndSnapshotsStay(t *testing.T) {
	s := modelstore.New()
	value := []byte("v")
	commit(t, s, 0, coord.Put("a", value))
	before := s.Snapshot()
	value[0] = 'w'
	commit(t, s, 0, coord.Put("b", nil))
	if n, _ := before.Get("a"); string(n.Value) != "v" {
		t.Errorf("the caller's buffer changed the value to %q", n.Value)
	}
	if before.Exists("b") {
		t.Error("a snapshot shows what was written later")
	}
}
