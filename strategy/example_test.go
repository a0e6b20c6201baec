package strategy_test

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/strategy"
)

func Example() {
	s, err := strategy.Lookup(strategy.Sticky, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := strategy.Request{
		Job:   "settle",
		Total: 6,
		Instances: []strategy.Instance{
			{ID: "10.0.0.1@-@1-a", IP: "10.0.0.1"},
			{ID: "10.0.0.2@-@1-b", IP: "10.0.0.2"},
		},
	}
	r.Previous = s.Assign(r)
	fmt.Println(r.Previous)

	// A third instance joins: two items move, the others stay.
	r.Instances = append(r.Instances, strategy.Instance{ID: "10.0.0.3@-@1-c", IP: "10.0.0.3"})
	fmt.Println(s.Assign(r))
	// Output:
	// [10.0.0.2@-@1-b 10.0.0.2@-@1-b 10.0.0.2@-@1-b 10.0.0.1@-@1-a 10.0.0.1@-@1-a 10.0.0.1@-@1-a]
	// [10.0.0.2@-@1-b 10.0.0.2@-@1-b 10.0.0.3@-@1-c 10.0.0.1@-@1-a 10.0.0.1@-@1-a 10.0.0.3@-@1-c]
}

func ExampleLookup() {
	_, err := strategy.Lookup("RANDOM", nil)
	fmt.Println(errors.Is(err, strategy.ErrUnknown))
	fmt.Println(err)
	// Output:
	// true
	// unknown sharding strategy "RANDOM": allowed are AVG_ALLOCATION, ODEVITY, ROUND_ROBIN, SINGLE_SHARDING_BALANCE, STICKY, WEIGHTED, LEAST_LOADED
}

// A strategy of one's own: item i goes to instance i modulo their number.
func ExampleFunc() {
	modulo := strategy.Func(func(r strategy.Request) []string {
		owners := make([]string, r.Total)
		for item := range owners {
			if n := len(r.Instances); n > 0 {
				owners[item] = r.Instances[item%n].ID
			}
		}
		return owners
	})
	s, err := strategy.Lookup("MODULO", map[string]strategy.Strategy{"MODULO": modulo})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := strategy.Request{Job: "settle", Total: 5, Instances: []strategy.Instance{{ID: "a"}, {ID: "b"}}}
	owners := s.Assign(r)
	fmt.Println(owners, strategy.Check(r, owners))
	// Output: [a b a b a] <nil>
}

func ExampleSort() {
	instances := []strategy.Instance{
		{ID: "fd00::1@-@7-a", IP: "fd00::1"},
		{ID: "10.0.0.10@-@7-a", IP: "10.0.0.10"},
		{ID: "10.0.0.9@-@7-b", IP: "10.0.0.9"},
		{ID: "10.0.0.9@-@7-a", IP: "10.0.0.9"},
	}
	strategy.Sort(instances)
	for _, in := range instances {
		fmt.Println(in.ID)
	}
	// Output:
	// 10.0.0.9@-@7-a
	// 10.0.0.9@-@7-b
	// 10.0.0.10@-@7-a
	// fd00::1@-@7-a
}

// In ElasticJob's order the same strategy gives items to other instances. All members of a
// job have to give it the same name.
func ExampleDescendingID() {
	average, err := strategy.Lookup(strategy.AvgAllocation, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	custom := map[string]strategy.Strategy{"AVG_ALLOCATION_DESCENDING": strategy.DescendingID(average)}
	r := strategy.Request{Job: "settle", Total: 3, Instances: []strategy.Instance{
		{ID: "10.0.0.9@-@7", IP: "10.0.0.9"},
		{ID: "10.0.0.10@-@7", IP: "10.0.0.10"},
		{ID: "10.0.0.11@-@7", IP: "10.0.0.11"},
	}}
	for _, name := range []string{"AVG_ALLOCATION", "AVG_ALLOCATION_DESCENDING"} {
		s, err := strategy.Lookup(name, custom)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s.Assign(r))
	}
	// Output:
	// [10.0.0.9@-@7 10.0.0.10@-@7 10.0.0.11@-@7]
	// [10.0.0.9@-@7 10.0.0.11@-@7 10.0.0.10@-@7]
}

func ExampleStrategy_weighted() {
	s, err := strategy.Lookup(strategy.Weighted, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Assign(strategy.Request{
		Job:       "settle",
		Total:     6,
		Instances: []strategy.Instance{{ID: "small", Weight: 1}, {ID: "big", Weight: 2}},
	}))
	// Output: [big big big big small small]
}

// Of many jobs of one item each, AVG_ALLOCATION gives all to the first instance. LEAST_LOADED looks at
// what the processes have of other jobs.
func ExampleStrategy_leastLoaded() {
	for _, name := range []string{strategy.AvgAllocation, strategy.LeastLoaded} {
		s, err := strategy.Lookup(name, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, s.Assign(strategy.Request{
			Job:       "settle",
			Total:     1,
			Instances: []strategy.Instance{{ID: "busy", Load: 5}, {ID: "idle", Load: 1}},
		}))
	}
	// Output:
	// AVG_ALLOCATION [busy]
	// LEAST_LOADED [idle]
}

func ExampleCheck() {
	r := strategy.Request{Job: "settle", Total: 2, Instances: []strategy.Instance{{ID: "a"}}}
	fmt.Println(strategy.Check(r, []string{"a", "b"}))
	// Output: sharding of job "settle": the owner of item 1, "b", is not an available instance
}
