package main

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// balance assigns jobs of one item each to two processes. AVG_ALLOCATION, the default, gives the
// first item of every job to the first instance. LEAST_LOADED looks at what each process has of
// all jobs.
func balance(ctx context.Context, s *stage) error {
	const jobs = 6
	nodes, err := s.nodes(ctx, "10.0.0.1", "10.0.0.2")
	if err != nil {
		return err
	}
	for _, name := range []string{strategy.AvgAllocation, strategy.LeastLoaded} {
		for i := range jobs {
			cfg := job.Config{Name: jobName(name, i), Cron: nightly, ShardingTotalCount: 1, Strategy: name}
			for _, n := range nodes {
				if _, err := n.Schedule(ctx, cfg, job.HandlerFunc(idle)); err != nil {
					return err
				}
			}
		}
		if err := elapse(ctx, 6*time.Second); err != nil { // a process shows what it has every five seconds at most
			return err
		}
		for i := range jobs {
			if err := s.ops.Job(jobName(name, i)).Reshard(ctx); err != nil {
				return err
			}
		}
		if err := elapse(ctx, time.Second); err != nil {
			return err
		}
		s.say("%s: 10.0.0.1 has %d of %d items, 10.0.0.2 has %d", name, itemsOf(nodes[0], name, jobs), jobs, itemsOf(nodes[1], name, jobs))
	}
	return nil
}

func jobName(kind string, i int) string { return fmt.Sprintf("%s-%d", kind, i) }

// itemsOf counts the items that a node has of some jobs.
func itemsOf(n *job.Node, kind string, jobs int) int {
	count := 0
	for i := range jobs {
		if s := n.Job(jobName(kind, i)); s != nil {
			count += len(s.Status().Items)
		}
	}
	return count
}
