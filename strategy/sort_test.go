package strategy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// inOrder returns instances of all kinds that the order tells apart, in that order.
func inOrder() []strategy.Instance {
	return []strategy.Instance{
		{IP: "9.255.0.1", ID: "9.255.0.1@-@1-z"},
		{IP: "10.0.0.9", ID: "10.0.0.9@-@1-b"},
		{IP: "10.0.0.10", ID: "10.0.0.10@-@1-a"},
		{IP: "10.0.0.10", ID: "10.0.0.10@-@1-b", Weight: 7},
		{IP: "::ffff:10.0.0.10", ID: "::ffff:10.0.0.10@-@1-a"}, // the address of the last two
		{IP: "10.0.0.100", ID: "10.0.0.100@-@1-a"},
		{IP: "192.168.1.1", ID: "192.168.1.1@-@1-a"},
		{IP: "::1", ID: "::1@-@1-a"},
		{IP: "fd00::9", ID: "fd00::9@-@1-a"},
		{IP: "fd00:0:0::a", ID: "fd00:0:0::a@-@1-a"}, // by value, not as written
		{IP: "fd00::10", ID: "fd00::10@-@1-a"},
		{IP: "fe80::1%eth0", ID: "fe80::1%eth0@-@1-a"},
		{IP: "fe80::1%eth1", ID: "fe80::1%eth1@-@1-a"},
		{IP: "", ID: "a"},
		{IP: "1.2.3", ID: "a"},
		{IP: "10.0.0.010", ID: "a"}, // not an address: might be octal
		{IP: "host-a", ID: "a"},
		{IP: "host-a", ID: "b"},
		{IP: "host-b", ID: "a"},
	}
}

func TestSortIsIndependentOfTheOrderGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := rapid.Permutation(inOrder()).Draw(t, "given")
		strategy.Sort(got)
		if diff := cmp.Diff(inOrder(), got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func TestSortOfNothing(t *testing.T) {
	strategy.Sort(nil)
	strategy.Sort([]strategy.Instance{})
}
