package coordtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

func readCases() []testCase {
	return []testCase{
		{"read: get of nothing", getNothing},
		{"read: get all is a get of each path", getAll},
		{"read: get all of many nodes", getAllOfMany},
		{"read: list of nothing", listNothing},
		{"read: list of a node without children", listLeaf},
		{"read: list is in bytewise order and has the values", listOrder},
		{"read: list shows children only", listChildrenOnly},
		{"read: parents that nobody wrote are there", unwrittenParents},
		{"read: what another registry committed is seen at once", readsAreFresh},
		{"read: namespaces are isolated", func(e *env) { isolated(e, e.namespace+"-a", e.namespace+"-b") }},
		{"read: namespaces with a common prefix are isolated", func(e *env) { isolated(e, e.namespace+"-n", e.namespace+"-n2") }},
		{"read: bad paths are refused by every method", badPaths},
		{"read: the store's clock", storeClock},
	}
}

func getNothing(e *env) {
	r := e.dial()
	r.commit(coord.Put("a/b", nil))
	for _, path := range []string{"x", "a/b/c", "a/bc", "a/x"} {
		_, err := r.Get(e.ctx, path)
		e.wantErr(err, coord.ErrNoNode, path)
	}
}

func getAll(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a", []byte("1")), coord.Put("b/c", []byte("2")), coord.CreateEphemeral("e", []byte("3")), coord.Put("long", make([]byte, 64<<10)))
	for range 2 { // the second time with what has changed meanwhile
		paths := []string{"e", "x", "a", "b", "b/c", "b/x", "", "a//b", "long", "a"}
		i := 0
		for n, err := range s.GetAll(e.ctx, paths) {
			want, wantErr := s.Get(e.ctx, paths[i])
			switch {
			case wantErr == nil && err != nil:
				e.Errorf("%.20q: %v", paths[i], err)
			case wantErr != nil && !(errors.Is(err, coord.ErrNoNode) && errors.Is(wantErr, coord.ErrNoNode)):
				e.wantErr(err, coord.ErrInvalidPath, fmt.Sprintf("%.20q", paths[i]))
			}
			if n.Path != want.Path || string(n.Value) != string(want.Value) || n.Owner != want.Owner || want.Modified > 0 && n.Version != want.Version {
				e.Errorf("%.20q: got %+v, want %+v", paths[i], n, want)
			}
			i++
		}
		if i != len(paths) {
			e.Errorf("got %d of %d nodes", i, len(paths))
		}
		r.commit(coord.DeleteTree("a"), coord.Put("x", []byte("4")), coord.Put("b", []byte("5")), coord.Put("e", []byte("6")))
	}
	for range r.GetAll(e.ctx, nil) {
		e.Errorf("a node of no path")
	}
	for n, err := range r.GetAll(e.ctx, []string{"x", "long", "b"}) {
		if err != nil || n.Path != "x" {
			e.Errorf("got %q, %v", n.Path, err)
		}
		break
	}
}

func getAllOfMany(e *env) {
	r := e.dial()
	const nodes = 2500
	paths := make([]string, nodes)
	for i := range paths {
		paths[i] = fmt.Sprintf("many/%d", (i*7)%nodes)
	}
	for some := range slices.Chunk(paths[:nodes/2], coord.MaxOps) {
		var ops []coord.Op
		for _, path := range some {
			ops = append(ops, coord.Put(path, []byte(path)))
		}
		r.commit(ops...)
	}
	sequence := r.GetAll(e.ctx, paths)
	for range 2 { // each loop reads anew
		i := 0
		for n, err := range sequence {
			switch {
			case i < nodes/2 && (err != nil || string(n.Value) != paths[i]):
				e.Fatalf("%s: got %+v, %v", paths[i], n, err)
			case i >= nodes/2:
				e.wantErr(err, coord.ErrNoNode, paths[i])
			}
			i++
		}
		if i != nodes {
			e.Errorf("got %d nodes", i)
		}
	}
}

func listNothing(e *env) {
	r := e.dial()
	if names := r.names(""); len(names) != 0 {
		e.Errorf("a new namespace has %q", names)
	}
	r.commit(coord.Put("a/b", nil))
	for _, path := range []string{"x", "a/b/c", "a/bc"} {
		_, err := r.List(e.ctx, path)
		e.wantErr(err, coord.ErrNoNode, path)
	}
}

func listLeaf(e *env) {
	r := e.dial()
	r.commit(coord.Put("a", nil), coord.CreateEphemeral("b", nil))
	for _, path := range []string{"a", "b"} {
		if names := r.names(path); len(names) != 0 {
			e.Errorf("%s has the children %q", path, names)
		}
	}
}

func listOrder(e *env) {
	r := e.dial()
	names := []string{"10", "1", "2", "b", "B", "a-b", "a", "a.b", "a0", "ab", "é", "z", "ｘ", "~", "!"}
	for _, name := range names {
		r.commit(coord.Put("p/"+name, []byte(name)), coord.Put("p/a/"+name, nil))
	}
	slices.Sort(names)
	nodes, err := r.List(e.ctx, "p")
	if err != nil {
		e.Fatal(err)
	}
	var got []string
	for _, n := range nodes {
		got = append(got, coord.Base(n.Path))
		if n.Path != "p/"+coord.Base(n.Path) || string(n.Value) != coord.Base(n.Path) {
			e.Errorf("got %+v", n)
		}
		if full := r.get(n.Path); full.Version != n.Version || full.Modified != n.Modified || full.Created != n.Created {
			e.Errorf("List has %+v, Get %+v", n, full)
		}
	}
	if !slices.Equal(got, names) {
		e.Errorf("got %q, want %q", got, names)
	}
}

func listChildrenOnly(e *env) {
	r := e.dial()
	r.commit(coord.Put("a/b/c/d", nil), coord.Put("a/b/e", nil), coord.Put("a/f", nil), coord.Put("ab/g", nil))
	for path, want := range map[string][]string{"": {"a", "ab"}, "a": {"b", "f"}, "a/b": {"c", "e"}, "a/b/c": {"d"}, "ab": {"g"}} {
		if got := r.names(path); !slices.Equal(got, want) {
			e.Errorf("%q has %q, want %q", path, got, want)
		}
	}
}

func unwrittenParents(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("")
	r.commit(coord.Create("a/b/c", []byte("v")))
	e.sync(v)
	for _, path := range []string{"a", "a/b"} {
		if n := s.get(path); n.Path != path || len(n.Value) != 0 || n.Ephemeral() {
			e.Errorf("Get: %+v", n)
		}
		if n, ok := v.Snapshot().Get(path); !ok || n.Path != path || len(n.Value) != 0 || n.Ephemeral() {
			e.Errorf("the view: %+v, %v", n, ok)
		}
		if !v.Snapshot().Exists(path) {
			e.Errorf("the view does not have %s", path)
		}
	}
	if names := s.names(""); !slices.Equal(names, []string{"a"}) {
		e.Errorf("List: %q", names)
	}
	if names := v.Snapshot().Children(""); !slices.Equal(names, []string{"a"}) {
		e.Errorf("Children: %q", names)
	}
}

func readsAreFresh(e *env) {
	r, s := e.dial(), e.dial()
	for i := range 50 {
		path := fmt.Sprintf("a/%d", i)
		revision := r.commit(coord.Put(path, nil), coord.Put("same", nil))
		if n := s.get("same"); n.Modified != revision {
			e.Errorf("read %d after a commit at %d", n.Modified, revision)
		}
		if got := len(s.names("a")); got != i+1 {
			e.Errorf("%d children after %d commits", got, i+1)
		}
	}
}

func isolated(e *env, one, two string) {
	a, b := e.dialWith(Options{Namespace: one, SessionTimeout: longTimeout}), e.dialWith(Options{Namespace: two, SessionTimeout: longTimeout})
	va, vb := a.view(""), b.view("")
	a.commit(coord.Put("x/y", []byte("a")), coord.Put("only-a", nil))
	b.commit(coord.Create("x/y", []byte("b")))
	if got := string(a.get("x/y").Value); got != "a" {
		e.Errorf("the first has %q", got)
	}
	if got := a.names(""); !slices.Equal(got, []string{"only-a", "x"}) {
		e.Errorf("the first lists %q", got)
	}
	a.commit(coord.DeleteTree("x"), coord.DeleteTree("only-a"))
	if got := b.names(""); !slices.Equal(got, []string{"x"}) {
		e.Errorf("the second lists %q", got)
	}
	e.sync(va)
	e.sync(vb)
	if va.Snapshot().Exists("x") {
		e.Errorf("the first view shows %s", describe(va.Snapshot()))
	}
	if n, ok := vb.Snapshot().Get("x/y"); !ok || string(n.Value) != "b" || vb.Snapshot().Exists("only-a") {
		e.Errorf("the second view shows %s", describe(vb.Snapshot()))
	}
	if a.session().ID() == b.session().ID() {
		e.Error("two registries have one session")
	}
}

func badPaths(e *env) {
	r := e.dial()
	r.commit(coord.Put("a", nil))
	for _, path := range []string{"/", "/a", "a/", "a//b", ".", "a/../b", "a\x00", "a\xff", "a/\x1f", "\ue000", strings.Repeat("x", coord.MaxPathLength+1)} {
		_, err := r.Get(e.ctx, path)
		e.wantErr(err, coord.ErrInvalidPath, fmt.Sprintf("%q", path))
		_, err = r.List(e.ctx, path)
		e.wantErr(err, coord.ErrInvalidPath)
		_, err = r.View(e.ctx, path, coord.AllLevels)
		e.wantErr(err, coord.ErrInvalidPath)
		for _, err = range r.Walk(e.ctx, path) {
			e.wantErr(err, coord.ErrInvalidPath)
		}
		_, err = r.Latch(path)
		e.wantErr(err, coord.ErrInvalidPath)
		for kind := coord.OpCreate; kind <= coord.OpOwned; kind++ {
			_, err = r.Commit(e.ctx, coord.Put("b", nil), coord.Op{Kind: kind, Path: path})
			e.wantErr(err, coord.ErrInvalidPath)
		}
	}
	_, err := r.Get(e.ctx, "")
	e.wantErr(err, coord.ErrInvalidPath)
	_, err = r.Latch("")
	e.wantErr(err, coord.ErrInvalidPath)
	_, err = r.Commit(e.ctx, coord.DeleteTree(""))
	e.wantErr(err, coord.ErrInvalidPath)
	if names := r.names(""); !slices.Equal(names, []string{"a"}) {
		e.Errorf("the namespace has %q", names)
	}
}

func storeClock(e *env) {
	r := e.dial()
	const off = 10 * time.Second // the clock of this very machine, in whole seconds
	clock := r.awaitClock()
	before := time.Now()
	now := clock.Now()
	if now.Before(before.Add(-off)) || now.After(time.Now().Add(off)) {
		e.Errorf("the store's clock says %v at %v", now, before)
	}
	if again := r.Clock().Now(); again.Before(now) {
		e.Errorf("%v, and before that %v", again, now)
	}
	if ahead := clock.Ahead(time.Now()); ahead.Abs() > time.Second {
		e.Errorf("this process is certainly %v ahead of its own machine", ahead)
	}
}
