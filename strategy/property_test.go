package strategy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// request draws a request with up to so many instances and items. Previous owners are
// instances, instances that have left, and nobody. There may be more or fewer of them than
// items.
func request(t *rapid.T, maxInstances, maxTotal int) strategy.Request {
	r := strategy.Request{
		Job:   rapid.OneOf(rapid.String(), rapid.Just("polygenelubricants")).Draw(t, "job"),
		Total: rapid.IntRange(0, maxTotal).Draw(t, "total"),
	}
	n := rapid.IntRange(0, maxInstances).Draw(t, "instances")
	heaviest := rapid.SampledFrom([]int{1, 2, 4, 100, 2 * strategy.MaxWeight}).Draw(t, "heaviest")
	for k := range n {
		r.Instances = append(r.Instances, strategy.Instance{
			ID:     fmt.Sprintf("host%d", k),
			Weight: rapid.IntRange(-1, heaviest).Draw(t, "weight"),
		})
	}
	// If few instances own everything, much has to move.
	favourites := rapid.IntRange(0, n+2).Draw(t, "favourites")
	r.Previous = owners(rapid.SliceOfN(rapid.IntRange(-1, favourites), 0, maxTotal+3).Draw(t, "previous")...)
	return r
}

func clone(r strategy.Request) strategy.Request {
	r.Instances, r.Previous = slices.Clone(r.Instances), slices.Clone(r.Previous)
	return r
}

// each runs a property for each built-in strategy.
func each(t *testing.T, names []string, property func(*rapid.T, string, strategy.Strategy)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s := must(t, name)
			rapid.Check(t, func(t *rapid.T) { property(t, name, s) })
		})
	}
}

var settled = []string{strategy.SingleShardingBalance, strategy.Sticky, strategy.Weighted}

func TestEveryItemHasOneOwnerAndTheRequestIsUntouched(t *testing.T) {
	each(t, strategy.Names(nil), func(t *rapid.T, _ string, s strategy.Strategy) {
		r := request(t, 12, 60)
		before := clone(r)
		answer := s.Assign(r)
		if err := strategy.Check(r, answer); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, r); diff != "" {
			t.Fatalf("the request was changed (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(answer, s.Assign(clone(r))); diff != "" {
			t.Fatalf("asked twice (-first +second):\n%s", diff)
		}
	})
}

func TestNegativeTotalMeansNoItems(t *testing.T) {
	for _, name := range strategy.Names(nil) {
		r := strategy.Request{Total: -3, Instances: hosts(2), Previous: owners(0, 1)}
		if got := must(t, name).Assign(r); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestBalance(t *testing.T) {
	each(t, strategy.Names(nil), func(t *rapid.T, name string, s strategy.Strategy) {
		r := request(t, 12, 60)
		if answer := s.Assign(r); !balanced(r, weightsOf(r, name), answer) {
			t.Fatalf("not balanced: %v", byInstance(r.Instances, answer))
		}
	})
}

// weightsOf returns the weights of the instances, as the strategy counts them.
func weightsOf(r strategy.Request, name string) []int {
	weights := make([]int, len(r.Instances))
	for k, in := range r.Instances {
		weights[k] = 1
		if name == strategy.Weighted {
			weights[k] = min(max(in.Weight, 1), strategy.MaxWeight)
		}
	}
	return weights
}

// balanced reports whether every instance has less than one item more or less than its exact
// share.
func balanced(r strategy.Request, weights []int, answer []string) bool {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	for k, items := range byInstance(r.Instances, answer) {
		if off := len(items)*sum - r.Total*weights[k]; off <= -sum || off >= sum {
			return false
		}
	}
	return true
}

func TestAnswerIsContentWithItself(t *testing.T) {
	each(t, settled, func(t *rapid.T, _ string, s strategy.Strategy) {
		r := request(t, 12, 60)
		answer := s.Assign(r)
		r.Previous = answer
		if diff := cmp.Diff(answer, s.Assign(r)); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}

// A running item keeps its owner until it ends, so an answer is carried out in parts, and the
// strategy is asked again in between.
func TestPartOfAnAnswerLeadsToTheSameAnswer(t *testing.T) {
	each(t, settled, func(t *rapid.T, _ string, s strategy.Strategy) {
		r := request(t, 12, 60)
		answer := s.Assign(r)
		part := make([]string, r.Total)
		copy(part, r.Previous)
		for item := range part {
			if rapid.Bool().Draw(t, "moved") {
				part[item] = answer[item]
			}
		}
		r.Previous = part
		if diff := cmp.Diff(answer, s.Assign(r)); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}

func TestPreviousOwnersDoNotCount(t *testing.T) {
	memoryless := []string{strategy.AvgAllocation, strategy.Odevity, strategy.RoundRobin}
	each(t, memoryless, func(t *rapid.T, _ string, s strategy.Strategy) {
		r := request(t, 12, 60)
		answer := s.Assign(r)
		r.Previous = nil
		if diff := cmp.Diff(answer, s.Assign(r)); diff != "" {
			t.Fatalf("(-with +without):\n%s", diff)
		}
	})
}

func TestNamesOfPreviousStrangersDoNotCount(t *testing.T) {
	each(t, settled, func(t *rapid.T, _ string, s strategy.Strategy) {
		r := request(t, 12, 60)
		answer := s.Assign(r)
		for item, id := range r.Previous {
			if !slices.ContainsFunc(r.Instances, func(in strategy.Instance) bool { return in.ID == id }) {
				r.Previous[item] = ""
			}
		}
		if diff := cmp.Diff(answer, s.Assign(r)); diff != "" {
			t.Fatalf("(-strangers +nobody):\n%s", diff)
		}
	})
}

// Only an instance's place in the order counts, not what it is called.
func TestRenamedInstancesGetTheSameItems(t *testing.T) {
	each(t, strategy.Names(nil), func(t *rapid.T, _ string, s strategy.Strategy) {
		r := request(t, 12, 60)
		renamed := clone(r)
		name := make(map[string]string)
		for k, other := range rapid.Permutation(hosts(len(r.Instances))).Draw(t, "names") {
			name[r.Instances[k].ID] = other.ID
			renamed.Instances[k].ID = other.ID
		}
		for item, id := range r.Previous {
			renamed.Previous[item] = name[id] // "" for strangers
		}
		want := s.Assign(r)
		for item, id := range want {
			want[item] = name[id]
		}
		if diff := cmp.Diff(want, s.Assign(renamed)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// The order in which the instances are found does not matter, because they are sorted.
func TestOrderFoundDoesNotCount(t *testing.T) {
	each(t, strategy.Names(nil), func(t *rapid.T, _ string, s strategy.Strategy) {
		r := request(t, 12, 60)
		for k := range r.Instances {
			r.Instances[k].IP = fmt.Sprintf("10.0.0.%d", rapid.IntRange(1, 20).Draw(t, "ip"))
		}
		shuffled := clone(r)
		shuffled.Instances = rapid.Permutation(r.Instances).Draw(t, "found")
		strategy.Sort(r.Instances)
		strategy.Sort(shuffled.Instances)
		if diff := cmp.Diff(s.Assign(r), s.Assign(shuffled)); diff != "" {
			t.Fatalf("(-one +other):\n%s", diff)
		}
	})
}

func TestStickyIsWeightedWithEqualWeights(t *testing.T) {
	stick, weigh := must(t, strategy.Sticky), must(t, strategy.Weighted)
	rapid.Check(t, func(t *rapid.T) {
		r := request(t, 12, 60)
		weight := rapid.IntRange(-1, 9).Draw(t, "everybody's weight")
		for k := range r.Instances {
			r.Instances[k].Weight = weight
		}
		if diff := cmp.Diff(stick.Assign(r), weigh.Assign(r)); diff != "" {
			t.Fatalf("(-sticky +weighted):\n%s", diff)
		}
	})
}
