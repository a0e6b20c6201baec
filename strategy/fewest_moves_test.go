package strategy_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// moves counts the items that have another owner than before.
func moves(previous, answer []string) int {
	n := 0
	for item, id := range answer {
		if item >= len(previous) || previous[item] != id {
			n++
		}
	}
	return n
}

// The fewest moves are found by trying every balanced answer.
func TestNoBalancedAnswerMovesFewer(t *testing.T) {
	for _, name := range []string{strategy.Sticky, strategy.Weighted} {
		t.Run(name, func(t *testing.T) {
			s := must(t, name)
			rapid.Check(t, func(t *rapid.T) {
				r := request(t, 4, 6)
				if len(r.Instances) == 0 {
					return
				}
				weights := weightsOf(r, name)
				least := r.Total
				everyAnswer(r, func(answer []string) {
					if balanced(r, weights, answer) {
						least = min(least, moves(r.Previous, answer))
					}
				})
				if got := moves(r.Previous, s.Assign(r)); got != least {
					t.Fatalf("%d items moved, the least is %d", got, least)
				}
			})
		})
	}
}

// everyAnswer calls f for every way to give the items to the instances.
func everyAnswer(r strategy.Request, f func([]string)) {
	answer := make([]string, r.Total)
	var from func(item int)
	from = func(item int) {
		if item == r.Total {
			f(answer)
			return
		}
		for _, in := range r.Instances {
			answer[item] = in.ID
			from(item + 1)
		}
	}
	from(0)
}

// With more items there are too many answers to try. The fewest moves are found by choosing,
// instance by instance, who gets one item more.
func TestStickyMovesTheFewestThroughAnyHistory(t *testing.T) {
	s := must(t, strategy.Sticky)
	rapid.Check(t, func(t *rapid.T) {
		r := strategy.Request{Job: rapid.String().Draw(t, "job")}
		for range rapid.IntRange(1, 15).Draw(t, "changes") {
			// Members come and go, and the number of items changes.
			present := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 1, 25, rapid.ID[int]).Draw(t, "present")
			slices.Sort(present)
			r.Instances = nil
			for _, k := range present {
				r.Instances = append(r.Instances, strategy.Instance{ID: fmt.Sprintf("host%d", k)})
			}
			r.Total = rapid.IntRange(0, 150).Draw(t, "total")

			answer := s.Assign(r)
			if err := strategy.Check(r, answer); err != nil {
				t.Fatal(err)
			}
			if !balanced(r, weightsOf(r, strategy.Sticky), answer) {
				t.Fatalf("not balanced: %v", byInstance(r.Instances, answer))
			}
			if got, least := moves(r.Previous, answer), fewestMoves(r); got != least {
				t.Fatalf("%d items moved, the least is %d", got, least)
			}
			r.Previous = answer
		}
	})
}

// fewestMoves returns how few moves can balance r within one item. kept[e] is how many items
// the instances so far can keep at most, if e of them get one item more than the others.
func fewestMoves(r strategy.Request) int {
	const impossible = -1 << 30
	low, extra := r.Total/len(r.Instances), r.Total%len(r.Instances)
	kept := make([]int, extra+1)
	for e := range kept {
		kept[e] = impossible
	}
	kept[0] = 0
	previous := r.Previous[:min(len(r.Previous), r.Total)]
	for _, items := range byInstance(r.Instances, previous) {
		for e := extra; e >= 0; e-- {
			best := kept[e] + min(len(items), low)
			if e > 0 {
				best = max(best, kept[e-1]+min(len(items), low+1))
			}
			kept[e] = best
		}
	}
	return r.Total - kept[extra]
}
