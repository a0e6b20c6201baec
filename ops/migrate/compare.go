package migrate

import (
	"bytes"
	"slices"
	"strings"
)

func comparePaths(a, b node) int { return strings.Compare(a.path, b.path) }

// find returns the node of a path in a list that is ascending.
func find(nodes []node, path string) (node, bool) {
	at, isThere := slices.BinarySearchFunc(nodes, node{path: path}, comparePaths)
	if !isThere {
		return node{}, false
	}
	return nodes[at], true
}

// differences returns the paths that only one of two ascending lists has, or that have another value.
func differences(a, b []node) []string {
	var list []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].path < b[0].path:
			list, a = append(list, a[0].path), a[1:]
		case len(a) == 0 || b[0].path < a[0].path:
			list, b = append(list, b[0].path), b[1:]
		default:
			if !bytes.Equal(a[0].value, b[0].value) {
				list = append(list, a[0].path)
			}
			a, b = a[1:], b[1:]
		}
	}
	return list
}
