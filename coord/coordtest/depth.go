package coordtest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

// depthCases are about views of the upper levels of a subtree.
func depthCases() []testCase {
	return []testCase{
		{"depth: begins with the upper levels", depthBegins},
		{"depth: less than 1 is refused", depthRefused},
		{"depth: a parent at the lowest level is there while something is below it", depthParents},
		{"depth: changes below the lowest level wake nobody", depthQuiet},
		{"depth: ephemeral nodes go, above the lowest level and below it", depthEphemeral},
		{"depth: agrees with the store after any commits", depthAgrees},
		{"depth: a storm from 4 writers", depthStorm},
		{"depth: many children", depthManyChildren},
		{"depth: views of one node to several depths", depthsOfOne},
		{"depth: catches up when its link heals", func(e *env) { depthReconnects(e, Link.Cut, false) }},
		{"depth: catches up after a black hole", func(e *env) { depthReconnects(e, Link.BlackHole, false) }},
		{"depth: reconciles when the store has forgotten what it missed", func(e *env) { depthReconnects(e, Link.Cut, true) }},
	}
}

// scope is the path and depth of a view.
type scope struct {
	path  string
	depth int
}

func (c *client) viewDepths(scopes ...scope) map[scope]coord.View {
	c.env.Helper()
	views := map[scope]coord.View{}
	for _, s := range scopes {
		views[s] = c.viewDepth(s.path, s.depth)
	}
	return views
}

// wantUpper checks that a snapshot shows what load returned for the whole namespace, to a
// depth below a node.
func (e *env) wantUpper(s coord.Snapshot, of scope, store map[string]coord.Node) {
	e.Helper()
	upper := maps.Clone(store)
	maps.DeleteFunc(upper, func(path string, _ coord.Node) bool {
		return !coord.Within(path, of.path) || coord.Depth(path, of.path) > of.depth
	})
	e.wantEqual(s, upper)
	for path := range upper {
		if !s.Exists(path) {
			e.Errorf("%+v: %s does not exist", of, path)
		}
		if parent := coord.Parent(path); path != of.path && !slices.Contains(s.Children(parent), coord.Base(path)) {
			e.Errorf("%+v: %q has the children %q, without %s", of, parent, s.Children(parent), path)
		}
	}
}

func depthBegins(e *env) {
	r := e.dial()
	for _, path := range []string{
		"a", "a/b", "a/b/c/d/e", "a/b-", "a/b!/x/y", "a/b.c/d", "a/b0", "a-b/c/d/e", "a.b", "a0/x/y", "ab/c",
		"settle/config", "settle/instances/1", "settle/instances/2/x", "settle-2/config", "settle.old/config",
	} {
		r.commit(coord.Put(path, []byte(path)))
	}
	store := r.load("")
	for _, path := range []string{"", "a", "a/b", "a-b", "a-b/c", "a/b.c/d", "settle", "settle/instances", "none", "a/none"} {
		for depth := 1; depth <= 6; depth++ {
			v := r.viewDepth(path, depth)
			e.wantUpper(v.Snapshot(), scope{path, depth}, store)
			v.Close()
		}
	}
	if got, want := r.viewDepth("", 1).Snapshot().Children(""), []string{"a", "a-b", "a.b", "a0", "ab", "settle", "settle-2", "settle.old"}; !slices.Equal(got, want) {
		e.Errorf("the namespace has %q, want %q", got, want)
	}
}

func depthRefused(e *env) {
	r := e.dial()
	for _, depth := range []int{0, -1} {
		_, err := r.View(e.ctx, "a", depth)
		e.wantErr(err, coord.ErrInvalidDepth, fmt.Sprint(depth), "a")
	}
}

func depthParents(e *env) {
	r, s := e.dial(), e.dial()
	of := scope{"", 1}
	v := s.viewDepth("", 1)
	step := func(what string, shown bool, ops ...coord.Op) {
		e.Helper()
		r.commit(ops...)
		e.sync(v)
		snapshot := v.Snapshot()
		if _, ok := snapshot.Get("a"); ok != shown {
			e.Errorf("%s: shown: %v", what, ok)
		}
		e.wantUpper(snapshot, of, r.load(""))
	}
	step("a node far below", true, coord.Put("a/b/c", []byte("v")))
	if n, _ := v.Snapshot().Get("a"); len(n.Value) != 0 || n.Ephemeral() || v.Snapshot().Exists("a/b") {
		e.Errorf("the view shows %s", describe(v.Snapshot()))
	}
	step("another one", true, coord.Put("a/d", nil))
	step("written many times", true, coord.Put("a/d", []byte("1")))
	step("and again", true, coord.Put("a/d", []byte("2")))
	step("one of them goes", true, coord.DeleteTree("a/b"))
	step("a neighbour comes", true, coord.Put("a-b/c", nil), coord.Put("a.b", nil))
	step("a neighbour goes", true, coord.DeleteTree("a-b"), coord.Delete("a.b"))
	step("the parent is written", true, coord.Put("a", []byte("v")))
	step("what is below goes", true, coord.Delete("a/d"))
	step("the parent goes", false, coord.Delete("a"))
	step("all at once", true, coord.Put("a", nil), coord.Put("a/b", nil), coord.Put("a/b/c", nil))
	step("all goes at once", false, coord.DeleteTree("a"))
	step("it comes back", true, coord.Put("a/x", nil))
	r.commit(coord.Delete("a/x"))
	e.sync(v) // on ZooKeeper the parent stays
	e.wantUpper(v.Snapshot(), of, r.load(""))
}

func depthQuiet(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a/b", []byte("v")), coord.Put("c/d/e", nil))
	views := s.viewDepths(scope{"", 1}, scope{"c", 1}, scope{"a", 1})
	s.view("c") // one that is told of everything, on the same connection
	changed := map[scope]<-chan struct{}{}
	for of, v := range views {
		e.sync(v)
		changed[of] = v.Changed()
	}
	r.commit(coord.Put("c/d/f", nil))
	r.commit(coord.Put("c/d/e", []byte("v")), coord.CreateEphemeral("c/d/g", nil))
	r.commit(coord.Delete("c/d/f"), coord.Delete("c/d/g"))
	for of, v := range views {
		e.sync(v)
		if isClosed(changed[of]) {
			e.Errorf("%+v: told of a change below what it shows", of)
		}
	}
	r.commit(coord.Set("a/b", nil))
	e.await(views[scope{"a", 1}], "the change", hasValue("a/b", ""))
}

func depthEphemeral(e *env) {
	r, s := e.dial(), e.dial()
	views := s.viewDepths(scope{"a", 1}, scope{"a", 2}, scope{"", 1})
	r.commit(coord.CreateEphemeral("a/1", nil), coord.Put("a/2/x", nil), coord.CreateEphemeral("a/2/e", nil), coord.CreateEphemeral("a/3/e", nil), coord.CreateEphemeral("b/e", nil))
	id := r.session().ID()
	for _, v := range views {
		e.sync(v)
	}
	if n, _ := views[scope{"a", 1}].Snapshot().Get("a/1"); n.Owner != id {
		e.Errorf("got %+v, want the owner %d", n, id)
	}
	e.wantUpper(views[scope{"a", 1}].Snapshot(), scope{"a", 1}, s.load(""))
	r.shut()
	e.await(views[scope{"a", 1}], "the ephemeral node to go", lacks("a/1"))
	store := s.load("")
	for of, v := range views {
		e.sync(v)
		e.wantUpper(v.Snapshot(), of, store)
	}
}

// someScopes are for the trees that randomOps makes.
var someScopes = []scope{{"", 1}, {"", 2}, {"", 3}, {"t", 1}, {"t", 2}, {"t/1", 1}, {"t/2/1", 2}, {"none", 1}}

func depthAgrees(e *env) {
	seed := rand.Uint64()
	e.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	r, s := e.dial(), e.dial()
	views := s.viewDepths(someScopes...)
	for round := range 25 {
		for range 1 + random.IntN(6) {
			ops := randomOps(random)
			if _, err := r.Commit(e.ctx, ops...); err != nil && !isConflict(err) {
				e.Fatalf("commit %v: %v", ops, err)
			}
		}
		store := r.load("")
		for of, v := range views {
			e.sync(v)
			e.wantUpper(v.Snapshot(), of, store)
		}
		if e.Failed() {
			e.Fatalf("in round %d", round)
		}
	}
}

func depthStorm(e *env) {
	const commits = 800
	seed := rand.Uint64()
	e.Logf("seed %d", seed)
	reader := e.dial()
	views := reader.viewDepths(someScopes...)
	whole := reader.view("t/1") // on the same connection
	done := make(chan struct{})
	var checkers sync.WaitGroup
	for of, v := range views {
		checkers.Go(func() { e.checkMonotonic(v, of.path, done) })
	}
	e.storm(seed, []*client{e.dial(), e.dial(), e.dial(), e.dial()}, commits, randomOps)
	store := reader.load("")
	for of, v := range views {
		if err := v.Sync(e.ctx); err != nil {
			e.Errorf("sync of %+v: %v", of, err)
		}
		e.wantUpper(v.Snapshot(), of, store)
	}
	close(done)
	checkers.Wait()
	e.sync(whole)
	e.wantEqual(whole.Snapshot(), reader.load("t/1"))
}

// commitMany commits operations that do not depend on one another, in as few commits as may
// be. Their values have to be small.
func (c *client) commitMany(ops []coord.Op) {
	c.env.Helper()
	for chunk := range slices.Chunk(ops, 60) {
		c.commit(chunk...)
	}
}

func depthManyChildren(e *env) {
	const jobs = manyNodes
	r, s := e.dial(), e.dial()
	early := s.viewDepth("", 1)
	var ops []coord.Op
	for i := range jobs {
		ops = append(ops, coord.Put(fmt.Sprintf("job-%d/config", i), []byte("v")))
	}
	r.commitMany(ops)
	late := s.viewDepth("", 1)
	check := func(want int) {
		e.Helper()
		for _, v := range []coord.View{early, late} {
			e.sync(v)
			if got := len(v.Snapshot().Children("")); got != want || v.Snapshot().Exists("job-7/config") {
				e.Errorf("%d children, want %d", got, want)
			}
		}
	}
	check(jobs)
	r.commit(coord.Put("one-more/config", nil), coord.Put("job-7/more", nil))
	check(jobs + 1)
	ops = nil
	for i := range jobs / 10 {
		ops = append(ops, coord.DeleteTree(fmt.Sprintf("job-%d", i)))
	}
	r.commitMany(ops)
	check(jobs + 1 - jobs/10)
}

func depthsOfOne(e *env) {
	r, s := e.dial(), e.dial()
	scopes := []scope{{"a", 1}, {"a", 2}, {"a", 3}, {"a", 1}, {"", 2}}
	var views []coord.View
	for _, of := range scopes {
		views = append(views, s.viewDepth(of.path, of.depth))
	}
	whole := s.view("a")
	check := func() {
		e.Helper()
		store := r.load("")
		for i, v := range views {
			if v.Err() == nil {
				e.sync(v)
				e.wantUpper(v.Snapshot(), scopes[i], store)
			}
		}
		e.sync(whole)
		e.wantEqual(whole.Snapshot(), r.load("a"))
	}
	r.commit(coord.Put("a/b/c/d", nil), coord.Put("a/e", nil))
	check()
	closed := views[:2] // one of two of its depth, and the only one
	for _, v := range closed {
		v.Close()
		if !errors.Is(v.Err(), coord.ErrClosed) || !v.Snapshot().Exists("a/e") {
			e.Errorf("a view that was closed: %v, %s", v.Err(), describe(v.Snapshot()))
		}
	}
	r.commit(coord.DeleteTree("a/b"), coord.Put("a/f/g", nil))
	for _, v := range closed {
		if v.Snapshot().Exists("a/f") {
			e.Error("a view that was closed follows on")
		}
	}
	check()
	s.commit(coord.Put("a/f/g", []byte("v")), coord.Delete("a/e")) // by the registry of the views
	check()
}

func depthReconnects(e *env, fault func(Link), forget bool) {
	r, s := e.dial(), e.dial()
	s.commit(coord.Put("gone/x", nil), coord.Put("kept/x", nil), coord.Put("again/x", nil), coord.Put("set", []byte("1")))
	s.commit(coord.Put("quiet/p/x", nil), coord.Put("swap/p/x", nil), coord.Put("bare/p", []byte("v")), coord.Put("bare/p/x", nil))
	views := r.viewDepths(scope{"", 1}, scope{"kept", 1}, scope{"quiet", 1}, scope{"swap", 1}, scope{"bare", 1})
	v := views[scope{"", 1}]
	fault(r.Link)
	s.commit(coord.DeleteTree("gone"), coord.Put("kept/y", nil), coord.DeleteTree("again"), coord.Set("set", []byte("2")))
	s.commit(coord.Put("new/x", nil), coord.Put("again/y/z", nil), coord.CreateEphemeral("e", nil))
	s.commit(coord.Put("quiet/p/y", nil), coord.DeleteTree("swap/p"), coord.DeleteTree("bare/p")) // quiet shows the same
	s.commit(coord.Put("swap/q/x", nil), coord.Put("bare/p/y", nil))                              // and as many nodes as before
	if forget {
		if err := e.store.Forget(e.ctx); err != nil {
			e.Fatal(err)
		}
	}
	s.commit(coord.Put("last/x", nil))
	if !v.Snapshot().Exists("gone") || v.Snapshot().Exists("new") {
		e.Error("the view changed while its link was broken")
	}
	r.healAndWait()
	e.await(v, "what was committed meanwhile", has("last"))
	// Nodes below the lowest level have changed as well. They decide now whether a parent exists.
	for _, step := range []coord.Op{coord.Delete("quiet/p/x"), coord.Delete("quiet/p/y"), coord.Delete("kept/x"), coord.Delete("kept/y"), coord.DeleteTree("again/y"), coord.Put("kept/z", nil)} {
		s.commit(step)
		store := s.load("")
		for of, v := range views {
			e.sync(v)
			e.wantUpper(v.Snapshot(), of, store)
		}
	}
	for of, v := range views {
		if err := errors.Join(v.Err(), v.Fault()); err != nil {
			e.Errorf("%+v: %v", of, err)
		}
	}
}
