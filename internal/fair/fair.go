// Package fair says which of many entries go when there is no room for all: the oldest ones of whoever has the most. So
// nobody pushes out what others have made.
package fair

import (
	"container/heap"
	"strings"
)

// Entry is one of a list.
type Entry struct {
	Owner string
	Size  int
}

// Owner returns who an actor is without the token that he has used: a console writes "anna (token deploy)", and anna may
// make many tokens.
func Owner(actor string) string {
	name, _, _ := strings.Cut(actor, " (token ")
	return name
}

// Drop reports which entries, the oldest first, have to go until the others have a size of most or less. Each that goes is
// the oldest of the owner who then has the most. So an owner who has most/owners or less loses none.
func Drop(entries []Entry, most int) []bool {
	goes, total := make([]bool, len(entries)), 0
	by := map[string]*holding{}
	var all holdings
	for i, e := range entries {
		h := by[e.Owner]
		if h == nil {
			h = &holding{}
			by[e.Owner], all = h, append(all, h)
		}
		h.size += e.Size
		h.indexes = append(h.indexes, i)
		total += e.Size
	}
	heap.Init(&all)
	for total > most {
		h := all[0]
		oldest := h.indexes[0]
		goes[oldest], h.indexes = true, h.indexes[1:]
		h.size -= entries[oldest].Size
		total -= entries[oldest].Size
		if len(h.indexes) == 0 {
			heap.Pop(&all)
		} else {
			heap.Fix(&all, 0)
		}
	}
	return goes
}

// holding is what an owner has left.
type holding struct {
	size    int
	indexes []int // the oldest first
}

// holdings are a heap: the largest one first, of equal ones that with the oldest entry.
type holdings []*holding

func (h holdings) Len() int { return len(h) }

func (h holdings) Less(i, j int) bool {
	if h[i].size != h[j].size {
		return h[i].size > h[j].size
	}
	return h[i].indexes[0] < h[j].indexes[0] // who has none left is taken out first
}

func (h holdings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is for package heap.
func (h *holdings) Push(x any) { *h = append(*h, x.(*holding)) }

// Pop is for package heap.
func (h *holdings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
