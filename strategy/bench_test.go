package strategy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// budget is what 10,000 items on 1,000 instances may take.
const budget = 50 * time.Millisecond

// big is that case, with a tenth of the owners gone and as many new instances.
func big() strategy.Request {
	r := strategy.Request{Job: "javaSimpleJob", Total: 10_000}
	for k := range 1_000 {
		ip := fmt.Sprintf("10.0.%d.%d", k/250, k%250)
		r.Instances = append(r.Instances, strategy.Instance{ID: ip + "@-@1-0123456789abcdef", IP: ip, Weight: 1 + k%7})
	}
	for item := range r.Total {
		owner := r.Instances[item%900].ID
		if item%10 == 0 {
			owner = "10.1.0.1@-@1-0123456789abcdef"
		}
		r.Previous = append(r.Previous, owner)
	}
	return r
}

func within(b *testing.B) {
	b.Helper()
	if mean := b.Elapsed() / time.Duration(b.N); mean > budget {
		b.Errorf("%v on average, more than %v", mean, budget)
	}
}

func BenchmarkAssign(b *testing.B) {
	for _, name := range strategy.Names(nil) {
		b.Run(name, func(b *testing.B) {
			s, r := must(b, name), big()
			b.ReportAllocs()
			for b.Loop() {
				s.Assign(r)
			}
			within(b)
		})
	}
}

func BenchmarkSort(b *testing.B) {
	instances := big().Instances
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(instances), func(i, j int) { instances[i], instances[j] = instances[j], instances[i] })
	found := append([]strategy.Instance(nil), instances...)
	b.ReportAllocs()
	for b.Loop() {
		copy(instances, found)
		strategy.Sort(instances)
	}
	within(b)
}
