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

// WantsLoads implements [LoadAware].
func (leastLoaded) WantsLoads() bool { return true }

// Assign leaves an item where it is as long as each instance has at least lower and at most upper items:
// these lie between its equal share of the job and the share that would even out the loads. What moves
// goes to an instance with at least two items less of the job, so moves come to an end however the loads
// change. Then some items leave instances that have far too much (rebalance).
func (leastLoaded) Assign(r Request) []string {
	answer := make([]string, max(r.Total, 0))
	n := len(r.Instances)
	if n == 0 {
		return answer
	}
	d := newAssignment(r)
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
				d.assign(surplus[0], k)
				surplus = surplus[1:]
			case len(free) > 0:
				d.assign(free[0], k)
				free = free[1:]
			default:
				d.assign(d.takeFromLargest(), k)
			}
		}
	}
	for _, item := range surplus {
		d.assign(item, d.least(func(k int) bool { return d.count[k] < d.ceil }))
	}
	for _, item := range free {
		d.assign(item, d.least(func(k int) bool { return d.count[k] < d.upper[k] }))
	}
	d.rebalance(r)
	for item, k := range d.owner {
		answer[item] = r.Instances[k].ID
	}
	return answer
}

// assignment is an answer that is being made. Instances are meant by their indexes.
type assignment struct {
	owner        []int // of each item, or unowned
	load, count  []int // how many items of other jobs, and of this one, each instance has
	lower, upper []int // how many of this one each should have
	floor, ceil  int   // the equal share of an instance, rounded down and up
	first        int   // the instance with which the job begins
}

func newAssignment(r Request) *assignment {
	n, total := len(r.Instances), max(r.Total, 0)
	d := &assignment{
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

// rebalance moves items from instances that have far more than the mean to those that have less. When an
// instance joins many jobs, all of them decide that at the same moment, by the same loads and without
// knowing of each other. So each item moves with a probability by which, over all jobs, just the surplus
// moves. The random numbers are derived from the job, the item, the instances and their loads: the same
// question has the same answer, and other loads give other numbers.
func (d *assignment) rebalance(r Request) {
	n, sum := len(d.count), 0
	for k := range d.count {
		sum += d.totalLoad(k)
	}
	mean := sum / n
	seeder := fnv.New64a()
	_, _ = seeder.Write([]byte(r.Job)) // a hash returns no error
	for k, in := range r.Instances {
		_, _ = fmt.Fprintf(seeder, "\x00%s\x00%d", in.ID, d.load[k]) // as above
	}
	seed := seeder.Sum64()
	for item, from := range d.owner {
		if d.totalLoad(from) <= mean+mean/10+1 || d.count[from] <= d.lower[from] {
			continue
		}
		to := d.least(func(k int) bool { return d.count[k] < d.ceil })
		if to == unowned || d.totalLoad(to) >= mean {
			continue
		}
		random := rand.New(rand.NewPCG(seed, uint64(item))).Float64()
		if total := float64(d.totalLoad(from)); random < 1-float64(mean)/total {
			d.count[from]--
			d.assign(item, to)
		}
	}
}

// totalLoad returns how many items of all jobs an instance has.
func (d *assignment) totalLoad(k int) int { return d.load[k] + d.count[k] }

// assign gives an item to an instance.
func (d *assignment) assign(item, k int) {
	d.owner[item] = k
	d.count[k]++
}

// takeFromLargest takes the last item of the instance with the largest total load, among those that have
// more than their equal share of the job.
func (d *assignment) takeFromLargest() int {
	from := d.best(func(k int) bool { return d.count[k] > d.floor }, func(k, best int) bool {
		return d.totalLoad(k) > d.totalLoad(best)
	})
	d.count[from]--
	for item := len(d.owner) - 1; ; item-- {
		if d.owner[item] == from {
			return item
		}
	}
}

// least returns the instance with the smallest total load, among those for which may is true.
func (d *assignment) least(may func(k int) bool) int {
	return d.best(may, func(k, best int) bool { return d.totalLoad(k) < d.totalLoad(best) })
}

// best returns the best of the instances for which may is true, or unowned. Of equal ones it is the first
// in the job's order.
func (d *assignment) best(may func(k int) bool, isBetter func(k, best int) bool) int {
	n, best := len(d.count), unowned
	for i := range n {
		if k := (d.first + i) % n; may(k) && (best == unowned || isBetter(k, best)) {
			best = k
		}
	}
	return best
}

// waterLevel gives items, one by one, to the least loaded instance. level is the load that the least
// loaded instances all reach; left is the number of items above that, at most one for each of them.
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
