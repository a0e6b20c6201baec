package strategy

import (
	"slices"
	"strings"
)

// DescendingID returns a strategy that gives s the instances in ElasticJob's order:
// descending by id, compared as text, so 10.0.0.9 comes before 10.0.0.11, and that before
// 10.0.0.10. In this order AVG_ALLOCATION, ODEVITY and ROUND_ROBIN give the same answers as
// in ElasticJob. It returns nil if s is nil.
//
// The result has no name. Choose one, give it to all members of the job by
// job.WithStrategy, and write it into the job's configuration. The built-in names keep the
// order of [Sort], because one name must mean the same to all members.
//
// If JVM members run the job, too, they need a JobShardingStrategy whose type is that name
// and which assigns in the same way as s. Then no item moves when a JVM member becomes the
// leader after a Go member, or the other way round.
func DescendingID(s Strategy) Strategy {
	if isNil(s) {
		return nil
	}
	return descending{s}
}

type descending struct{ Strategy }

func (d descending) WantsLoads() bool { return WantsLoads(d.Strategy) }

func (d descending) Assign(r Request) []string {
	r.Instances = slices.Clone(r.Instances)
	slices.SortFunc(r.Instances, func(a, b Instance) int { return strings.Compare(b.ID, a.ID) })
	return d.Strategy.Assign(r)
}
