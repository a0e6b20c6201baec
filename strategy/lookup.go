package strategy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The names of the built-in strategies, as they stand in a job's configuration.
const (
	// AvgAllocation gives n instances T items as follows: with q = T/n, instance k gets items k·q to (k+1)·q-1,
	// and the T mod n items left over go one each to the first instances. It ignores the previous owners. 3
	// instances, 8 items: 0,1,6 and 2,3,7 and 4,5. Source: ElasticJob's AVG_ALLOCATION.
	AvgAllocation = "AVG_ALLOCATION"

	// Odevity is AvgAllocation, with the instances in reverse order if Java's hash code of the job's name is even.
	// It ignores the previous owners. Source: ElasticJob's ODEVITY.
	Odevity = "ODEVITY"

	// RoundRobin is AvgAllocation, with the instances rotated to the left by the absolute value of Java's hash
	// code of the job's name, modulo their number. It ignores the previous owners. Source: ElasticJob's
	// ROUND_ROBIN. Only a name whose hash code is -2³¹ fails there, because that number has no absolute value in
	// 32 bits.
	RoundRobin = "ROUND_ROBIN"

	// SingleShardingBalance is for jobs of one item. The item begins at the instance
	// where RoundRobin puts it, so many such jobs spread over the instances, and stays
	// there as long as that instance is available. With more items it is RoundRobin.
	//
	// ElasticJob's strategy of this name begins at an offset taken from the clock. After each run it passes the
	// item on to the next server, by a pointer in the process, which is keyed by IP address and lost when that
	// process ends. Here the item does not move after a run, and the registry centre has the owner, by instance
	// id. To move the item, write another available owner there: the strategy keeps that one.
	SingleShardingBalance = "SINGLE_SHARDING_BALANCE"

	// Sticky keeps items where they are: every instance gets T/n items, rounded down or up, and no answer that is
	// balanced like this moves fewer items. An instance that has too many gives up those with the highest numbers.
	// Items without an owner are assigned in blocks, in ascending order, beginning with the instance with which
	// RoundRobin begins.
	//
	// If only some of the moves are made, because the other items run, the next answer has just the other moves.
	Sticky = "STICKY"

	// Weighted gives every instance its share of the items by Instance.Weight, T·weight/(sum of weights), rounded
	// down or up; an exact share is not rounded. No answer that is proportional like this moves fewer items.
	// Shares are rounded up first for instances that have that many items already, then for those with the largest
	// fraction, then in RoundRobin's order. Otherwise it is as Sticky, which is Weighted with equal weights.
	Weighted = "WEIGHTED"

	// LeastLoaded gives items to the instances whose processes have the least items of all jobs. Of equal ones the
	// first is that with which RoundRobin begins, so jobs that start at the same moment spread. An item stays
	// where it is, as long as its owner has no more than its equal share of the job, or no more than what evens
	// the loads out. But if its owner's process has over a tenth more than the mean, some of its items move to
	// instances that have less.
	LeastLoaded = "LEAST_LOADED"

	// Default is the strategy of a job that names none.
	Default = AvgAllocation
)

// ErrUnknown is in the chain of Lookup's error for a name that no strategy has.
var ErrUnknown = errors.New("unknown sharding strategy")

// Lookup returns the strategy of that name: a built-in one, or one of custom,
// which may be nil. The empty name means Default. Names are case-sensitive.
//
// For an unknown name the error wraps ErrUnknown and lists the known names. If a custom
// strategy is nil, or its name is empty or that of a built-in one, there is always an
// error, whatever name is asked for: one name must mean the same to all members of a job.
func Lookup(name string, custom map[string]Strategy) (Strategy, error) {
	for _, n := range slices.Sorted(maps.Keys(custom)) {
		switch {
		case n == "":
			return nil, errors.New("custom sharding strategy: its name is empty")
		case builtin(n) != nil:
			return nil, fmt.Errorf("custom sharding strategy %q: a built-in one has that name", n)
		case isNil(custom[n]):
			return nil, fmt.Errorf("custom sharding strategy %q: is nil", n)
		}
	}
	if name == "" {
		name = Default
	}
	if assign := builtin(name); assign != nil {
		return assign, nil
	}
	if s, ok := custom[name]; ok {
		return s, nil
	}
	return nil, fmt.Errorf("%w %q: allowed are %s", ErrUnknown, name, strings.Join(Names(custom), ", "))
}

// Names returns the names that Lookup knows: the built-in ones in the order of their
// constants, then those of custom in ascending order.
func Names(custom map[string]Strategy) []string {
	names := []string{AvgAllocation, Odevity, RoundRobin, SingleShardingBalance, Sticky, Weighted, LeastLoaded}
	return append(names, slices.Sorted(maps.Keys(custom))...)
}

func isNil(s Strategy) bool {
	f, isFunc := s.(Func)
	return s == nil || isFunc && f == nil
}

// builtin returns the built-in strategy of that name, or nil.
func builtin(name string) Strategy {
	switch name {
	case AvgAllocation:
		return Func(avgAllocation)
	case Odevity:
		return Func(odevity)
	case RoundRobin:
		return Func(roundRobin)
	case SingleShardingBalance:
		return Func(singleShardingBalance)
	case Sticky:
		return Func(sticky)
	case Weighted:
		return Func(weighted)
	case LeastLoaded:
		return leastLoaded{}
	}
	return nil
}
