package coord

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxPathLength is the longest path in bytes. ZooKeeper has no limit of its own
// and etcd only that of a request; the bound keeps a namespaced key readable and
// a commit of many operations below the stores' size limits.
const MaxPathLength = 1024

// Join puts path segments together. It does not validate; empty elements at the
// front are left out, so that Join("", "a") is "a".
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

// ValidatePath checks the path of a node: segments divided by single slashes,
// without one at either end, such as "settle/sharding/0/running". It returns an
// error that wraps [ErrInvalidPath] and names the path and the fault. Control
// characters and the code points that ZooKeeper refuses are not allowed, so that
// a tree can move between stores.
func ValidatePath(path string) error {
	if fault := pathFault(path); fault != "" {
		return fmt.Errorf("%w %q: %s", ErrInvalidPath, path, fault)
	}
	return nil
}

// ValidateRoot is [ValidatePath] for [Registry.List] and [Registry.View], where
// "" is allowed and means the root of the namespace.
func ValidateRoot(path string) error {
	if path == "" {
		return nil
	}
	return ValidatePath(path)
}

func pathFault(path string) string {
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

// allowedInPath leaves out what ZooKeeper's PathUtils.validatePath leaves out: control
// characters, private use, specials, and, because it looks at UTF-16 and refuses
// surrogates, everything beyond the basic multilingual plane.
func allowedInPath(r rune) bool {
	switch {
	case r <= 0x1f, r >= 0x7f && r <= 0x9f, r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
		return false
	}
	return true
}
