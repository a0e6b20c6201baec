package strategy

import (
	"slices"
	"strings"
)

// DescendingID returns s with ElasticJob's order of instances: descending by id,
// compared as text, so 10.0.0.9 comes before 10.0.0.11 and that before 10.0.0.10.
// Given the same instances, the strategies that ElasticJob has then deal as they
// do there: AVG_ALLOCATION, ODEVITY and ROUND_ROBIN. It is nil if s is nil.
//
// It has no name of its own: choose one, make it known to all members of the job
// by job.WithStrategy, and name it in the job's configuration. The built-in names
// keep the order of [Sort], because two members must not mean different things by
// one name.
//
// Where JVM members run the job, too, they need a JobShardingStrategy whose type
// is that name, and which deals as the one wrapped here does. Then no item moves
// because leadership passes from a Go member to a JVM one, or back.
func DescendingID(s Strategy) Strategy {
	if isNil(s) {
		return nil
	}
	return Func(func(r Request) []string {
		r.Instances = slices.Clone(r.Instances)
		slices.SortFunc(r.Instances, func(a, b Instance) int { return strings.Compare(b.ID, a.ID) })
		return s.Assign(r)
	})
}
