// Package coordtest tests whether an adapter keeps the contract of coord. [Run] runs all cases that
// need a [Store], [RunCommits] those of them that are about commits, and [RunOutages] those that
// need a [Server]. [Benchmark] measures what adapters have in common.
package coordtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// patience bounds everything that the suite waits for. It is far longer than anything should take.
const patience = 5 * time.Minute

// longTimeout is the session time-out for cases in which no session must be lost, also on a slow
// machine.
const longTimeout = 20 * time.Second

// testCase is one case. It runs in a namespace of its own.
type testCase struct {
	name string
	run  func(*env)
}

// Run runs every case against stores of the factory.
func Run(t *testing.T, f Factory) {
	run(t, f, closeCases(),
		slices.Concat(commitCases(), conflictCases(), readCases(), walkCases(), viewCases(), depthCases(), latchCases(), connectCases()),
		slices.Concat(sessionCases(), faultCases(), outageCases()))
}

// RunCommits runs the cases in which it matters how an adapter sends commits: not those that are
// about reading and dialling.
func RunCommits(t *testing.T, f Factory) {
	run(t, f, closeCases(), slices.Concat(commitCases(), conflictCases(), latchCases()), slices.Concat(sessionCases(), faultCases()))
}

// run runs first the cases that must be alone with their store, as they count what it holds, one after the
// other; then busy ones, some at a time; and at last those that mostly wait for time-outs, all side by side.
func run(t *testing.T, f Factory, alone, busy, waiting []testCase) {
	store := f(t)
	ctx, stop := context.WithCancel(t.Context())
	var p stallDetector
	var beating sync.WaitGroup
	beating.Go(func() { p.run(ctx) })
	defer beating.Wait()
	defer stop()
	for _, phase := range []struct {
		name   string
		cases  []testCase
		atOnce int
	}{{"alone", alone, 1}, {"busy", busy, 4}, {"wait", waiting, len(waiting)}} {
		slots := make(chan struct{}, phase.atOnce)
		var running sync.WaitGroup
		for i, c := range phase.cases {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				t.Run(c.name, func(t *testing.T) { c.test(t, store, fmt.Sprintf("%s-%d", phase.name, i), &p) })
			})
		}
		running.Wait()
	}
}

// env is the testing.T of one attempt at a case, which may fail without the test; see testCase.test.
type env struct {
	*testing.T
	ctx       context.Context
	store     Store
	namespace string
	failed    atomic.Bool
	cleanups  []func()
}

func newEnv(t *testing.T, store Store, namespace string) *env {
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("the suite's patience is over"))
	return &env{T: t, ctx: ctx, store: store, namespace: namespace, cleanups: []func(){cancel}}
}

// client is a registry with its link. The lower-case methods end the case on an error, so they are for
// the case's own goroutine.
type client struct {
	coord.Registry
	Link
	env *env
}

// dial opens a registry whose session is not lost because the machine is slow.
func (e *env) dial() *client { return e.dialWith(Options{SessionTimeout: longTimeout}) }

// briefTimeout is the session time-out for cases that wait for it. It is still long enough to prepare the
// case on a machine that has other things to do.
const briefTimeout = 5 * time.Second

// dialBrief opens a registry with a short session time-out, for cases that wait for it.
func (e *env) dialBrief() *client { return e.dialWith(Options{SessionTimeout: briefTimeout}) }

func (e *env) dialWith(o Options) *client {
	e.Helper()
	if o.Namespace == "" {
		o.Namespace = e.namespace
	}
	r, link, err := e.store.Dial(e.ctx, o)
	if err != nil {
		e.Fatalf("dial: %v", err)
	}
	c := &client{Registry: r, Link: link, env: e}
	e.Cleanup(func() { c.shut() })
	return c
}

// shut closes the registry, in whatever state the case has left it.
func (c *client) shut() {
	c.Heal()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		c.env.Logf("close: %v", err)
	}
}

// mustClose closes the registry, and the case fails if that does.
func (c *client) mustClose() {
	c.env.Helper()
	if err := c.Close(c.env.ctx); err != nil {
		c.env.Errorf("close: %v", err)
	}
}

func (c *client) commit(ops ...coord.Op) int64 {
	c.env.Helper()
	revision, err := c.Commit(c.env.ctx, ops...)
	if err != nil {
		c.env.Fatalf("commit %v: %v", ops, err)
	}
	return revision
}

func (c *client) get(path string) coord.Node {
	c.env.Helper()
	n, err := c.Get(c.env.ctx, path)
	if err != nil {
		c.env.Fatalf("get %s: %v", path, err)
	}
	return n
}

// there reports whether the store has the node.
func (c *client) there(path string) bool {
	c.env.Helper()
	_, err := c.Get(c.env.ctx, path)
	if err != nil && !errors.Is(err, coord.ErrNoNode) {
		c.env.Fatalf("get %s: %v", path, err)
	}
	return err == nil
}

// names lists the children of a node.
func (c *client) names(path string) []string {
	c.env.Helper()
	nodes, err := c.List(c.env.ctx, path)
	if err != nil {
		c.env.Fatalf("list %s: %v", path, err)
	}
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = coord.Base(n.Path)
	}
	return names
}

func (c *client) view(path string) coord.View {
	c.env.Helper()
	return c.viewDepth(path, coord.AllLevels)
}

func (c *client) viewDepth(path string, depth int) coord.View {
	c.env.Helper()
	v, err := c.View(c.env.ctx, path, depth)
	if err != nil {
		c.env.Fatalf("view %q to depth %d: %v", path, depth, err)
	}
	c.env.Cleanup(v.Close)
	return v
}

func (c *client) session() coord.Session {
	c.env.Helper()
	s, err := c.Session(c.env.ctx)
	if err != nil {
		c.env.Fatalf("session: %v", err)
	}
	return s
}

func (c *client) latch(path string) coord.Latch {
	c.env.Helper()
	l, err := c.Latch(path)
	if err != nil {
		c.env.Fatalf("latch %s: %v", path, err)
	}
	return l
}

// awaitClock waits until the registry knows the store's clock.
func (c *client) awaitClock() coord.Clock {
	c.env.Helper()
	var clock coord.Clock
	c.env.poll(func() bool {
		clock = c.Clock()
		return clock.Known() && clock.Err() == nil
	}, func() string { return fmt.Sprintf("the store's clock is not known: %v", clock.Err()) })
	return clock
}

// poll waits for something that has no event. If it does not come, late returns the text of the failure.
func (e *env) poll(done func() bool, late func() string) {
	e.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ticker.C:
		case <-e.ctx.Done():
			e.Fatal(late())
		}
	}
}

func (e *env) acquire(l coord.Latch) coord.Held {
	e.Helper()
	held, err := l.Acquire(e.ctx)
	if err != nil {
		e.Fatalf("acquire: %v", err)
	}
	return held
}

func (e *env) release(held coord.Held) {
	e.Helper()
	if err := held.Release(e.ctx); err != nil {
		e.Errorf("release: %v", err)
	}
}

func (e *env) sync(v coord.View) {
	e.Helper()
	if err := v.Sync(e.ctx); err != nil {
		e.Fatalf("sync: %v", err)
	}
}

// await waits until a view shows what is wanted.
func (e *env) await(v coord.View, what string, wanted func(coord.Snapshot) bool) coord.Snapshot {
	e.Helper()
	for {
		changed := v.Changed()
		s := v.Snapshot()
		if wanted(s) {
			return s
		}
		if err := v.Err(); err != nil {
			e.Fatalf("waiting for %s: the view has ended: %v", what, err)
		}
		select {
		case <-changed:
		case <-e.ctx.Done():
			e.Fatalf("waiting for %s: %v; the view shows %s", what, context.Cause(e.ctx), describe(s))
		}
	}
}

// has, lacks and hasValue are what [env.await] waits for.
func has(path string) func(coord.Snapshot) bool {
	return func(s coord.Snapshot) bool { return s.Exists(path) }
}

func lacks(path string) func(coord.Snapshot) bool {
	return func(s coord.Snapshot) bool { return !s.Exists(path) }
}

func hasValue(path, value string) func(coord.Snapshot) bool {
	return func(s coord.Snapshot) bool {
		n, ok := s.Get(path)
		return ok && string(n.Value) == value
	}
}

// expire ends a session at the store.
func (e *env) expire(s coord.Session) {
	e.Helper()
	if err := e.store.Expire(e.ctx, s.ID()); err != nil {
		e.Fatal(err)
	}
}

// awaitEnd waits until a context is over, and checks that its cause is one of several.
func (e *env) awaitEnd(ctx context.Context, what string, causes ...error) {
	e.Helper()
	select {
	case <-ctx.Done():
	case <-e.ctx.Done():
		e.Fatalf("%s does not end: %v", what, context.Cause(e.ctx))
	}
	if got := context.Cause(ctx); !slices.ContainsFunc(causes, func(want error) bool { return errors.Is(got, want) }) {
		e.Errorf("%s ended with the cause %v, want one of %v", what, got, causes)
	}
}

// awaitState waits until a session is in a state.
func (e *env) awaitState(s coord.Session, want coord.SessionState) {
	e.Helper()
	for {
		state, changed := s.State()
		if state == want {
			return
		}
		if state == coord.Lost {
			e.Fatalf("the session is lost, want %v", want)
		}
		select {
		case <-changed:
		case <-e.ctx.Done():
			e.Fatalf("the session stays %v, want %v", state, want)
		}
	}
}

// within runs a call that must return soon, whatever else is broken.
func (e *env) within(d time.Duration, what string, call func()) {
	e.Helper()
	done := make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
		if took := time.Since(begin); took > d {
			e.Errorf("%s took %v, more than %v", what, took, d)
		}
	case <-time.After(patience):
		e.Fatalf("%s has not come back after %v", what, patience)
	}
}

// wantErr checks an error, and that its text has the given parts.
func (e *env) wantErr(err error, want error, names ...string) {
	e.Helper()
	if !errors.Is(err, want) {
		e.Errorf("got the error %v, want %v", err, want)
		return
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			e.Errorf("the error %q does not name %q", err, name)
		}
	}
}

// wantOneOf checks that an error is one of several.
func (e *env) wantOneOf(err error, wants ...error) {
	e.Helper()
	if !slices.ContainsFunc(wants, func(want error) bool { return errors.Is(err, want) }) {
		e.Errorf("got the error %v, want one of %v", err, wants)
	}
}

// load reads a node and everything below it from the store by List.
func (c *client) load(path string) map[string]coord.Node {
	c.env.Helper()
	all := map[string]coord.Node{}
	if path != "" {
		n, err := c.Get(c.env.ctx, path)
		if errors.Is(err, coord.ErrNoNode) {
			return all
		}
		if err != nil {
			c.env.Fatalf("get %s: %v", path, err)
		}
		all[path] = n
	}
	c.loadBelow(path, all)
	return all
}

func (c *client) loadBelow(path string, all map[string]coord.Node) {
	c.env.Helper()
	nodes, err := c.List(c.env.ctx, path)
	if err != nil {
		c.env.Fatalf("list %q: %v", path, err)
	}
	for _, n := range nodes {
		all[n.Path] = n
		c.loadBelow(n.Path, all)
	}
}

// wantEqual checks that a snapshot shows exactly what load returned. Parents that
// nobody wrote may be in either.
func (e *env) wantEqual(s coord.Snapshot, store map[string]coord.Node) {
	e.Helper()
	for path, want := range store {
		got, ok := s.Get(path)
		if !ok {
			e.Errorf("the view lacks %s", path)
		} else if string(got.Value) != string(want.Value) || got.Owner != want.Owner || want.Modified != 0 && got.Modified != 0 && got.Modified != want.Modified {
			e.Errorf("the view shows %s as %+v, the store as %+v", path, got, want)
		}
	}
	for n := range s.All("") {
		if _, ok := store[n.Path]; !ok {
			e.Errorf("the view shows %s, which the store does not have", n.Path)
		}
	}
}

func describe(s coord.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes:", s.Len())
	count := 0
	for n := range s.All("") {
		if count++; count > 30 {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %s=%.20q", n.Path, n.Value)
	}
	return b.String()
}

func isConflict(err error) bool { return errors.Is(err, coord.ErrConflict) }
