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

// unowned takes the place of an index if an item has no owner.
const unowned = -1

// keep gives every instance its quota of items, and leaves as many items as possible with their previous owners.
//
// No other answer moves fewer items: an instance that held h items and has the quota q keeps min(h, q) of them,
// and quotas chooses each q so that the sum of these is as large as a proportional answer allows.
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
	// The room of one instance is filled before that of the next. So the k-th free item
	// gets the k-th free place. If some items have moved to their places and the strategy is
	// asked again, the other items get the same places as before.
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

// previous returns the index of each item's previous owner in r.Instances, or unowned, and
// how many items each instance held.
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

// quotas returns how many items each instance gets, r.Total in all. Each gets its exact share, rounded down, and
// some whose share has a fraction get one more: first those that hold that many already, then those with the
// largest fraction, then in the order that begins with first.
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
	saves := func(k int) int { // how many moves it saves to round the share of k up
		if held[k] > quota[k] {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(up, func(a, b int) int {
		return cmp.Or(cmp.Compare(saves(b), saves(a)), cmp.Compare(fraction[b], fraction[a]))
	})
	// up has at least left members, because each fraction is less than 1 and their sum is left.
	for _, k := range up[:left] {
		quota[k]++
	}
	return quota
}
