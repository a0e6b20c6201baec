package connection_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t)) })
}

// pass lets time pass in the bubble. It panics outside of one, where a test must not sleep.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func phase(b *connection.Book, name string) connection.Phase {
	for _, s := range b.States() {
		if s.Name == name {
			return s.Phase
		}
	}
	return ""
}

// What somebody writes into the file counts soon, once he has written all of it. What cannot be read
// does not count, and is known.
func TestFileChangesOutside(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b := w.book(t, nil)
		has := func(what string, want int, isFault bool) {
			t.Helper()
			if n := len(b.Namespaces()); n != want || (b.Fault() != nil) != isFault {
				t.Errorf("%s: %d namespaces, want %d; fault %v", what, n, want, b.Fault())
			}
		}
		const line = "  %s: {kind: etcd, endpoints: ['near:1'], namespace: n}\n"
		one := "namespaces:\n" + fmt.Sprintf(line, "a")
		two := one + fmt.Sprintf(line, "b")
		w.write(t, one)
		pass(5 * time.Second)
		has("one", 1, false)
		for _, end := range []int{20, len(one) + 10, len(two)} { // somebody writes slowly
			w.write(t, two[:end])
			pass(1900 * time.Millisecond)
			if n := len(b.Namespaces()); n == 0 {
				t.Errorf("half a file counts")
			}
		}
		pass(5 * time.Second)
		has("two", 2, false)
		w.write(t, two+"hunter2: x\n")
		pass(5 * time.Second)
		has("an unknown key", 2, true)
		if _, err := b.PutNamespace(t.Context(), near("c"), connection.NoVersion); err == nil {
			t.Error("it is put into a file that cannot be read")
		}
		w.write(t, two)
		pass(5 * time.Second)
		has("mended", 2, false)
		if err := os.Chmod(w.file, 0o666); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		has("everybody may write", 2, true)
		if err := os.Chmod(w.file, 0o600); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		has("nobody else may write", 2, false)
		if err := os.Remove(w.file); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		has("removed", 2, true)
		if _, err := b.PutNamespace(t.Context(), near("c"), connection.NoVersion); err == nil || !strings.Contains(err.Error(), "not there any more") {
			t.Errorf("put into a file that is gone: %v", err)
		}
		w.write(t, one)
		pass(5 * time.Second)
		has("there again", 1, false)
	})
}

// Whoever uses a connection of an entry that is changed has time to end; then it is closed, and he gets an
// error that says so.
func TestChangedConnectionIsClosedLater(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b := w.book(t, nil)
		ctx := t.Context()
		n, err := b.PutNamespace(ctx, near("prod"), connection.NoVersion)
		if err != nil {
			t.Fatal(err)
		}
		old, err := b.Ops(ctx, "prod")
		if err != nil {
			t.Fatal(err)
		}
		// Who changes only what does not concern the connection changes no connection.
		if _, err := b.PutDatabase(ctx, connection.Database{Name: "history", Driver: connection.Postgres, Address: "db:1", Schema: "s", User: "u"}, connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		n.Database = "history"
		if n, err = b.PutNamespace(ctx, n, n.Version); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if _, err := old.Removed(ctx); err != nil {
			t.Errorf("same connection: %v", err)
		}
		n.Path = "other"
		if n, err = b.PutNamespace(ctx, n, n.Version); err != nil {
			t.Fatal(err)
		}
		now, err := b.Ops(ctx, "prod")
		if err != nil {
			t.Fatal(err)
		}
		pass(29 * time.Second)
		if _, err := old.Removed(ctx); err != nil {
			t.Errorf("after 29 s: %v", err)
		}
		pass(2 * time.Second)
		if _, err := old.Removed(ctx); !errors.Is(err, coord.ErrClosed) {
			t.Errorf("after 31 s: %v", err)
		}
		if _, err := now.Removed(ctx); err != nil {
			t.Errorf("the new one: %v", err)
		}
		if err := b.RemoveNamespace(ctx, "prod", n.Version); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Ops(ctx, "prod"); !errors.Is(err, connection.ErrNoNamespace) {
			t.Errorf("removed: %v", err)
		}
		closeBook(t, b)
		if _, err := now.Removed(ctx); !errors.Is(err, coord.ErrClosed) {
			t.Errorf("after the book: %v", err)
		}
	})
}

// One that hangs hinders nobody else, and its state is known.
func TestOneHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b := w.book(t, nil)
		ctx := t.Context()
		far := near("far")
		far.Endpoints = []string{"hang:1"}
		for _, n := range []connection.Namespace{near("near"), far} {
			if _, err := b.PutNamespace(ctx, n, connection.NoVersion); err != nil {
				t.Fatal(err)
			}
		}
		if phase(b, "far") != connection.Idle {
			t.Errorf("before: %v", b.States())
		}
		begin := time.Now()
		var asked sync.WaitGroup
		asked.Go(func() {
			if _, err := b.Ops(ctx, "far"); !errors.Is(err, ops.ErrStoreAway) {
				t.Errorf("far: %v", err)
			}
			if took := time.Since(begin); took != 15*time.Second {
				t.Errorf("far after %v", took)
			}
		})
		synctest.Wait()
		if _, err := b.Ops(ctx, "near"); err != nil || time.Since(begin) > 0 {
			t.Errorf("near: %v, after %v", err, time.Since(begin))
		}
		if phase(b, "far") != connection.Connecting || phase(b, "near") != connection.Connected {
			t.Errorf("meanwhile: %v", b.States())
		}
		asked.Wait()
		if phase(b, "far") != connection.Away {
			t.Errorf("then: %v", b.States())
		}
		begin = time.Now()
		err := b.TestNamespace(ctx, far)
		if fault, _ := errors.AsType[*connection.TestError](err); fault == nil || fault.Reason != connection.Unreachable || time.Since(begin) != 5*time.Second {
			t.Errorf("test: %v, after %v", err, time.Since(begin))
		}
		asked.Go(func() { _, _ = b.Ops(context.Background(), "far") }) // ends with the book
		synctest.Wait()
		begin = time.Now()
		closeBook(t, b)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("closed after %v", took)
		}
		asked.Wait()
	})
}

// When a session is lost, the state says so; and again when it is back.
func TestStateFollowsTheSession(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b := w.book(t, nil)
		if _, err := b.PutNamespace(t.Context(), near("prod"), connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Ops(t.Context(), "prod"); err != nil {
			t.Fatal(err)
		}
		w.stores["near:1"].Down()
		pass(time.Minute)
		if phase(b, "prod") != connection.Away {
			t.Errorf("lost: %v", b.States())
		}
		w.stores["near:1"].Up()
		pass(time.Minute)
		if phase(b, "prod") != connection.Connected {
			t.Errorf("back: %v", b.States())
		}
	})
}

// A namespace works when its database is away. Questions are refused at once for a while, with the reason.
func TestDatabaseIsAway(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b := w.book(t, withKey(t))
		ctx := t.Context()
		if _, err := b.PutDatabase(ctx, connection.Database{
			Name: "history", Driver: connection.MySQL, Address: "db:1", Schema: "s", User: "u", Password: connection.Plain(hunter),
		}, connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		n := near("prod")
		n.Database = "history"
		if _, err := b.PutNamespace(ctx, n, connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		if names := b.NamespacesOf("history"); len(names) != 1 || names[0] != "prod" {
			t.Errorf("namespaces of it: %v", names)
		}
		if err := b.RemoveDatabase(ctx, "history", connection.AnyVersion); !errors.Is(err, connection.ErrInUse) || !strings.Contains(err.Error(), "prod") {
			t.Errorf("removed: %v", err)
		}
		o, err := b.Ops(ctx, "prod")
		if err != nil {
			t.Fatal(err)
		}
		create := func(name string) time.Duration {
			t.Helper()
			begin := time.Now()
			if err := o.By("anna").Create(ctx, ops.CreateRequest{Config: job.Config{Name: name, ShardingTotalCount: 1, Cron: "0 0 * * * ?"}}); err != nil {
				t.Errorf("create %s: %v", name, err)
			}
			return time.Since(begin)
		}
		create("one")
		if len(w.histories) != 1 || w.histories[0].wrote.Load() != 1 || w.passwords[len(w.passwords)-1] != "db:1 "+hunter {
			t.Fatalf("%d databases, passwords %q", len(w.histories), w.passwords)
		}
		reader, err := o.History()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Execution(ctx, "x"); !errors.Is(err, history.ErrNotFound) || phase(b, "history") != connection.Connected {
			t.Errorf("none: %v, %v", err, b.States())
		}
		w.set(true, nil)
		if took := create("two"); took != 4*time.Second {
			t.Errorf("with a database that hangs: %v", took)
		}
		if took := create("three"); took != 0 {
			t.Errorf("when that is known: %v", took)
		}
		begin := time.Now()
		if _, err := reader.JobNames(ctx, "", 1); !errors.Is(err, connection.ErrDatabaseAway) || !strings.Contains(err.Error(), "no answer in 4s") || time.Since(begin) != 0 {
			t.Errorf("away: %v after %v", err, time.Since(begin))
		}
		if phase(b, "history") != connection.Away {
			t.Errorf("away: %v", b.States())
		}
		w.set(false, fmt.Errorf("dial u:%s@db:1: refused", hunter))
		pass(time.Second)
		if _, err := reader.JobNames(ctx, "", 1); !errors.Is(err, connection.ErrDatabaseAway) || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), hunter) {
			t.Errorf("fails: %v", err)
		}
		w.set(false, nil)
		pass(2 * time.Second)
		if names, err := reader.JobNames(ctx, "", 1); err != nil || len(names) != 1 || phase(b, "history") != connection.Connected {
			t.Errorf("back: %v, %v, %v", names, err, b.States())
		}
		// A question that its asker gives up is no outage.
		w.set(true, nil)
		impatient, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := reader.JobNames(impatient, "", 1); !errors.Is(err, context.DeadlineExceeded) || phase(b, "history") != connection.Connected {
			t.Errorf("impatient: %v, %v", err, b.States())
		}
		w.set(false, nil)
		closeBook(t, b)
		if _, err := reader.JobNames(ctx, "", 1); !errors.Is(err, connection.ErrClosed) || !w.histories[0].closed.Load() {
			t.Errorf("closed: %v", err)
		}
	})
}

// Requests use connections while others change them: nothing panics or is left, and errors are those that are
// promised.
func TestChangesWhileInUse(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b, other := w.book(t, nil), w.book(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for ctx.Err() == nil {
					o, err := b.Ops(ctx, "prod")
					if err == nil {
						_, err = o.Removed(ctx)
					}
					// With so many changes connections are closed at once.
					if err != nil && !errors.Is(err, connection.ErrNoNamespace) && !errors.Is(err, coord.ErrClosed) && ctx.Err() == nil {
						t.Errorf("use: %v", err)
					}
					b.States()
					b.Namespaces()
					sleep.For(ctx, time.Duration(i+1)*300*time.Millisecond)
				}
			})
		}
		for i, book := range []*connection.Book{b, other} {
			all.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					next := near("prod")
					next.Path = fmt.Sprintf("n%d", n%3)
					if _, err := book.PutNamespace(ctx, next, connection.AnyVersion); err != nil && ctx.Err() == nil && !errors.Is(err, connection.ErrNoNamespace) {
						t.Errorf("put: %v", err)
					}
					sleep.For(ctx, time.Duration(i+2)*700*time.Millisecond)
					if n%4 == 3 {
						if err := book.RemoveNamespace(ctx, "prod", connection.AnyVersion); err != nil && ctx.Err() == nil && !errors.Is(err, connection.ErrNoNamespace) {
							t.Errorf("remove: %v", err)
						}
					}
				}
			})
		}
		all.Wait()
		if b.Fault() != nil {
			t.Error(b.Fault())
		}
	})
}
