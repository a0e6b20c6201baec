package strategy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/strategy"
)

// loaded returns hosts with so many items of other jobs.
func loaded(loads ...int) []strategy.Instance {
	list := hosts(len(loads))
	for k, load := range loads {
		list[k].Load = load
	}
	return list
}

// See TestMoves for where the jobs "3" and "1" begin.
func TestLeastLoaded(t *testing.T) {
	for _, tt := range []struct {
		name, job string
		instances []strategy.Instance
		previous  []string
		want      []string
	}{
		{"one item, to the least", "3", loaded(5, 3, 4), owners(-1), owners(1)},
		{"of equal ones, to the first in the job's order", "1", loaded(3, 3, 3), owners(-1), owners(1)},
		{"items fill up from below", "3", loaded(4, 0, 2), owners(-1, -1, -1, -1, -1), owners(1, 2, 1, 1, 1)},
		{"one item stays where there is a little more", "3", loaded(11, 10, 10), owners(0), owners(0)},
		{"its owner is gone", "3", loaded(2, 1), owners(2), owners(1)},
		{"one joins", "3", loaded(0, 0, 0), owners(0, 0, 0, 1, 1, 1), owners(0, 0, 2, 1, 1, 2)},
		{"one joins that has much already", "3", loaded(0, 0, 9), owners(0, 0, 0, 1, 1, 1), owners(0, 0, 0, 1, 1, 1)},
		{"more than its share, because the others have much", "3", loaded(0, 9, 9), owners(0, 0, 0, 0, 0, 0), owners(0, 0, 0, 0, 0, 0)},
		{"the others have less now", "3", loaded(0, 3, 9), owners(0, 0, 0, 0, 0, 0), owners(0, 0, 0, 0, 0, 1)},
		{"an unknown load is none", "3", loaded(1, 0, -7), owners(-1, -1), owners(1, 2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := strategy.Request{Job: tt.job, Total: len(tt.previous), Instances: tt.instances, Previous: tt.previous}
			if diff := cmp.Diff(tt.want, must(t, strategy.LeastLoaded).Assign(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever the loads are: the answer is content with itself; what moves goes from an instance that
// has far too much, or more than its equal share, to one that has less; and when items are assigned
// anew, the loads are as even as they can be.
func TestLeastLoadedMovesLittle(t *testing.T) {
	s := must(t, strategy.LeastLoaded)
	rapid.Check(t, func(t *rapid.T) {
		r := request(t, 8, 60)
		load, sum := map[string]int{}, 0
		for k := range r.Instances {
			r.Instances[k].Load = rapid.IntRange(0, 30).Draw(t, "load")
			load[r.Instances[k].ID] = r.Instances[k].Load
			sum += r.Instances[k].Load
		}
		answer := s.Assign(r)
		if err := strategy.Check(r, answer); err != nil {
			t.Fatal(err)
		}
		if n := len(r.Instances); n > 0 {
			least, most := r.Total/n, (r.Total+n-1)/n
			had := byOwner(r.Previous[:min(len(r.Previous), r.Total)])
			for item, to := range answer {
				if item >= len(r.Previous) {
					break
				}
				from := r.Previous[item]
				if isThere := slices.ContainsFunc(r.Instances, func(in strategy.Instance) bool { return in.ID == from }); !isThere || from == to {
					continue
				}
				mean := (r.Total + sum) / n
				if (had[from] <= least || had[to] >= most) && (load[from]+had[from] <= mean+mean/10+1 || load[to]+had[to] >= mean) {
					t.Fatalf("item %d moved from %s, which had %d, to %s, which had %d", item, from, had[from], to, had[to])
				}
			}
		}
		again := r
		again.Previous = answer
		if diff := cmp.Diff(answer, s.Assign(again)); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
		fresh := r
		fresh.Previous = nil
		count := byOwner(s.Assign(fresh))
		for _, a := range r.Instances {
			for _, b := range r.Instances {
				if count[a.ID] > 0 && a.Load+count[a.ID] > b.Load+count[b.ID]+1 {
					t.Fatalf("%s has %d+%d, and %s has only %d+%d", a.ID, a.Load, count[a.ID], b.ID, b.Load, count[b.ID])
				}
			}
		}
	})
}

// When an instance joins many jobs that do not know of each other, about as many of their items
// move there as are too much elsewhere, and never far more.
func TestLeastLoadedRelieves(t *testing.T) {
	s := must(t, strategy.LeastLoaded)
	instances := loaded(149, 149, 0) // and each job adds one
	moved := 0
	const jobs = 300
	for j := range jobs {
		from := j % 2
		answer := s.Assign(strategy.Request{Job: fmt.Sprintf("job%d", j), Total: 1, Instances: instances, Previous: owners(from)})
		switch answer[0] {
		case instances[2].ID:
			moved++
		case instances[from].ID:
		default:
			t.Errorf("job %d moved from %d to %s", j, from, answer[0])
		}
	}
	if moved < 70 || moved > 130 { // the mean is 100
		t.Errorf("%d of %d have moved", moved, jobs)
	}
}

func byOwner(owners []string) map[string]int {
	count := map[string]int{}
	for _, id := range owners {
		count[id]++
	}
	return count
}

// Many jobs that know of each other's items are assigned evenly, even if all begin at the same
// instance by their names.
func TestLeastLoadedEvensJobsOut(t *testing.T) {
	s := must(t, strategy.LeastLoaded)
	instances := loaded(40, 0, 0)
	for range 200 {
		owner := s.Assign(strategy.Request{Job: "same", Total: 1, Instances: instances})[0]
		k := slices.IndexFunc(instances, func(in strategy.Instance) bool { return in.ID == owner })
		instances[k].Load++
	}
	if got := []int{instances[0].Load, instances[1].Load, instances[2].Load}; slices.Max(got)-slices.Min(got) > 1 {
		t.Errorf("loads %d", got)
	}
}

func TestWantsLoads(t *testing.T) {
	for _, name := range strategy.Names(nil) {
		s := must(t, name)
		want := name == strategy.LeastLoaded
		if strategy.WantsLoads(s) != want || strategy.WantsLoads(strategy.DescendingID(s)) != want {
			t.Errorf("%s: %v, %v, want %v", name, strategy.WantsLoads(s), strategy.WantsLoads(strategy.DescendingID(s)), want)
		}
	}
	if strategy.WantsLoads(lowest) {
		t.Error("a Func wants loads")
	}
}
