package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// counts are what happened in a day. They are also read from outside of the virtual time.
type counts struct {
	virtual                          atomic.Int64 // nanoseconds of the day that have passed
	normal, misfire, failover, asked atomic.Int64 // executions
	cut                              atomic.Int64 // of them, cut short
	killed                           atomic.Int64 // of them, because an operator killed them
	requests, answered               atomic.Int64 // those that were waited for
	hosts                            atomic.Int64 // processes that were started
	audits, violations               atomic.Int64
	revisions                        atomic.Int64 // changes of the tree
	fired                            atomic.Int64 // ticks of jobs

	took, cpu time.Duration // for all of it, in real time

	mu     sync.Mutex
	faults map[string]int
}

func newCounts() *counts { return &counts{faults: map[string]int{}} }

func (c *counts) begun(source job.Source) {
	switch source {
	case job.SourceNormal:
		c.normal.Add(1)
	case job.SourceMisfire:
		c.misfire.Add(1)
	case job.SourceFailover:
		c.failover.Add(1)
	default:
		c.asked.Add(1)
	}
}

func (c *counts) runs() int64 {
	return c.normal.Load() + c.misfire.Load() + c.failover.Load() + c.asked.Load()
}

func (c *counts) fault(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[name]++
}

// fires counts the ticks for which anything ran.
func (c *counts) fires(groups []*group) {
	for _, g := range groups {
		for _, j := range g.jobs {
			c.fired.Add(int64(len(j.history.ticks)))
		}
	}
}

func (c *counts) progress() string {
	c.mu.Lock()
	faults := 0
	for _, n := range c.faults {
		faults += n
	}
	c.mu.Unlock()
	return fmt.Sprintf("%v of the day, %d runs, %d faults, %d audits", time.Duration(c.virtual.Load()).Round(time.Minute), c.runs(), faults, c.audits.Load())
}

// summary says what was run.
func (c *counts) summary(s size, seed uint64) string {
	jobs, hosts, instances, items := s.count()
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %s, %v in %v (CPU %v): %d jobs with %d items on %d processes, %d instances\n",
		seed, s.name, time.Duration(c.virtual.Load()).Round(time.Minute), c.took.Round(100*time.Millisecond), c.cpu.Round(100*time.Millisecond), jobs, items, hosts, instances)
	fmt.Fprintf(&b, "fires             %9d\nruns of items     %9d\n  normal          %9d\n  made up         %9d\n  failovers       %9d\n  asked for       %9d\ncut short         %9d\n  killed          %9d\nrequests          %9d\n  answered        %9d\n",
		c.fired.Load(), c.runs(), c.normal.Load(), c.misfire.Load(), c.failover.Load(), c.asked.Load(), c.cut.Load(), c.killed.Load(), c.requests.Load(), c.answered.Load())
	fmt.Fprintf(&b, "processes started %9d\ncommits           %9d\naudits            %9d\nviolations        %9d\n", c.hosts.Load(), c.revisions.Load(), c.audits.Load(), c.violations.Load())
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, n := range c.faults {
		total += n
	}
	fmt.Fprintf(&b, "faults            %9d\n", total)
	for _, name := range slices.Sorted(maps.Keys(c.faults)) {
		fmt.Fprintf(&b, "  %-16s%9d\n", name, c.faults[name])
	}
	return b.String()
}
