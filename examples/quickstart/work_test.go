package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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

func silent(done, files int) {}

func TestListLeavesOutGitAndLinks(t *testing.T) {
	dir := folder(t, map[string]string{"b.go": "", "a/c.go": "", ".git/config": "", "a/.git": "gitdir: elsewhere", ".gitignore": ""})
	if err := os.Symlink("b.go", filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	got, err := list(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".gitignore", "a/c.go", "b.go"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestListOfNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	if _, err := list(dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("list of a missing folder: %v", err)
	}
}

func TestSharesCoverEveryFileOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfDistinct(rapid.String(), rapid.ID).Draw(t, "files")
		total := rapid.IntRange(1, maxItems).Draw(t, "total")
		var all []string
		for item := range total {
			all = append(all, share(files, item, total)...)
		}
		slices.Sort(files)
		slices.Sort(all)
		if !slices.Equal(files, all) {
			t.Errorf("%d shares of %q are together %q", total, files, all)
		}
	})
}

func TestCount(t *testing.T) {
	dir := folder(t, map[string]string{"a": "one\ntwo\n", "b/c": "three"})
	got, err := count(t.Context(), dir, 0, 1, 0, silent)
	if err != nil {
		t.Fatal(err)
	}
	// printf '%s a\n%s b/c\n' $(printf 'one\ntwo\n' | sha256sum) … | sha256sum
	const sum = "f65d6bc8550374740994eb0b2e7c5604dafe60ef589dca004c18542634ebcb4e"
	if want := (result{Files: 2, Bytes: 13, Lines: 2, Sum: sum}); got != want {
		t.Errorf("count is %+v, want %+v", got, want)
	}
}

func TestCountTellsEveryChange(t *testing.T) {
	base := map[string]string{"a": "one", "b": "two"}
	seen := map[string]string{}
	for name, files := range map[string]map[string]string{
		"base":    base,
		"content": {"a": "One", "b": "two"},
		"name":    {"a": "one", "c": "two"},
		"swapped": {"a": "two", "b": "one"},
		"fewer":   {"a": "one"},
	} {
		r, err := count(t.Context(), folder(t, files), 0, 1, 0, silent)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[r.Sum]; ok {
			t.Errorf("%s and %s have the same sum", name, other)
		}
		seen[r.Sum] = name
	}
}

func TestCountEndsWithItsContext(t *testing.T) {
	files := map[string]string{}
	for i := range 2 {
		files[fmt.Sprint(i)] = "content"
	}
	dir := folder(t, files)
	why := errors.New("session lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := count(ctx, dir, 0, 1, time.Hour, func(done, files int) {
		if done == 1 { // and half an hour to wait for the next
			cancel(why)
		}
	})
	if !errors.Is(err, why) {
		t.Errorf("count that was interrupted: %v, want %v", err, why)
	}
}
