package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The whole show with all its processes, shorter than people like it.
func TestShow(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("%d/%d.txt", i%3, i)] = strings.Repeat("a line\n", i)
	}
	s := watchable()
	s.store.Kind, s.dir, s.items, s.scene, s.patience = etcdStore, folder(t, files), 4, 1, 2*time.Minute
	var out bytes.Buffer
	if err := show(t.Context(), s, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	// A machine that stands still misses ticks, which are made up for: then it is not each one that has begun, but each of these exactly once.
	for _, want := range []string{"SIGKILL to", " again, ", "leaves gracefully", "D has joined", "exactly once", "All as promised"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in what it says", want)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("what it says has terminal sequences in it")
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// Ctrl-C ends the show at once, and nothing is left: goleak looks for goroutines too.
func TestShowThatIsInterrupted(t *testing.T) {
	s := watchable()
	s.store.Kind, s.dir, s.items = etcdStore, folder(t, map[string]string{"a": "a"}), 2
	ctx, cancel := context.WithCancel(t.Context())
	out := &lines{do: func(line string) {
		if strings.Contains(line, "C starts") {
			cancel()
		}
	}}
	if err := show(ctx, s, out); ctx.Err() == nil || err == nil {
		t.Errorf("error %v", err)
	}
}
