package coordtest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// connectCases are about who may connect.
func connectCases() []testCase {
	return []testCase{
		{"connect: the right password", func(e *env) { connects(e, Password) }},
		{"connect: a wrong password", func(e *env) { isDenied(e, WrongPassword) }},
		{"connect: TLS", func(e *env) { connects(e, TLS) }},
		{"connect: an untrusted certificate", func(e *env) { isDenied(e, UntrustedTLS) }},
		{"connect: nobody listens", connectNowhere},
		{"connect: a context that is over", connectContextOver},
	}
}

func connects(e *env, credentials Credentials) {
	r := e.dialWith(Options{SessionTimeout: longTimeout, Credentials: credentials})
	v := r.view("")
	r.commit(coord.Create("a/b", []byte("v")), coord.CreateEphemeral("e", nil))
	if string(r.get("a/b").Value) != "v" {
		e.Error("wrong value")
	}
	e.sync(v)
	if !v.Snapshot().Exists("a/b") {
		e.Error("the view lacks it")
	}
	_ = e.acquire(r.latch("l")).Release(e.ctx)
	r.awaitClock()
	r.commit(coord.Set("a/b", nil), coord.Delete("e"))
	r.commit(coord.DeleteTree("a"))
}

func isDenied(e *env, credentials Credentials) {
	var r coord.Registry
	var err error
	e.within(30*time.Second, "Dial", func() {
		r, _, err = e.store.Dial(e.ctx, Options{Namespace: e.namespace, Credentials: credentials})
	})
	if err == nil {
		_ = r.Close(e.ctx)
	}
	e.wantErr(err, coord.ErrDenied)
}

func connectNowhere(e *env) {
	var r coord.Registry
	var err error
	e.within(15*time.Second, "Dial", func() { // the connect time-out is 1 s
		r, _, err = e.store.Dial(e.ctx, Options{Namespace: e.namespace, Nowhere: true})
	})
	if err == nil {
		_ = r.Close(e.ctx)
	}
	e.wantErr(err, coord.ErrUnavailable)
	if err != nil && !regexp.MustCompile(`[\w.\]]:\d+`).MatchString(err.Error()) {
		e.Errorf("the error %q does not name the endpoint", err)
	}
}

func connectContextOver(e *env) {
	ctx, cancel := context.WithCancelCause(e.ctx)
	cause := errors.New("the caller's reason")
	cancel(cause)
	r, _, err := e.store.Dial(ctx, Options{Namespace: e.namespace})
	if err == nil {
		_ = r.Close(e.ctx)
	}
	e.wantOneOf(err, cause, context.Canceled)
}

// faultCases are about links that break.
func faultCases() []testCase {
	return []testCase{
		{"fault: a commit without an answer has an unknown outcome", unknownOutcome},
		{"fault: after an unknown outcome, looking again tells", lookAgain},
		{"fault: a commit into a black hole", commitBlackHoled},
		{"fault: calls into a black hole end with their context", boundedByContext},
		{"fault: calls over a cut link fail and work again when it heals", cutAndHealed},
		{"fault: calls over a slow link", slowLink},
		{"fault: a view catches up when its link heals", func(e *env) { viewReconnects(e, Link.Cut, false) }},
		{"fault: a view catches up after a black hole", func(e *env) { viewReconnects(e, Link.BlackHole, false) }},
		{"fault: a view reconciles when the store has forgotten what it missed", func(e *env) { viewReconnects(e, Link.Cut, true) }},
		{"fault: a view never goes back over ten reconnects", viewFlaps},
		{"fault: Sync over a broken link is bounded", syncBroken},
		{"fault: a registry dialled before the fault closes cleanly after it", closeAfterFaults},
	}
}

// timeout is a bound for one call.
func (e *env) timeout(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(e.ctx, d)
}

func unknownOutcome(e *env) {
	r, s := e.dial(), e.dial()
	v := s.view("")
	r.DropAnswers()
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	outcome := make(chan error, 1)
	go func() {
		_, err := r.Commit(ctx, coord.Create("a", []byte("v")))
		outcome <- err
	}()
	e.await(v, "the write that is not answered", has("a"))
	cancel()
	var err error
	e.within(30*time.Second, "Commit", func() { err = <-outcome })
	e.wantErr(err, coord.ErrUnknownOutcome, "a")
	r.healAndWait()
	if string(r.get("a").Value) != "v" {
		e.Error("wrong value")
	}
}

func lookAgain(e *env) {
	r := e.dial()
	for i := range 3 {
		path := fmt.Sprintf("a/%d", i)
		r.DropAnswers()
		ctx, cancel := e.timeout(time.Second)
		_, err := r.Commit(ctx, coord.Create(path, nil), coord.CreateEphemeral(path+"-e", nil))
		cancel()
		e.wantOneOf(err, coord.ErrUnknownOutcome, coord.ErrUnavailable)
		r.healAndWait()
		// The caller tries the same commit again: the node is there, or is created now.
		_, err = r.Commit(e.ctx, coord.Create(path, nil), coord.CreateEphemeral(path+"-e", nil))
		if err != nil {
			e.wantErr(err, coord.ErrNodeExists)
		}
		if !r.there(path) || r.get(path+"-e").Owner != r.session().ID() {
			e.Errorf("%s: not there, or not ours", path)
		}
	}
}

func commitBlackHoled(e *env) {
	r, s := e.dial(), e.dial()
	r.BlackHole()
	ctx, cancel := e.timeout(time.Second)
	defer cancel()
	var err error
	e.within(30*time.Second, "Commit", func() { _, err = r.Commit(ctx, coord.Create("a", nil)) })
	e.wantOneOf(err, coord.ErrUnknownOutcome, coord.ErrUnavailable)
	sent := errors.Is(err, coord.ErrUnknownOutcome)
	r.healAndWait()
	e.Logf("sent: %v; there: %v", sent, s.there("a"))
	if !sent && s.there("a") {
		e.Error("an error that promises that nothing was written, and it was")
	}
}

// healAndWait heals the link and waits until calls go through again: the first ones may
// still meet what is left of the broken connection.
func (c *client) healAndWait() {
	c.env.Helper()
	c.Heal()
	var err error
	c.env.poll(func() bool {
		_, err = c.List(c.env.ctx, "")
		if err != nil && !errors.Is(err, coord.ErrUnavailable) {
			c.env.Fatalf("list: %v", err)
		}
		return err == nil
	}, func() string { return fmt.Sprintf("calls do not go through again: %v", err) })
}

func boundedByContext(e *env) {
	r := e.dialBrief()
	r.commit(coord.Put("a", nil))
	v := r.view("")
	l := r.latch("l")
	r.BlackHole()
	// Clock has no context, because it waits for nobody. The comparison that it begins gets
	// no answer, and is tried again.
	e.within(20*time.Second, "Clock", func() { r.Clock() })
	for what, call := range map[string]func(context.Context) error{
		"Get":    func(ctx context.Context) error { _, err := r.Get(ctx, "a"); return err },
		"List":   func(ctx context.Context) error { _, err := r.List(ctx, ""); return err },
		"Commit": func(ctx context.Context) error { _, err := r.Commit(ctx, coord.Put("b", nil)); return err },
		"GetAll": func(ctx context.Context) (err error) {
			for _, err = range r.GetAll(ctx, []string{"a", "b"}) {
			}
			return err
		},
		"Walk": func(ctx context.Context) (err error) {
			for _, err = range r.Walk(ctx, "") {
			}
			return err
		},
		"View":    func(ctx context.Context) error { _, err := r.View(ctx, "x", coord.AllLevels); return err },
		"Sync":    v.Sync,
		"Acquire": func(ctx context.Context) error { _, err := l.Acquire(ctx); return err },
	} {
		ctx, cancel := e.timeout(300 * time.Millisecond)
		e.within(20*time.Second, what, func() {
			if err := call(ctx); err == nil {
				e.Errorf("%s succeeded through a black hole", what)
			} else {
				e.wantOneOf(err, context.DeadlineExceeded, coord.ErrUnavailable, coord.ErrUnknownOutcome, coord.ErrSessionLost)
			}
		})
		cancel()
	}
	r.Heal()
	r.awaitClock()
}

func cutAndHealed(e *env) {
	r := e.dial()
	r.commit(coord.Put("a", []byte("v")))
	for range 3 {
		r.Cut()
		ctx, cancel := e.timeout(500 * time.Millisecond)
		_, err := r.Get(ctx, "a")
		e.wantOneOf(err, coord.ErrUnavailable, context.DeadlineExceeded)
		_, err = r.Commit(ctx, coord.Put("b", nil))
		e.wantOneOf(err, coord.ErrUnavailable, coord.ErrUnknownOutcome, context.DeadlineExceeded)
		cancel()
		r.healAndWait()
		r.get("a")
		r.commit(coord.Put("c", nil))
	}
}

func slowLink(e *env) {
	r := e.dial()
	v := r.view("")
	const delay = 100 * time.Millisecond
	r.Delay(delay)
	begin := time.Now()
	r.commit(coord.CreateEphemeral("a", nil), coord.Put("b", nil))
	if took := time.Since(begin); took < delay {
		e.Errorf("a commit took %v over a link that takes %v", took, delay)
	}
	r.get("a")
	e.sync(v)
	if !v.Snapshot().Exists("a") {
		e.Error("Sync has returned too early")
	}
	_ = e.acquire(r.latch("l")).Release(e.ctx)
	r.healAndWait()
	r.get("a")
}

func viewReconnects(e *env, fault func(Link), forget bool) {
	r, s := e.dial(), e.dial()
	s.commit(coord.Put("a/gone", nil), coord.Put("a/kept", nil), coord.Put("a/set", nil), coord.Put("a/again", []byte("1")), coord.Put("a/t/x/y", nil))
	v := r.view("a")
	before := v.Snapshot()
	fault(r.Link)
	s.commit(coord.Delete("a/gone"), coord.Set("a/set", []byte("v")), coord.Delete("a/again"), coord.DeleteTree("a/t"))
	s.commit(coord.Put("a/new/x", nil), coord.Put("a/again", []byte("2")), coord.CreateEphemeral("a/e", nil))
	for i := range 20 {
		s.commit(coord.Put("a/busy", fmt.Append(nil, i)), coord.Put("elsewhere", nil))
	}
	if forget {
		if err := e.store.Forget(e.ctx); err != nil {
			e.Fatal(err)
		}
	}
	s.commit(coord.Delete("a/busy"))
	if !v.Snapshot().Exists("a/gone") || v.Snapshot().Exists("a/new") || before.Len() != v.Snapshot().Len() {
		e.Error("the view changed while its link was broken")
	}
	r.healAndWait()
	e.await(v, "what was committed meanwhile", func(s coord.Snapshot) bool {
		set, _ := s.Get("a/set")
		again, _ := s.Get("a/again")
		return !s.Exists("a/gone") && string(set.Value) == "v" && s.Exists("a/new/x") && s.Exists("a/e") &&
			string(again.Value) == "2" && !s.Exists("a/busy") && !s.Exists("a/t")
	})
	s.commit(coord.Put("a/later", nil))
	e.await(v, "what was committed later", has("a/later"))
	e.sync(v)
	e.wantEqual(v.Snapshot(), s.load("a"))
	if err := v.Err(); err != nil {
		e.Errorf("Err: %v", err)
	}
}

func viewFlaps(e *env) {
	r, s := e.dial(), e.dial()
	v := r.view("a")
	done := make(chan struct{})
	checked := make(chan struct{})
	go func() {
		defer close(checked)
		e.checkMonotonic(v, "a", done)
	}()
	for i := range 10 {
		s.commit(coord.Put("a/n", fmt.Append(nil, i)), coord.Put(fmt.Sprintf("a/%d", i%3), nil))
		r.Cut()
		s.commit(coord.Put("a/m", fmt.Append(nil, i)), coord.Delete(fmt.Sprintf("a/%d", i%3)))
		r.Heal()
	}
	e.await(v, "the last state", hasValue("a/m", "9"))
	e.sync(v)
	close(done)
	<-checked
	e.wantEqual(v.Snapshot(), s.load("a"))
}

func syncBroken(e *env) {
	r, s := e.dial(), e.dial()
	v := r.view("")
	for name, fault := range map[string]func(Link){"cut": Link.Cut, "black hole": Link.BlackHole, "dropped answers": Link.DropAnswers} {
		fault(r.Link)
		s.commit(coord.Put("a", []byte(name)))
		ctx, cancel := e.timeout(300 * time.Millisecond)
		e.within(20*time.Second, "Sync over "+name, func() {
			e.wantOneOf(v.Sync(ctx), context.DeadlineExceeded, coord.ErrUnavailable)
		})
		cancel()
		r.Heal()
		e.await(v, "the commit of "+name, hasValue("a", name))
	}
}

func closeAfterFaults(e *env) {
	r, s := e.dial(), e.dial()
	r.commit(coord.CreateEphemeral("e", nil))
	v := r.view("")
	for _, fault := range []func(Link){Link.Cut, Link.BlackHole, Link.DropAnswers} {
		fault(r.Link)
		ctx, cancel := e.timeout(200 * time.Millisecond)
		_, _ = r.Commit(ctx, coord.Put("a", nil))
		cancel()
		r.healAndWait()
	}
	s.commit(coord.Put("b", nil))
	e.await(v, "the commit", has("b"))
	e.within(30*time.Second, "Close", r.mustClose)
	if s.there("e") {
		e.Error("the ephemeral node is still there")
	}
}
