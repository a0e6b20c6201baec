//go:build linux

package script_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// held is a named pipe that processes of a script hold open. It ends when all are gone.
type held struct {
	path           string
	reader, writer *os.File
}

func newHeld(t *testing.T) *held {
	t.Helper()
	folder := t.TempDir()
	h := &held{path: filepath.Join(folder, "held")}
	err := syscall.Mkfifo(h.path, 0)
	if err == nil {
		err = os.Chmod(h.path, 0o666)
	}
	for _, open := range []string{folder, filepath.Dir(folder)} {
		if err == nil {
			err = os.Chmod(open, 0o755) // so that nobody can find the pipe
		}
	}
	if err == nil {
		h.reader, err = os.OpenFile(h.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err == nil {
		h.writer, err = os.OpenFile(h.path, os.O_WRONLY, 0) // until a program holds it
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.reader.Close(); h.writer.Close() })
	return h
}

// await reads until a program has written a line. From then on only programs hold the pipe.
func (h *held) await(t *testing.T, want string) {
	t.Helper()
	if err := h.reader.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Error(err)
	}
	lines := bufio.NewReader(h.reader)
	for {
		got, err := lines.ReadString('\n')
		if err != nil {
			t.Errorf("%v before the line %q", err, want)
			break
		}
		if strings.TrimSpace(got) == want {
			break
		}
	}
	h.writer.Close()
}

// mustBeGone fails the test if a process holds the pipe at this moment.
func (h *held) mustBeGone(t *testing.T) {
	t.Helper()
	h.writer.Close()
	raw, err := h.reader.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.reader.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	n := 1
	for buffer := make([]byte, 4096); n > 0; {
		if ask := raw.Read(func(fd uintptr) bool {
			n, err = syscall.Read(int(fd), buffer)
			return true
		}); ask != nil {
			t.Fatal(ask)
		}
	}
	if err != nil {
		t.Errorf("processes of the script still run (%v)", err)
	}
}

// mustGo fails the test if processes hold the pipe for long.
func (h *held) mustGo(t *testing.T) {
	t.Helper()
	h.writer.Close()
	if err := h.reader.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, h.reader); err != nil {
		t.Errorf("processes of the script still run: %v", err)
	}
}
