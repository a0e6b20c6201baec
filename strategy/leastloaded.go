package strategy

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// LoadAware is a Strategy that looks at Instance.Load. Only for such a strategy the loads are
// found out. Elsewhere they are 0.
type LoadAware interface {
	Strategy
	// WantsLoads reports whether Assign looks at the loads.
	WantsLoads() bool
}

// WantsLoads reports whether a strategy is [LoadAware] and wants the loads.
func WantsLoads(s Strategy) bool {
	aware, ok := s.(LoadAware)
	return ok && aware.WantsLoads()
}

// leastLoaded is LEAST_LOADED.
type leastLoaded struct{}

func (leastLoaded) WantsLoads() bool { return true }

// Assign leaves an item where it is as long as each instance has no fewer and no more items than
// it should. That is between its equal share of the job and the share that would even the loads
// out. What moves goes to an instance with at least two items less of the job, so moves come
// to an end however the loads change. Then some items leave instances that have far too much: see
// relieve.
func (leastLoaded) Assign(r Request) []string {
	answer := make([]string, max(r.Total, 0))
	n := len(r.Instances)
	if n == 0 {
		return answer
	}
	d := newDeal(r)
	var surplus, free []int
	for item, k := range d.owner {
		switch {
		case k == unowned:
			free = append(free, item)
		case d.count[k] == d.upper[k]:
			surplus = append(surplus, item)
		default:
			d.count[k]++
		}
	}
	for k := range d.count {
		for d.count[k] < d.lower[k] {
			switch {
			case len(surplus) > 0:
				d.give(surplus[0], k)
				surplus = surplus[1:]
			case len(free) > 0:
				d.give(free[0], k)
				free = free[1:]
			default:
				d.give(d.take(), k)
			}
		}
	}
	for _, item := range surplus {
		d.give(item, d.least(func(k int) bool { return d.count[k] < d.ceil }))
	}
	for _, item := range free {
		d.give(item, d.least(func(k int) bool { return d.count[k] < d.upper[k] }))
	}
	d.relieve(r)
	for item, k := range d.owner {
		answer[item] = r.Instances[k].ID
	}
	return answer
}

// deal is an answer that is being made. Instances are meant by their indexes.
type deal struct {
	owner        []int // of each item, or unowned
	load, count  []int // how many items of other jobs, and of this one, each instance has
	lower, upper []int // how many of this one each should have
	floor, ceil  int   // the equal share of an instance, rounded down and up
	first        int   // the instance with which the job begins
}

func newDeal(r Request) *deal {
	n, total := len(r.Instances), max(r.Total, 0)
	d := &deal{
		load: make([]int, n), count: make([]int, n), lower: make([]int, n), upper: make([]int, n),
		floor: total / n, ceil: (total + n - 1) / n, first: start(r.Job, n),
	}
	d.owner, _ = previous(r)
	for k, in := range r.Instances {
		d.load[k] = min(max(in.Load, 0), maxLoad)
	}
	level, left := waterLevel(d.load, total)
	for k, load := range d.load {
		even := max(level-load, 0)
		d.lower[k] = min(d.floor, even)
		if left > 0 && load <= level {
			even++
		}
		d.upper[k] = max(d.ceil, even)
	}
	return d
}

// relieve moves items from instances that have far more than the mean to those that have less.
// Many jobs decide that at the same moment, by the same loads and without knowing of each other,
// when an instance joins them all. So each item moves only with the likelihood with which just
// as many go as are too much. The dice are a hash of the job, the item, the instances and their
// loads: the same question has the same answer, and when loads change they are cast anew.
func (d *deal) relieve(r Request) {
	n, sum := len(d.count), 0
	for k := range d.count {
		sum += d.total(k)
	}
	mean := sum / n
	dice := fnv.New64a()
	_, _ = dice.Write([]byte(r.Job)) // a hash returns no error
	for k, in := range r.Instances {
		_, _ = fmt.Fprintf(dice, "\x00%s\x00%d", in.ID, d.load[k]) // as above
	}
	seed := dice.Sum64()
	for item, from := range d.owner {
		if d.total(from) <= mean+mean/10+1 || d.count[from] <= d.lower[from] {
			continue
		}
		to := d.least(func(k int) bool { return d.count[k] < d.ceil })
		if to == unowned || d.total(to) >= mean {
			continue
		}
		cast := rand.New(rand.NewPCG(seed, uint64(item))).Float64()
		if total := float64(d.total(from)); cast < 1-float64(mean)/total {
			d.count[from]--
			d.give(item, to)
		}
	}
}

// total returns how many items of all jobs an instance has.
func (d *deal) total(k int) int { return d.load[k] + d.count[k] }

// give gives an item to an instance.
func (d *deal) give(item, k int) {
	d.owner[item] = k
	d.count[k]++
}

// take takes the last item from the instance that has the most, among those that have more
// than their equal share of the job.
func (d *deal) take() int {
	from := d.best(func(k int) bool { return d.count[k] > d.floor }, func(k, best int) bool {
		return d.total(k) > d.total(best)
	})
	d.count[from]--
	for item := len(d.owner) - 1; ; item-- {
		if d.owner[item] == from {
			return item
		}
	}
}

// least returns the instance that has the least, among those that may have one more.
func (d *deal) least(may func(k int) bool) int {
	return d.best(may, func(k, best int) bool { return d.total(k) < d.total(best) })
}

// best returns the best instance that may be it, or unowned. Of equal ones it is the first in the
// job's order.
func (d *deal) best(may func(k int) bool, isBetter func(k, best int) bool) int {
	n, best := len(d.count), unowned
	for i := range n {
		if k := (d.first + i) % n; may(k) && (best == unowned || isBetter(k, best)) {
			best = k
		}
	}
	return best
}

// waterLevel returns how many items of all jobs the instances with the least would have, rounded
// down, if so many items evened the loads out; and how many items are left over.
func waterLevel(load []int, items int) (level, left int) {
	loads := slices.Sorted(slices.Values(load))
	level, left = loads[0], items
	for k := 1; ; k++ { // k instances are at the level
		if k == len(loads) || (loads[k]-level)*k > left {
			return level + left/k, left % k
		}
		left -= (loads[k] - level) * k
		level = loads[k]
	}
}

// maxLoad bounds a load. Larger ones count as this one.
const maxLoad = 1_000_000_000
