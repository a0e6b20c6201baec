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

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
)

// While another process changes the file, nobody else does: he waits as long as he has time, and ten seconds at most.
func TestFileIsLocked(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.file = filepath.Join(filepath.Dir(w.file), "new", "connections.yaml")
		b := w.book(t, nil)
		if _, err := b.PutNamespace(t.Context(), near("a"), connection.NoVersion); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]fs.FileMode{w.file: 0o600, filepath.Dir(w.file): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
			}
		}
		other, err := os.Open(filepath.Dir(w.file))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = other.Close() }() // it may be closed already
		if err := syscall.Flock(int(other.Fd()), syscall.LOCK_SH); err != nil {
			t.Fatal(err)
		}
		before, begun := w.read(t), time.Now()
		var all sync.WaitGroup
		put := func(name string, most time.Duration, isPut bool) {
			all.Go(func() {
				begun := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), most)
				defer cancel()
				_, err := b.PutNamespace(ctx, near(name), connection.NoVersion)
				if took := time.Since(begun); !isPut && took != min(most, 12*time.Second) {
					t.Errorf("%s: after %v, want %v", name, took, most)
				}
				if isPut != (err == nil) || !isPut && !errors.Is(err, access.ErrLocked) && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, err)
				}
			})
			synctest.Wait()
		}
		put("b", 2*time.Second, false) // waits for the lock
		put("c", time.Second, false)   // waits for b
		put("d", time.Hour, false)     // waits for c, and then for as long as anybody waits
		all.Go(func() {
			pass(15 * time.Second)
			put("e", time.Hour, true)
			pass(5 * time.Second)
			if now := w.read(t); now != before {
				t.Errorf("the file has %s", now)
			}
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if took := time.Since(begun); took < 20*time.Second || took > 21*time.Second || len(b.Namespaces()) != 2 {
			t.Errorf("after %v: %v", took, b.Namespaces())
		}
	})
}

// Two processes that change the file at the same time lose nothing of it.
func TestFileChangesOfTwo(t *testing.T) {
	w := newWorld(t)
	books := []*connection.Book{w.book(t, nil), w.book(t, nil)}
	const each = 8
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

// A file that is none is refused at once, and a link to one stays a link.
func TestOtherKindsOfFiles(t *testing.T) {
	w := newWorld(t)
	folder := filepath.Dir(w.file)
	pipe, large, link := filepath.Join(folder, "pipe"), filepath.Join(folder, "large"), filepath.Join(folder, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(large, []byte(strings.Repeat("#", 1<<20+1)), 0o600), os.Symlink(w.file, link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "no regular file", folder: "no regular file", large: "more than 1048576 bytes"} {
		if b, err := connection.Open(connection.Options{File: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", path, b, err)
		}
	}
	w.write(t, "namespaces: {}\n")
	w.file, link = link, w.file
	if _, err := w.book(t, nil).PutNamespace(t.Context(), near("a"), connection.NoVersion); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(w.file); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
	if w.file = link; !strings.Contains(w.read(t), "near:1") {
		t.Errorf("the file has %s", w.read(t))
	}
}
