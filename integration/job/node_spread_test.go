package job_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// singles are so many jobs of one item each.
func singles(from, to int) map[string]int {
	jobs := map[string]int{}
	for i := from; i < to; i++ {
		jobs[fmt.Sprintf("job%04d", i)] = 1
	}
	return jobs
}

// scheduleAll starts jobs on nodes, several at a time.
func (f *fleet) scheduleAll(jobs map[string]int, change func(*job.Config), ips ...string) {
	f.Helper()
	var all sync.WaitGroup
	limit := make(chan struct{}, 50)
	for _, ip := range ips {
		for _, name := range slices.Sorted(maps.Keys(jobs)) {
			limit <- struct{}{}
			all.Go(func() {
				defer func() { <-limit }()
				f.schedule(ip, name, jobs[name], change, func(c *job.Config) { c.ReconcileInterval = -1 })
			})
		}
	}
	all.Wait()
}

// pass lets time go by.
func (f *fleet) pass(d time.Duration) {
	f.Helper()
	if err := elapse(f.Context(), d); err != nil {
		f.Fatal(err)
	}
	synctest.Wait()
}

// Many jobs of one item over three nodes, then a fourth node, then a third more jobs:
// LEAST_LOADED spreads them, whoever starts first, and evens them out later.
func TestSpreadOfManyJobs(t *testing.T) {
	const many = 90
	for _, atOnce := range []bool{true, false} {
		t.Run(fmt.Sprintf("at once %v", atOnce), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, newMemoryStore(t))
				by := func(c *job.Config) { c.Strategy = strategy.LeastLoaded }
				jobs := singles(0, many)
				ips := []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}
				// spread checks how many items each node has.
				spread := func(when string, least, most int) {
					t.Helper()
					f.pass(30 * time.Second)
					got := f.owners(jobs)
					for _, ip := range ips {
						if n := got[ip]; n < least || n > most {
							t.Errorf("%s: %v; %d to %d are allowed", when, got, least, most)
							break
						}
					}
				}
				for _, ip := range ips {
					f.add(ip, job.NodeConfig{})
					if !atOnce {
						f.scheduleAll(jobs, by, ip)
						f.pass(30 * time.Second)
					}
				}
				if atOnce {
					f.scheduleAll(jobs, by, ips...)
				}
				spread("three", many/3/3, 2*many/3)
				f.add("10.0.0.4", job.NodeConfig{})
				f.scheduleAll(jobs, by, "10.0.0.4")
				ips = append(ips, "10.0.0.4")
				f.pass(30 * time.Second)
				added := singles(many, many*4/3)
				f.scheduleAll(added, by, ips...)
				maps.Copy(jobs, added)
				spread("a third more jobs", many/3/3, 2*many/3)
				// Loads are looked at again. Then nobody has a fifth more than the mean.
				f.pass(20 * time.Minute)
				spread("later", 0, (len(jobs)/len(ips))*6/5+2)
			})
		})
	}
}
