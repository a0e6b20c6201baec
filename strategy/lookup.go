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
	// AvgAllocation gives n instances T items as follows: with q = T/n, instance
	// k gets items k·q to (k+1)·q-1, and the T mod n items left over go one
	// each to the first instances. It ignores the previous owners.
	// 3 instances, 8 items: 0,1,6 and 2,3,7 and 4,5.
	// Source: ElasticJob's AVG_ALLOCATION.
	AvgAllocation = "AVG_ALLOCATION"

	// Odevity is AvgAllocation, with the instances in reverse if Java's hash
	// code of the job's name is even. It ignores the previous owners.
	// Source: ElasticJob's ODEVITY.
	Odevity = "ODEVITY"

	// RoundRobin is AvgAllocation, with the instances rotated to the left by the
	// absolute value of Java's hash code of the job's name, modulo their number.
	// It ignores the previous owners.
	// Source: ElasticJob's ROUND_ROBIN, but for names whose hash code is -2³¹:
	// they fail there, because that number has no absolute value in 32 bits.
	RoundRobin = "ROUND_ROBIN"

	// SingleShardingBalance is for jobs of one item: the item starts where
	// RoundRobin puts it, so many such jobs spread over the instances, and it
	// stays there as long as that instance is available. More than one item:
	// RoundRobin.
	//
	// ElasticJob's strategy of this name starts at an offset taken from the
	// clock, and after each run passes the item on to the next server through a
	// pointer of its own, keyed by IP address and lost with the process that
	// wrote it. Here there is neither clock nor pointer: the item's owner is the
	// owner in the registry centre, by instance id, which outlives its writer.
	// The item does not change hands after a run. Whoever wants it to writes
	// another available owner, and the strategy is content with that one.
	SingleShardingBalance = "SINGLE_SHARDING_BALANCE"

	// Sticky keeps items where they are: every instance gets T/n items, rounded
	// down or up, and no answer that is balanced like this moves fewer items.
	// An instance that has too many gives up those with the highest numbers.
	// Items without an owner are dealt in blocks, in ascending order, starting
	// at the instance where RoundRobin starts.
	//
	// If only some of the moves are made (because the other items are
	// running), the strategy asked again wants just the moves that are left.
	Sticky = "STICKY"

	// Weighted gives every instance its share of the items by Instance.Weight,
	// T·weight/(sum of weights), rounded down or up; an exact share is not
	// rounded. No answer that is proportional like this moves fewer items. Who is
	// rounded up: first those that have that many items already, then those
	// with the largest fraction, then in RoundRobin's order. The rest is as
	// Sticky, which is Weighted with equal weights.
	Weighted = "WEIGHTED"

	// Default is the strategy of a job that names none.
	Default = AvgAllocation
)

// ErrUnknown is wrapped by the error of Lookup for a name that nobody goes by.
var ErrUnknown = errors.New("unknown sharding strategy")

// Lookup returns the strategy of that name: a built-in one, or one of custom,
// which may be nil. The empty name means Default. Names are case-sensitive.
//
// A name that is in neither gives an error that wraps ErrUnknown and lists the
// names allowed. A custom strategy that is nil, or has an empty name or that of
// a built-in one, is an error whatever name is asked for: two members of a job
// must not mean different things by one name.
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

// Names returns the names that Lookup knows: the built-in ones in the order in
// which they are declared, then those of custom in ascending order.
func Names(custom map[string]Strategy) []string {
	names := []string{AvgAllocation, Odevity, RoundRobin, SingleShardingBalance, Sticky, Weighted}
	return append(names, slices.Sorted(maps.Keys(custom))...)
}

func isNil(s Strategy) bool {
	f, isFunc := s.(Func)
	return s == nil || isFunc && f == nil
}

// builtin returns the built-in strategy of that name, or nil.
func builtin(name string) Func {
	switch name {
	case AvgAllocation:
		return avgAllocation
	case Odevity:
		return odevity
	case RoundRobin:
		return roundRobin
	case SingleShardingBalance:
		return singleShardingBalance
	case Sticky:
		return sticky
	case Weighted:
		return weighted
	}
	return nil
}
