package coord

import "strings"

// Bounds are what a view holds of values, so that no writer of the namespace can fill the memory of those who follow it.
// A node whose value is beyond a bound is shown with [Node.Omitted] in its place. A value of at most [AlwaysHeld]
// bytes is always held. A view that shares its memory with the store, as that of coord/memory may, need not leave anything out.
type Bounds struct {
	// Value returns how many bytes the value of the node at a path may have; nil is any number.
	Value func(path string) int
	// Child bounds the bytes that are held at and below each child of the namespace; 0 is any number. What is beyond it
	// stays left out until it is written again.
	Child int
}

// AlwaysHeld is how long a value may be that bounds do not concern, in bytes. Most are as short.
const AlwaysHeld = 256

// held counts what a tree holds of values that are longer than AlwaysHeld.
type held struct {
	Bounds
	bytes map[string]int // by the child of the namespace
}

// count adds the value of a node to what is held below its child of the namespace, or takes it away.
func (h *held) count(n Node, sign int) {
	if h.Child == 0 || len(n.Value) <= AlwaysHeld {
		return
	}
	child, _, _ := strings.Cut(n.Path, "/")
	sum, isKnown := h.bytes[child]
	if !isKnown {
		child = strings.Clone(child) // so that the whole path is not kept in memory
	}
	if sum += sign * len(n.Value); sum == 0 {
		delete(h.bytes, child)
		return
	}
	h.bytes[child] = sum
}

// within returns a node as it is held.
func (h *held) within(n Node) Node {
	if len(n.Value) <= AlwaysHeld || h.Value == nil && h.Child == 0 {
		return n
	}
	child, _, _ := strings.Cut(n.Path, "/")
	if h.Value != nil && len(n.Value) > h.Value(n.Path) || h.Child > 0 && h.bytes[child]+len(n.Value) > h.Child {
		n.Omitted, n.Value = len(n.Value), nil
	}
	return n
}
