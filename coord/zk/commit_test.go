package zk_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
)

func wantConflict(t testing.TB, err error, index int, reason error) {
	t.Helper()
	var conflict *coord.ConflictError
	if !errors.As(err, &conflict) || conflict.Index != index || conflict.Reason != reason {
		t.Errorf("got %v, want a conflict of op %d: %v", err, index, reason)
	}
}

// ZooKeeper has no condition "absent": the commit creates the node and removes it again.
func TestAbsentLeavesNothing(t *testing.T) {
	r := dial(t, zk.Config{})
	commit(t, r, coord.Put("there", nil), coord.CreateEphemeral("e", nil))
	for _, tc := range []struct {
		name string
		ops  []coord.Op
	}{
		{"below the root", []coord.Op{coord.Absent("x")}},
		{"below missing parents", []coord.Op{coord.Absent("x/y/z")}},
		{"several below one missing parent", []coord.Op{coord.Absent("x/y/z"), coord.Absent("x/y"), coord.Absent("x/w"), coord.Absent("x")}},
		{"below a node", []coord.Op{coord.Absent("there/x")}},
		{"below an ephemeral node", []coord.Op{coord.Absent("e/x"), coord.Absent("e/x/y")}},
		{"with a removal of nothing", []coord.Op{coord.Absent("x/y"), coord.DeleteTree("x/z"), coord.Exists("there")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if revision := commit(t, r, tc.ops...); revision != 0 {
				t.Errorf("revision %d", revision)
			}
			if got := names(t, r, ""); len(got) != 2 {
				t.Errorf("left: %q", got)
			}
			if got := names(t, r, "there"); len(got) != 0 {
				t.Errorf("left: %q", got)
			}
		})
	}
	// The same commit creates the node of the condition, and its parents.
	commit(t, r, coord.Absent("x/y/z"), coord.Create("x/y/z", []byte("v")), coord.Absent("x"), coord.Create("x/w", nil))
	_, err := r.Commit(t.Context(), coord.Put("there", nil), coord.Absent("x/y/z"))
	wantConflict(t, err, 1, coord.ErrNodeExists)
}

// For ZooKeeper -1 means any version, and a version beyond int32 would become another one.
func TestVersionsThatNoNodeHas(t *testing.T) {
	r := dial(t, zk.Config{})
	commit(t, r, coord.Put("a", nil))
	for _, version := range []int64{-1, -2, math.MinInt64, 1 << 32, 1<<32 - 1, math.MaxInt64} {
		_, err := r.Commit(t.Context(), coord.AtVersion("a", version))
		wantConflict(t, err, 0, coord.ErrVersion)
		_, err = r.Commit(t.Context(), coord.SetAt("a", nil, version))
		wantConflict(t, err, 0, coord.ErrVersion)
		_, err = r.Commit(t.Context(), coord.SetAt("b", nil, version))
		wantConflict(t, err, 0, coord.ErrNoNode)
	}
}

// A commit returns its number, and writes all values in one step, also if it only creates
// nodes.
func TestRevisionOfCreations(t *testing.T) {
	r := dial(t, zk.Config{})
	for i, ops := range [][]coord.Op{
		{coord.Create("a", []byte("one"))},
		{coord.Create("b", []byte("longer")), coord.Create("c", []byte("short"))},
		{coord.CreateEphemeral("d", []byte("mine"))},
		{coord.Create("p/q/r", []byte("with parents"))},
		{coord.Create("p/q/s", nil), coord.Delete("a")},
	} {
		revision := commit(t, r, ops...)
		for _, op := range ops {
			if op.Kind == coord.OpDelete {
				continue
			}
			n, err := r.Get(t.Context(), op.Path)
			if err != nil || n.Created != revision || n.Modified != revision || string(n.Value) != string(op.Value) {
				t.Errorf("%d: got %+v, %v; want revision %d", i, n, err, revision)
			}
		}
	}
}

// Commits that need the same missing parents at the same time all succeed.
func TestParentsMadeAtOnce(t *testing.T) {
	var registries []*zk.Registry
	for range 4 {
		registries = append(registries, dial(t, zk.Config{}))
	}
	view(t, registries[0], "") // the registry guesses from what its views show
	const rounds, each = 20, 3
	for round := range rounds {
		var wg sync.WaitGroup
		for i, r := range registries {
			for j := range each {
				wg.Go(func() {
					_, err := r.Commit(t.Context(), coord.Create(fmt.Sprintf("t/%d/x/y/%d-%d", round, i, j), nil), coord.Put(fmt.Sprintf("t/%d/last", round), nil))
					if err != nil {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
		}
		wg.Wait()
		if got := names(t, registries[0], fmt.Sprintf("t/%d/x/y", round)); len(got) != each*len(registries) {
			t.Errorf("round %d: %d children", round, len(got))
		}
	}
}

// A tree that grows while it is removed is removed as a whole, with or without what was
// added, and never in part.
func TestTreeRemovedWhileItGrows(t *testing.T) {
	grower, remover := dial(t, zk.Config{}), dial(t, zk.Config{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 50 {
				commit(t, grower, coord.Put(fmt.Sprintf("t/%d/%d/x", i, j%5), nil), coord.Put(fmt.Sprintf("t/%d/%d/y", i, j%5), nil))
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			commit(t, remover, coord.DeleteTree("t"), coord.Put("removed", nil))
		}
	})
	wg.Wait()
	for _, parent := range names(t, remover, "") {
		if parent != "t" {
			continue
		}
		for _, i := range names(t, remover, "t") {
			for _, j := range names(t, remover, "t/"+i) {
				if got := names(t, remover, "t/"+i+"/"+j); len(got) != 2 {
					t.Errorf("t/%s/%s has %q: a commit was undone in part", i, j, got)
				}
			}
		}
	}
	commit(t, remover, coord.DeleteTree("t"))
	_, err := remover.Get(t.Context(), "t")
	wantErr(t, err, coord.ErrNoNode)
}

// A server closes the connection if a request is too large, and then all requests on it
// fail. So the registry sends no such request.
func TestTooLargeWithAllThatBelongsToIt(t *testing.T) {
	r := dial(t, zk.Config{Namespace: namespace(t) + "/" + strings.Repeat("n", 500)})
	s := session(t, r)

	deep := strings.Repeat("/x", 500)
	var ops []coord.Op
	for i := range 10 {
		ops = append(ops, coord.Create(fmt.Sprint(i)+deep, nil))
	}
	_, err := r.Commit(t.Context(), ops...)
	wantErr(t, err, coord.ErrTooLarge)
	commit(t, r, ops[0])

	const trees = 12
	for i := range trees {
		ops = ops[:0]
		for j := range 100 {
			ops = append(ops, coord.Create(fmt.Sprintf("t/%d/%d%s", i, j, strings.Repeat("n", 450)), nil))
		}
		commit(t, r, ops...)
	}
	_, err = r.Commit(t.Context(), coord.DeleteTree("t"))
	wantErr(t, err, coord.ErrTooLarge)
	for i := range trees {
		commit(t, r, coord.DeleteTree(fmt.Sprintf("t/%d", i)))
	}
	if got := names(t, r, "t"); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
	if state, _ := s.State(); state != coord.Connected || session(t, r).ID() != s.ID() {
		t.Errorf("the session is %v", state)
	}
}

// A tree with too many nodes is refused before all of it is listed, and without a request
// that would cost the connection.
func TestATreeThatIsTooWide(t *testing.T) {
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}})
	commit(t, r, coord.Put("t/wide", nil))
	bare := dialBare(t, sharedServer(t).Addr(), "")
	const nodes = 40_000
	for i := range 5 {
		var ops []any
		for j := range nodes / 5 {
			ops = append(ops, &zookeeper.CreateRequest{
				Path: fmt.Sprintf("/%s/t/wide/%d-%d", namespace(t), i, j), Acl: zookeeper.WorldACL(zookeeper.PermAll),
			})
		}
		if _, err := bare.Multi(ops...); err != nil {
			t.Fatal(err)
		}
	}
	s := session(t, r)
	before, _ := link.Traffic()
	_, err := r.Commit(t.Context(), coord.Put("a", nil), coord.DeleteTree("t"))
	wantErr(t, err, coord.ErrTooLarge, "below t are")
	if after, _ := link.Traffic(); after-before > 10_000 {
		t.Errorf("%d bytes were sent to find out", after-before)
	}
	if state, _ := s.State(); state != coord.Connected || session(t, r).ID() != s.ID() {
		t.Errorf("the session is %v", state)
	}
}

// Whatever somebody else has put below a node or in its place, the conflict names the right
// op.
func TestWhichOpFails(t *testing.T) {
	r, s := dial(t, zk.Config{}), dial(t, zk.Config{})
	commit(t, r, coord.Put("a", nil), coord.Put("t/running", nil), coord.Put("t/b", nil))
	commit(t, s, coord.Put("t/running/theirs", nil), coord.CreateEphemeral("t/e", nil))
	for _, tc := range []struct {
		op   coord.Op
		want error
	}{
		{coord.Delete("t/running"), coord.ErrNotEmpty},
		{coord.Delete("t/none"), coord.ErrNoNode},
		{coord.Create("t/running", nil), coord.ErrNodeExists},
		{coord.CreateEphemeral("t/e", nil), coord.ErrNodeExists},
		{coord.Absent("t/running"), coord.ErrNodeExists},
		{coord.Absent("t"), coord.ErrNodeExists},
		{coord.Owned("t/e"), coord.ErrNotOwner},
		{coord.Owned("t/b"), coord.ErrNotOwner},
		{coord.AtVersion("t/b", 7), coord.ErrVersion},
		{coord.Set("t/none", nil), coord.ErrNoNode},
		{coord.Create("t/e/x", nil), coord.ErrInvalidCommit},
	} {
		t.Run(tc.op.String(), func(t *testing.T) {
			_, err := r.Commit(t.Context(), coord.Put("a", nil), coord.Create("x/y/z", nil), coord.DeleteTree("nothing/there"), tc.op, coord.Exists("a"), coord.Put("t/b", nil))
			wantConflict(t, err, 3, tc.want)
		})
	}
}

func TestBelowAnEphemeralNode(t *testing.T) {
	r := dial(t, zk.Config{})
	commit(t, r, coord.CreateEphemeral("e", nil))
	_, err := r.Commit(t.Context(), coord.Put("a", nil), coord.Create("e/x", nil))
	wantErr(t, err, coord.ErrInvalidCommit, "e/x")
	wantConflict(t, err, 1, coord.ErrInvalidCommit)
	if got := names(t, r, ""); len(got) != 1 {
		t.Errorf("there: %q", got)
	}
}

// JVM members write null for no value, which reads as empty. An empty value of ours is no
// null for them.
func TestValuesOfOtherClients(t *testing.T) {
	r := dial(t, zk.Config{})
	bare := dialBare(t, sharedServer(t).Addr(), "")
	if _, err := bare.Create("/"+namespace(t)+"/null", nil, 0, zookeeper.WorldACL(zookeeper.PermAll)); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Get(t.Context(), "null"); err != nil || len(n.Value) != 0 {
		t.Errorf("got %+v, %v", n, err)
	}
	commit(t, r, coord.Put("a/b", nil))
	commit(t, r, coord.Put("a/b", nil), coord.Create("c", nil))
	for _, path := range []string{"/" + namespace(t) + "/a", "/" + namespace(t) + "/a/b", "/" + namespace(t) + "/c"} {
		if value, _, err := bare.Get(path); err != nil || value == nil {
			t.Errorf("%s: %v, %v; want an empty value", path, value, err)
		}
	}
}

// Somebody may remove everything, also the namespace's own node.
func TestNamespaceRemoved(t *testing.T) {
	r := dial(t, zk.Config{Namespace: namespace(t) + "/jobs"})
	v := view(t, r, "")
	commit(t, r, coord.Put("a", nil))
	bare := dialBare(t, sharedServer(t).Addr(), "")
	for _, path := range []string{"/jobs/a", "/jobs", ""} {
		if err := bare.Delete("/"+namespace(t)+path, -1); err != nil {
			t.Fatal(err)
		}
	}
	if nodes, err := r.List(t.Context(), ""); err != nil || len(nodes) != 0 {
		t.Errorf("got %v, %v", nodes, err)
	}
	awaitView(t, v, "nothing", func(s coord.Snapshot) bool { return s.Len() == 0 })
	commit(t, r, coord.Absent("x"), coord.Put("b/c", nil))
	awaitView(t, v, "what came later", func(s coord.Snapshot) bool { return s.Exists("b/c") && !s.Exists("a") })
}
