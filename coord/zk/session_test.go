package zk_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// The time-out that the ensemble grants counts, not the one that the registry asks for.
func TestGrantedTimeoutCounts(t *testing.T) {
	t.Parallel()
	server := zkserver.Start(t, zkserver.Config{MaxSessionTimeout: 6 * time.Second})
	link := newLink(t, server)
	r := dial(t, zk.Config{Servers: []string{link.Addr()}, SessionTimeout: 20 * time.Second})
	commit(t, r, coord.CreateEphemeral("e", nil))
	s := session(t, r)
	if left := time.Until(s.Deadline()); left > 5400*time.Millisecond {
		t.Errorf("the deadline is in %v, with a time-out of 6 s", left)
	}
	v := view(t, dial(t, zk.Config{Servers: []string{server.Addr()}}), "e")
	link.BlackHole()
	awaitView(t, v, "that the node is gone", func(s coord.Snapshot) bool { return !s.Exists("e") })
	if !errors.Is(context.Cause(s.Context()), coord.ErrSessionLost) {
		t.Errorf("the node is gone, and the cause of the session's context is %v", context.Cause(s.Context()))
	}
	link.Heal()
	if next := session(t, r); next.ID() == s.ID() {
		t.Error("the lost session came back")
	}
}

func TestEnsemble(t *testing.T) {
	t.Parallel()
	e := zkserver.StartEnsemble(t, 3, zkserver.Config{})
	t.Run("only the leader renews", func(t *testing.T) { onlyTheLeaderRenews(t, e) })
	t.Run("a session survives each server", func(t *testing.T) { sessionSurvivesEachServer(t, e) })
}

// A server still answers reads when its leader does not answer it. That does not renew a
// session: only an answer of the leader does.
func onlyTheLeaderRenews(t *testing.T, e zkserver.Ensemble) {
	leader, err := e.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	follower := e[0]
	if follower == leader {
		follower = e[1]
	}
	r := dial(t, zk.Config{Servers: []string{follower.Addr()}, SessionTimeout: 12 * time.Second}) // it is suspended after a third of that, and has to come back within the rest
	s := session(t, r)
	bare := dialBare(t, follower.Addr(), "")
	if _, _, err := bare.Exists("/" + namespace(t)); err != nil {
		t.Fatal(err)
	}
	if err := leader.Pause(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bare.Exists("/" + namespace(t)); err != nil {
		t.Errorf("a read without the leader: %v", err)
	}
	awaitState(t, s, coord.Suspended)
	if err := leader.Resume(); err != nil {
		t.Fatal(err)
	}
	awaitState(t, s, coord.Connected)
	if now := session(t, r); now.ID() != s.ID() {
		t.Error("the session was lost")
	}
}

func sessionSurvivesEachServer(t *testing.T, e zkserver.Ensemble) {
	r := dial(t, zk.Config{Servers: e.Addrs(), RequestTimeout: 20 * time.Second})
	v := view(t, r, "")
	s := session(t, r)
	commit(t, r, coord.CreateEphemeral("e", nil), coord.Put("n", nil))
	l, err := r.Latch("l")
	if err != nil {
		t.Fatal(err)
	}
	held, err := l.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, server := range e {
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		value := []byte{byte('0' + i)}
		for {
			_, err := r.Commit(t.Context(), coord.Put("n", value))
			if err == nil {
				break
			}
			if !errors.Is(err, coord.ErrUnknownOutcome) && !errors.Is(err, coord.ErrUnavailable) {
				t.Fatal(err)
			}
		}
		awaitView(t, v, "what was committed without a server", func(s coord.Snapshot) bool {
			n, _ := s.Get("n")
			return string(n.Value) == string(value)
		})
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := r.Get(t.Context(), "e"); err != nil || n.Owner != s.ID() {
		t.Errorf("the ephemeral node: %+v, %v", n, err)
	}
	if s.Context().Err() != nil || held.Context().Err() != nil {
		t.Errorf("session: %v; latch: %v", context.Cause(s.Context()), context.Cause(held.Context()))
	}
	if err := v.Sync(t.Context()); err != nil {
		t.Error(err)
	}
	if err := v.Err(); err != nil {
		t.Error(err)
	}
}

// If a server is gone for a short time no session is lost.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	server := zkserver.Start(t, zkserver.Config{})
	r := dial(t, zk.Config{Servers: []string{server.Addr()}})
	v := view(t, r, "")
	s := session(t, r)
	commit(t, r, coord.CreateEphemeral("e", nil))
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitState(t, s, coord.Suspended)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitState(t, s, coord.Connected)
	commit(t, r, coord.Owned("e"), coord.Put("n", nil))
	if err := v.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if snapshot := v.Snapshot(); !snapshot.Exists("e") || !snapshot.Exists("n") {
		t.Error("the view lacks something")
	}
}

// Work that obeys the context of a lost session needs the margin to return. Only then the
// session's nodes go.
func TestALostSessionKeepsItsMargin(t *testing.T) {
	t.Parallel()
	r := dial(t, zk.Config{SessionTimeout: 3 * time.Second})
	commit(t, r, coord.CreateEphemeral("e", nil))
	v := view(t, dial(t, zk.Config{}), "e")
	s := session(t, r)
	r.LoseSession()
	await(t, s.Context().Done(), "the session to be lost")
	spent := s.Deadline().Add(300 * time.Millisecond) // the margin of 3 s
	if next := session(t, r); next.ID() == s.ID() {
		t.Error("the lost session came back")
	}
	awaitView(t, v, "that the node is gone", func(s coord.Snapshot) bool { return !s.Exists("e") })
	if early := time.Until(spent); early > 0 {
		t.Errorf("the node was gone %v too early", early)
	}
}

// Close does not wait for that.
func TestCloseGivesALostSessionBack(t *testing.T) {
	r := dial(t, zk.Config{SessionTimeout: time.Minute})
	commit(t, r, coord.CreateEphemeral("e", nil))
	v := view(t, dial(t, zk.Config{}), "e")
	r.LoseSession()
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	begun := time.Now()
	awaitView(t, v, "that the node is gone", func(s coord.Snapshot) bool { return !s.Exists("e") })
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// A server that has stood still answers a handshake late. The new session has its whole time
// all the same.
func TestANewSessionHasItsTime(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}, SessionTimeout: timeout})
	s := session(t, r)
	for range 3 {
		link.BlackHole()
		await(t, s.Context().Done(), "the session to be lost")
		link.Pause() // the next handshake is held back
		<-time.After(timeout * 19 / 20)
		link.Resume()
		s = session(t, r)
		if left := time.Until(s.Deadline()); left < timeout/2 {
			t.Errorf("a new session has %v left", left)
		}
	}
}

// The log says when a session is suspended and when it is connected again, always with the
// namespace.
func TestSessionIsLogged(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	link := newLink(t, sharedServer(t))
	r := dial(t, zk.Config{Servers: []string{link.Addr()}, Logger: zap.New(core)})
	s := session(t, r)
	link.Cut()
	awaitState(t, s, coord.Suspended)
	link.Heal()
	awaitState(t, s, coord.Connected)
	if err := r.Close(t.Context()); err != nil { // nobody writes to the log any more
		t.Fatal(err)
	}
	var got []string
	for _, entry := range logs.All() {
		got = append(got, entry.Message)
		if entry.ContextMap()["namespace"] != namespace(t) {
			t.Errorf("%q has the fields %v", entry.Message, entry.ContextMap())
		}
	}
	if want := []string{"session opened", "session suspended", "session connected again"}; !slices.Equal(got, want) {
		t.Errorf("logged %q, want %q", got, want)
	}
}
