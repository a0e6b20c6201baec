package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// interrupting is a writer that ends a context as soon as somebody writes a text.
type interrupting struct {
	at  string
	end context.CancelFunc
}

func (w interrupting) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.at)) {
		w.end()
	}
	return len(p), nil
}

// The whole show with all its processes.
func TestShow(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("%d/%d.txt", i%3, i)] = strings.Repeat("line\n", i)
	}
	var out bytes.Buffer
	if err := show(t.Context(), settings{dir: folder(t, files), store: "etcd", job: "count"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"killed with SIGKILL", " again, ", "told to leave", "D starts", ":D", "exactly once", "40 files", "All as promised"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// Ctrl-C ends the show at any time, and nothing is left: goleak looks for goroutines too.
func TestShowThatIsInterrupted(t *testing.T) {
	for _, at := range []string{"alone counts", "C starts", "tick "} {
		ctx, cancel := context.WithCancel(t.Context())
		s := settings{dir: folder(t, map[string]string{"a": "a"}), store: "etcd", job: "count"}
		if err := show(ctx, s, interrupting{at, cancel}); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted at %q: error %v", at, err)
		}
	}
}

func TestShowOfNoFolder(t *testing.T) {
	s := settings{dir: filepath.Join(t.TempDir(), "missing")}
	if err := show(t.Context(), s, &bytes.Buffer{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), s.dir) {
		t.Errorf("error %v", err)
	}
}
