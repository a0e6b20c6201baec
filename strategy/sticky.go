package strategy

import (
	"cmp"
	"slices"
)

func sticky(r Request) []string {
	return keep(r, func(Instance) int64 { return 1 })
}

func weighted(r Request) []string {
	return keep(r, func(in Instance) int64 { return int64(min(max(in.Weight, 1), MaxWeight)) })
}

// unowned stands for the index of an owner that an item does not have.
const unowned = -1

// keep gives every instance its quota of items, and leaves as many items as
// possible with their previous owners.
//
// It is the least that can move: an instance that held h items and may have q
// keeps min(h, q) of them, and quotas chooses the q to make the sum of that as
// large as proportionality allows.
func keep(r Request, weight func(Instance) int64) []string {
	answer := make([]string, max(r.Total, 0))
	n := len(r.Instances)
	if n == 0 {
		return answer
	}

	owner, held := previous(r)
	first := start(r.Job, n)
	room := quotas(r, weight, held, first)

	for item, k := range owner {
		switch {
		case k == unowned:
		case room[k] == 0:
			owner[item] = unowned
		default:
			room[k]--
		}
	}
	// An instance's room is filled before the next one's turn comes. So the k-th
	// free item has the k-th free place, and that stays so for the others
	// when some items have taken theirs and the question is asked again.
	next := first
	for item, k := range owner {
		if k == unowned {
			for room[next] == 0 {
				next = (next + 1) % n
			}
			room[next]--
			k = next
		}
		answer[item] = r.Instances[k].ID
	}
	return answer
}

// previous returns the index of each item's previous owner in r.Instances, or
// unowned, and how many items each instance held.
func previous(r Request) (owner, held []int) {
	index := make(map[string]int, len(r.Instances))
	for k, in := range r.Instances {
		index[in.ID] = k
	}
	owner = make([]int, max(r.Total, 0))
	held = make([]int, len(r.Instances))
	for item := range owner {
		owner[item] = unowned
		if item < len(r.Previous) {
			if k, ok := index[r.Previous[item]]; ok {
				owner[item] = k
				held[k]++
			}
		}
	}
	return owner, held
}

// quotas returns how many items each instance gets, with the sum r.Total: its
// exact share rounded down, and one more for some of those whose share has a
// fraction. They are chosen by what they hold already, then by the size of the
// fraction, then by their place in the order that begins with first.
func quotas(r Request, weight func(Instance) int64, held []int, first int) []int {
	n := len(r.Instances)
	weights := make([]int64, n)
	var sum int64
	for k, in := range r.Instances {
		weights[k] = weight(in)
		sum += weights[k]
	}

	quota := make([]int, n)
	fraction := make([]int64, n) // in units of 1/sum
	left := max(r.Total, 0)
	for k, w := range weights {
		share := int64(max(r.Total, 0)) * w
		quota[k], fraction[k] = int(share/sum), share%sum
		left -= quota[k]
	}

	var up []int
	for i := range n {
		if k := (first + i) % n; fraction[k] > 0 {
			up = append(up, k)
		}
	}
	keepsOne := func(k int) int { // rounding k up saves a move: 1
		if held[k] > quota[k] {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(up, func(a, b int) int {
		return cmp.Or(cmp.Compare(keepsOne(b), keepsOne(a)), cmp.Compare(fraction[b], fraction[a]))
	})
	// The fractions are less than 1 each and add up to left, so up is long enough.
	for _, k := range up[:left] {
		quota[k]++
	}
	return quota
}
