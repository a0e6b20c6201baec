package coordtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Server is a Store that a test can also kill and stop.
type Server interface {
	Store

	// Kill ends the store as a crash does, and Restart starts it again with what it held.
	Kill(ctx context.Context) error
	Restart(ctx context.Context) error

	// Stop keeps the store from doing anything, as SIGSTOP does with a process, until Continue.
	Stop() error
	Continue() error
}

// RunOutages runs the cases in which the server itself is killed or stopped; Run has those in which
// only links break. The cases have the factory's server for themselves.
func RunOutages(t *testing.T, f func(t testing.TB) Server) {
	server := f(t)
	// One after the other: each does something to the server.
	run(t, func(testing.TB) Store { return server }, []testCase{
		{"outage: the store is killed", func(e *env) {
			e.outage(e.dialOutage(), func() error { return server.Kill(e.ctx) }, func() error { return server.Restart(e.ctx) })
		}},
		{"outage: the store is stopped", func(e *env) { e.outage(e.dialOutage(), server.Stop, server.Continue) }},
	}, nil, nil)
}

// outageCases are about what views say while their registry does not reach the store.
func outageCases() []testCase {
	cases := []testCase{{"outage: none while the store answers", noOutage}}
	for name, fault := range map[string]func(Link){
		"cut": Link.Cut, "a black hole": Link.BlackHole, "no answers": Link.DropAnswers, "no requests": Link.DropRequests, "held back": Link.Pause,
	} {
		cases = append(cases, testCase{"outage: " + name, func(e *env) {
			r, s := e.dialOutage(), e.dial()
			e.outage(r, func() error { fault(r.Link); return nil }, func() error {
				s.commit(coord.Put("a/meanwhile", nil))
				r.Heal()
				return nil
			})
			if !s.there("a/meanwhile") {
				e.Error("what was committed is gone")
			}
		}})
	}
	return cases
}

// outageTimeout is the session time-out of registries that are to notice an outage.
const outageTimeout = 3 * time.Second

func (e *env) dialOutage() *client { return e.dialWith(Options{SessionTimeout: outageTimeout}) }

// outage checks when views get a fault because the store does not answer, what the fault says, and that
// it ends when they show again what the store has.
func (e *env) outage(r *client, begin, end func() error) {
	e.dial().commit(coord.Put("a/before", nil)) // a registry with a short time-out drops a connection that is slow
	upper := r.viewDepth("", 1)
	views := map[string]coord.View{"of a subtree": r.view("a"), "of the upper levels": upper}
	session := r.session()
	for name, v := range views {
		e.sync(v)
		if fault := v.Fault(); fault != nil {
			e.Errorf("the view %s has the fault %v", name, fault)
		}
	}
	last := time.Now() // the store has answered just now
	if err := begin(); err != nil {
		e.Fatal(err)
	}
	known := make(chan time.Time, 1)
	go func() {
		for {
			state, changed := session.State()
			if state != coord.Connected {
				known <- time.Now()
				return
			}
			select {
			case <-changed:
			case <-e.ctx.Done():
				return
			}
		}
	}()
	var told time.Time
	since := map[coord.View]time.Time{}
	for name, v := range views {
		fault := e.awaitFault(v, name, true)
		told = time.Now()
		stale, ok := errors.AsType[*coord.StaleError](fault)
		if !ok || !errors.Is(fault, coord.ErrUnavailable) {
			e.Fatalf("the view %s has the fault %v, want a StaleError of ErrUnavailable", name, fault)
		}
		if stale.Since.Before(last.Add(-outageTimeout)) || stale.Since.After(told) {
			e.Errorf("the view %s is stale since %v, the store was there until %v", name, stale.Since, last)
		}
		since[v] = stale.Since
	}
	// A machine that is busy needs some time to say so.
	const slack = maxStall
	if took := told.Sub(last); took > outageTimeout+slack {
		e.Errorf("the fault was told after %v, the session time-out is %v", took, outageTimeout)
	}
	select {
	case at := <-known:
		if took := told.Sub(at); took > time.Second+slack {
			e.Errorf("the fault was told %v after the session was in doubt", took)
		}
		e.Logf("the session was in doubt after %v, the fault was told after %v", at.Sub(last).Round(time.Millisecond), told.Sub(last).Round(time.Millisecond))
	case <-e.ctx.Done():
		e.Fatal("the session is not in doubt")
	}
	e.awaitEnd(session.Context(), "the session's context", coord.ErrSessionLost)
	for name, v := range views {
		stale, ok := errors.AsType[*coord.StaleError](v.Fault())
		if !ok || !stale.Since.Equal(since[v]) {
			e.Errorf("later the view %s has the fault %v, which was since %v", name, v.Fault(), since[v])
		}
	}
	if err := end(); err != nil {
		e.Fatal(err)
	}
	for name, v := range views {
		e.awaitFault(v, name, false)
	}
	r.healAndWait()
	now := r.load("a")
	for name, v := range views {
		e.awaitFault(v, name, false)
		if name == "of a subtree" {
			e.wantEqual(v.Snapshot(), now)
		}
	}
	r.commit(coord.Put("a/after", nil), coord.Put("after", nil))
	e.await(views["of a subtree"], "what is new", has("a/after"))
	e.await(upper, "what is new", has("after"))
}

// awaitFault waits until a view has a fault, or has none.
func (e *env) awaitFault(v coord.View, name string, want bool) error {
	e.Helper()
	for {
		changed := v.Changed()
		fault := v.Fault()
		if (fault != nil) == want {
			return fault
		}
		select {
		case <-changed:
		case <-e.ctx.Done():
			e.Fatalf("the view %s has the fault %v: %v", name, fault, context.Cause(e.ctx))
		}
	}
}

// noOutage watches a quiet view for some time, in which it must have no fault. On a busy machine the store
// may really not answer for a while: another registry notices that, and the time begins anew.
func noOutage(e *env) {
	s, r := e.dial(), e.dialOutage()
	s.commit(coord.Put("a", nil))
	v := r.view("")
	e.sync(v)
	for quiet := time.Now(); time.Since(quiet) < 2*outageTimeout+outageTimeout/2; {
		changed, fault, asked := v.Changed(), v.Fault(), time.Now()
		s.get("a")
		switch {
		case time.Since(asked) > outageTimeout/3:
			e.awaitFault(v, "of all", false)
			quiet = time.Now()
			continue
		case fault != nil:
			e.Fatalf("the view has the fault %v", fault)
		}
		select {
		case <-changed:
		case <-time.After(outageTimeout / 30):
		}
	}
}
