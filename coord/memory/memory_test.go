package memory_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial opens a registry of the namespace "test" that is closed before the test ends.
func dial(t *testing.T, s *memory.Store, c memory.Config) *memory.Registry {
	t.Helper()
	if c.Namespace == "" {
		c.Namespace = "test"
	}
	r, err := s.Dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Link().Heal()
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func session(t *testing.T, r *memory.Registry) coord.Session {
	t.Helper()
	session, err := r.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func commit(t *testing.T, r *memory.Registry, ops ...coord.Op) int64 {
	t.Helper()
	revision, err := r.Commit(t.Context(), ops...)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// A session that is cut off ends a margin before the store removes its nodes. Both happen
// exactly when they have to.
func TestPartitionedSessionEndsBeforeItsNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		a := dial(t, store, memory.Config{SessionTimeout: 9 * time.Second})
		b := dial(t, store, memory.Config{})
		commit(t, a, coord.CreateEphemeral("e", nil))
		view, err := b.View(t.Context(), "e", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		old := session(t, a)
		begin := time.Now()
		time.Sleep(10 * time.Second) // renewed at 9 s for the last time
		a.Link().Cut()
		if state, _ := old.State(); state != coord.Suspended {
			t.Errorf("cut off, the session is %v", state)
		}
		if got, want := old.Deadline().Sub(begin), 17100*time.Millisecond; got != want {
			t.Errorf("deadline after %v, want %v", got, want)
		}
		changed := view.Changed()
		<-old.Context().Done()
		if got, want := time.Since(begin), 17100*time.Millisecond; got != want {
			t.Errorf("ended after %v, want %v", got, want)
		}
		if cause := context.Cause(old.Context()); !errors.Is(cause, coord.ErrSessionLost) {
			t.Errorf("cause %v", cause)
		}
		if !view.Snapshot().Exists("e") {
			t.Error("the node went before the session")
		}
		<-changed
		if got, want := time.Since(begin), 18*time.Second; got != want {
			t.Errorf("the node went after %v, want %v", got, want)
		}
		a.Link().Heal()
		if session(t, a).ID() == old.ID() {
			t.Error("a lost session came back")
		}
	})
}

// Who disowns a session ends it at once for its registry; its nodes have their whole time.
func TestDisown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		a := dial(t, store, memory.Config{})
		old := session(t, a)
		commit(t, a, coord.CreateEphemeral("e", nil))
		if !store.Disown(old.ID()) || store.Disown(old.ID()) {
			t.Error("it is disowned once")
		}
		if cause := context.Cause(old.Context()); !errors.Is(cause, coord.ErrSessionLost) || !errors.Is(cause, coord.ErrSessionEnded) {
			t.Errorf("the cause is %v", cause)
		}
		if next := session(t, a); next.ID() == old.ID() || !store.Snapshot("test").Exists("e") {
			t.Error("there is no next session, or the nodes of the last one have gone with it")
		}
	})
}

func TestHealedSessionComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		a := dial(t, store, memory.Config{SessionTimeout: 9 * time.Second})
		commit(t, a, coord.CreateEphemeral("e", nil))
		old := session(t, a)
		for range 5 {
			a.Link().BlackHole()
			time.Sleep(8 * time.Second)
			if state, _ := old.State(); state != coord.Suspended {
				t.Fatalf("silent for 8 s, the session is %v", state)
			}
			a.Link().Heal()
		}
		time.Sleep(time.Hour)
		if state, _ := old.State(); state != coord.Connected {
			t.Errorf("healed, the session is %v", state)
		}
		if left := time.Until(old.Deadline()); left < 5*time.Second || left > 9*time.Second {
			t.Errorf("deadline in %v", left)
		}
		if _, err := a.Get(t.Context(), "e"); err != nil {
			t.Error(err)
		}
	})
}
