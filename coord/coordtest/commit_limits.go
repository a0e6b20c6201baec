package coordtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

func commonPrefixes(e *env) {
	r := e.dial()
	paths := []string{"a", "a-b", "a.b", "a/b", "a0", "aa", "aa/a", "ab", "abc/d"}
	for _, path := range paths {
		r.commit(coord.Create(path, []byte(path)))
	}
	for _, path := range paths {
		if got := string(r.get(path).Value); got != path {
			e.Errorf("%s has the value %q", path, got)
		}
	}
	if names, want := r.names(""), []string{"a", "a-b", "a.b", "a0", "aa", "ab", "abc"}; !slices.Equal(names, want) {
		e.Errorf("children %q, want %q", names, want)
	}
	if names := r.names("a"); !slices.Equal(names, []string{"b"}) {
		e.Errorf("children of a: %q", names)
	}
	r.commit(coord.DeleteTree("a"))
	if names, want := r.names(""), []string{"a-b", "a.b", "a0", "aa", "ab", "abc"}; !slices.Equal(names, want) {
		e.Errorf("left %q, want %q", names, want)
	}
}

func anyScript(e *env) {
	r := e.dial()
	v := r.view("")
	paths := []string{"任务/ömega/ｘ", "10.0.0.1@-@4711-a", "fe80::1%eth0", "a b/ c ", "100%/%2F", "a=b&c?d#e", `q"q'q\q`, "..a/.b/c..", "_c_1-latch-1", "{x}/[y]/*"}
	for _, path := range paths {
		r.commit(coord.Create(path, []byte(path)))
	}
	e.sync(v)
	for _, path := range paths {
		if n := r.get(path); n.Path != path || string(n.Value) != path {
			e.Errorf("%q: got %+v", path, n)
		}
		if n, ok := v.Snapshot().Get(path); !ok || string(n.Value) != path {
			e.Errorf("%q: the view has %+v", path, n)
		}
		if names := r.names(coord.Parent(path)); !slices.Contains(names, coord.Base(path)) {
			e.Errorf("%q is not listed among %q", path, names)
		}
		r.commit(coord.Delete(path))
		if r.there(path) {
			e.Errorf("%q is still there", path)
		}
	}
}

func longestPath(e *env) {
	r := e.dial()
	const segment = "0123456789abcde/"
	path := strings.Repeat(segment, coord.MaxPathLength/len(segment)-1) + "0123456789abcdef"
	flat := strings.Repeat("y", coord.MaxPathLength)
	r.commit(coord.Put(path, []byte("deep")), coord.Put(flat, []byte("flat")))
	if len(path) != len(flat) || string(r.get(path).Value) != "deep" || string(r.get(flat).Value) != "flat" {
		e.Error("wrong values")
	}
	r.commit(coord.DeleteTree("0123456789abcde"))
	if r.there(path) {
		e.Error("still there")
	}
}

func emptyValues(e *env) {
	r := e.dial()
	v := r.view("")
	r.commit(coord.Put("nil", nil), coord.Put("empty", []byte{}), coord.CreateEphemeral("ephemeral", nil), coord.Put("emptied", []byte("v")))
	r.commit(coord.Set("emptied", nil))
	e.sync(v)
	for _, path := range []string{"nil", "empty", "ephemeral", "emptied"} {
		if n := r.get(path); len(n.Value) != 0 {
			e.Errorf("%s: %q", path, n.Value)
		}
		if n, ok := v.Snapshot().Get(path); !ok || len(n.Value) != 0 || n.Modified == 0 {
			e.Errorf("the view has %s as %+v", path, n)
		}
	}
}

func largeValue(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("a")
	value := bytes.Repeat([]byte("0123456789abcdef"), 512<<10/16)
	r.commit(coord.Put("a", value))
	if !bytes.Equal(s.get("a").Value, value) {
		e.Error("Get returned another value")
	}
	e.sync(v)
	if n, _ := v.Snapshot().Get("a"); !bytes.Equal(n.Value, value) {
		e.Error("the view has another value")
	}
	nodes, err := s.List(e.ctx, "")
	if err != nil || len(nodes) != 1 || !bytes.Equal(nodes[0].Value, value) {
		e.Errorf("List returned %d nodes, %v", len(nodes), err)
	}
}

func tooBig(e *env) {
	r := e.dial()
	value := make([]byte, coord.MaxCommitBytes)
	_, err := r.Commit(e.ctx, coord.Put("a", value))
	e.wantErr(err, coord.ErrTooLarge)
	_, err = r.Commit(e.ctx, coord.Put("a", value[:len(value)/2]), coord.Put("b", value[:len(value)/2]))
	e.wantErr(err, coord.ErrTooLarge)
	if r.there("a") || r.there("b") {
		e.Error("something was written")
	}
	r.commit(coord.Put("a", value[:len(value)-1])) // the largest
	if got := len(r.get("a").Value); got != len(value)-1 {
		e.Errorf("%d bytes", got)
	}
}

func manyOps(e *env, count int) {
	r := e.dial()
	var ops []coord.Op
	for i := range count {
		ops = append(ops, coord.Create(fmt.Sprintf("n/%03d", i), []byte(strconv.Itoa(i))))
	}
	revision := r.commit(ops...)
	nodes, err := r.List(e.ctx, "n")
	if err != nil || len(nodes) != count {
		e.Fatalf("%d nodes, %v", len(nodes), err)
	}
	for i, n := range nodes {
		if string(n.Value) != strconv.Itoa(i) || n.Created != revision || n.Modified != revision {
			e.Errorf("%d: %+v, want the revision %d", i, n, revision)
		}
	}
}

func manyDeletions(e *env) {
	r := e.dial()
	var puts, deletes []coord.Op
	for i := range coord.MaxOps / 2 {
		puts = append(puts, coord.Put(fmt.Sprintf("n/%d", i), nil))
		deletes = append(deletes, coord.Delete(fmt.Sprintf("n/%d", i)))
	}
	r.commit(puts...)
	_, err := r.Commit(e.ctx, append(deletes, coord.Delete("more"))...)
	e.wantErr(err, coord.ErrTooLarge)
	r.commit(deletes...)
	if r.there("n/0") || r.there("n/59") {
		e.Error("not all are gone")
	}
}

func tooManyOps(e *env) {
	r := e.dial()
	var ops []coord.Op
	for i := range 200 {
		ops = append(ops, coord.Put(fmt.Sprintf("n/%d", i), nil))
	}
	for _, count := range []int{coord.MaxOps + 1, len(ops)} {
		_, err := r.Commit(e.ctx, ops[:count]...)
		e.wantErr(err, coord.ErrTooLarge, strconv.Itoa(count))
	}
	if r.there("n") {
		e.Error("something was written")
	}
}

func invalidCommits(e *env) {
	r := e.dial()
	for _, ops := range [][]coord.Op{
		nil,
		{{Path: "a"}},
		{coord.Put("a", nil), coord.Put("a", nil)},
		{coord.Put("a", nil), coord.Delete("a")},
		{coord.DeleteTree("a"), coord.Put("a/b", nil)},
		{coord.Put("a/b", nil), coord.Delete("a")},
	} {
		_, err := r.Commit(e.ctx, ops...)
		e.wantErr(err, coord.ErrInvalidCommit)
	}
	if r.there("a") {
		e.Error("something was written")
	}
}

func contextOver(e *env) {
	r := e.dial()
	ctx, cancel := context.WithCancelCause(e.ctx)
	cause := errors.New("the caller's reason")
	cancel(cause)
	_, err := r.Commit(ctx, coord.Put("a", nil))
	e.wantErr(err, cause)
	_, err = r.Get(ctx, "a")
	e.wantErr(err, cause)
	_, err = r.List(ctx, "")
	e.wantErr(err, cause)
	_, err = r.View(ctx, "", coord.AllLevels)
	e.wantErr(err, cause)
	if r.there("a") {
		e.Error("it was written")
	}
}
