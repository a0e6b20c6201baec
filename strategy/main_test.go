package strategy_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/strategy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// must returns the built-in strategy of that name.
func must(t testing.TB, name string) strategy.Strategy {
	t.Helper()
	s, err := strategy.Lookup(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hosts returns n instances named host0, host1, …
func hosts(n int) []strategy.Instance {
	instances := make([]strategy.Instance, n)
	for k := range instances {
		instances[k] = strategy.Instance{ID: fmt.Sprintf("host%d", k)}
	}
	return instances
}

// hostsOf returns hosts with these weights.
func hostsOf(weights ...int) []strategy.Instance {
	instances := hosts(len(weights))
	for k, w := range weights {
		instances[k].Weight = w
	}
	return instances
}

// owners turns indexes of hosts into ids; a negative one means no owner.
func owners(hosts ...int) []string {
	ids := make([]string, len(hosts))
	for item, k := range hosts {
		if k >= 0 {
			ids[item] = fmt.Sprintf("host%d", k)
		}
	}
	return ids
}

// byInstance returns the items of each instance, in the order of instances.
func byInstance(instances []strategy.Instance, owners []string) [][]int {
	items := make([][]int, len(instances))
	for k, in := range instances {
		items[k] = []int{}
		for item, owner := range owners {
			if owner == in.ID {
				items[k] = append(items[k], item)
			}
		}
	}
	return items
}
