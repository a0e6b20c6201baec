package jobtest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// MaxItems holds at every moment: when an instance comes back while items run, those that are idle are not
// assigned where others still run.
func TestMaxItemsWhileItemsRun(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
				r := rand.New(rand.NewPCG(seed, 4))
				cfg := job.Config{Name: "j", Cron: "0/10 * * * * ?", ShardingTotalCount: 6, MaxItems: 2, Failover: seed%2 == 0, Strategy: []string{"AVG_ALLOCATION", "STICKY", "ROUND_ROBIN"}[seed%3]}
				busy := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
					return lasts(time.Duration(1+(sc.Token*7+int64(sc.Item)*13)%25)*time.Second)(ctx, sc)
				})
				start := func(n int) *jobtest.Process {
					in := c.Process(fmt.Sprintf("10.0.0.%d", n+1))
					in.Schedule(cfg, busy)
					return in
				}
				list := []*jobtest.Process{start(0), start(1), start(2)}
				for range 6 {
					bounded(t, c, cfg.MaxItems, time.Duration(5+r.IntN(20))*time.Second)
					n := r.IntN(3)
					if r.IntN(2) == 0 {
						list[n].Die()
					} else {
						go func() { _ = list[n].Shutdown(time.Minute) }() // an instance that has left shows nothing more
						synctest.Wait()
					}
					bounded(t, c, cfg.MaxItems, time.Duration(1+r.IntN(20))*time.Second)
					list[n] = start(n)
				}
				bounded(t, c, cfg.MaxItems, 3*time.Minute)
				if has := held(c); len(has) < 3 {
					t.Errorf("in the end the items are at %v", has)
				}
				jobtest.NoOverlap(t, c.Executions())
				atMostAtOnce(t, c.Executions(), cfg.MaxItems)
			})
		})
	}
}

// held returns the items that each instance that is there has or runs, by the tree.
func held(c *jobtest.Cluster) map[string][]int {
	state := jobtree.Read(c.Store().Snapshot("jobtest"), "j")
	has := map[string][]int{}
	for i := range state.Items {
		item := &state.Items[i]
		if item.Owner != nil {
			has[item.Owner.ID] = append(has[item.Owner.ID], i)
		}
		if item.Running != nil && !item.Owner.Is(item.Running.ID) {
			has[item.Running.ID] = append(has[item.Running.ID], i)
		}
	}
	for id := range has {
		if _, isThere := state.Instances[id]; !isThere {
			delete(has, id)
		}
	}
	return has
}

// bounded lets time pass, and looks again and again at what instances have.
func bounded(t *testing.T, c *jobtest.Cluster, most int, d time.Duration) {
	t.Helper()
	const step = 50 * time.Millisecond
	for ; d > 0; d -= step {
		for id, items := range held(c) {
			if len(items) > most {
				t.Fatalf("%v: %s has or runs %v", time.Now(), id, items)
			}
		}
		c.Advance(step)
	}
}

// atMostAtOnce fails the test if an instance was at work for more items than it may have.
func atMostAtOnce(t *testing.T, x jobtest.Executions, most int) {
	t.Helper()
	type edge struct {
		at   time.Time
		more int
	}
	edges := map[string][]edge{}
	for _, e := range x.List() {
		edges[e.InstanceID] = append(edges[e.InstanceID], edge{e.Began, 1})
		if !e.IsRunning() {
			edges[e.InstanceID] = append(edges[e.InstanceID], edge{e.Ended, -1})
		}
	}
	for id, list := range edges {
		slices.SortStableFunc(list, func(a, b edge) int {
			if order := a.at.Compare(b.at); order != 0 {
				return order
			}
			return a.more - b.more
		})
		n := 0
		for _, e := range list {
			if n += e.more; n > most {
				t.Fatalf("%v: %s is at work for %d items", e.at, id, n)
			}
		}
	}
}
