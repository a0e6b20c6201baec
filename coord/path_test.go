package coord_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
)

func TestValidatePath(t *testing.T) {
	for _, tc := range []struct {
		name, path string
		problem    string // part of the message; "" if the path is valid
	}{
		{"one segment", "settle", ""},
		{"deep", "settle/sharding/0/running", ""},
		{"any script", "任务/ömega/ｘ", ""},
		{"dots inside a segment", "a.b/..c/d..", ""},
		{"longest", strings.Repeat("x", coord.MaxPathLength), ""},
		{"empty", "", "empty"},
		{"leading slash", "/a", "starts with a slash"},
		{"trailing slash", "a/", "ends with a slash"},
		{"empty segment", "a//b", "empty segment"},
		{"dot", "a/./b", `segment "."`},
		{"dot dot", "..", `segment ".."`},
		{"NUL", "a\x00b", "U+0000"},
		{"control character", "a/\x1f", "U+001F"},
		{"not allowed in ZooKeeper", "a/\ue000", "U+E000"},
		{"beyond the basic plane", "a/😀", "U+1F600"},
		{"not UTF-8", "a\xff", "not UTF-8"},
		{"too long", strings.Repeat("x", coord.MaxPathLength+1), "1025 bytes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := coord.ValidatePath(tc.path)
			if tc.problem == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if !errors.Is(err, coord.ErrInvalidPath) || !strings.Contains(err.Error(), tc.problem) {
				t.Fatalf("got %v, want ErrInvalidPath with %q", err, tc.problem)
			}
		})
	}
	if err := coord.ValidateRoot(""); err != nil {
		t.Errorf("the root of a view: %v", err)
	}
	if err := coord.ValidateRoot("a/"); !errors.Is(err, coord.ErrInvalidPath) {
		t.Errorf("ValidateRoot: got %v", err)
	}
}

func TestDepth(t *testing.T) {
	for _, tc := range []struct {
		path, root string
		depth      int
	}{{"", "", 0}, {"a", "", 1}, {"a/b", "", 2}, {"a", "a", 0}, {"a/b", "a", 1}, {"a/b/c", "a/b", 1}, {"a/b/c/d", "a", 3}} {
		if got := coord.Depth(tc.path, tc.root); got != tc.depth {
			t.Errorf("%q is %d below %q, want %d", tc.path, got, tc.root, tc.depth)
		}
	}
	if err := coord.ValidateDepth(1); err != nil {
		t.Error(err)
	}
	for _, depth := range []int{0, -1} {
		if err := coord.ValidateDepth(depth); !errors.Is(err, coord.ErrInvalidDepth) {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

func TestPathParts(t *testing.T) {
	if got := coord.Join("", "a", "b/c"); got != "a/b/c" {
		t.Errorf("Join: %q", got)
	}
	if coord.Base("a/b") != "b" || coord.Base("a") != "a" {
		t.Error("Base")
	}
	if coord.Parent("a/b/c") != "a/b" || coord.Parent("a") != "" {
		t.Error("Parent")
	}
	for _, tc := range []struct {
		path, root string
		want       bool
	}{
		{"a", "", true}, {"a", "a", true}, {"a/b", "a", true}, {"ab", "a", false}, {"a", "a/b", false}, {"sharding/10", "sharding/1", false},
	} {
		if got := coord.Within(tc.path, tc.root); got != tc.want {
			t.Errorf("Within(%q, %q) = %v", tc.path, tc.root, got)
		}
	}
}
