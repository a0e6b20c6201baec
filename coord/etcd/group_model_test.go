package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/modelstore"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// awaitWaiting waits until so many commits wait at a registry.
func awaitWaiting(ctx context.Context, r *etcd.Registry, want int) error {
	for {
		switch _, waiting := r.CommitGroups(); {
		case waiting == want:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%d commits wait, want %d", waiting, want)
		}
		runtime.Gosched()
	}
}

// wish is an operation. If now is set, and the node was written before all commits, its
// version is the one that the node had then.
type wish struct {
	op  coord.Op
	now bool
}

// trial is a tree, and commits that are done to it at the same time.
type trial struct {
	before  []coord.Op
	commits [][]wish
}

// outcome is what a commit has come to, as far as every store has to say the same.
type outcome struct {
	index  int // of the operation that did not hold, -1 if it was committed
	reason error
}

func outcomeOf(err error) (outcome, error) {
	conflict := (*coord.ConflictError)(nil)
	switch {
	case err == nil:
		return outcome{index: -1}, nil
	case errors.As(err, &conflict):
		return outcome{conflict.Index, conflict.Reason}, nil
	}
	return outcome{}, err
}

const ownSession = 1

// model does what a trial does before its commits.
func (tr *trial) model() *modelstore.Store {
	s := modelstore.New()
	for _, op := range tr.before {
		if _, err := s.Commit(ownSession, op); err != nil {
			panic(fmt.Sprintf("%v: %v", op, err))
		}
		// In the model a node that is created again has the versions 0, 1, 2 again. So what
		// is there before gets a version that the commits of a trial do not reach.
		for range 20 {
			if _, err := s.Commit(ownSession, coord.Set(op.Path, op.Value)); err != nil {
				panic(fmt.Sprintf("%v: %v", op, err))
			}
		}
	}
	return s
}

// ops are the operations of a commit, with the versions that nodes have before all commits.
func ops(wishes []wish, version func(path string) int64) []coord.Op {
	var ops []coord.Op
	for _, w := range wishes {
		op := w.op
		if v := version(op.Path); w.now && v > 0 {
			op.Version = v
		}
		ops = append(ops, op)
	}
	return ops
}

// serial looks for an order in which the commits, one after the other, come to the same
// outcomes and leave the same tree.
func (tr *trial) serial(outcomes []outcome, tree string) bool {
	fresh := tr.model().Snapshot()
	version := func(path string) int64 { n, _ := fresh.Get(path); return n.Version }
	done := make([]bool, len(tr.commits))
	var order []int
	var try func() bool
	try = func() bool {
		s := tr.model()
		for n, i := range order {
			_, err := s.Commit(ownSession, ops(tr.commits[i], version)...)
			if got, err := outcomeOf(err); err != nil || got != outcomes[i] {
				if n != len(order)-1 {
					panic("the model store does not repeat itself")
				}
				return false
			}
		}
		if len(order) == len(tr.commits) {
			return describe(s.Snapshot()) == tree
		}
		for i := range tr.commits {
			if done[i] {
				continue
			}
			done[i], order = true, append(order, i)
			if try() {
				return true
			}
			done[i], order = false, order[:len(order)-1]
		}
		return false
	}
	return try()
}

// describe tells of a tree what does not depend on revisions.
func describe(s coord.Snapshot) string {
	var b strings.Builder
	for n := range s.All("") {
		fmt.Fprintf(&b, "%s=%s", n.Path, n.Value)
		if n.Ephemeral() {
			b.WriteString(" ephemeral")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Commits that go in groups have outcomes, and leave a tree, as if they had gone one after
// the other.
func TestGroupsAreSerial(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{SessionTimeout: time.Minute})
	view := open(t, r, "")
	shared := 0 // commits that had a revision together with others
	rapid.Check(t, func(rt *rapid.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		tr := drawTrial(rt)
		reset := []coord.Op{}
		for _, root := range []string{"a", "b", "c", "e", "e2"} {
			reset = append(reset, coord.DeleteTree(root))
		}
		if _, err := r.Commit(ctx, reset...); err != nil {
			rt.Fatal(err)
		}
		for _, op := range tr.before {
			if _, err := r.Commit(ctx, op); err != nil {
				rt.Fatal(err)
			}
		}
		if err := view.Sync(ctx); err != nil {
			rt.Fatal(err)
		}
		fresh := view.Snapshot()
		version := func(path string) int64 { n, _ := fresh.Get(path); return n.Version }

		release := r.Hold()
		var running sync.WaitGroup
		errs := make([]error, len(tr.commits))
		revisions := make([]int64, len(tr.commits))
		for i, commit := range tr.commits {
			running.Go(func() { revisions[i], errs[i] = r.Commit(ctx, ops(commit, version)...) })
		}
		err := awaitWaiting(ctx, r, len(tr.commits))
		release()
		running.Wait()
		if err != nil {
			rt.Fatal(err)
		}
		outcomes := make([]outcome, len(errs))
		for i := range errs {
			if outcomes[i], err = outcomeOf(errs[i]); err != nil {
				rt.Fatal(err)
			}
		}
		if err := view.Sync(ctx); err != nil {
			rt.Fatal(err)
		}
		tree := describe(view.Snapshot())
		if !tr.serial(outcomes, tree) {
			rt.Fatalf("no order of\n%v\non\n%v\nhas the outcomes %v and the tree\n%s", tr.commits, tr.before, outcomes, tree)
		}
		of := map[int64]int{}
		for i, revision := range revisions {
			if revision > 0 {
				of[revision]++
			}
			for n := range view.Snapshot().All("") {
				if string(n.Value) == fmt.Sprint(i) && n.Modified != revision {
					rt.Fatalf("%s was written by commit %d at %d, which was told %d", n.Path, i, n.Modified, revision)
				}
			}
		}
		for _, n := range of {
			if n > 1 {
				shared += n
			}
		}
	})
	if shared == 0 {
		t.Error("no two commits shared a request")
	}
}

// drawTrial draws anything, or commits that each have a condition and a write on few nodes:
// these are more often each other's condition.
func drawTrial(t *rapid.T) *trial {
	narrow := rapid.IntRange(0, 3).Draw(t, "anything") > 0
	paths := []string{"a", "a/x", "a/x/y", "a/z", "b", "b/x", "c"}
	if narrow {
		paths = []string{"a", "a/x", "b", "b/x"}
	}
	tr := &trial{}
	for _, path := range paths {
		if rapid.IntRange(0, 2).Draw(t, "not there: "+path) == 0 {
			tr.before = append(tr.before, coord.Put(path, []byte("before")))
		}
	}
	if !narrow && rapid.Bool().Draw(t, "there: e") {
		tr.before = append(tr.before, coord.CreateEphemeral("e", []byte("before")))
	}
	for i := range rapid.IntRange(2, 5).Draw(t, "commits") {
		one := func(kinds ...coord.OpKind) *rapid.Generator[wish] {
			return rapid.Custom(func(t *rapid.T) wish {
				kind := rapid.SampledFrom(kinds).Draw(t, "kind")
				at := paths
				switch {
				case kind == coord.OpCreateEphemeral: // nothing else may be below such a node
					at = []string{"e", "e2"}
				case kind == coord.OpCreate: // stores differ for a parent that nobody wrote
					at = []string{"a/x/y", "a/z", "b/x", "c"}
				case !narrow:
					at = append([]string{"e", "e2"}, paths...)
				}
				op := coord.Op{Kind: kind, Path: rapid.SampledFrom(at).Draw(t, "path"), Value: []byte(fmt.Sprint(i))}
				if kind == coord.OpSetAt || kind == coord.OpAtVersion {
					op.Version = -1
				}
				return wish{op, rapid.IntRange(0, 3).Draw(t, "at an older version") > 0}
			})
		}
		name := fmt.Sprint("commit ", i)
		commit := []wish{{op: coord.Exists("a")}}
		for range 10 { // until the operations may stand together
			var drawn []wish
			if narrow {
				condition := one(coord.OpAbsent, coord.OpAbsent, coord.OpExists, coord.OpAtVersion, coord.OpDelete)
				write := one(coord.OpPut, coord.OpPut, coord.OpSet, coord.OpDelete, coord.OpDeleteTree)
				drawn = []wish{condition.Draw(t, name), write.Draw(t, name)}
			} else {
				drawn = rapid.SliceOfN(one(coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut, coord.OpSet, coord.OpSetAt,
					coord.OpDelete, coord.OpDeleteTree, coord.OpExists, coord.OpAbsent, coord.OpAtVersion, coord.OpOwned), 1, 3).Draw(t, name)
			}
			if coord.ValidateCommit(ops(drawn, func(string) int64 { return 1 })...) == nil {
				commit = drawn
				break
			}
		}
		tr.commits = append(tr.commits, commit)
	}
	return tr
}

// If commits that concern each other share a request, they are not serial: each is judged on
// the tree before the other. Here each excludes the other. In a careless group both succeed,
// which the model has to notice; committed at the same time only one may.
func TestACarelessGroupIsNotSerial(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	view := open(t, r, "")
	none := func(string) int64 { return 0 }
	for name, tr := range map[string]*trial{
		"by nodes": {commits: [][]wish{
			{{op: coord.Absent("a")}, {op: coord.Put("b", nil)}},
			{{op: coord.Absent("b")}, {op: coord.Put("a", nil)}},
		}},
		"by trees": {commits: [][]wish{
			{{op: coord.Absent("a")}, {op: coord.Put("b/x", nil)}},
			{{op: coord.Absent("b")}, {op: coord.Put("a/x", nil)}},
		}},
		"by children of what is removed": {
			before: []coord.Op{coord.Put("a", nil), coord.Put("b", nil)},
			commits: [][]wish{
				{{op: coord.Delete("a")}, {op: coord.Put("b/x", nil)}},
				{{op: coord.Delete("b")}, {op: coord.Put("a/x", nil)}},
			},
		},
		"by removed trees": {
			before: []coord.Op{coord.Put("a/x", nil), coord.Put("b/x", nil)},
			commits: [][]wish{
				{{op: coord.Exists("a/x")}, {op: coord.DeleteTree("b")}},
				{{op: coord.Exists("b/x")}, {op: coord.DeleteTree("a")}},
			},
		},
	} {
		reset := func() {
			for _, op := range append([]coord.Op{coord.DeleteTree("a"), coord.DeleteTree("b")}, tr.before...) {
				commit(t, r, op)
			}
		}
		reset()
		for i, err := range r.CommitTogether(within(t), ops(tr.commits[0], none), ops(tr.commits[1], none)) {
			if err != nil {
				t.Errorf("%s: commit %d: %v", name, i, err)
			}
		}
		if tr.serial([]outcome{{index: -1}, {index: -1}}, describe(syncView(t, view))) {
			t.Errorf("%s: the model found an order in which both succeed", name)
		}

		reset()
		release := r.Hold()
		var running sync.WaitGroup
		var errs [2]error
		for i, wishes := range tr.commits {
			running.Go(func() { _, errs[i] = r.Commit(within(t), ops(wishes, none)...) })
		}
		err := awaitWaiting(within(t), r, 2)
		release()
		running.Wait()
		if err != nil || (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("%s: %v; the commits ended with %v; want one to succeed", name, err, errs)
		}
	}
}
