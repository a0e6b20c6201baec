package connection_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

func inPostgres() connection.Database {
	return connection.Database{Name: "history", Driver: connection.Postgres, Address: "db:1", Schema: "s", User: "u"}
}

// A database whose entry is changed or removed is closed when those who ask it have had time to end.
func TestChangedDatabaseIsClosedLater(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b, ctx := w.book(t, nil), t.Context()
		d, err := b.PutDatabase(ctx, inPostgres(), connection.NoVersion)
		if err != nil {
			t.Fatal(err)
		}
		for i, change := range []func() error{
			func() error { d.Schema = "other"; d, err = b.PutDatabase(ctx, d, d.Version); return err },
			func() error { return b.RemoveDatabase(ctx, "history", d.Version) },
		} {
			old, err := b.History("history")
			if err != nil {
				t.Fatal(err)
			}
			asked := func(want error) {
				t.Helper()
				if _, err := old.JobNames(ctx, "", 1); !errors.Is(err, want) || w.histories[i].closed.Load() != (want != nil) || len(w.histories) != i+1 {
					t.Errorf("%d: %v, want %v; closed: %v, %d are open", i, err, want, w.histories[i].closed.Load(), len(w.histories))
				}
			}
			asked(nil)
			if err := change(); err != nil {
				t.Fatal(err)
			}
			pass(29 * time.Second)
			asked(nil)
			pass(2 * time.Second)
			asked(connection.ErrClosed)
		}
		if all := b.Databases(); len(all) != 0 {
			t.Errorf("left: %+v", all)
		}
	})
}

// Not more than 20 connections of before are kept: who changes entries all the time has the others closed at once.
func TestFarewellsAreBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b, ctx := w.book(t, nil), t.Context()
		change := func(i int) (old *ops.Ops) {
			n := near("prod")
			n.Path = fmt.Sprint("n", i)
			if _, err := b.PutNamespace(ctx, n, connection.AnyVersion); err != nil {
				t.Fatal(err)
			}
			o, err := b.Ops(ctx, "prod")
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return o
		}
		var all []*ops.Ops
		for i := range 23 {
			all = append(all, change(i))
		}
		is := func(i int, isOpen bool) {
			t.Helper()
			if _, err := all[i].Removed(ctx); (err == nil) != isOpen || !isOpen && !errors.Is(err, coord.ErrClosed) {
				t.Errorf("%d: %v", i, err)
			}
		}
		for i := range all {
			is(i, i < 20 || i == 22) // and that is the one of now
		}
		pass(31 * time.Second)
		is(0, false)
		is(22, true)
		change(23) // there is room again
		pass(29 * time.Second)
		is(22, true)
	})
}

// journal is a log that a test reads while others write.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// clinging is a database that cannot be closed well.
type clinging struct{ *past }

func (s clinging) Close() error {
	return errors.Join(s.past.Close(), errors.New("close: u:"+hunter+"@db:1: broken"))
}

// What goes wrong with a farewell is in the log, and no password with it.
func TestFarewellThatFails(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var log journal
		keys := withKey(t)
		b, ctx := w.book(t, func(o *connection.Options) {
			keys(o)
			o.Slog = slog.New(slog.NewTextHandler(&log, nil))
			o.OpenHistory = func(d connection.Database) (connection.History, error) {
				h, err := w.open(d)
				return clinging{h.(*past)}, err
			}
		}), t.Context()
		d := inPostgres()
		d.Password = connection.Plain(hunter)
		if _, err := b.PutDatabase(ctx, d, connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		h, err := b.History("history")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.JobNames(ctx, "", 1); err != nil {
			t.Fatal(err)
		}
		if err := b.RemoveDatabase(ctx, "history", connection.AnyVersion); err != nil {
			t.Fatal(err)
		}
		pass(31 * time.Second)
		if text := log.String(); !strings.Contains(text, "not closed properly") || !strings.Contains(text, "broken") || strings.Contains(text, hunter) {
			t.Error(text)
		}
	})
}

// withheld returns a book with one database, which is open when goOn is closed. The log gets what the book says.
func (w *world) withheld(t *testing.T, log *journal) (b *connection.Book, h connection.Past, goOn chan struct{}) {
	t.Helper()
	goOn = make(chan struct{})
	b = w.book(t, func(o *connection.Options) {
		if log != nil {
			o.Slog = slog.New(slog.NewTextHandler(log, nil))
		}
		o.OpenHistory = func(d connection.Database) (connection.History, error) {
			<-goOn
			return w.open(d)
		}
	})
	if _, err := b.PutDatabase(t.Context(), inPostgres(), connection.NoVersion); err != nil {
		t.Fatal(err)
	}
	h, err := b.History("history")
	if err != nil {
		t.Fatal(err)
	}
	return b, h, goOn
}

// A database that is still being opened when its entry goes is closed once it is open.
func TestFarewellWhileItOpens(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		b, h, goOn := w.withheld(t, nil)
		ctx := t.Context()
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := h.JobNames(context.WithoutCancel(ctx), "", 1); !errors.Is(err, connection.ErrClosed) {
				t.Error(err)
			}
		})
		synctest.Wait()
		isClosed := false
		all.Go(func() {
			closeBook(t, b)
			isClosed = true
		})
		if synctest.Wait(); isClosed {
			t.Error("nobody waits for what is being opened")
		}
		close(goOn)
		all.Wait()
		if len(w.histories) != 1 || !w.histories[0].closed.Load() {
			t.Errorf("%d databases, left open", len(w.histories))
		}
		closeBook(t, b)
		if _, err := b.PutDatabase(ctx, inPostgres(), connection.AnyVersion); !errors.Is(err, connection.ErrClosed) {
			t.Errorf("put after the end: %v", err)
		}
	})
}

// A farewell that hangs is given up, and that is in the log.
func TestFarewellThatHangs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var log journal
		b, h, goOn := w.withheld(t, &log)
		ctx := t.Context()
		if _, err := h.JobNames(ctx, "", 1); !errors.Is(err, connection.ErrDatabaseAway) {
			t.Error(err)
		}
		if err := b.RemoveDatabase(ctx, "history", connection.AnyVersion); err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{false, true} {
			pass(30*time.Second + 9*time.Second)
			if text := log.String(); strings.Contains(text, "still being opened") != want {
				t.Errorf("want %v: %s", want, text)
			}
		}
		close(goOn)
	})
}
