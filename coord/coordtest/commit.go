package coordtest

import (
	"errors"
	"fmt"
	"slices"

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
	e.await(v, "the node to go with its session", lacks("a"))
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
	e.await(v, "the node to go with its session", lacks("a"))
}

func putIsPersistent(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.Put("a", nil))
	r.commit(coord.CreateEphemeral("e", nil))
	v := s.view("")
	r.shut()
	e.await(v, "the ephemeral node to go", lacks("e"))
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
	for i := range 3 {
		r.fill(fmt.Sprintf("t/%d", i), 100)
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
