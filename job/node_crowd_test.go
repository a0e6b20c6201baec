package job_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
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

// commits takes how many commits the nodes have made, and how many of them only announced.
func (f *fleet) commits() (all, announced int) {
	for _, reg := range f.regs {
		commits, _ := reg.take()
		all += len(commits)
		for _, ops := range commits {
			if last := ops[len(ops)-1]; last.Kind == coord.OpSetAt && strings.Contains(last.Path, "/sessions/") {
				announced++
			}
		}
	}
	return all, announced
}

// Many jobs of one item join three nodes with room for two fifths of them each. Each item is dealt, no
// node has more than it may, and the bound costs few commits: an instance says that it has no
// room with its registration. When a node goes, the others fill up; the rest has no owner,
// until there is room.
func TestManyJobsOnBoundedNodes(t *testing.T) {
	const many, room = 200, 80
	for name, how := range map[string]struct {
		change func(*job.Config)
		atOnce bool
	}{
		"one node after the other": {change: func(*job.Config) {}},
		"at once":                  {change: func(*job.Config) {}, atOnce: true},
		"at once, by the least":    {change: leastLoaded, atOnce: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, newMemoryStore(t))
				jobs := singles(0, many)
				ips := []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}
				for _, ip := range ips {
					f.add(ip, job.NodeConfig{MaxItems: room})
				}
				if how.atOnce {
					f.scheduleAll(jobs, how.change, ips...)
				} else {
					for _, ip := range ips {
						f.scheduleAll(jobs, how.change, ip)
					}
				}
				check := func(when string, unowned int) {
					t.Helper()
					f.pass(time.Minute)
					all, announced := f.commits()
					got := f.owners(jobs)
					t.Logf("%s: %v; %d commits, %d of them announce", when, got, all, announced)
					if got[""] != unowned || max(got[ips[0]], got[ips[1]], got[ips[2]]) > room {
						t.Errorf("%s: %v", when, got)
					}
					// Each of a job's instances registers, may be dealt for, and may announce what room
					// it has. How often depends on who comes first: 720 to 1,330 have been seen.
					if limit := 3 * len(ips) * many; all > limit {
						t.Errorf("%s: %d commits, %d are allowed", when, all, limit)
					}
				}
				check("joined", 0)
				f.pass(10 * time.Minute)
				if all, announced := f.commits(); all > many {
					t.Errorf("in ten quiet minutes %d commits, %d of them announce", all, announced)
				} else {
					t.Logf("in ten quiet minutes %d commits, %d of them announce", all, announced)
				}
				f.stop(ips[2])
				check("one has gone", many-2*room)
				f.add("10.0.0.4", job.NodeConfig{MaxItems: room})
				ips[2] = "10.0.0.4"
				f.scheduleAll(jobs, how.change, ips[2])
				check("another has come", 0)
			})
		})
	}
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
