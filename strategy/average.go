package strategy

import "slices"

func avgAllocation(r Request) []string {
	return average(ids(r.Instances), r.Total)
}

func odevity(r Request) []string {
	order := ids(r.Instances)
	if javaHash(r.Job)%2 == 0 {
		slices.Reverse(order)
	}
	return average(order, r.Total)
}

func roundRobin(r Request) []string {
	order := ids(r.Instances)
	if len(order) > 0 {
		at := start(r.Job, len(order))
		order = slices.Concat(order[at:], order[:at])
	}
	return average(order, r.Total)
}

func singleShardingBalance(r Request) []string {
	if r.Total == 1 && len(r.Previous) > 0 {
		owner := r.Previous[0]
		if slices.ContainsFunc(r.Instances, func(in Instance) bool { return in.ID == owner }) {
			return []string{owner}
		}
	}
	return roundRobin(r)
}

// average assigns the items to the ids in their order: first a block of equal size to each,
// then one of the remaining items to each, from the first id on.
func average(ids []string, total int) []string {
	owners := make([]string, max(total, 0))
	if len(ids) == 0 {
		return owners
	}
	block := total / len(ids)
	even := block * len(ids)
	for item := range owners {
		if item < even {
			owners[item] = ids[item/block]
		} else {
			owners[item] = ids[item-even]
		}
	}
	return owners
}

func ids(instances []Instance) []string {
	ids := make([]string, len(instances))
	for k, in := range instances {
		ids[k] = in.ID
	}
	return ids
}
