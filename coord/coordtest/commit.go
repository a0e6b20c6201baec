package coordtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

func commitCases() []testCase {
	return []testCase{
		{"commit: what is created can be read", createAndRead},
		{"commit: a failing commit leaves nothing behind", failingCommitLeavesNothing},
		{"commit: conditions that hold let a write through", conditionsHold},
		{"commit: conditions speak of the tree before the commit", conditionsBefore},
		{"commit: parent and child in one step, child first", func(e *env) { parentAndChild(e, "a/b/c", "a/b", "a") }},
		{"commit: parent and child in one step, parent first", func(e *env) { parentAndChild(e, "a", "a/b", "a/b/c") }},
		{"commit: put creates and replaces", putCreatesAndReplaces},
		{"commit: put keeps the ephemeral owner", func(e *env) { writeKeepsOwner(e, coord.Put) }},
		{"commit: set keeps the ephemeral owner", func(e *env) { writeKeepsOwner(e, coord.Set) }},
		{"commit: put by another session keeps the ephemeral owner", putByAnotherKeepsOwner},
		{"commit: put makes a persistent node", putIsPersistent},
		{"commit: delete removes a leaf", deleteLeaf},
		{"commit: a node with children is deleted after them", deleteAfterChildren},
		{"commit: delete under a version", deleteAtVersion},
		{"commit: deleting the tree a/1 leaves a/10", deleteTreeLeavesSiblings},
		{"commit: deleting a tree that is not there", deleteTreeOfNothing},
		{"commit: deleting a tree of 300 nodes", deleteLargeTree},
		{"commit: deleting a tree of parents that nobody wrote", deleteUnwrittenTree},
		{"commit: names with common prefixes", commonPrefixes},
		{"commit: names of any script", anyScript},
		{"commit: the longest path", longestPath},
		{"commit: empty values", emptyValues},
		{"commit: a value of 512 KiB", largeValue},
		{"commit: a value that is too big", tooBig},
		{"commit: as many operations as fit", func(e *env) { manyOps(e, coord.MaxOps) }},
		{"commit: 60 deletions", manyDeletions},
		{"commit: 200 operations are too many", tooManyOps},
		{"commit: the revision is Created and Modified and only grows", revisions},
		{"commit: nothing written, no revision", noRevision},
		{"commit: two lives of a path differ in Created", twoLives},
		{"commit: the caller's buffers are its own again", buffers},
		{"commit: of eight who create a node one succeeds", oneCreates},
		{"commit: of many callers each has its own outcome", manyCallers},
		{"commit: counting up under SetAt loses nothing", countUp},
		{"commit: two conditional moves of one node do not both happen", oneMoves},
		{"commit: no operations, unknown ones, overlapping ones", invalidCommits},
		{"commit: a context that is over writes nothing", contextOver},
	}
}

func createAndRead(e *env) {
	r := e.dial()
	revision := r.commit(coord.Create("a/b", []byte("v")))
	n := r.get("a/b")
	if n.Path != "a/b" || string(n.Value) != "v" || n.Created != revision || n.Modified != revision || n.Ephemeral() {
		e.Errorf("got %+v, created at %d", n, revision)
	}
	if revision <= 0 {
		e.Errorf("revision %d", revision)
	}
	r.commit(coord.CreateEphemeral("a/e", []byte("w")))
	if n := r.get("a/e"); n.Owner != r.session().ID() || string(n.Value) != "w" {
		e.Errorf("got %+v in session %d", n, r.session().ID())
	}
}

func failingCommitLeavesNothing(e *env) {
	r := e.dial()
	r.commit(coord.Put("set", []byte("old")), coord.Put("put", []byte("old")), coord.Put("gone", nil), coord.Put("tree/x/y", nil))
	before := r.load("")
	_, err := r.Commit(e.ctx,
		coord.Create("new/a", nil),
		coord.CreateEphemeral("new/b", nil),
		coord.Put("put", []byte("new")),
		coord.Set("set", []byte("new")),
		coord.Delete("gone"),
		coord.DeleteTree("tree"),
		coord.Exists("set"),
		coord.Absent("missing"),
		coord.Exists("missing"),
		coord.Put("after", nil),
	)
	e.wantErr(err, coord.ErrConflict, "missing")
	after := r.load("")
	if len(before) != len(after) {
		e.Errorf("%d nodes before, %d after", len(before), len(after))
	}
	for path, n := range before {
		if got := after[path]; got.Version != n.Version || got.Modified != n.Modified || string(got.Value) != string(n.Value) {
			e.Errorf("%s was %+v and is %+v", path, n, got)
		}
	}
}

// conflict is one way in which an operation does not hold. The tree is: p (persistent, with
// the child p/c), i/c below i that nobody wrote, own (ephemeral, of the committing
// session), other (ephemeral, of another).
type conflict struct {
	name   string
	op     func(p coord.Node) coord.Op
	reason error
}

func conflictCases() []testCase {
	is := func(op coord.Op) func(coord.Node) coord.Op { return func(coord.Node) coord.Op { return op } }
	var cases []testCase
	for _, c := range []conflict{
		{"create a node that is there", is(coord.Create("p", nil)), coord.ErrNodeExists},
		{"create an ephemeral node that is there", is(coord.CreateEphemeral("p/c", nil)), coord.ErrNodeExists},
		{"create an ephemeral node that another has", is(coord.CreateEphemeral("other", nil)), coord.ErrNodeExists},
		{"set a node that is not there", is(coord.Set("none", nil)), coord.ErrNoNode},
		{"set at a version a node that is not there", is(coord.SetAt("none", nil, 1)), coord.ErrNoNode},
		{"set at another version", func(p coord.Node) coord.Op { return coord.SetAt("p", nil, p.Version+1) }, coord.ErrVersion},
		{"delete a node that is not there", is(coord.Delete("none")), coord.ErrNoNode},
		{"delete a node with children", is(coord.Delete("p")), coord.ErrNotEmpty},
		{"exists, but it is not there", is(coord.Exists("none")), coord.ErrNoNode},
		{"exists, but only a longer name is there", is(coord.Exists("ow")), coord.ErrNoNode},
		{"absent, but it is there", is(coord.Absent("p/c")), coord.ErrNodeExists},
		{"absent, but it is a parent", is(coord.Absent("i")), coord.ErrNodeExists},
		{"at a version, but it is not there", is(coord.AtVersion("none", 1)), coord.ErrNoNode},
		{"at another version", func(p coord.Node) coord.Op { return coord.AtVersion("p", p.Version+1) }, coord.ErrVersion},
		{"owned, but it is not there", is(coord.Owned("none")), coord.ErrNoNode},
		{"owned, but it is persistent", is(coord.Owned("p")), coord.ErrNotOwner},
		{"owned, but by another", is(coord.Owned("other")), coord.ErrNotOwner},
	} {
		cases = append(cases, testCase{"conflict: " + c.name, c.run})
	}
	return cases
}

func (c conflict) run(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("p", nil), coord.Put("p/c", nil), coord.Put("i/c", nil), coord.CreateEphemeral("own", nil))
	s.commit(coord.CreateEphemeral("other", nil))
	op := c.op(r.get("p"))
	ops := []coord.Op{coord.Put("x", nil), coord.Owned("own"), op, coord.Exists("p"), coord.Put("y", nil)}
	_, err := r.Commit(e.ctx, ops...)
	e.wantErr(err, coord.ErrConflict, op.Path)
	e.wantErr(err, c.reason)
	var conflict *coord.ConflictError
	if !errors.As(err, &conflict) {
		e.Fatalf("no *ConflictError: %v", err)
	}
	if conflict.Index != 2 || conflict.Op.Kind != op.Kind || conflict.Op.Path != op.Path || !errors.Is(conflict.Reason, c.reason) {
		e.Errorf("got op %d (%s): %v, want op 2 (%s): %v", conflict.Index, conflict.Op, conflict.Reason, op, c.reason)
	}
	if r.there("x") || r.there("y") {
		e.Error("a part of the commit was done")
	}
}

func conditionsHold(e *env) {
	r := e.dial()
	r.commit(coord.Put("p", nil), coord.Put("i/c", nil), coord.CreateEphemeral("own", nil))
	r.commit(coord.Set("p", nil))
	n := r.get("p")
	for i, condition := range []coord.Op{
		coord.Exists("p"),
		coord.Exists("i"),
		coord.Exists("i/c"),
		coord.Absent("none"),
		coord.Absent("i/c/x"),
		coord.Absent("ow"),
		coord.AtVersion("p", n.Version),
		coord.Owned("own"),
	} {
		r.commit(condition, coord.Create(fmt.Sprintf("done/%d", i), nil))
	}
	r.commit(coord.SetAt("p", []byte("v"), n.Version))
	if got := r.get("p"); string(got.Value) != "v" || got.Version == n.Version {
		e.Errorf("got %+v, version before %d", got, n.Version)
	}
}

func conditionsBefore(e *env) {
	r := e.dial()
	r.commit(coord.Put("a", nil), coord.Put("t/x/y", nil))
	n := r.get("a")
	r.commit(
		coord.Create("new", nil), coord.Absent("new"),
		coord.SetAt("a", []byte("v"), n.Version), coord.AtVersion("a", n.Version),
		coord.DeleteTree("t"), coord.Exists("t/x/y"), coord.Exists("t"),
	)
	if !r.there("new") || r.there("t") || string(r.get("a").Value) != "v" {
		e.Error("the commit was done in part")
	}
}

func parentAndChild(e *env, paths ...string) {
	r := e.dial()
	var ops []coord.Op
	for _, path := range paths {
		ops = append(ops, coord.Create(path, []byte(path)))
	}
	revision := r.commit(ops...)
	for _, path := range paths {
		if n := r.get(path); string(n.Value) != path || n.Created != revision || n.Modified != revision {
			e.Errorf("%s: got %+v, want the revision %d", path, n, revision)
		}
	}
}

func putCreatesAndReplaces(e *env) {
	r := e.dial()
	first := r.commit(coord.Put("a", []byte("1")))
	one := r.get("a")
	second := r.commit(coord.Put("a", []byte("2")))
	two := r.get("a")
	if one.Created != first || two.Created != first || two.Modified != second || string(two.Value) != "2" || one.Version == two.Version {
		e.Errorf("first %+v at %d, then %+v at %d", one, first, two, second)
	}
	r.commit(coord.Put("b/c", nil))
	r.commit(coord.Put("b", []byte("was a parent that nobody wrote")))
	if n := r.get("b"); len(n.Value) == 0 || n.Ephemeral() {
		e.Errorf("got %+v", n)
	}
	if names := r.names("b"); !slices.Equal(names, []string{"c"}) {
		e.Errorf("children %q", names)
	}
}

func writeKeepsOwner(e *env, write func(string, []byte) coord.Op) {
	r, s := e.dial(), e.dial()
	r.commit(coord.CreateEphemeral("a", nil))
	r.commit(write("a", []byte("v")))
	if n := s.get("a"); n.Owner != r.session().ID() || string(n.Value) != "v" {
		e.Errorf("got %+v, want the owner %d", n, r.session().ID())
	}
	v := s.view("a")
	r.shut()
	e.await(v, "the node to go with its session", func(s coord.Snapshot) bool { return !s.Exists("a") })
}

func putByAnotherKeepsOwner(e *env) {
	r, s, third := e.dial(), e.dial(), e.dial()
	r.commit(coord.CreateEphemeral("a", nil))
	s.commit(coord.Put("a", []byte("v")))
	if n := third.get("a"); n.Owner != r.session().ID() || string(n.Value) != "v" {
		e.Errorf("got %+v, want the owner %d", n, r.session().ID())
	}
	s.shut()
	if !third.there("a") {
		e.Error("the node went with a session that only wrote it")
	}
	v := third.view("a")
	r.shut()
	e.await(v, "the node to go with its session", func(s coord.Snapshot) bool { return !s.Exists("a") })
}

func putIsPersistent(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a", nil))
	r.commit(coord.CreateEphemeral("e", nil))
	v := s.view("")
	r.shut()
	e.await(v, "the ephemeral node to go", func(s coord.Snapshot) bool { return !s.Exists("e") })
	if !s.there("a") {
		e.Error("a node that was put went with the session")
	}
}

func deleteLeaf(e *env) {
	r := e.dial()
	r.commit(coord.Put("a/b", nil), coord.Put("a/c", nil))
	r.commit(coord.Delete("a/b"))
	if r.there("a/b") || !r.there("a/c") {
		e.Error("the wrong one is gone")
	}
}

func deleteAfterChildren(e *env) {
	r := e.dial()
	r.commit(coord.Put("a", []byte("v")), coord.Put("a/b", nil))
	_, err := r.Commit(e.ctx, coord.Delete("a"))
	e.wantErr(err, coord.ErrNotEmpty, "a")
	if string(r.get("a").Value) != "v" {
		e.Error("the node was changed")
	}
	r.commit(coord.Delete("a/b"))
	r.commit(coord.Delete("a"))
	if r.there("a") {
		e.Error("still there")
	}
}

func deleteAtVersion(e *env) {
	r := e.dial()
	r.commit(coord.Put("a", nil))
	n := r.get("a")
	r.commit(coord.Set("a", nil))
	_, err := r.Commit(e.ctx, coord.AtVersion("a", n.Version), coord.Delete("a"))
	e.wantErr(err, coord.ErrVersion, "a")
	r.commit(coord.AtVersion("a", r.get("a").Version), coord.Delete("a"))
	if r.there("a") {
		e.Error("still there")
	}
}

func deleteTreeLeavesSiblings(e *env) {
	r := e.dial()
	left := []string{"a/0", "a/1-x", "a/1.x", "a/10", "a/10/y", "a/1x", "a/11"}
	for _, path := range append(left, "a/1", "a/1/x", "a/1/x/y", "a/1/z") {
		r.commit(coord.Put(path, nil))
	}
	r.commit(coord.DeleteTree("a/1"))
	if r.there("a/1") || r.there("a/1/x") || r.there("a/1/x/y") || r.there("a/1/z") {
		e.Error("something of the tree is left")
	}
	for _, path := range left {
		if !r.there(path) {
			e.Errorf("%s is gone", path)
		}
	}
}

func deleteTreeOfNothing(e *env) {
	r := e.dial()
	if revision := r.commit(coord.DeleteTree("a"), coord.DeleteTree("b/c")); revision != 0 {
		e.Errorf("revision %d", revision)
	}
	if r.there("a") || r.there("b") {
		e.Error("it made a node")
	}
	r.commit(coord.DeleteTree("a"), coord.Put("b", nil))
	if !r.there("b") {
		e.Error("the rest of the commit was not done")
	}
}

func deleteLargeTree(e *env) {
	r := e.dial()
	for chunk := range 3 {
		var ops []coord.Op
		for i := range 100 {
			ops = append(ops, coord.Put(fmt.Sprintf("t/%d/%d", chunk, i), nil))
		}
		r.commit(ops...)
	}
	r.commit(coord.Put("keep", nil))
	_, err := r.Commit(e.ctx, coord.DeleteTree("t"), coord.Absent("keep"))
	e.wantErr(err, coord.ErrNodeExists, "keep")
	if got := len(r.names("t/2")); got != 100 {
		e.Errorf("%d of 100 left by a commit that failed", got)
	}
	r.commit(coord.DeleteTree("t"))
	if names := r.names(""); !slices.Equal(names, []string{"keep"}) {
		e.Errorf("left: %q", names)
	}
}

func deleteUnwrittenTree(e *env) {
	r := e.dial()
	r.commit(coord.Put("a/b/c/d", nil))
	r.commit(coord.DeleteTree("a/b"))
	if r.there("a/b/c/d") || r.there("a/b/c") || r.there("a/b") {
		e.Error("something is left")
	}
}

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

func revisions(e *env) {
	r, s := e.dial(), e.dial()
	last := int64(0)
	for i := range 10 {
		by := r
		if i%2 == 1 {
			by = s
		}
		path := fmt.Sprintf("n/%d", i)
		revision := by.commit(coord.Create(path, nil), coord.Put("counter", []byte(path)))
		if revision <= last {
			e.Errorf("revision %d after %d", revision, last)
		}
		n, counter := r.get(path), r.get("counter")
		if n.Created != revision || n.Modified != revision || counter.Modified != revision {
			e.Errorf("revision %d, but %+v and %+v", revision, n, counter)
		}
		if i > 0 && counter.Created >= revision {
			e.Errorf("created %d", counter.Created)
		}
		last = revision
	}
}

func noRevision(e *env) {
	r := e.dial()
	r.commit(coord.Put("a", nil), coord.Put("t/x", nil), coord.Put("d", nil))
	for _, ops := range [][]coord.Op{
		{coord.Exists("a")},
		{coord.Absent("none"), coord.AtVersion("a", r.get("a").Version)},
		{coord.Delete("d")},
		{coord.Exists("a"), coord.DeleteTree("t")},
	} {
		if revision := r.commit(ops...); revision != 0 {
			e.Errorf("%v: revision %d", ops, revision)
		}
	}
}

func twoLives(e *env) {
	r := e.dial()
	r.commit(coord.Create("a", nil))
	first := r.get("a")
	r.commit(coord.Delete("a"))
	r.commit(coord.Create("a", nil))
	second := r.get("a")
	if second.Created <= first.Modified {
		e.Errorf("created at %d in the second life, modified at %d in the first", second.Created, first.Modified)
	}
	e.Logf("the version of both lives is the same: %v", first.Version == second.Version)
}

func buffers(e *env) {
	r := e.dial()
	v := r.view("")
	value := []byte("before")
	ops := []coord.Op{coord.Put("a", value)}
	r.commit(ops...)
	copy(value, "xxxxxx")
	ops[0].Path = "b"
	e.sync(v)
	if got := string(r.get("a").Value); got != "before" {
		e.Errorf("the store has %q", got)
	}
	if n, _ := v.Snapshot().Get("a"); string(n.Value) != "before" {
		e.Errorf("the view has %q", n.Value)
	}
}

func oneCreates(e *env) {
	const contenders = 8
	registries := []*client{e.dial(), e.dial()}
	for round := range 5 {
		path := fmt.Sprintf("a/%d", round)
		errs := make([]error, contenders)
		var wg sync.WaitGroup
		for i := range contenders {
			wg.Go(func() {
				_, errs[i] = registries[i%2].Commit(e.ctx, coord.Create(path, []byte(strconv.Itoa(i))))
			})
		}
		wg.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won >= 0:
				e.Errorf("%d and %d both created %s", won, i, path)
			case err == nil:
				won = i
			default:
				e.wantErr(err, coord.ErrNodeExists)
			}
		}
		if got := string(registries[0].get(path).Value); got != strconv.Itoa(won) {
			e.Errorf("%d created %s, its value is of %s", won, path, got)
		}
	}
}

// manyCallers: what an adapter sends together it answers apart. Writes of one node have
// different numbers; those of other nodes may share one.
func manyCallers(e *env) {
	const callers, rounds = 32, 4
	r := e.dial()
	r.commit(coord.Put("there", nil))
	var mu sync.Mutex
	numbers := make(map[int64]int)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for round := range rounds {
				own := fmt.Sprintf("own/%d/%d", i, round)
				created, err := r.Commit(e.ctx, coord.Create(own, []byte(own)))
				if err != nil {
					e.Errorf("%s: %v", own, err)
				}
				if n, err := r.Get(e.ctx, own); err != nil || string(n.Value) != own || n.Modified != created {
					e.Errorf("%s: got %+v, %v; it was written at %d", own, n, err, created)
				}
				_, err = r.Commit(e.ctx, coord.Put(own+"/b", nil), coord.Create("there", nil))
				conflict := (*coord.ConflictError)(nil)
				if !errors.As(err, &conflict) || conflict.Index != 1 || conflict.Reason != coord.ErrNodeExists {
					e.Errorf("%s: got the error %v", own, err)
				}
				same, err := r.Commit(e.ctx, coord.Put("same", []byte(own)))
				if err != nil {
					e.Errorf("same: %v", err)
				}
				mu.Lock()
				numbers[same]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(numbers) != callers*rounds {
		e.Errorf("%d writes of one node have %d numbers", callers*rounds, len(numbers))
	}
	if n := r.get("same"); numbers[n.Modified] == 0 {
		e.Errorf("the node was written at %d, which no commit was told", n.Modified)
	}
}

func countUp(e *env) {
	const writers, rounds = 4, 10
	registries := []*client{e.dial(), e.dial()}
	registries[0].commit(coord.Put("counter", []byte("0")))
	var wg sync.WaitGroup
	for i := range writers {
		r := registries[i%2]
		wg.Go(func() {
			for done := 0; done < rounds; {
				n, err := r.Get(e.ctx, "counter")
				if err != nil {
					e.Error(err)
					return
				}
				count, _ := strconv.Atoi(string(n.Value))
				_, err = r.Commit(e.ctx, coord.SetAt("counter", []byte(strconv.Itoa(count+1)), n.Version))
				switch {
				case err == nil:
					done++
				case !errors.Is(err, coord.ErrVersion):
					e.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := string(registries[0].get("counter").Value); got != strconv.Itoa(writers*rounds) {
		e.Errorf("counted to %s, want %d", got, writers*rounds)
	}
}

func oneMoves(e *env) {
	r, s := e.dial(), e.dial()
	for round := range 10 {
		from, to1, to2 := fmt.Sprintf("%d/from", round), fmt.Sprintf("%d/to/1", round), fmt.Sprintf("%d/to/2", round)
		r.commit(coord.Put(from, nil))
		var errs [2]error
		var wg sync.WaitGroup
		wg.Go(func() { _, errs[0] = r.Commit(e.ctx, coord.Delete(from), coord.Create(to1, nil)) })
		wg.Go(func() { _, errs[1] = s.Commit(e.ctx, coord.Create(to2, nil), coord.Delete(from)) })
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			e.Errorf("outcomes %v and %v", errs[0], errs[1])
		}
		if r.there(to1) != (errs[0] == nil) || r.there(to2) != (errs[1] == nil) || r.there(from) {
			e.Errorf("round %d: the tree does not agree with the outcomes %v and %v", round, errs[0], errs[1])
		}
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
	_, err = r.View(ctx, "")
	e.wantErr(err, cause)
	if r.there("a") {
		e.Error("it was written")
	}
}
