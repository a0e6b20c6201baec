package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
)

type modelSession struct {
	coord.Session
	id     coord.SessionID
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func (s *modelSession) State() (coord.SessionState, <-chan struct{}) {
	if s.ctx.Err() != nil {
		return coord.Lost, nil
	}
	return coord.Connected, nil
}
func (s *modelSession) ID() coord.SessionID      { return s.id }
func (s *modelSession) Context() context.Context { return s.ctx }
func (s *modelSession) Deadline() time.Time      { return time.Now().Add(time.Hour) }

// modelRegistry is the registry of a member.
type modelRegistry struct {
	coord.Registry
	p       *member
	session *modelSession
}

// Latch has no queue: only jobs with JVM members need one.
func (*modelRegistry) Latch(string) (coord.Latch, error) { return nil, coord.ErrUnavailable }

// modelView is the view of a member. It shows an old state until it is told to advance.
type modelView struct {
	coord.View
	p     *member
	at    int64            // the revision up to which it shows everything
	ahead map[string]int64 // by path: a later revision that it shows there
}

// lateCommit is a commit whose answer was lost. The store may still carry it out.
type lateCommit struct {
	by      string
	session coord.SessionID
	seen    int64 // the revision that the view showed
	ops     []coord.Op
}

// open begins a session.
func (r *modelRegistry) open() {
	r.p.m.session++
	ctx, cancel := context.WithCancelCause(r.p.m.ctx)
	r.session = &modelSession{id: r.p.m.session, ctx: ctx, cancel: cancel}
}

func (r *modelRegistry) Session(context.Context) (coord.Session, error) {
	if r.session == nil || r.session.ctx.Err() != nil {
		r.open()
	}
	return r.session, nil
}

func (r *modelRegistry) View(context.Context, string, int, ...coord.Bounds) (coord.View, error) {
	return r.p.view, nil
}

func (r *modelRegistry) Clock() coord.Clock { return coord.Clock{} }

func (r *modelRegistry) Get(ctx context.Context, path string) (coord.Node, error) {
	if r.p.crashed || ctx.Err() != nil {
		return coord.Node{}, coord.ErrUnavailable
	}
	r.p.m.meanwhile(r.p)
	n, ok := r.p.m.store.Snapshot().Get(path)
	if !ok {
		return coord.Node{}, coord.ErrNoNode
	}
	return n, nil
}

func (r *modelRegistry) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	m, session := r.p.m, r.session
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	m.tries++
	m.meanwhile(r.p)
	if r.p.crashed {
		return 0, coord.ErrUnavailable
	}
	var lost, happens bool
	if !m.calm {
		switch rapid.IntRange(0, 11).Draw(m.t, "answer") {
		case 9:
			lost, happens = true, true
		case 10:
			lost = true
		case 11:
			m.logf("%s: the answer is lost, and it may come later: %s", r.p.name, describe(ops))
			m.late = append(m.late, lateCommit{by: r.p.name, session: session.id, seen: r.p.view.at, ops: ops})
			return 0, coord.ErrUnknownOutcome
		default:
			happens = true
		}
	} else {
		happens = true
	}
	if !happens {
		m.logf("%s: the request is lost: %s", r.p.name, describe(ops))
		return 0, coord.ErrUnknownOutcome
	}
	m.before = m.state()
	revision, err := m.store.Commit(session.id, ops...)
	switch {
	case err == nil:
		m.logf("%s: %d %s", r.p.name, m.store.Revision(), describe(ops))
		m.applied(r.p.name, r.p.view.at, ops)
	case errors.Is(err, coord.ErrConflict):
		m.logf("%s: %v, of %s", r.p.name, err, describe(ops))
	case errors.Is(err, coord.ErrSessionLost):
	default:
		m.fatalf("%s: %v", r.p.name, err)
	}
	if lost || ctx.Err() != nil {
		m.logf("%s: the answer is lost", r.p.name)
		return 0, coord.ErrUnknownOutcome
	}
	return revision, err
}

func describe(ops []coord.Op) string {
	var b strings.Builder
	for i, op := range ops {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%v", op)
		if len(op.Value) > 0 && len(op.Value) < 60 {
			fmt.Fprintf(&b, " (%s)", op.Value)
		}
	}
	return strings.ReplaceAll(b.String(), "settle/", "")
}

// meanwhile lets the adversary act while a member is between a decision and its commit, say.
func (m *model) meanwhile(p *member) {
	if m.calm || m.depth >= 2 {
		return
	}
	m.depth++
	defer func() { m.depth-- }()
	for range rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 1, 1, 2, 5}).Draw(m.t, "meanwhile") {
		m.act()
	}
}

func (v *modelView) Err() error               { return nil }
func (v *modelView) Fault() error             { return nil }
func (v *modelView) Close()                   {}
func (v *modelView) Changed() <-chan struct{} { return nil }

// Sync makes the view show the newest state.
func (v *modelView) Sync(ctx context.Context) error {
	if v.p.crashed || ctx.Err() != nil {
		return coord.ErrUnavailable
	}
	v.at = v.p.m.store.Revision()
	clear(v.ahead)
	return nil
}

// advance makes the view show a newer state, or parts of one.
func (v *modelView) advance() {
	m := v.p.m
	latest := m.store.Revision()
	if v.at == latest {
		return
	}
	v.at = rapid.Int64Range(v.at, latest).Draw(m.t, "shown")
	for path, at := range v.ahead {
		if at <= v.at {
			delete(v.ahead, path)
		}
	}
	if !m.how.torn || v.at == latest {
		return
	}
	// The view shows some of the nodes that were written since, before the others.
	shown, now := m.history[v.at-m.first], m.history[latest-m.first]
	for _, path := range differing(shown, now) {
		if rapid.Bool().Draw(m.t, path) {
			v.ahead[path] = latest
		}
	}
}

// differing returns the paths of nodes that differ between two snapshots.
func differing(a, b coord.Snapshot) []string {
	var paths []string
	for n := range a.All("") {
		if other, ok := b.Get(n.Path); !ok || other.Modified != n.Modified {
			paths = append(paths, n.Path)
		}
	}
	for n := range b.All("") {
		if _, ok := a.Get(n.Path); !ok {
			paths = append(paths, n.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

func (v *modelView) Snapshot() coord.Snapshot {
	m := v.p.m
	shown := m.history[v.at-m.first]
	if len(v.ahead) == 0 {
		return shown
	}
	tree := coord.NewTree()
	for n := range shown.All("") {
		if _, newer := v.ahead[n.Path]; !newer {
			tree.Put(n)
		}
	}
	for path, at := range v.ahead {
		if n, ok := m.history[at-m.first].Get(path); ok && n.Modified != 0 {
			tree.Put(n)
		}
	}
	return tree.Snapshot()
}

func (v *modelView) tears() string {
	if len(v.ahead) == 0 {
		return ""
	}
	return fmt.Sprintf(" with %v", slices.Sorted(maps.Keys(v.ahead)))
}
