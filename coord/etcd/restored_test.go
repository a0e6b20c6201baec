package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// restored waits until a session ends because the store was put back.
func restored(t *testing.T, s coord.Session) {
	t.Helper()
	ended(t, s.Context())
	if cause := context.Cause(s.Context()); !errors.Is(cause, coord.ErrSessionLost) || !errors.Is(cause, coord.ErrRestored) {
		t.Errorf("the cause of the session's end is %v", cause)
	}
}

func ended(t *testing.T, ctx context.Context) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-within(t).Done():
		t.Fatal("the session does not end")
	}
}

func save(t *testing.T, server *etcdserver.Server) *etcdserver.Saved {
	t.Helper()
	saved, err := server.Save(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func putBack(t *testing.T, server *etcdserver.Server, saved *etcdserver.Saved) {
	t.Helper()
	if err := server.PutBack(within(t), saved); err != nil {
		t.Fatal(err)
	}
}

// follows checks that a view shows what is in the store now, and what is written later.
func follows(t *testing.T, r coord.Registry, v coord.View, path string) {
	t.Helper()
	put(t, r, path, 1)
	if n, _ := syncView(t, v).Get(path); len(n.Value) != 1 || n.Value[0] != 1 {
		t.Errorf("%s in the view is %+v", path, n)
	}
	changed := v.Changed()
	put(t, r, path, 2)
	select {
	case <-changed:
	case <-within(t).Done():
		t.Fatal("the view shows no change any more")
	}
	if n, _ := syncView(t, v).Get(path); len(n.Value) != 1 || n.Value[0] != 2 {
		t.Errorf("%s in the view is %+v", path, n)
	}
	if err := v.Err(); err != nil {
		t.Error(err)
	}
	if err := v.Fault(); err != nil {
		t.Error(err)
	}
}

func TestStoreIsPutBack(t *testing.T) {
	t.Parallel()
	for name, wiped := range map[string]bool{"to an earlier moment": false, "to nothing": true} {
		t.Run(name, func(t *testing.T) {
			server := etcdserver.Start(t, etcdserver.Config{})
			core, logs := observer.New(zap.WarnLevel)
			r, _ := dial(t, server, etcd.Config{SessionTimeout: 15 * time.Second, Logger: zap.New(core)})
			s := session(t, r)
			v, quiet := open(t, r, "a"), open(t, r, "quiet")
			commit(t, r, coord.CreateEphemeral("a/e", nil), coord.Put("a/before", nil))
			saved := save(t, server)
			if wiped {
				saved = nil
			}
			for i := range 50 {
				put(t, r, "a/after", byte(i))
			}
			if !syncView(t, v).Exists("a/after") || !syncView(t, v).Exists("a/before") {
				t.Fatal("the view lacks what was committed")
			}
			syncView(t, quiet)
			changed := v.Changed()
			putBack(t, server, saved)
			restored(t, s)
			next := session(t, r)
			if next.ID() == s.ID() {
				t.Fatal("the session came back")
			}
			// In the new session Sync makes the view show the restored state.
			if n := syncView(t, v); n.Exists("a/after") || n.Exists("a/before") == wiped {
				t.Errorf("the view shows before %v, after %v", n.Exists("a/before"), n.Exists("a/after"))
			}
			select {
			case <-changed:
			case <-within(t).Done():
				t.Error("told nobody of the change")
			}
			follows(t, r, v, "a/x")
			follows(t, r, quiet, "quiet/x")
			commit(t, r, coord.CreateEphemeral("a/e2", nil))
			commit(t, r, coord.Owned("a/e2"))
			if next.Context().Err() != nil {
				t.Errorf("the next session ended too: %v", context.Cause(next.Context()))
			}
			if got := logs.FilterMessageSnippet("put back").Len(); got != 1 {
				t.Errorf("%d lines in the log", got)
			}
			// The node of the lost session goes, although the restored store had it again.
			if !wiped {
				gone(t, v, "a/e")
			}
		})
	}
}

func gone(t *testing.T, v coord.View, path string) {
	t.Helper()
	ctx := within(t)
	for {
		changed := v.Changed()
		if !v.Snapshot().Exists(path) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s stays", path)
		}
	}
}

// Others may write so much to a store that was put back that its revision is larger than
// the one that a registry knew, before that registry hears from it again.
func TestStoreIsPutBackAndGrowsBeyond(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{SessionTimeout: time.Minute})
	s := session(t, r)
	v, same := open(t, r, "a"), open(t, r, "b")
	commit(t, r, coord.Put("a/k", []byte("saved")), coord.Put("b/k", nil))
	saved := save(t, server)
	put(t, r, "a/lost", 0)
	put(t, r, "a/k", 0)
	last := syncView(t, v)
	syncView(t, same)
	links[0].Cut()
	putBack(t, server, saved)
	for i := range 100 { // at some revision that the view has, another value
		if _, err := server.Admin().Put(within(t), "/test/a/other", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if _, err := server.Admin().Put(within(t), "/test/a/early", "v"); err != nil {
				t.Fatal(err)
			}
		}
	}
	links[0].Heal()
	now := syncView(t, v)
	if k, _ := now.Get("a/k"); now.Exists("a/lost") || string(k.Value) != "saved" || !now.Exists("a/early") {
		t.Errorf("the view shows %+v, before %d nodes, now %d", k, last.Len(), now.Len())
	}
	restored(t, s)
	session(t, r)
	follows(t, r, v, "a/x")
	follows(t, r, same, "b/x")
}

// A registry that is dialled after the store was put back knows nothing of the old state.
func TestFreshRegistryOnAStoreThatWasPutBack(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	saved := save(t, server)
	r, _ := dial(t, server, etcd.Config{})
	put(t, r, "a/k", 0)
	putBack(t, server, saved)
	fresh, _ := dial(t, server, etcd.Config{})
	v := open(t, fresh, "a")
	if syncView(t, v).Exists("a/k") {
		t.Error("the view shows what is gone")
	}
	follows(t, fresh, v, "a/x")
}

// A restart and the loss of a leader are no reason to end a session.
func TestRestartIsNotARestore(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{SessionTimeout: time.Minute})
	s := session(t, r)
	v := open(t, r, "a")
	commit(t, r, coord.CreateEphemeral("a/e", nil))
	for range 3 {
		put(t, r, "a/k", 0)
		save(t, server)
		follows(t, r, v, "a/x")
	}
	commit(t, r, coord.Owned("a/e"))
	if s.Context().Err() != nil {
		t.Errorf("the session has ended: %v", context.Cause(s.Context()))
	}
}
