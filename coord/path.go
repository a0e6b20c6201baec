package coord

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// MaxPathLength is the longest path in bytes. ZooKeeper has no limit of its own, and
// etcd only that of a request. The bound keeps keys readable, and commits of many
// operations below the stores' size limits.
const MaxPathLength = 1024

// Join puts path segments together. It validates nothing. It leaves out empty elements
// at the front, so that Join("", "a") is "a".
func Join(elem ...string) string {
	for len(elem) > 0 && elem[0] == "" {
		elem = elem[1:]
	}
	return strings.Join(elem, "/")
}

// Base returns the last segment of a path.
func Base(path string) string {
	return path[strings.LastIndexByte(path, '/')+1:]
}

// Parent returns the path without its last segment, "" for a path of one.
func Parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[:i]
}

// Within reports whether path is root or lies below it. Everything is within "".
func Within(path, root string) bool {
	return root == "" || path == root ||
		len(path) > len(root) && path[len(root)] == '/' && path[:len(root)] == root
}

// Depth is how many levels a path lies below root, 0 for root itself. The path has to be
// within root.
func Depth(path, root string) int {
	switch {
	case path == root:
		return 0
	case root == "":
		return 1 + strings.Count(path, "/")
	}
	return strings.Count(path[len(root):], "/")
}

// ValidatePath checks the path of a node: segments divided by single slashes,
// without one at either end, such as "settle/sharding/0/running". It returns an
// error that wraps [ErrInvalidPath] and says what is wrong with the path. Control
// characters and the code points that ZooKeeper refuses are not allowed on any store,
// so that a tree can move between stores.
func ValidatePath(path string) error {
	if problem := pathProblem(path); problem != "" {
		return fmt.Errorf("%w %q: %s", ErrInvalidPath, path, problem)
	}
	return nil
}

// ValidateRoot is [ValidatePath] for [Registry.List], [Registry.Walk] and [Registry.View],
// where "" is allowed and means the root of the namespace.
func ValidateRoot(path string) error {
	if path == "" {
		return nil
	}
	return ValidatePath(path)
}

// AllLevels is the depth of a [Registry.View] that shows a whole subtree.
const AllLevels = math.MaxInt

// ValidateDepth checks the depth of a [Registry.View]: it is at least 1. It returns an
// error that wraps [ErrInvalidDepth].
func ValidateDepth(depth int) error {
	if depth < 1 {
		return fmt.Errorf("%w %d: at least 1 is needed", ErrInvalidDepth, depth)
	}
	return nil
}

// pathProblem says what is wrong with a path, or "".
func pathProblem(path string) string {
	switch {
	case path == "":
		return "empty"
	case len(path) > MaxPathLength:
		return fmt.Sprintf("%d bytes long, at most %d are allowed", len(path), MaxPathLength)
	case !utf8.ValidString(path):
		return "not UTF-8"
	case path[0] == '/':
		return "starts with a slash; paths are relative to the namespace"
	case path[len(path)-1] == '/':
		return "ends with a slash"
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "":
			return "has an empty segment"
		case ".", "..":
			return fmt.Sprintf("has the segment %q", segment)
		}
	}
	for i, r := range path {
		if !allowedInPath(r) {
			return fmt.Sprintf("has the character %U at byte %d", r, i)
		}
	}
	return ""
}

// allowedInPath refuses what ZooKeeper's PathUtils.validatePath refuses: control
// characters, private use, and specials. It also refuses everything beyond the basic
// multilingual plane, because ZooKeeper sees that as UTF-16 surrogates.
func allowedInPath(r rune) bool {
	switch {
	case r <= 0x1f, r >= 0x7f && r <= 0x9f, r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
		return false
	}
	return true
}
