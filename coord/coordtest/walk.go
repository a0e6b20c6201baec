package coordtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// walkCases are about reading a subtree page by page.
func walkCases() []testCase {
	return []testCase{
		{"walk: of nothing", walkNothing},
		{"walk: is in bytewise order and has the values", walkOrder},
		{"walk: shows its own subtree only", walkOwnSubtree},
		{"walk: what another registry committed is seen at once", walkIsFresh},
		{"walk: ephemeral nodes, and their end", walkEphemeral},
		{"walk: stops when the loop does", walkStops},
		{"walk: many children, and a deep tree", walkMany},
		{"walk: while others write", walkAmongWriters},
		{"walk: a link that breaks in the middle", walkBroken},
		{"walk: a context that ends", walkContextOver},
		{"walk: bad paths are refused, and a closed registry", walkRefused},
	}
}

// walk collects what a walk brings, and checks what holds for each: the order, and that
// parents that nobody wrote are the only ones that may be left out.
func (c *client) walk(path string) []coord.Node {
	c.env.Helper()
	var nodes []coord.Node
	for n, err := range c.Walk(c.env.ctx, path) {
		if err != nil {
			c.env.Fatalf("walk %q: %v", path, err)
		}
		if len(nodes) > 0 && n.Path <= nodes[len(nodes)-1].Path {
			c.env.Errorf("walk %q: %s after %s", path, n.Path, nodes[len(nodes)-1].Path)
		}
		if !coord.Within(n.Path, path) {
			c.env.Errorf("walk %q: %s", path, n.Path)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// wantWalked checks that a walk has brought these nodes. Parents of them that nobody wrote may
// be among what it has brought.
func (e *env) wantWalked(nodes []coord.Node, paths ...string) {
	e.Helper()
	slices.Sort(paths)
	var got []string
	for _, n := range nodes {
		_, written := slices.BinarySearch(paths, n.Path)
		parent := len(n.Value) == 0 && slices.ContainsFunc(paths, func(path string) bool { return coord.Within(path, n.Path) })
		if written || !parent {
			got = append(got, n.Path)
		}
	}
	if !slices.Equal(got, paths) {
		e.Errorf("got %d nodes: %.500q, want %d: %.500q", len(got), got, len(paths), paths)
	}
}

func walkNothing(e *env) {
	r := e.dial()
	e.wantWalked(r.walk(""))
	r.commit(coord.Put("a/b", nil))
	for _, path := range []string{"x", "a/b/c", "a/bc", "a/x"} {
		e.wantWalked(r.walk(path))
	}
	e.wantWalked(r.walk("a/b"), "a/b")
}

func walkOrder(e *env) {
	r := e.dial()
	var paths []string
	for _, name := range []string{"10", "1", "2", "b", "B", "a-b", "a", "a.b", "a0", "ab", "é", "z", "ｘ", "~", "!"} {
		paths = append(paths, "p/"+name, "p/a/"+name, "p/a-b/"+name+"/x")
	}
	for _, path := range paths {
		r.commit(coord.Put(path, []byte(path)))
	}
	nodes := r.walk("")
	e.wantWalked(nodes, paths...)
	for _, n := range nodes {
		if !slices.Contains(paths, n.Path) {
			continue
		}
		if full := r.get(n.Path); string(full.Value) != string(n.Value) || full.Version != n.Version || full.Modified != n.Modified || full.Created != n.Created {
			e.Errorf("the walk has %+v, Get %+v", n, full)
		}
	}
}

func walkOwnSubtree(e *env) {
	r := e.dial()
	for _, path := range []string{"a", "a/1", "a/1/x", "a/10", "a/10/x", "a/1-", "a/1!/y", "a1", "b/c/d"} {
		r.commit(coord.Put(path, []byte("v")))
	}
	for path, want := range map[string][]string{
		"a/1":  {"a/1", "a/1/x"},
		"a/10": {"a/10", "a/10/x"},
		"a/1!": {"a/1!/y"},
		"a":    {"a", "a/1", "a/1!/y", "a/1-", "a/1/x", "a/10", "a/10/x"},
		"b":    {"b/c/d"},
		"":     {"a", "a/1", "a/1!/y", "a/1-", "a/1/x", "a/10", "a/10/x", "a1", "b/c/d"},
	} {
		e.wantWalked(r.walk(path), want...)
	}
}

func walkIsFresh(e *env) {
	r, s := e.dial(), e.dial()
	for i := range 30 {
		revision := r.commit(coord.Put("a/b", nil), coord.Put(fmt.Sprintf("a/c%d", i), nil))
		nodes := s.walk("a/b")
		if len(nodes) != 1 || nodes[0].Modified != revision {
			e.Errorf("read %+v after a commit at %d", nodes, revision)
		}
	}
}

func walkEphemeral(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.CreateEphemeral("a/1", []byte("v")), coord.Put("a/2", []byte("v")))
	nodes := s.walk("a")
	e.wantWalked(nodes, "a/1", "a/2")
	id := r.session().ID()
	for _, n := range nodes {
		if n.Ephemeral() != (n.Path == "a/1") || n.Ephemeral() && n.Owner != id {
			e.Errorf("got %+v, want the owner %d of a/1", n, id)
		}
	}
	v := s.view("a")
	r.shut()
	e.await(v, "the ephemeral node to go", lacks("a/1"))
	e.wantWalked(s.walk("a"), "a/2")
}

func walkStops(e *env) {
	r := e.dial()
	paths := r.fill("a", 1000)
	walk := r.Walk(e.ctx, "a")
	for _, stop := range []int{1, 2, 300, 1000} {
		seen := 0
		for _, err := range walk { // each loop begins anew
			if err != nil {
				e.Fatal(err)
			}
			if seen++; seen == stop {
				break
			}
		}
		if seen != stop {
			e.Errorf("%d nodes, want %d", seen, stop)
		}
	}
	e.wantWalked(r.walk("a"), paths...)
}

// fill puts nodes with values below a path, and returns their paths.
func (c *client) fill(path string, count int) (paths []string) {
	c.env.Helper()
	var ops []coord.Op
	for i := range count {
		paths = append(paths, fmt.Sprintf("%s/%06d", path, i))
		ops = append(ops, coord.Put(paths[i], []byte("old")))
	}
	c.commitMany(ops)
	return paths
}

// manyNodes are more than two pages of each adapter.
const manyNodes = 2_500

func walkMany(e *env) {
	r := e.dial()
	paths := r.fill("wide", manyNodes)
	deep := strings.TrimSuffix(strings.Repeat("d/", 100), "/")
	r.commit(coord.Put(deep, []byte("v")), coord.Put("d/d/x", []byte("v")))
	for i := range manyNodes / 100 {
		below := r.fill(fmt.Sprintf("wide/%06d/below", i*100), 20)
		paths = append(paths, below...)
	}
	begin := time.Now()
	e.wantWalked(r.walk("wide"), paths...)
	e.Logf("%d nodes in %v", len(paths), time.Since(begin).Round(time.Millisecond))
	e.wantWalked(r.walk("d"), deep, "d/d/x")
	e.wantWalked(r.walk(""), append(paths, deep, "d/d/x")...)
}

// walkAmongWriters walks while others write. What nobody touches comes with every walk.
func walkAmongWriters(e *env) {
	r := e.dial()
	calm := r.fill("t/m", 1500)
	ctx, stop := context.WithCancel(e.ctx)
	var writers sync.WaitGroup
	for w := range 3 {
		s := e.dial()
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				node := fmt.Sprintf("t/%c/%d", "azm"[i%3], w)
				ops := [][]coord.Op{{coord.Put(node+"/x/y", nil)}, {coord.Put(node, nil)}, {coord.DeleteTree(node)}, {coord.CreateEphemeral(node+"-e", nil)}, {coord.Delete(node + "-e")}}
				if _, err := s.Commit(e.ctx, ops[i%len(ops)]...); err != nil && !isConflict(err) {
					e.Error(err)
					return
				}
			}
		})
	}
	for range 5 {
		var seen []string
		for _, n := range r.walk("t") {
			if coord.Parent(n.Path) == "t/m" && string(n.Value) == "old" {
				seen = append(seen, n.Path)
			}
		}
		if !slices.Equal(seen, calm) {
			e.Errorf("%d of %d nodes that nobody touches", len(seen), len(calm))
		}
	}
	stop()
	writers.Wait()
}

func walkBroken(e *env) {
	r := e.dial()
	paths := r.fill("a", 3000)
	for name, fault := range map[string]func(Link){"cut": Link.Cut, "black hole": Link.BlackHole, "dropped answers": Link.DropAnswers} {
		ctx, cancel := context.WithCancel(e.ctx)
		seen, failed := 0, 0
		e.within(30*time.Second, "Walk over "+name, func() {
			for _, err := range r.Walk(ctx, "a") {
				switch {
				case failed > 0:
					e.Errorf("%s: the walk goes on after an error", name)
				case err != nil:
					e.wantOneOf(err, context.Canceled, coord.ErrUnavailable)
					failed++
				default:
					if seen++; seen == 1 {
						fault(r.Link)
						defer time.AfterFunc(time.Second, cancel).Stop()
					}
				}
			}
		})
		cancel()
		if failed != 1 || seen >= len(paths) {
			e.Errorf("%s: %d errors, and %d nodes of %d", name, failed, seen, len(paths))
		}
		r.healAndWait()
		e.wantWalked(r.walk("a"), paths...)
	}
}

func walkContextOver(e *env) {
	r := e.dial()
	r.fill("a", 3000)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	var last error
	for _, err := range r.Walk(ctx, "a") {
		cancel()
		last = err
	}
	e.wantErr(last, context.Canceled)
	for n, err := range r.Walk(ctx, "a") {
		e.wantErr(err, context.Canceled)
		if n.Path != "" {
			e.Errorf("%s comes with the error", n.Path)
		}
	}
}

func walkRefused(e *env) {
	r := e.dial()
	walk := func(path string) (err error) {
		for _, err = range r.Walk(e.ctx, path) {
		}
		return err
	}
	e.wantErr(walk("a//b"), coord.ErrInvalidPath, "a//b")
	r.mustClose()
	e.wantErr(walk(""), coord.ErrClosed)
}
