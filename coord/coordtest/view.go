package coordtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

func viewCases() []testCase {
	return []testCase{
		{"view: begins with what is there", viewBegins},
		{"view: shows its own subtree only", viewOwnSubtree},
		{"view: of a node that comes and goes", viewOfNothing},
		{"view: follows every kind of change", viewFollows},
		{"view: follows the removal of a large tree", viewLargeRemoval},
		{"view: shows ephemeral nodes, their owner, and their end", viewEphemeral},
		{"view: agrees with Get on every field", viewAgreesWithGet},
		{"view: Sync shows what anybody committed before", viewSync},
		{"view: commits are never seen out of order", viewInOrder},
		{"view: Changed is an edge", viewChanged},
		{"view: Changed wakes all who wait", viewWakesAll},
		{"view: nothing changed, nobody woken", viewQuiet},
		{"view: snapshots do not change", viewImmutable},
		{"view: Diff tells what changed between snapshots", viewDiff},
		{"view: many in one registry", viewMany},
		{"view: with bounds", viewBounds},
		{"view: closed", viewClosed},
		{"view: a storm from 8 writers", viewStorm},
		{"view: nodes that come back while they are read", viewRecreated},
	}
}

func viewBegins(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a/b", []byte("1")), coord.Put("a/c/d", []byte("2")))
	v := s.view("a")
	snapshot := v.Snapshot()
	e.wantEqual(snapshot, r.load("a"))
	if got := snapshot.Children("a"); !slices.Equal(got, []string{"b", "c"}) {
		e.Errorf("children %q", got)
	}
	if err := v.Err(); err != nil {
		e.Errorf("Err: %v", err)
	}
}

func viewOwnSubtree(e *env) {
	r, s := e.dial(), e.dial()
	paths := []string{"a", "a/1", "a/1/x", "a/10", "a/10/x", "a/1-", "a1", "b"}
	for _, path := range paths {
		r.commit(coord.Put(path, nil))
	}
	v, all := s.view("a/1"), s.view("")
	r.commit(coord.Put("a/1/y", nil), coord.Put("a/10/y", nil), coord.Put("c", nil), coord.Put("a/1-/y", nil))
	e.sync(v)
	e.sync(all)
	var got []string
	for n := range v.Snapshot().All("") {
		got = append(got, n.Path)
	}
	if want := []string{"a/1", "a/1/x", "a/1/y"}; !slices.Equal(got, want) {
		e.Errorf("got %q, want %q", got, want)
	}
	if !all.Snapshot().Exists("a/10/y") || !all.Snapshot().Exists("c") {
		e.Error("the view of everything lacks something")
	}
}

func viewOfNothing(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("a/b")
	if v.Snapshot().Len() != 0 {
		e.Error("not empty")
	}
	for range 3 {
		r.commit(coord.Put("a/b/c", nil))
		e.await(v, "the node to come", has("a/b/c"))
		r.commit(coord.DeleteTree("a"))
		e.await(v, "the node to go", lacks("a/b"))
	}
	r.commit(coord.Put("a/b", []byte("v")))
	e.await(v, "the root itself", hasValue("a/b", "v"))
}

func viewFollows(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("a")
	for i, step := range []struct {
		op    coord.Op
		shown func(coord.Snapshot) bool
	}{
		{coord.Create("a/b", []byte("1")), hasValue("a/b", "1")},
		{coord.Set("a/b", []byte("2")), hasValue("a/b", "2")},
		{coord.Put("a/b", []byte("3")), hasValue("a/b", "3")},
		{coord.Put("a/b/c", []byte("4")), hasValue("a/b/c", "4")},
		{coord.Put("a", []byte("5")), hasValue("a", "5")},
		{coord.CreateEphemeral("a/e", []byte("6")), hasValue("a/e", "6")},
		{coord.Delete("a/e"), lacks("a/e")},
		{coord.Create("a/e", []byte("7")), hasValue("a/e", "7")},
		{coord.DeleteTree("a/b"), lacks("a/b")},
		{coord.Put("a/b/c/d", []byte("8")), hasValue("a/b/c/d", "8")},
		{coord.DeleteTree("a"), lacks("a")},
		{coord.Put("a/b/c/d", []byte("9")), hasValue("a/b/c/d", "9")},
	} {
		r.commit(step.op)
		e.await(v, fmt.Sprintf("step %d (%s)", i, step.op), step.shown)
	}
}

func viewLargeRemoval(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("")
	for i := range 3 {
		r.fill(fmt.Sprintf("t/%d", i), 100)
	}
	r.commit(coord.Put("keep", nil))
	e.sync(v)
	if got := len(v.Snapshot().Children("t/1")); got != 100 {
		e.Errorf("%d children", got)
	}
	r.commit(coord.DeleteTree("t"))
	e.sync(v)
	e.wantEqual(v.Snapshot(), r.load(""))
}

func viewEphemeral(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("")
	r.commit(coord.CreateEphemeral("a/1", nil), coord.CreateEphemeral("a/2", nil), coord.Put("a/3", nil))
	e.sync(v)
	id := r.session().ID()
	for path, owner := range map[string]coord.SessionID{"a/1": id, "a/2": id, "a/3": 0} {
		if n, ok := v.Snapshot().Get(path); !ok || n.Owner != owner {
			e.Errorf("%s: got %+v, want the owner %d", path, n, owner)
		}
	}
	r.shut()
	final := e.await(v, "the ephemeral nodes to go", func(s coord.Snapshot) bool { return !s.Exists("a/1") && !s.Exists("a/2") })
	if !final.Exists("a/3") {
		e.Error("the persistent node went with the session")
	}
}

func viewAgreesWithGet(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("")
	r.commit(coord.Put("a", []byte("1")), coord.CreateEphemeral("b", []byte("2")))
	r.commit(coord.Set("a", []byte("3")))
	r.commit(coord.Set("a", []byte("4")), coord.Set("b", nil))
	e.sync(v)
	for _, path := range []string{"a", "b"} {
		got, _ := v.Snapshot().Get(path)
		want := s.get(path)
		if got.Version != want.Version || got.Created != want.Created || got.Modified != want.Modified || got.Owner != want.Owner || string(got.Value) != string(want.Value) {
			e.Errorf("the view has %+v, Get %+v", got, want)
		}
	}
	n, _ := v.Snapshot().Get("a")
	r.commit(coord.SetAt("a", nil, n.Version)) // a version that a view shows can be a condition
}

func viewSync(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("a")
	for i := range 30 {
		by := r
		if i%3 == 0 {
			by = s
		}
		path := fmt.Sprintf("a/%d/x", i)
		by.commit(coord.Put(path, nil), coord.Put("a", fmt.Append(nil, i)))
		e.sync(v)
		n, _ := v.Snapshot().Get("a")
		if string(n.Value) != fmt.Sprint(i) || !v.Snapshot().Exists(path) {
			e.Fatalf("round %d: Sync has returned, and the view shows %s", i, describe(v.Snapshot()))
		}
	}
}

// viewInOrder writes one node after another, always in the same order. The view may skip
// states, but it never shows a node without those that were written before it.
func viewInOrder(e *env) {
	const rounds = 100
	nodes := []string{"z/1", "a/2", "m", "a/1/x", "b"}
	r, s := e.dial(), e.dial()
	v := s.view("")
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; i <= rounds; i++ {
			for _, path := range nodes {
				if _, err := r.Commit(e.ctx, coord.Put(path, fmt.Append(nil, i))); err != nil {
					e.Error(err)
					return
				}
			}
		}
	})
	number := func(s coord.Snapshot, path string) int {
		n, _ := s.Get(path)
		i, _ := strconv.Atoi(string(n.Value))
		return i
	}
	states := 0
	e.await(v, "the last round", func(s coord.Snapshot) bool {
		states++
		for i, path := range nodes[1:] {
			if before := nodes[i]; number(s, path) > number(s, before) {
				e.Errorf("%s of round %d, and %s of round %d", path, number(s, path), before, number(s, before))
			}
		}
		return number(s, nodes[len(nodes)-1]) == rounds
	})
	writer.Wait()
	e.Logf("%d states looked at of %d commits", states, rounds*len(nodes))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func viewChanged(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("")
	e.sync(v)
	for i := range 20 {
		changed := v.Changed()
		before := v.Snapshot()
		r.commit(coord.Put("a", fmt.Append(nil, i)))
		e.sync(v)
		if n, _ := v.Snapshot().Get("a"); string(n.Value) != fmt.Sprint(i) {
			e.Fatalf("round %d: the view shows %q", i, n.Value)
		}
		if n, _ := before.Get("a"); string(n.Value) == fmt.Sprint(i) {
			e.Fatalf("round %d: the earlier snapshot shows it too", i)
		}
		select {
		case <-changed:
		case <-e.ctx.Done():
			e.Fatalf("round %d: changed, and nobody was told", i)
		}
	}
}

func viewWakesAll(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("")
	const sleepers = 10
	var ready, woken sync.WaitGroup
	ready.Add(sleepers)
	for range sleepers {
		woken.Go(func() {
			changed := v.Changed()
			ready.Done()
			select {
			case <-changed:
			case <-e.ctx.Done():
				e.Error("not woken")
			}
		})
	}
	ready.Wait()
	r.commit(coord.Put("a", nil))
	woken.Wait()
}

func viewQuiet(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a/b", nil))
	v := s.view("a")
	e.sync(v)
	changed := v.Changed()
	r.commit(coord.Put("b", nil), coord.Put("ab", nil))
	if _, err := r.Commit(e.ctx, coord.Put("a/b", nil), coord.Exists("none")); err == nil {
		e.Error("a commit went through that should not")
	}
	e.sync(v)
	e.sync(v)
	if isClosed(changed) {
		e.Error("told of a change, but there was none")
	}
}

// viewBounds: a view with bounds shows all nodes, and their values or how long these are.
func viewBounds(e *env) {
	r, s := e.dial(), e.dial()
	values := map[string][]byte{"a/short": []byte("v"), "a/long": make([]byte, 3000), "a/new": make([]byte, 4000), "b/long": make([]byte, 2000)}
	check := func(v coord.View) {
		e.Helper()
		e.sync(v)
		for path, value := range values {
			if n, isThere := v.Snapshot().Get(path); !isThere || !n.Holds(value) {
				e.Errorf("%s with %d bytes: there %v, %d held, %d omitted", path, len(value), isThere, len(n.Value), n.Omitted)
			}
		}
	}
	for path, value := range values {
		r.commit(coord.Put(path, value))
	}
	v, err := s.View(e.ctx, "", coord.AllLevels, coord.Bounds{Child: 3500, Value: func(path string) int { return 3000 }})
	if err != nil {
		e.Fatalf("view: %v", err)
	}
	defer v.Close()
	check(v)
	changed := v.Changed()
	values["a/new"] = make([]byte, 5000)
	r.commit(coord.Put("a/new", values["a/new"]))
	check(v)
	if !isClosed(changed) {
		e.Error("nothing tells of a change of what is left out")
	}
	values["a/new"] = []byte("w")
	r.commit(coord.Put("a/new", values["a/new"]), coord.Delete("a/long"))
	delete(values, "a/long")
	check(v)
}

func viewImmutable(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a/1", []byte("old")), coord.Put("a/2", []byte("old")))
	v := s.view("")
	old := v.Snapshot()
	r.commit(coord.Set("a/1", []byte("new")), coord.Delete("a/2"), coord.Put("a/3", nil))
	e.sync(v)
	if n, _ := old.Get("a/1"); string(n.Value) != "old" || !old.Exists("a/2") || old.Exists("a/3") {
		e.Errorf("the old snapshot shows %s", describe(old))
	}
	if n, _ := v.Snapshot().Get("a/1"); string(n.Value) != "new" || v.Snapshot().Exists("a/2") || !v.Snapshot().Exists("a/3") {
		e.Errorf("the new snapshot shows %s", describe(v.Snapshot()))
	}
}

// viewDiff keeps a copy of a view by what Diff tells, and compares it with the view each time.
func viewDiff(e *env) {
	const commits = 300
	seed := rand.Uint64()
	e.Logf("seed %d", seed)
	r, s := e.dial(), e.dial()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		_, _ = r.Commit(e.ctx, randomOps(random)...) // so that there is something at the beginning
	}
	v := s.view("t")
	tree, before := coord.NewTree(), coord.Snapshot{}
	follow := func() {
		now := v.Snapshot()
		for n, there := range now.Diff(before) {
			known, ok := tree.Get(n.Path)
			switch {
			case !coord.Within(n.Path, "t"):
				e.Errorf("%q is not within the view", n.Path)
			case there && ok && known.Modified == n.Modified, !there && !ok:
				e.Errorf("%q has not changed", n.Path)
			case there:
				tree.Put(n)
			default:
				tree.Delete(n.Path)
			}
		}
		for range now.Diff(tree.Snapshot()) {
			e.Error("what Diff told does not lead to what the view shows")
			break
		}
		before = now
	}
	follow()
	for i := range commits {
		if _, err := r.Commit(e.ctx, append(randomOps(random), coord.Put("other", nil))...); err != nil && !isConflict(err) {
			e.Fatal(err)
		}
		if i%3 == 0 {
			e.sync(v)
			follow()
		}
		if e.Failed() {
			e.Fatalf("after commit %d", i)
		}
	}
}

func viewClosed(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a", []byte("v")))
	v := s.view("")
	changed := v.Changed()
	v.Close()
	v.Close()
	e.wantErr(v.Err(), coord.ErrClosed)
	if !isClosed(changed) || !isClosed(v.Changed()) {
		e.Error("those who wait for a change are not told of the end")
	}
	e.wantErr(v.Sync(e.ctx), coord.ErrClosed)
	if n, ok := v.Snapshot().Get("a"); !ok || string(n.Value) != "v" {
		e.Error("the last state is gone")
	}
	r.commit(coord.Put("b", nil))
	if v.Snapshot().Exists("b") {
		e.Error("it follows on")
	}
	s.commit(coord.Put("c", nil)) // the view's registry still works
}
