package memory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// What was written after Save is gone, and what was removed after it is there again.
func TestRestore(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a := dial(t, store, memory.Config{SessionTimeout: 10 * time.Second})
		commit(t, a, coord.Create("old/x", []byte("1")), coord.CreateEphemeral("own", nil))
		view, err := a.View(t.Context(), "old", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		old := session(t, a)
		saved, revision := store.Save(), store.Revision()
		commit(t, a, coord.Set("old/x", []byte("2")), coord.Create("old/y", nil), coord.Delete("own"))
		commit(t, a, coord.Create("new", nil))
		changed := view.Changed()
		store.Restore(saved)
		<-changed
		<-old.Context().Done()
		for _, want := range []error{coord.ErrSessionLost, coord.ErrRestored} {
			if !errors.Is(context.Cause(old.Context()), want) {
				t.Errorf("the session ended with %v, want %v", context.Cause(old.Context()), want)
			}
		}
		if got := store.Revision(); got != revision {
			t.Errorf("the revision is %d, want %d", got, revision)
		}
		if names := view.Snapshot().Children("old"); !slices.Equal(names, []string{"x"}) {
			t.Errorf("the view has %q", names)
		}
		if n, err := a.Get(t.Context(), "old/x"); err != nil || string(n.Value) != "1" {
			t.Errorf("%s, %v", n.Value, err)
		}
		if there(t, a, "new") || !there(t, a, "own") {
			t.Error("what came after the copy is there, or what went is not")
		}
		if again := session(t, a); again.ID() == old.ID() {
			t.Error("the session has the old id")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if there(t, a, "own") {
			t.Error("a node of the old session outlives its time-out")
		}
		commit(t, a, coord.Create("old/z", nil))
		if err := view.Sync(t.Context()); err != nil || !view.Snapshot().Exists("old/z") {
			t.Errorf("the view does not follow any more: %v", err)
		}
	})
}

// A view that is cut off shows its last state until the link heals. It then shows the
// restored one, although revisions repeat after a restore.
func TestRestoreBehindTheBackOfALateView(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{}), dial(t, store, memory.Config{})
		commit(t, a, coord.Create("x", []byte("1")))
		saved := store.Save()
		commit(t, a, coord.Set("x", []byte("2")))
		view, err := b.View(t.Context(), "x", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		before := session(t, b)
		b.Link().Cut()
		store.Restore(saved)
		commit(t, a, coord.Set("x", []byte("3")))
		synctest.Wait()
		value := func() string {
			n, _ := view.Snapshot().Get("x")
			return string(n.Value)
		}
		if before.Context().Err() != nil || value() != "2" {
			t.Errorf("it knows of it, and sees %s, while it is cut off", value())
		}
		b.Link().Heal()
		<-before.Context().Done()
		if !errors.Is(context.Cause(before.Context()), coord.ErrRestored) || value() != "3" {
			t.Errorf("%v, and it sees %s", context.Cause(before.Context()), value())
		}
	})
}

// A session whose deadline passes while it is cut off ends without ErrRestored, and the
// next session lives.
func TestRestoreOfAStoreThatIsEmpty(t *testing.T) {
	inBubble(t, memory.Options{}, func(t *testing.T, store *memory.Store) {
		a, b := dial(t, store, memory.Config{}), dial(t, store, memory.Config{})
		commit(t, a, coord.CreateEphemeral("e", nil))
		before := session(t, b)
		b.Link().Cut()
		store.Restore(memory.Saved{})
		if there(t, a, "e") || store.Revision() != 0 {
			t.Error("the store is not empty")
		}
		<-before.Context().Done()
		if errors.Is(context.Cause(before.Context()), coord.ErrRestored) {
			t.Error("it knows of what it cannot know")
		}
		b.Link().Heal()
		commit(t, b, coord.CreateEphemeral("e", nil))
		time.Sleep(time.Hour)
		synctest.Wait()
		if !there(t, a, "e") {
			t.Error("the next session has ended, too")
		}
	})
}
