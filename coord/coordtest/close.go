package coordtest

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

func closeCases() []testCase {
	return []testCase{
		{"close: leaves nothing behind", closeLeavesNothing},
		{"close: a view leaves nothing behind", closeViewLeavesNothing},
		{"close: twice", closeTwice},
		{"close: by several at once", closeAtOnce},
		{"close: ephemeral nodes go at once", closeDropsEphemerals},
		{"close: every method is ErrClosed afterwards", afterClose},
		{"close: ends contexts and waiting calls with ErrClosed", closeEndsAll},
		{"close: while the link is cut", func(e *env) { closeBroken(e, Link.Cut) }},
		{"close: while the link is black-holed", func(e *env) { closeBroken(e, Link.BlackHole) }},
	}
}

// awaitCount waits until a count of the store is at most what it was before.
func (e *env) awaitCount(what string, count func(context.Context) (int, error), atMost int) {
	e.Helper()
	n := 0
	e.poll(func() bool {
		n = e.count(count)
		return n <= atMost
	}, func() string { return fmt.Sprintf("the store holds %d %s, and held %d before", n, what, atMost) })
}

func (e *env) count(count func(context.Context) (int, error)) int {
	e.Helper()
	n, err := count(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	return n
}

// goroutines counts the goroutines of the case by the functions that they are: where they are in them changes. A goroutine
// has the labels of the one that has started it, so those of other cases and of a server in this process are not
// among them. Neither are those of the links, which stay until the test ends, and the one that counts.
func (e *env) goroutines() map[string]int {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil { // as text: groups "COUNT @ PCS", labels, frames
		e.Fatal(err)
	}
	running := map[string]int{}
	for group := range strings.SplitSeq(profile.String(), "\n\n") {
		count, stack, _ := strings.Cut(group, " @ ")
		n, err := strconv.Atoi(count[strings.LastIndexByte(count, '\n')+1:]) // the first group follows a headline
		if err == nil && strings.Contains(stack, strconv.Quote(e.label())) && !strings.Contains(stack, "/internal/testserver") && !strings.Contains(stack, "(*env).goroutines") {
			frame := strings.Fields(stack[strings.LastIndexByte(stack, '#'):]) // of the outermost call: # PC FUNCTION+OFFSET FILE:LINE
			function, _, _ := strings.Cut(frame[2], "+0x")
			running[function] += n
		}
	}
	return running
}

// label is what the goroutines of the case are known by.
func (e *env) label() string { return e.Name() + " " + e.namespace }

// noNewGoroutines waits until the case has no goroutine that it did not have before.
func (e *env) noNewGoroutines(before map[string]int) {
	e.Helper()
	var left []string
	e.poll(func() bool {
		left = nil
		for function, n := range e.goroutines() {
			if more := n - before[function]; more > 0 {
				left = append(left, fmt.Sprintf("%d of %s", more, function))
			}
		}
		return len(left) == 0
	}, func() string { return "goroutines are left: " + strings.Join(left, ", ") })
}

// awaitRenewal waits until a session has been renewed.
func (e *env) awaitRenewal(s coord.Session) {
	e.Helper()
	first := s.Deadline()
	e.poll(func() bool { return s.Deadline().After(first) }, func() string { return "not renewed" })
}

// useEverything makes a registry start all goroutines that it ever starts.
func (e *env) useEverything(r *client) (coord.View, coord.Held) {
	e.Helper()
	r.commit(coord.CreateEphemeral("e", nil), coord.Put("a/b", nil))
	v := r.view("")
	r.view("a")
	held := e.acquire(r.latch("l"))
	r.awaitClock()
	r.commit(coord.Put("a/c", nil))
	e.sync(v)
	return v, held
}

func closeLeavesNothing(e *env) {
	// The first registry makes the harness and the runtime start goroutines that stay.
	warm := e.dial()
	e.useEverything(warm)
	warm.shut()

	sessions, watches := e.count(e.store.Sessions), e.count(e.store.Watches)
	before := e.goroutines()
	for range 3 {
		r := e.dial()
		e.useEverything(r)
		waiting := e.acquireLater(e.ctx, r.latch("l"))
		e.queued(r.view("l"), "l", 2)
		if got := e.count(e.store.Sessions); got <= sessions {
			e.Errorf("%d sessions with the registry open, %d before", got, sessions)
		}
		if got := e.count(e.store.Watches); got <= watches {
			e.Errorf("%d watches with views open, %d before", got, watches)
		}
		r.mustClose()
		if g := <-waiting; g.err == nil {
			e.Error("acquired in a registry that is closed")
		}
	}
	e.noNewGoroutines(before)
	e.awaitCount("sessions", e.store.Sessions, sessions)
	e.awaitCount("watches", e.store.Watches, watches)
}

func closeViewLeavesNothing(e *env) {
	r := e.dialWith(Options{SessionTimeout: suspendTimeout})
	e.awaitRenewal(r.session()) // with the first one, registries start what goes on
	r.commit(coord.Put("a/b/c", nil))
	warm := r.view("")
	e.sync(warm)
	warm.Close()
	before := e.goroutines()
	for i := range 10 {
		v := r.view(fmt.Sprintf("a/%d", i%2))
		e.sync(v)
		v.Close()
	}
	e.noNewGoroutines(before)
}

func closeTwice(e *env) {
	r := e.dial()
	for i := range 3 {
		if err := r.Close(e.ctx); err != nil {
			e.Errorf("close %d: %v", i, err)
		}
	}
}

func closeAtOnce(e *env) {
	r := e.dial()
	e.useEverything(r)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(r.mustClose)
	}
	wg.Wait()
}

func closeDropsEphemerals(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.CreateEphemeral("e/1", nil), coord.CreateEphemeral("e/2", nil), coord.Put("p", nil))
	r.mustClose()
	if s.there("e/1") || s.there("e/2") {
		e.Error("Close has returned, and an ephemeral node is there")
	}
	if !s.there("p") {
		e.Error("the persistent node is gone")
	}
}

func afterClose(e *env) {
	r := e.dial()
	l := r.latch("l")
	v := r.view("")
	r.mustClose()
	_, err := r.Get(e.ctx, "a")
	e.wantErr(err, coord.ErrClosed)
	_, err = r.List(e.ctx, "")
	e.wantErr(err, coord.ErrClosed)
	_, err = r.Commit(e.ctx, coord.Put("a", nil))
	e.wantErr(err, coord.ErrClosed)
	_, err = r.Commit(e.ctx, coord.CreateEphemeral("e", nil))
	e.wantErr(err, coord.ErrClosed)
	_, err = r.View(e.ctx, "", coord.AllLevels)
	e.wantErr(err, coord.ErrClosed)
	_, err = r.Session(e.ctx)
	e.wantErr(err, coord.ErrClosed)
	e.within(20*time.Second, "Clock", func() { r.Clock() }) // which compares nothing any more
	_, err = l.Acquire(e.ctx)
	e.wantErr(err, coord.ErrClosed)
	e.wantErr(v.Sync(e.ctx), coord.ErrClosed)
	e.wantErr(v.Err(), coord.ErrClosed)
	if s := e.dial(); s.there("a") || s.there("e") || s.there(coord.ClockPath) {
		e.Error("something was written")
	}
}

func closeEndsAll(e *env) {
	r := e.dial()
	v, held := e.useEverything(r)
	session := r.session()
	queue := r.view("l")
	waiting := e.acquireLater(e.ctx, r.latch("l"))
	e.queued(queue, "l", 2)
	changed := v.Changed()
	r.mustClose()
	// Close returns only after they have ended.
	if !isClosed(session.Context().Done()) || !isClosed(held.Context().Done()) || !isClosed(changed) {
		e.Error("Close has returned before a context has ended")
	}
	e.awaitEnd(session.Context(), "the session's context", coord.ErrClosed)
	e.awaitEnd(held.Context(), "the latch's context", coord.ErrClosed)
	if state, _ := session.State(); state != coord.Lost {
		e.Errorf("the session is %v", state)
	}
	e.wantErr(v.Err(), coord.ErrClosed)
	e.refused(waiting, coord.ErrClosed)
}

func closeBroken(e *env, fault func(Link)) {
	warm := e.dial()
	e.useEverything(warm)
	warm.shut()
	before := e.goroutines()
	r := e.dialBrief()
	v, held := e.useEverything(r)
	session := r.session()
	fault(r.Link)
	ctx, cancel := context.WithTimeout(e.ctx, time.Second)
	defer cancel()
	e.within(20*time.Second, "Close", func() {
		if err := r.Close(ctx); err != nil {
			e.Logf("close: %v", err)
		}
	})
	e.awaitEnd(session.Context(), "the session's context", coord.ErrClosed)
	e.awaitEnd(held.Context(), "the latch's context", coord.ErrClosed)
	e.wantErr(v.Err(), coord.ErrClosed)
	r.Heal()
	e.noNewGoroutines(before)
	// The store was not told that the session has ended, so the session times out there.
	s := e.dial()
	e.await(s.view(""), "the ephemeral node to go", lacks("e"))
}
