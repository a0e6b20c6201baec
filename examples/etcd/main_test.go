package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/etcd"
)

// A registry can be opened on it, and it ends, without a word.
func TestRun(t *testing.T) {
	words, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func(is *os.File) { os.Stderr = is }(os.Stderr)
	os.Stderr = words
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lines, out := io.Pipe()
	ended := make(chan error)
	go func() { ended <- run(ctx, out, "127.0.0.1:0") }()
	line := make([]byte, 100)
	n, err := lines.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "etcd is at "))
	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: []string{address}, Namespace: "billing"})
	if err != nil {
		t.Fatal(err)
	}
	if err := reg.Close(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if said, err := os.ReadFile(words.Name()); err != nil || len(said) > 0 {
		t.Errorf("%v %s", err, said)
	}
	if err := words.Close(); err != nil {
		t.Error(err)
	}
}
