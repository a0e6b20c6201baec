package coordtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

func sessionCases() []testCase {
	cut, blackHole, drop := Link.Cut, Link.BlackHole, Link.DropAnswers
	return []testCase{
		{"session: connected, with a deadline ahead", sessionBegins},
		{"session: renewed past its first deadline", sessionRenewed},
		{"session: ends before its nodes when the link is cut", func(e *env) { deadlineBeforeDeletion(e, cut) }},
		{"session: ends before its nodes when the link is black-holed", func(e *env) { deadlineBeforeDeletion(e, blackHole) }},
		{"session: ends before its nodes when answers are dropped", func(e *env) { deadlineBeforeDeletion(e, drop) }},
		{"session: a new one after a loss is usable", newSessionUsable},
		{"session: ephemeral nodes of the lost one go, persistent ones stay", ephemeralsGo},
		{"session: suspended and connected again without a loss", suspendedAndBack},
		{"session: short black holes lose nothing", shortBlackHoles},
		{"session: expiry at the store is noticed", expiryNoticed},
		{"session: the cause of its end", sessionCauses},
		{"session: waited for while there is none", sessionAwaited},
		{"session: no ephemeral node while there is none", noEphemeralWithoutSession},
		{"session: a lost session's context commits nothing in the next", lostContextCommitsNothing},
		{"session: what another session owns is not owned", nextSessionOwnsNothing},
		{"session: the loss of one is not the loss of another", othersKeepTheirs},
		{"session: five losses in a row", fiveLosses},
		{"session: a latch is lost before the next can hold it", latchLostBeforePassed},
		{"session: a latch survives a short cut", latchSurvives},
		{"session: a view lives across a loss by time-out", func(e *env) { viewAcrossLoss(e, false) }},
		{"session: a view lives across a loss by expiry", func(e *env) { viewAcrossLoss(e, true) }},
	}
}

func sessionBegins(e *env) {
	r, s := e.dial(), e.dial()
	session := r.session()
	if session.ID() == 0 || session.ID() == s.session().ID() {
		e.Errorf("ids %d and %d", session.ID(), s.session().ID())
	}
	if state, _ := session.State(); state != coord.Connected {
		e.Errorf("the session is %v", state)
	}
	if session.Context().Err() != nil {
		e.Error("its context is over")
	}
	if left := time.Until(session.Deadline()); left <= 0 || left > longTimeout {
		e.Errorf("the deadline is in %v", left)
	}
	if r.session().ID() != session.ID() {
		e.Error("Session returns another one")
	}
}

// sessionRenewed: the session is still connected long after its first deadline. To see that takes real time.
func sessionRenewed(e *env) {
	r := e.dialWith(Options{SessionTimeout: 10 * time.Second}) // long enough for a busy machine
	session := r.session()
	r.commit(coord.CreateEphemeral("e", nil))
	first := session.Deadline()
	select {
	case <-time.After(time.Until(first) + 2*time.Second):
	case <-session.Context().Done():
		e.Fatalf("ended %v after its first deadline: %v", time.Since(first), context.Cause(session.Context()))
	}
	if !session.Deadline().After(first) {
		e.Error("the deadline has not moved")
	}
	if n := r.get("e"); n.Owner != session.ID() || r.session().ID() != session.ID() {
		e.Errorf("got %+v in session %d, which was %d", n, r.session().ID(), session.ID())
	}
}

// awaitGone waits until a view shows that a node is gone, and returns when it did.
func (e *env) awaitGone(v coord.View, path string) time.Time {
	e.Helper()
	e.await(v, path+" to go", lacks(path))
	return time.Now()
}

func deadlineBeforeDeletion(e *env, fault func(Link)) {
	r, s := e.dialBrief(), e.dial()
	r.commit(coord.CreateEphemeral("e", nil))
	session := r.session()
	v := s.view("e")
	ended := make(chan time.Time, 1)
	stop := context.AfterFunc(session.Context(), func() { ended <- time.Now() })
	defer stop()
	begin := time.Now()
	fault(r.Link)
	gone := e.awaitGone(v, "e")
	deadline := session.Deadline()
	select {
	case at := <-ended:
		e.Logf("cut off at 0, the session ended at %v (deadline %v), the node was gone at %v: margin %v", at.Sub(begin).Round(time.Millisecond),
			deadline.Sub(begin).Round(time.Millisecond), gone.Sub(begin).Round(time.Millisecond), gone.Sub(at).Round(time.Millisecond))
		if !at.Before(gone) {
			e.Errorf("the session ended %v after its node was gone", at.Sub(gone))
		}
	case <-time.After(patience / 2):
		e.Fatal("the node is gone, and the session has not ended")
	}
	if !deadline.Before(gone) {
		e.Errorf("the deadline was %v after the node was gone", deadline.Sub(gone))
	}
	if cause := context.Cause(session.Context()); !errors.Is(cause, coord.ErrSessionLost) {
		e.Errorf("the cause is %v", cause)
	}
	if state, _ := session.State(); state != coord.Lost {
		e.Errorf("the session is %v", state)
	}
}

func newSessionUsable(e *env) {
	r, s := e.dialBrief(), e.dial()
	old := r.session()
	r.commit(coord.CreateEphemeral("old", nil))
	r.Cut()
	e.awaitEnd(old.Context(), "the session's context", coord.ErrSessionLost)
	r.healAndWait()
	next := r.session()
	if next.ID() == old.ID() || next.Context().Err() != nil {
		e.Fatalf("the next session is %d, the lost one %d", next.ID(), old.ID())
	}
	e.awaitState(next, coord.Connected)
	r.commit(coord.CreateEphemeral("new", nil), coord.Put("p", nil))
	r.commit(coord.Owned("new"), coord.Put("p", []byte("v")))
	if n := s.get("new"); n.Owner != next.ID() {
		e.Errorf("got %+v, want the owner %d", n, next.ID())
	}
	e.acquire(r.latch("l"))
	e.awaitGone(s.view("old"), "old")
	if !s.there("new") {
		e.Error("the new session's node went with the lost session")
	}
	if state, _ := old.State(); state != coord.Lost {
		e.Errorf("the lost session is %v", state)
	}
}

func ephemeralsGo(e *env) {
	r, s := e.dialBrief(), e.dial()
	var ops []coord.Op
	for i := range 20 {
		ops = append(ops, coord.CreateEphemeral(fmt.Sprintf("e/%d", i), nil), coord.Put(fmt.Sprintf("p/%d", i), nil))
	}
	r.commit(ops...)
	v := s.view("")
	r.Cut()
	e.await(v, "the ephemeral nodes to go", func(s coord.Snapshot) bool { return len(s.Children("e")) == 0 })
	if got := len(s.names("p")); got != 20 {
		e.Errorf("%d persistent nodes left of 20", got)
	}
}

// suspendTimeout is a session time-out that is long enough to heal a link before the
// deadline, and short enough to wait until a failed renewal suspends the session.
const suspendTimeout = 12 * time.Second

func suspendedAndBack(e *env) {
	r, s := e.dialWith(Options{SessionTimeout: suspendTimeout}), e.dial()
	session := r.session()
	r.commit(coord.CreateEphemeral("e", nil))
	for range 2 {
		r.Cut()
		e.awaitState(session, coord.Suspended)
		if session.Context().Err() != nil {
			e.Fatal("suspended, and the context is over")
		}
		r.Heal()
		e.awaitState(session, coord.Connected)
	}
	if r.session().ID() != session.ID() || session.Context().Err() != nil {
		e.Error("the session was lost")
	}
	if n := s.get("e"); n.Owner != session.ID() {
		e.Errorf("got %+v", n)
	}
	r.commit(coord.Owned("e"), coord.Put("done", nil))
	if !session.Deadline().After(time.Now()) {
		e.Error("the deadline has passed")
	}
}

func shortBlackHoles(e *env) {
	r, s := e.dial(), e.dial()
	session := r.session()
	r.commit(coord.CreateEphemeral("e", nil))
	v := r.view("")
	for i := range 3 {
		r.BlackHole()
		s.commit(coord.Put(fmt.Sprintf("p/%d", i), nil))
		r.healAndWait()
		e.await(v, "what was committed meanwhile", has(fmt.Sprintf("p/%d", i)))
	}
	e.awaitState(session, coord.Connected)
	if !s.there("e") || r.session().ID() != session.ID() {
		e.Error("the session was lost")
	}
}

func expiryNoticed(e *env) {
	r, s := e.dialBrief(), e.dial()
	session := r.session()
	r.commit(coord.CreateEphemeral("e", nil))
	e.expire(session)
	e.awaitGone(s.view(""), "e")
	e.awaitEnd(session.Context(), "the session's context", coord.ErrSessionLost)
	if next := r.session(); next.ID() == session.ID() {
		e.Error("the lost session came back")
	}
	r.commit(coord.CreateEphemeral("e", nil))
}

func sessionCauses(e *env) {
	r := e.dialBrief()
	first := r.session()
	r.BlackHole()
	e.awaitEnd(first.Context(), "the first session's context", coord.ErrSessionLost)
	r.healAndWait()
	second := r.session()
	if err := r.Close(e.ctx); err != nil {
		e.Logf("close: %v", err)
	}
	e.awaitEnd(second.Context(), "the second session's context", coord.ErrClosed)
	if cause := context.Cause(first.Context()); !errors.Is(cause, coord.ErrSessionLost) {
		e.Errorf("the cause of the first session's end is %v now", cause)
	}
}

func sessionAwaited(e *env) {
	r := e.dialBrief()
	old := r.session()
	r.Cut()
	e.awaitEnd(old.Context(), "the session's context", coord.ErrSessionLost)
	ctx, cancel := context.WithTimeout(e.ctx, 100*time.Millisecond)
	defer cancel()
	_, err := r.Session(ctx)
	e.wantErr(err, context.DeadlineExceeded)

	found := make(chan coord.Session, 1)
	go func() {
		s, err := r.Session(e.ctx)
		if err != nil {
			e.Errorf("session: %v", err)
		}
		found <- s
	}()
	r.Heal()
	if next := <-found; next == nil || next.ID() == old.ID() {
		e.Error("no next session")
	}
}

func noEphemeralWithoutSession(e *env) {
	r, s := e.dialBrief(), e.dial()
	old := r.session()
	r.Cut()
	e.awaitEnd(old.Context(), "the session's context", coord.ErrSessionLost)
	ctx, cancel := context.WithTimeout(e.ctx, 2*time.Second)
	defer cancel()
	_, err := r.Commit(ctx, coord.CreateEphemeral("e", nil))
	e.wantOneOf(err, coord.ErrSessionLost, coord.ErrUnavailable, context.DeadlineExceeded)
	r.healAndWait()
	r.session()
	if s.there("e") {
		e.Error("it was created after all")
	}
}

func lostContextCommitsNothing(e *env) {
	r, s := e.dialBrief(), e.dial()
	old := r.session()
	ctx, cancel := context.WithCancel(old.Context())
	defer cancel()
	e.expire(old)
	// Until the registry has noticed the loss a commit may still succeed, but never in the
	// next session.
	for i := 0; old.Context().Err() == nil; i++ {
		_, err := r.Commit(ctx, coord.CreateEphemeral(fmt.Sprintf("early/%d", i), nil))
		if err == nil {
			e.Fatal("an ephemeral node was created in a session that the store has dropped")
		}
		e.wantOneOf(err, coord.ErrSessionLost, coord.ErrUnavailable, coord.ErrUnknownOutcome)
	}
	next := r.session()
	_, err := r.Commit(ctx, coord.CreateEphemeral("late", nil))
	e.wantErr(err, coord.ErrSessionLost)
	_, err = r.Commit(ctx, coord.Put("late", nil))
	e.wantErr(err, coord.ErrSessionLost)
	if s.there("late") || s.there("early") && len(s.names("early")) > 0 {
		e.Errorf("created in session %d by the context of session %d", next.ID(), old.ID())
	}
}

func nextSessionOwnsNothing(e *env) {
	r, s := e.dial(), e.dial()
	s.commit(coord.CreateEphemeral("e", nil))
	old := r.session()
	e.expire(old)
	e.awaitEnd(old.Context(), "the session's context", coord.ErrSessionLost)
	r.session()
	r.commit(coord.Put("e", []byte("v")))
	_, err := r.Commit(e.ctx, coord.Owned("e"), coord.Put("x", nil))
	e.wantErr(err, coord.ErrNotOwner, "e")
	s.commit(coord.Owned("e"))
}

func othersKeepTheirs(e *env) {
	r, s := e.dialBrief(), e.dial()
	s.commit(coord.CreateEphemeral("mine", nil))
	r.commit(coord.CreateEphemeral("theirs", nil))
	mine := s.session()
	v := s.view("")
	r.BlackHole()
	e.awaitGone(v, "theirs")
	if mine.Context().Err() != nil || s.session().ID() != mine.ID() || !s.there("mine") {
		e.Error("the other registry lost its session too")
	}
}

func fiveLosses(e *env) {
	r, s := e.dialBrief(), e.dial()
	seen := map[coord.SessionID]bool{}
	for i := range 5 {
		session := r.session()
		if seen[session.ID()] {
			e.Fatalf("session %d came back", session.ID())
		}
		seen[session.ID()] = true
		r.commit(coord.CreateEphemeral(fmt.Sprintf("e/%d", i), nil))
		e.expire(session)
		e.awaitEnd(session.Context(), "the session's context", coord.ErrSessionLost)
	}
	r.session()
	e.await(s.view(""), "all ephemeral nodes to go", func(s coord.Snapshot) bool { return len(s.Children("e")) == 0 })
}

func latchLostBeforePassed(e *env) {
	r, s := e.dialBrief(), e.dial()
	held := e.acquire(r.latch("l"))
	queue := s.view("l")
	next := e.acquireLater(e.ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	r.BlackHole()
	ended := make(chan time.Time, 1)
	stop := context.AfterFunc(held.Context(), func() { ended <- time.Now() })
	defer stop()
	later := e.granted(next)
	passed := time.Now()
	select {
	case at := <-ended:
		e.Logf("the latch was lost %v before it was passed on", passed.Sub(at).Round(time.Millisecond))
		if !at.Before(passed) {
			e.Errorf("the latch was lost %v after it was passed on", at.Sub(passed))
		}
	case <-time.After(patience / 2):
		e.Fatal("the latch is passed on and not lost")
	}
	if cause := context.Cause(held.Context()); !errors.Is(cause, coord.ErrSessionLost) {
		e.Errorf("the cause is %v", cause)
	}
	if later.Token() <= held.Token() {
		e.Errorf("token %d after %d", later.Token(), held.Token())
	}
}

func latchSurvives(e *env) {
	r, s := e.dialWith(Options{SessionTimeout: suspendTimeout}), e.dialWith(Options{SessionTimeout: suspendTimeout})
	held := e.acquire(r.latch("l"))
	queue := s.view("l")
	waiting := e.acquireLater(e.ctx, s.latch("l"))
	e.queued(queue, "l", 2)
	for _, c := range []*client{r, s} {
		session := c.session()
		c.Cut()
		e.awaitState(session, coord.Suspended)
		c.Heal()
		e.awaitState(session, coord.Connected)
	}
	if held.Context().Err() != nil {
		e.Fatalf("the latch was lost: %v", context.Cause(held.Context()))
	}
	e.release(held)
	e.granted(waiting)
}

func viewAcrossLoss(e *env, expire bool) {
	r, s := e.dialBrief(), e.dial()
	s.commit(coord.Put("a/1", nil), coord.Put("a/2", nil))
	r.commit(coord.CreateEphemeral("a/e", nil))
	v := r.view("a")
	session := r.session()
	if expire {
		e.expire(session)
	} else {
		r.BlackHole()
	}
	e.awaitEnd(session.Context(), "the session's context", coord.ErrSessionLost)
	s.commit(coord.Delete("a/1"), coord.Set("a/2", []byte("v")), coord.Put("a/3", nil))
	r.healAndWait()
	e.await(v, "what was committed meanwhile", func(s coord.Snapshot) bool {
		n, _ := s.Get("a/2")
		return !s.Exists("a/1") && string(n.Value) == "v" && s.Exists("a/3") && !s.Exists("a/e")
	})
	s.commit(coord.Put("a/4", nil))
	e.await(v, "what was committed later", has("a/4"))
	e.sync(v)
	e.wantEqual(v.Snapshot(), s.load("a"))
}
