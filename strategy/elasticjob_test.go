package strategy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// The answers are ElasticJob's for instances in this order.
func TestElasticJobAnswers(t *testing.T) {
	none := []int{}
	for _, tt := range []struct {
		strategy     string
		job          string
		hosts, total int
		want         [][]int // the items of host0, host1, …
	}{
		{strategy.AvgAllocation, "any", 3, 9, [][]int{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}},
		{strategy.AvgAllocation, "any", 3, 8, [][]int{{0, 1, 6}, {2, 3, 7}, {4, 5}}},
		{strategy.AvgAllocation, "any", 3, 10, [][]int{{0, 1, 2, 9}, {3, 4, 5}, {6, 7, 8}}},
		{strategy.AvgAllocation, "any", 3, 3, [][]int{{0}, {1}, {2}}},
		{strategy.AvgAllocation, "any", 3, 2, [][]int{{0}, {1}, none}},
		{strategy.AvgAllocation, "any", 1, 3, [][]int{{0, 1, 2}}},
		{strategy.AvgAllocation, "any", 0, 3, [][]int{}},

		{strategy.Odevity, "1", 3, 2, [][]int{{0}, {1}, none}},
		{strategy.Odevity, "0", 3, 2, [][]int{none, {1}, {0}}},
		{strategy.Odevity, "javaSimpleJob", 3, 2, [][]int{{0}, {1}, none}}, // odd and negative
		{strategy.Odevity, "MySimpleJob", 3, 2, [][]int{{0}, {1}, none}},
		{strategy.Odevity, "test_job", 3, 2, [][]int{none, {1}, {0}}}, // even and negative
		{strategy.Odevity, "polygenelubricants", 3, 2, [][]int{none, {1}, {0}}},
		{strategy.Odevity, "0", 0, 2, [][]int{}},

		{strategy.RoundRobin, "1", 3, 2, [][]int{none, {0}, {1}}},
		{strategy.RoundRobin, "2", 3, 2, [][]int{{1}, none, {0}}},
		{strategy.RoundRobin, "3", 3, 2, [][]int{{0}, {1}, none}},
		{strategy.RoundRobin, "javaSimpleJob", 5, 1, [][]int{{0}, none, none, none, none}},
		{strategy.RoundRobin, "MySimpleJob", 5, 1, [][]int{none, none, none, {0}, none}},
		{strategy.RoundRobin, "job1", 5, 1, [][]int{none, none, none, none, {0}}},
		{strategy.RoundRobin, "job3", 5, 1, [][]int{none, {0}, none, none, none}},
		{strategy.RoundRobin, "1", 3, 8, [][]int{{4, 5}, {0, 1, 6}, {2, 3, 7}}},
		{strategy.RoundRobin, "1", 0, 2, [][]int{}},
	} {
		instances := hosts(tt.hosts)
		got := must(t, tt.strategy).Assign(strategy.Request{Job: tt.job, Total: tt.total, Instances: instances})
		if len(got) != tt.total {
			t.Errorf("%s %q: %d items on %d hosts: %d owners", tt.strategy, tt.job, tt.total, tt.hosts, len(got))
		}
		if diff := cmp.Diff(tt.want, byInstance(instances, got)); diff != "" {
			t.Errorf("%s %q: %d items on %d hosts (-want +got):\n%s", tt.strategy, tt.job, tt.total, tt.hosts, diff)
		}
	}
}

// -2³¹ has no absolute value in 32 bits: ElasticJob fails with a negative index.
func TestHashWithoutAbsoluteValue(t *testing.T) {
	const job = "polygenelubricants"
	for _, name := range []string{strategy.RoundRobin, strategy.SingleShardingBalance, strategy.Sticky, strategy.Weighted} {
		for n := 1; n <= 7; n++ {
			got := must(t, name).Assign(strategy.Request{Job: job, Total: 1, Instances: hosts(n)})
			if diff := cmp.Diff(owners(2147483648%n), got); diff != "" {
				t.Errorf("%s, %d instances (-want +got):\n%s", name, n, diff)
			}
		}
	}
}

func TestJavaHash(t *testing.T) {
	for s, want := range map[string]int32{
		"":                   0,
		"0":                  48,
		"1":                  49,
		"job1":               3267604,
		"job3":               3267606,
		"javaSimpleJob":      -694093655,
		"test_job":           -1146456432,
		"MySimpleJob":        944937023,
		"polygenelubricants": -2147483648,
		"é":                  0xE9,
		"任":                  0x4EFB,
		"任务":                 31*0x4EFB + 0x52A1,
		"\uFFFF":             0xFFFF,
		"😀":                  31*0xD83D + 0xDE00, // a surrogate pair
		"a😀b":                31*(31*(31*'a'+0xD83D)+0xDE00) + 'b',
		"\U0010FFFF":         31*0xDBFF + 0xDFFF,
	} {
		if got := strategy.JavaHash(s); got != want {
			t.Errorf("hash of %q is %d, want %d", s, got, want)
		}
	}
}
