package etcd_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// Parents that nobody wrote are no keys, but they are nodes. For them Get returns an empty
// value and the version 0, which SetAt and AtVersion accept.
func TestOperationsOnParentsThatNobodyWrote(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	for _, c := range []struct {
		op   coord.Op
		want error
	}{
		{coord.Exists("p"), nil},
		{coord.Exists("none"), coord.ErrNoNode},
		{coord.Absent("p"), coord.ErrNodeExists},
		{coord.AtVersion("p", 0), nil},
		{coord.AtVersion("p", 1), coord.ErrVersion},
		{coord.AtVersion("none", 0), coord.ErrNoNode},
		{coord.AtVersion("w", 0), coord.ErrVersion},
		{coord.Owned("p"), coord.ErrNotOwner},
		{coord.Delete("p"), coord.ErrNotEmpty},
		{coord.Set("p", []byte("v")), nil},
		{coord.SetAt("p", []byte("v"), 0), nil},
		{coord.SetAt("p", []byte("v"), 1), coord.ErrVersion},
		{coord.SetAt("none", []byte("v"), 0), coord.ErrNoNode},
		{coord.SetAt("none", []byte("v"), -1), coord.ErrNoNode},
		{coord.SetAt("w", []byte("v"), -1), coord.ErrVersion},
		{coord.Put("p", []byte("v")), nil},
	} {
		commit(t, r, coord.DeleteTree("p"))
		commit(t, r, coord.Put("p/c", nil), coord.Put("w", nil))
		_, err := r.Commit(within(t), coord.Put("before", nil), c.op, coord.Exists("p/c"))
		if !errors.Is(err, c.want) {
			t.Errorf("%v: got the error %v, want %v", c.op, err, c.want)
		}
		if conflict := (*coord.ConflictError)(nil); c.want != nil && (!errors.As(err, &conflict) || conflict.Index != 1) {
			t.Errorf("%v: got the error %v, want one that names op 1", c.op, err)
		}
		if n, err := r.Get(within(t), "p"); c.want == nil && (err != nil || string(n.Value) != string(c.op.Value)) {
			t.Errorf("%v: p is %+v, %v", c.op, n, err)
		}
	}
}

// The conflict is that of the first operation that does not hold, also if the reason of a
// later one is easier to find.
func TestFirstConflictIsNamed(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	commit(t, r, coord.Put("a", nil), coord.Put("p/c", nil))
	holds := []coord.Op{coord.Exists("p"), coord.Set("p", nil), coord.Put("a", nil), coord.Absent("none"), coord.DeleteTree("none2")}
	fails := []coord.Op{coord.Exists("none3"), coord.Create("a/b/..c", nil), coord.Owned("none4"), coord.Delete("p"), coord.AtVersion("a", 1)}
	commit(t, r, coord.Put("a/b/..c", nil))
	for i, first := range fails {
		for j, second := range fails {
			if i == j || coord.ValidateCommit(append(holds[2:], first, second)...) != nil {
				continue
			}
			ops := append(append([]coord.Op{}, holds[2:]...), first, coord.Exists("p"), second)
			_, err := r.Commit(within(t), ops...)
			conflict := (*coord.ConflictError)(nil)
			if !errors.As(err, &conflict) || conflict.Index != 3 || conflict.Op.String() != first.String() {
				t.Errorf("%v: got the error %v, want one that names op 3", ops, err)
			}
		}
	}
}

// A commit is always one transaction. A condition on a parent that nobody wrote takes two
// comparisons; if a commit needs too many of them it is refused, and not divided.
func TestCommitIsNeverDivided(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	repeat := func(count int, op func(path string) coord.Op) []coord.Op {
		ops := make([]coord.Op, count)
		for i := range ops {
			ops[i] = op(fmt.Sprintf("p/%d", i))
		}
		return ops
	}
	unwritten := func() {
		commit(t, r, coord.DeleteTree("p"))
		commit(t, r, repeat(coord.MaxOps, func(p string) coord.Op { return coord.Put(p+"/c", nil) })...)
	}
	set := func(p string) coord.Op { return coord.Set(p, []byte("v")) }

	unwritten()
	commit(t, r, repeat(coord.MaxOps, coord.Exists)...)
	revision := commit(t, r, repeat(coord.MaxOps/2, set)...)
	for i := range coord.MaxOps / 2 {
		if n, err := r.Get(within(t), fmt.Sprintf("p/%d", i)); err != nil || n.Modified != revision || string(n.Value) != "v" {
			t.Fatalf("got %+v, %v; all were written at %d", n, err, revision)
		}
	}
	unwritten()
	if _, err := r.Commit(within(t), repeat(coord.MaxOps, set)...); !errors.Is(err, coord.ErrTooLarge) {
		t.Errorf("got the error %v", err)
	}
	if n, err := r.Get(within(t), "p/0"); err != nil || len(n.Value) != 0 {
		t.Errorf("got %+v, %v; nothing was to be written", n, err)
	}
	commit(t, r, repeat(coord.MaxOps/2, coord.DeleteTree)...)
	commit(t, r, repeat(coord.MaxOps/2, coord.Absent)...)
	ephemeral := func(p string) coord.Op { return coord.CreateEphemeral(p, nil) }
	commit(t, r, repeat(coord.MaxOps/2, ephemeral)...)
	commit(t, r, repeat(coord.MaxOps/2, coord.Owned)...)
	commit(t, r, repeat(coord.MaxOps/2, set)...)
	commit(t, r, repeat(coord.MaxOps/2, coord.Delete)...)
}
