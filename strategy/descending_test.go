package strategy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// The answers are ElasticJob's for these instances.
func TestDescendingID(t *testing.T) {
	instances := []strategy.Instance{
		{ID: "10.0.0.9@-@7", IP: "10.0.0.9", Weight: 3},
		{ID: "10.0.0.10@-@7", IP: "10.0.0.10"},
		{ID: "10.0.0.10@-@8", IP: "10.0.0.10"},
		{ID: "9.0.0.1@-@7", IP: "9.0.0.1"},
	}
	// The order is 9.0.0.1, 10.0.0.9, 10.0.0.10 (8), 10.0.0.10 (7).
	for _, tt := range []struct {
		strategy, job string
		want          [][]int // the items of instances
	}{
		{strategy.AvgAllocation, "any", [][]int{{1, 5}, {3}, {2}, {0, 4}}},
		{strategy.Odevity, "0", [][]int{{2}, {0, 4}, {1, 5}, {3}}},               // even: reversed
		{strategy.Odevity, "1", [][]int{{1, 5}, {3}, {2}, {0, 4}}},               // odd
		{strategy.RoundRobin, "1", [][]int{{0, 4}, {2}, {1, 5}, {3}}},            // 49 mod 4 = 1
		{strategy.Weighted, "any", [][]int{{1, 2, 3}, {5}, {4}, {0}}},            // the weights go along
		{strategy.SingleShardingBalance, "1", [][]int{{0, 4}, {2}, {1, 5}, {3}}}, // as ROUND_ROBIN
	} {
		r := strategy.Request{Job: tt.job, Total: 6, Instances: slices.Clone(instances)}
		got := strategy.DescendingID(must(t, tt.strategy)).Assign(r)
		if diff := cmp.Diff(tt.want, byInstance(instances, got)); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tt.strategy, tt.job, diff)
		}
		if diff := cmp.Diff(instances, r.Instances); diff != "" {
			t.Errorf("%s has changed the request (-want +got):\n%s", tt.strategy, diff)
		}
	}
}

// The order in which the instances are given does not matter, and the answers are allowed.
func TestDescendingIDIsIndependentOfTheOrderGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(strategy.Names(nil)).Draw(t, "strategy")
		s, err := strategy.Lookup(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		instances := hosts(rapid.IntRange(0, 12).Draw(t, "instances"))
		r := strategy.Request{Job: "settle", Total: rapid.IntRange(0, 40).Draw(t, "total"), Instances: instances}
		want := strategy.DescendingID(s).Assign(r)
		if err := strategy.Check(r, want); err != nil {
			t.Fatal(err)
		}
		r.Instances = rapid.Permutation(instances).Draw(t, "given")
		if diff := cmp.Diff(want, strategy.DescendingID(s).Assign(r)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestDescendingIDOfNothing(t *testing.T) {
	for _, s := range []strategy.Strategy{nil, strategy.Func(nil)} {
		if got := strategy.DescendingID(s); got != nil {
			t.Errorf("got %v", got)
		}
	}
}
