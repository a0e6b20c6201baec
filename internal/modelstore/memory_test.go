package modelstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/modelstore"
)

// The same calls have the same outcome as on coord/memory, and leave the same tree.
func TestAgreesWithMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(t)
		defer p.close()
		t.Repeat(map[string]func(*rapid.T){
			"commit": p.commitSome,
			"expire": p.expire,
			"leave":  p.leave,
		})
	})
}

// pair is a store, and one of coord/memory to which the same is done.
type pair struct {
	store   *modelstore.Store
	memory  *memory.Store
	clients []*client
	cleaner *memory.Registry // removes parents that memory keeps and the store does not

	// Both before the next call.
	before                   coord.Snapshot // of memory
	revision, memoryRevision int64

	wrote     map[string]bool       // the nodes that are there and not only as parents
	adopted   map[string]bool       // those of them that were parents first
	told      map[string]coord.Node // the nodes as Written tells of them
	revisions map[int64]int64       // of the store: that of memory for the same change
}

// client is somebody with a session, and may not know that it has ended.
type client struct {
	registry *memory.Registry
	session  coord.SessionID
}

func newPair(t *rapid.T) *pair {
	p := &pair{
		store:     modelstore.New(),
		memory:    memory.NewStore(memory.Options{Seed: 1}),
		wrote:     map[string]bool{},
		adopted:   map[string]bool{},
		told:      map[string]coord.Node{},
		revisions: map[int64]int64{0: 0}, // of commits that write no value
	}
	p.store.Written = func(before, after *coord.Node) { p.written(t, before, after) }
	p.cleaner = p.dial(t).registry
	for range 3 {
		p.clients = append(p.clients, p.dial(t))
	}
	p.remember()
	return p
}

func (p *pair) close() {
	for _, c := range p.clients {
		_ = c.registry.Close(context.Background()) // nothing can go wrong with memory
	}
	_ = p.cleaner.Close(context.Background())
	p.memory.Close()
}

func (p *pair) dial(t *rapid.T) *client {
	// So long that no client learns in time that its session was ended.
	const timeout = 24 * time.Hour
	r, err := p.memory.Dial(context.Background(), memory.Config{Namespace: "n", SessionTimeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return &client{r, s.ID()}
}

func (p *pair) remember() {
	p.before = p.memory.Snapshot("n")
	p.revision, p.memoryRevision = p.store.Revision(), p.memory.Revision()
}

func (p *pair) choose(t *rapid.T) *client { return rapid.SampledFrom(p.clients).Draw(t, "client") }

func (p *pair) commitSome(t *rapid.T) {
	for range rapid.IntRange(1, 20).Draw(t, "commits") {
		p.commit(t)
	}
}

func (p *pair) commit(t *rapid.T) {
	c := p.choose(t)
	ops := p.drawOps(t, c.session)
	got, err := p.store.Commit(c.session, ops...)
	want, wantErr := c.registry.Commit(context.Background(), ops...)
	if outcome(err) != outcome(wantErr) {
		t.Fatalf("%v: got %v, memory has %v", ops, err, wantErr)
	}
	if wantErr == nil {
		for _, op := range ops {
			if op.Kind.Writes() && op.Kind != coord.OpDelete && op.Kind != coord.OpDeleteTree {
				p.adopted[op.Path] = p.adopted[op.Path] || p.before.Exists(op.Path) && !p.wrote[op.Path]
				p.wrote[op.Path] = true
			}
		}
	}
	p.compare(t)
	if same, ok := p.revisions[got]; !ok || same != want {
		t.Fatalf("%v: got the revision %d, which is memory's %d; that has %d", ops, got, same, want)
	}
}

// outcome is what callers can branch on.
func outcome(err error) string {
	var conflict *coord.ConflictError
	if errors.As(err, &conflict) {
		return conflict.Error()
	}
	for _, sentinel := range []error{coord.ErrSessionLost, coord.ErrInvalidPath, coord.ErrInvalidCommit, coord.ErrTooLarge} {
		if errors.Is(err, sentinel) {
			return sentinel.Error()
		}
	}
	return fmt.Sprint(err)
}

// expire ends a session. Its client goes on as if it had not.
func (p *pair) expire(t *rapid.T) {
	c := p.choose(t)
	p.store.Expire(c.session)
	p.memory.Expire(c.session)
	p.compare(t)
}

// leave ends the session of a client, who then comes back with another.
func (p *pair) leave(t *rapid.T) {
	c := p.choose(t)
	p.store.Expire(c.session)
	if err := c.registry.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.compare(t)
	*c = *p.dial(t)
}

func (p *pair) drawOps(t *rapid.T, session coord.SessionID) []coord.Op {
	fault := rapid.SampledFrom(faults).Draw(t, "fault")
	if fault == "no ops" {
		return nil
	}
	ops := []coord.Op{p.drawOp(t, session)}
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2, 4}).Draw(t, "more") {
		// Ops that may not stand together are of interest, but most would be such.
		more := append(ops, p.drawOp(t, session))
		if coord.ValidateCommit(more...) == nil || fault == "overlapping" {
			ops = more
		}
	}
	switch fault {
	case "large value":
		ops = append(ops, coord.Put("large", make([]byte, coord.MaxCommitBytes)))
	case "many ops":
		for i := range coord.MaxOps {
			ops = append(ops, coord.Put(fmt.Sprintf("many/%d", i), nil))
		}
	case "bad path":
		ops = append(ops, coord.Put("a//b", nil))
	}
	return ops
}

var (
	faults = append(make([]string, 50), "no ops", "overlapping", "overlapping", "large value", "many ops", "bad path")
	paths  = []string{"a", "a/b", "a/b/c", "a/c", "a-b", "b", "b/c"}
	values = [][]byte{nil, {}, []byte("v"), []byte("w")}
	kinds  = []coord.OpKind{
		coord.OpCreate, coord.OpCreateEphemeral, coord.OpPut, coord.OpSet, coord.OpSetAt, coord.OpDelete,
		coord.OpDeleteTree, coord.OpExists, coord.OpAbsent, coord.OpAtVersion, coord.OpOwned,
	}
)

// drawOp draws an op that has a fair chance to hold.
func (p *pair) drawOp(t *rapid.T, session coord.SessionID) coord.Op {
	op := coord.Op{
		Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
		Path:  rapid.SampledFrom(paths).Draw(t, "path"),
		Value: rapid.SampledFrom(values).Draw(t, "value"),
	}
	if op.Kind == coord.OpOwned && rapid.Bool().Draw(t, "own") {
		for n := range p.before.All("") {
			if n.Owner == session {
				op.Path = n.Path
			}
		}
	}
	n, _ := p.before.Get(op.Path)
	op.Version = n.Version + rapid.SampledFrom([]int64{0, 0, 0, 1, -1}).Draw(t, "off by")
	return op
}

// compare looks for differences after a call.
func (p *pair) compare(t *rapid.T) {
	revision, memoryRevision := p.store.Revision(), p.memory.Revision()
	if revision < p.revision || (revision != p.revision) != (memoryRevision != p.memoryRevision) {
		t.Fatalf("the revision was %d and is %d; memory's was %d and is %d", p.revision, revision, p.memoryRevision, memoryRevision)
	}
	if revision != p.revision {
		p.revisions[revision] = memoryRevision
	}

	got, want := p.store.Snapshot(), p.memory.Snapshot("n")
	for path := range p.wrote {
		if !want.Exists(path) {
			delete(p.wrote, path)
			delete(p.adopted, path)
		}
	}
	for n := range want.All("") {
		if difference := p.differs(got, n); difference != "" {
			t.Fatalf("%s: %s", n.Path, difference)
		}
	}
	if got.Len() != len(p.wrote) || len(p.told) != len(p.wrote) {
		t.Fatalf("%d nodes, and %d by what Written tells; %d are there", got.Len(), len(p.told), len(p.wrote))
	}
	for n := range got.All("") {
		if told := p.told[n.Path]; !same(told, n) {
			t.Fatalf("%s is %+v, and %+v by what Written tells", n.Path, n, told)
		}
	}
	p.clean(t, got, want)
	p.remember()
}

// differs says what the store shows of a node that memory has, if it is not the same.
func (p *pair) differs(got coord.Snapshot, want coord.Node) string {
	n, there := got.Get(want.Path)
	if !p.wrote[want.Path] { // a parent
		if there == p.isParent(want.Path) && (!there || same(n, coord.Node{Path: want.Path})) {
			return ""
		}
		return fmt.Sprintf("got %+v (%v) for a parent that nobody wrote", n, there)
	}
	modified, created := p.revisions[n.Modified], p.revisions[n.Created]
	if p.adopted[want.Path] && want.Created < created {
		created = want.Created // memory counts from when it became a parent
	}
	mapped := n
	mapped.Created, mapped.Modified = created, modified
	if !there || !same(mapped, want) {
		return fmt.Sprintf("got %+v (%v), in memory's numbers %+v; memory has %+v", n, there, mapped, want)
	}
	return ""
}

func same(a, b coord.Node) bool {
	return a.Path == b.Path && bytes.Equal(a.Value, b.Value) && a.Version == b.Version &&
		a.Created == b.Created && a.Modified == b.Modified && a.Owner == b.Owner
}

// isParent reports whether there is a node below path.
func (p *pair) isParent(path string) bool {
	for written := range p.wrote {
		if written != path && coord.Within(written, path) {
			return true
		}
	}
	return false
}

// clean removes the parents that memory keeps though nothing is below them any more.
func (p *pair) clean(t *rapid.T, got, want coord.Snapshot) {
	for n := range want.All("") {
		if got.Exists(n.Path) {
			continue
		}
		if _, err := p.cleaner.Commit(context.Background(), coord.DeleteTree(n.Path)); err != nil {
			t.Fatal(err)
		}
	}
}

// written follows what Written tells.
func (p *pair) written(t *rapid.T, before, after *coord.Node) {
	node := after
	if before != nil {
		node = before
	}
	path := node.Path
	was, there := p.told[path]
	if there != (before != nil) || there && !same(was, *before) {
		t.Fatalf("Written tells that %s was %+v; it was %+v (%v)", path, before, was, there)
	}
	delete(p.told, path)
	if after != nil {
		p.told[after.Path] = *after
	}
}
