package strategy_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// The hash code of "3" is 51, so that job begins at host0 of 3 hosts, and at host1 of 2. That
// of "1" is 49, so it begins at host1 of both.
func TestMoves(t *testing.T) {
	for _, tt := range []struct {
		name, strategy, job string
		instances           []strategy.Instance
		previous            []string
		want                []string
	}{
		{"sticky: fresh, in blocks", strategy.Sticky, "3", hosts(3), owners(-1, -1, -1, -1, -1, -1, -1, -1), owners(0, 0, 0, 1, 1, 1, 2, 2)},
		{"sticky: fresh, from where the name says", strategy.Sticky, "1", hosts(3), owners(-1, -1, -1, -1), owners(1, 1, 2, 0)},
		{"sticky: one joins", strategy.Sticky, "3", hosts(3), owners(0, 0, 0, 1, 1, 1), owners(0, 0, 2, 1, 1, 2)},
		{"sticky: one leaves", strategy.Sticky, "3", hosts(2), owners(0, 2, 1, 2, 0, 1), owners(0, 1, 1, 0, 0, 1)},
		{"sticky: balanced already", strategy.Sticky, "3", hosts(3), owners(2, 2, 0, 1), owners(2, 2, 0, 1)},
		{"sticky: more instances than items", strategy.Sticky, "3", hosts(3), owners(2, -1), owners(2, 0)},
		{"sticky: an item joins", strategy.Sticky, "3", hosts(3), owners(1, 2, 0, -1), owners(1, 2, 0, 0)},

		{"weighted: exact shares", strategy.Weighted, "3", hostsOf(1, 2, 3), owners(-1, -1, -1, -1, -1, -1), owners(0, 1, 1, 2, 2, 2)},
		{"weighted: the largest fraction", strategy.Weighted, "3", hostsOf(1, 1, 3), owners(-1, -1, -1), owners(0, 2, 2)},
		{"weighted: who has it keeps it", strategy.Weighted, "3", hostsOf(1, 1, 3), owners(1, 2, 2), owners(1, 2, 2)},
		{"weighted: an exact share is not rounded", strategy.Weighted, "3", hostsOf(2, 1, 1), owners(0, 0), owners(0, 1)},
		{"weighted: an instance gets heavier", strategy.Weighted, "3", hostsOf(3, 1), owners(0, 0, 1, 1), owners(0, 0, 1, 0)},
		{"weighted: less than 1 is 1", strategy.Weighted, "3", hostsOf(-5, 0, 1), owners(-1, -1, -1), owners(0, 1, 2)},
		{"weighted: more than the maximum is the maximum", strategy.Weighted, "3", hostsOf(strategy.MaxWeight, math.MaxInt), owners(-1, -1), owners(1, 0)},

		{"single: stays", strategy.SingleShardingBalance, "3", hosts(3), owners(2), owners(2)},
		{"single: its owner is gone", strategy.SingleShardingBalance, "1", hosts(3), owners(3), owners(1)},
		{"single: new", strategy.SingleShardingBalance, "1", hosts(3), owners(-1), owners(1)},
		{"single: several items are as ROUND_ROBIN", strategy.SingleShardingBalance, "1", hosts(3), owners(2, 2), owners(1, 2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := strategy.Request{Job: tt.job, Total: len(tt.previous), Instances: tt.instances, Previous: tt.previous}
			if diff := cmp.Diff(tt.want, must(t, tt.strategy).Assign(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Jobs of one item each do not pile up on one machine.
func TestSingleItemsSpreadByName(t *testing.T) {
	const jobs, n = 1000, 10
	for _, name := range []string{strategy.RoundRobin, strategy.SingleShardingBalance, strategy.Sticky, strategy.Weighted, strategy.LeastLoaded} {
		count := make(map[string]int)
		for j := range jobs {
			r := strategy.Request{Job: "job-" + string(rune('a'+j%26)) + string(rune('a'+j/26)), Total: 1, Instances: hosts(n)}
			count[must(t, name).Assign(r)[0]]++
		}
		for _, in := range hosts(n) {
			if got := count[in.ID]; got < jobs/n/2 || got > jobs/n*2 {
				t.Errorf("%s: %s has %d of %d jobs", name, in.ID, got, jobs)
			}
		}
	}
}
