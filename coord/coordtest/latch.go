package coordtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/elasticjob-go/elasticjob/coord"
)

func latchCases() []testCase {
	return []testCase{
		{"latch: acquired at once when nobody holds it", latchFree},
		{"latch: exclusive, and in the order of arrival", latchInOrder},
		{"latch: released", latchReleased},
		{"latch: acquired again by the same registry", latchAgain},
		{"latch: a queue of candidates of one registry", latchOneRegistry},
		{"latch: lost when its node is deleted", latchNodeDeleted},
		{"latch: lost when its session is", latchSessionLost},
		{"latch: a candidate whose context ends is withdrawn", latchWithdrawn},
		{"latch: a context that is over joins no queue", latchContextOver},
		{"latch: waiting ends with the session", latchWaitSessionLost},
		{"latch: passed on when the holder closes", latchClosed},
		{"latch: two paths are two latches", latchTwo},
		{"latch: 100 contenders", latchContenders},
	}
}

// queued waits until so many candidates stand in the queue at path.
func (e *env) queued(v coord.View, path string, count int) []string {
	e.Helper()
	s := e.await(v, fmt.Sprintf("%d candidates", count), func(s coord.Snapshot) bool { return len(s.Children(path)) == count })
	return s.Children(path)
}

func latchFree(e *env) {
	r := e.dial()
	held := e.acquire(r.latch("l"))
	if held.Context().Err() != nil {
		e.Error("the context is over from the beginning")
	}
	if held.Token() <= 0 {
		e.Errorf("token %d", held.Token())
	}
	names := r.names("l")
	if len(names) != 1 {
		e.Fatalf("candidates %q", names)
	}
	if n := r.get(coord.Join("l", names[0])); n.Owner != r.session().ID() {
		e.Errorf("the candidate is %+v, want an ephemeral node of session %d", n, r.session().ID())
	}
}

// grant is one acquisition in the background.
type grant struct {
	held coord.Held
	err  error
}

func (e *env) acquireLater(ctx context.Context, l coord.Latch) <-chan grant {
	granted := make(chan grant, 1)
	go func() {
		held, err := l.Acquire(ctx)
		granted <- grant{held, err}
	}()
	return granted
}

func (e *env) granted(c <-chan grant) coord.Held {
	e.Helper()
	select {
	case g := <-c:
		if g.err != nil {
			e.Fatalf("acquire: %v", g.err)
		}
		return g.held
	case <-e.ctx.Done():
		e.Fatalf("the latch is not passed on: %v", context.Cause(e.ctx))
	}
	return nil
}

// refused waits until an acquisition has failed, and checks its error.
func (e *env) refused(c <-chan grant, want error) {
	e.Helper()
	select {
	case g := <-c:
		e.wantErr(g.err, want)
	case <-e.ctx.Done():
		e.Fatalf("Acquire does not end: %v", context.Cause(e.ctx))
	}
}

func latchInOrder(e *env) {
	const contenders = 5
	watcher := e.dial()
	queue := watcher.view("l")
	var waiting []<-chan grant
	for i := range contenders {
		waiting = append(waiting, e.acquireLater(e.ctx, e.dial().latch("l")))
		e.queued(queue, "l", i+1)
	}
	token := int64(0)
	for i, c := range waiting {
		held := e.granted(c)
		for j := i + 1; j < contenders; j++ {
			select {
			case g := <-waiting[j]:
				e.Fatalf("%d has the latch while %d holds it: %v", j, i, g.err)
			default:
			}
		}
		if held.Token() <= token {
			e.Errorf("token %d after %d", held.Token(), token)
		}
		token = held.Token()
		e.release(held)
	}
	e.queued(queue, "l", 0)
}

func latchReleased(e *env) {
	r, s := e.dial(), e.dial()
	held := e.acquire(r.latch("l"))
	queue := s.view("l")
	next := e.acquireLater(e.ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	e.release(held)
	if cause := context.Cause(held.Context()); !errors.Is(cause, coord.ErrReleased) {
		e.Errorf("the context ended with the cause %v", cause)
	}
	e.granted(next)
	if err := held.Release(e.ctx); err != nil {
		e.Errorf("second release: %v", err)
	}
	e.queued(queue, "l", 1)
}

func latchAgain(e *env) {
	r := e.dial()
	l := r.latch("l")
	token := int64(0)
	for range 5 {
		held := e.acquire(l)
		if held.Token() <= token {
			e.Errorf("token %d after %d", held.Token(), token)
		}
		token = held.Token()
		e.release(held)
	}
	if r.there("l") && len(r.names("l")) > 0 {
		e.Errorf("left: %q", r.names("l"))
	}
}

func latchOneRegistry(e *env) {
	r := e.dial()
	queue := r.view("l")
	l := r.latch("l")
	first := e.acquire(l)
	second := e.acquireLater(e.ctx, l)
	third := e.acquireLater(e.ctx, r.latch("l"))
	e.queued(queue, "l", 3)
	select {
	case <-second:
		e.Error("the latch is held twice")
	case <-third:
		e.Error("the latch is held twice")
	default:
	}
	_ = first.Release(e.ctx)
	var other <-chan grant
	select {
	case g := <-second:
		other = third
		e.Logf("second: %v", g.err)
		_ = g.held.Release(e.ctx)
	case g := <-third:
		other = second
		_ = g.held.Release(e.ctx)
	case <-e.ctx.Done():
		e.Fatal("the latch is not passed on")
	}
	_ = e.granted(other).Release(e.ctx)
	e.queued(queue, "l", 0)
}

func latchNodeDeleted(e *env) {
	r, s := e.dial(), e.dial()
	held := e.acquire(r.latch("l"))
	queue := s.view("l")
	names := e.queued(queue, "l", 1)
	next := e.acquireLater(e.ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	s.commit(coord.Delete(coord.Join("l", names[0])))
	e.awaitEnd(held.Context(), "the latch's context", coord.ErrLatchLost)
	if later := e.granted(next); later.Token() <= held.Token() {
		e.Errorf("token %d after %d", later.Token(), held.Token())
	}
	if r.session().Context().Err() != nil {
		e.Error("the session ended too")
	}
}

func latchSessionLost(e *env) {
	r, s := e.dial(), e.dial()
	held := e.acquire(r.latch("l"))
	queue := s.view("l")
	next := e.acquireLater(e.ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	e.expire(r.session())
	if later := e.granted(next); later.Token() <= held.Token() {
		e.Errorf("token %d after %d", later.Token(), held.Token())
	}
	// The adapter may learn first that the node is gone, or that the session has ended.
	e.awaitEnd(held.Context(), "the latch's context", coord.ErrSessionLost, coord.ErrLatchLost)
	if err := held.Release(e.ctx); err != nil {
		e.Logf("release of a latch that is lost: %v", err)
	}
}

func latchWithdrawn(e *env) {
	r, s, third := e.dial(), e.dial(), e.dial()
	first := e.acquire(r.latch("l"))
	queue := r.view("l")
	ctx, cancel := context.WithCancelCause(e.ctx)
	second := e.acquireLater(ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	last := e.acquireLater(e.ctx, third.latch("l"))
	e.queued(queue, "l", 3)
	cause := errors.New("the caller's reason")
	cancel(cause)
	e.refused(second, cause)
	e.queued(queue, "l", 2)
	select {
	case <-last:
		e.Fatal("the latch was passed on while it was held")
	default:
	}
	_ = first.Release(e.ctx)
	e.granted(last)
}

func latchContextOver(e *env) {
	r := e.dial()
	ctx, cancel := context.WithCancelCause(e.ctx)
	cause := errors.New("the caller's reason")
	cancel(cause)
	_, err := r.latch("l").Acquire(ctx)
	e.wantErr(err, cause)
	held := e.acquire(r.latch("l")) // nobody stands in front
	if got := r.names("l"); len(got) != 1 {
		e.Errorf("candidates %q", got)
	}
	_ = held.Release(e.ctx)
}

func latchWaitSessionLost(e *env) {
	r, s := e.dial(), e.dial()
	held := e.acquire(r.latch("l"))
	queue := r.view("l")
	waiting := e.acquireLater(e.ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	e.expire(s.session())
	e.refused(waiting, coord.ErrSessionLost)
	e.queued(queue, "l", 1)
	if held.Context().Err() != nil {
		e.Error("the holder lost it too")
	}
}

func latchClosed(e *env) {
	r, s := e.dial(), e.dial()
	held := e.acquire(r.latch("l"))
	queue := s.view("l")
	next := e.acquireLater(e.ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	r.mustClose()
	e.awaitEnd(held.Context(), "the latch's context", coord.ErrClosed)
	e.granted(next)
}

func latchTwo(e *env) {
	r, s := e.dial(), e.dial()
	a := e.acquire(r.latch("a/latch"))
	b := e.acquire(s.latch("b/latch"))
	c := e.acquire(s.latch("a/latch2"))
	for _, held := range []coord.Held{a, b, c} {
		if held.Context().Err() != nil {
			e.Error("lost")
		}
		e.release(held)
	}
}

func latchContenders(e *env) {
	const registries, each = 10, 10
	var inside atomic.Int32
	var mu sync.Mutex
	var tokens []int64 // in the order in which the latch was held
	var wg sync.WaitGroup
	for range registries {
		l := e.dial().latch("l")
		for range each {
			wg.Go(func() {
				held, err := l.Acquire(e.ctx)
				if err != nil {
					e.Errorf("acquire: %v", err)
					return
				}
				if n := inside.Add(1); n != 1 {
					e.Errorf("%d hold the latch", n)
				}
				mu.Lock()
				tokens = append(tokens, held.Token())
				mu.Unlock()
				if err := held.Context().Err(); err != nil {
					e.Errorf("lost while held: %v", context.Cause(held.Context()))
				}
				inside.Add(-1)
				e.release(held)
			})
		}
	}
	wg.Wait()
	if len(tokens) != registries*each {
		e.Errorf("held %d times, want %d", len(tokens), registries*each)
	}
	if !slices.IsSorted(tokens) || len(slices.Compact(tokens)) != len(tokens) {
		e.Errorf("the tokens do not grow: %d", tokens)
	}
}
