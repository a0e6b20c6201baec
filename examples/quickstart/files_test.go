package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// folder writes files, by path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSharesHaveEachFileOnceWithoutGitAndLinks(t *testing.T) {
	dir := folder(t, map[string]string{"b.go": "", "a/c.go": "", ".git/config": "", "x/.git/config": "", ".gitignore": ""})
	if err := os.Symlink("b.go", filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	var all []string
	for item := range items {
		files, err := share(os.DirFS(dir), item, items)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	slices.Sort(all)
	if want := []string{".gitignore", "a/c.go", "b.go"}; !slices.Equal(all, want) {
		t.Errorf("the shares are together %q, want %q", all, want)
	}
}

func TestCountTellsEveryChange(t *testing.T) {
	seen := map[result]string{}
	for name, files := range map[string]map[string]string{
		"base":    {"a": "one", "b": "two"},
		"content": {"a": "One", "b": "two"},
		"name":    {"a": "one", "c": "two"},
		"swapped": {"a": "two", "b": "one"},
	} {
		r, err := count(t.Context(), folder(t, files), 0, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[r]; ok || r.Files != len(files) || r.Bytes != int64(3*len(files)) {
			t.Errorf("%s: %+v, seen before with %q", name, r, other)
		}
		seen[r] = name
	}
}

func TestCountEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	if _, err := count(ctx, folder(t, map[string]string{"a": ""}), 0, 1, time.Hour); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v, want the cause", err)
	}
}
