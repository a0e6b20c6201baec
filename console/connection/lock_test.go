//go:build unix

package connection_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/console/connection"
)

// While another process changes the file, nobody else does: he waits, as long as he has time.
func TestFileIsLocked(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.file = filepath.Join(filepath.Dir(w.file), "new", "connections.yaml")
		b := w.book(t, nil)
		if _, err := b.PutNamespace(t.Context(), near("a"), connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]fs.FileMode{w.file: 0o600, w.file + ".lock": 0o600, filepath.Dir(w.file): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
			}
		}
		other, err := os.Open(w.file + ".lock")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }() // it may be closed already
		if err := syscall.Flock(int(other.Fd()), syscall.LOCK_SH); err != nil {
			t.Fatal(err)
		}
		before, begun := w.read(t), time.Now()
		var all sync.WaitGroup
		put := func(name string, time time.Duration, isPut bool) {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time)
				defer cancel()
				_, err := b.PutNamespace(ctx, near(name), connection.NoVersion)
				if isPut != (err == nil) || !isPut && (!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "somebody else changes it")) {
					t.Errorf("%s: %v", name, err)
				}
			})
			synctest.Wait()
		}
		put("b", 2*time.Second, false) // waits for the lock
		put("c", time.Second, false)   // waits for b
		put("d", time.Hour, true)
		all.Go(func() {
			pass(time.Minute)
			if now := w.read(t); now != before {
				t.Errorf("the file has %s", now)
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if took := time.Since(begun); took < time.Minute || took > time.Minute+time.Second || len(b.Namespaces()) != 2 {
			t.Errorf("after %v: %v", took, b.Namespaces())
		}
	})
}

// Two processes that change the file at the same time lose nothing of it.
func TestFileChangesOfTwo(t *testing.T) {
	w := newWorld(t)
	books := []*connection.Book{w.book(t, nil), w.book(t, nil)}
	const each = 20
	var all sync.WaitGroup
	for i, b := range books {
		all.Go(func() {
			for n := range each {
				if _, err := b.PutNamespace(t.Context(), near(string(rune('a'+i))+strings.Repeat("x", n)), connection.NoVersion); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := len(w.book(t, nil).Namespaces()); n != len(books)*each {
		t.Errorf("%d namespaces, want %d", n, len(books)*each)
	}
}
