package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// stuckType is a type that does not return until the test says so.
func stuckType(free <-chan struct{}) job.Type {
	return job.TypeFunc(func(job.Config) (job.Handler, error) {
		<-free
		return job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), nil
	})
}

// Jobs whose type does not return do not keep other jobs from starting, and are refused meanwhile.
func TestRunnerWhoseTypeHangs(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		free := make(chan struct{})
		let := sync.OnceFunc(func() { close(free) })
		var names []string
		for i := range 40 {
			names = append(names, fmt.Sprintf("stuck-%02d", i))
			c.create(names[i], "STUCK", cron(rarely))
		}
		r := c.start("10.0.0.1", job.RunnerConfig{
			Handlers: map[string]job.Handler{"STUCK": job.OfType("STUCK", stuckType(free)), "work": c.handlers("work")["work"]},
		})
		c.Cleanup(let)
		c.create("settle", "work")
		c.pass(2 * time.Minute)
		c.runs(r.ip, "settle")
		for _, f := range r.refuses(names...) {
			if f.Kind != jobtype.FaultStarvation || !strings.Contains(f.Error(), "does not return") {
				c.Fatalf("it refuses %v", f)
			}
		}
		c.ok(r.Ready())
		c.remove(names[0])
		c.pass(time.Minute)
		let()
		for _, name := range names[1:] {
			c.has(name, r.ip)
		}
		r.refuses()
		if r.Job(names[0]) != nil {
			c.Error("a job that is gone is served")
		}
	})
}

// A runner that ends gives its handlers the time that it has, and no more, whatever a start does.
func TestShutdownWhileAStartHangs(t *testing.T) {
	inACrew(t, func(c *crew, _ *memory.Store) {
		free := make(chan struct{})
		let := sync.OnceFunc(func() { close(free) })
		c.create("stuck", "STUCK", cron(rarely))
		cut := make(chan time.Time, 1)
		r := c.start("10.0.0.1", job.RunnerConfig{
			NodeConfig: job.NodeConfig{Drain: 5 * time.Second},
			Handlers: map[string]job.Handler{"STUCK": job.OfType("STUCK", stuckType(free)), "work": c.record.handler(func(ctx context.Context, _ job.ShardingContext) error {
				<-ctx.Done()
				cut <- time.Now()
				return context.Cause(ctx)
			})},
		})
		c.Cleanup(let)
		c.create("settle", "work")
		c.runs(r.ip, "settle")
		begun := time.Now()
		ended := make(chan error)
		go func() { ended <- r.end() }()
		select {
		case at := <-cut:
			if took := at.Sub(begun); took > 6*time.Second {
				c.Errorf("the handler was ended after %v", took)
			}
		case <-time.After(time.Minute):
			c.Error("the handler was not ended")
		}
		let()
		c.ok(<-ended)
	})
}

// Nodes of one job may not be read, or written. That is a fault of this job alone.
func TestRunnerWithAJobThatIsDenied(t *testing.T) {
	for name, fault := range map[string]memory.Fault{
		"its view": {Method: memory.OpenView, Path: "denied"},
		"commits":  {Method: memory.Commit, Path: "denied/**"},
	} {
		t.Run(name, func(t *testing.T) {
			inACrew(t, func(c *crew, s *memory.Store) {
				fault.Before = coord.ErrDenied
				c.create("denied", "work")
				c.create("settle", "work")
				denied := s.Inject(fault)
				r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
				c.runs(r.ip, "settle")
				list := r.refuses("denied")
				if f := list[0]; f.Kind != jobtype.FaultTree || !errors.Is(r.Health(), coord.ErrDenied) {
					c.Errorf("it refuses %v; health %v", f, r.Health())
				}
				c.ok(errors.Join(r.Live(), r.Ready()))
				c.pass(10 * time.Minute)
				n := denied.Hits()
				c.pass(10 * time.Minute)
				if n = denied.Hits() - n; n > 200 {
					c.Errorf("%d attempts in 10 minutes", n)
				}
				denied.Remove()
				c.pass(2 * time.Minute)
				c.runs(r.ip, "denied")
				r.refuses()
			})
		})
	}
}
