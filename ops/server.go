package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Server returns the operations on a server in all jobs of the namespace that have it, by its address
// as instances give it with job.WithIP.
func (o *Ops) Server(address string) *Server { return &Server{ops: o, address: address} }

// Server is a host with instances of any number of jobs. What it does, it does job by job, eight at a
// time: it goes on when one has failed. It ends early with ctx, and if the store is away for all eight.
// OnChange is told after each eight.
type Server struct {
	ops     *Ops
	address string
}

// JobResult says what has become of a job.
type JobResult struct {
	Job string
	// Changes are what has changed; none if it was so already.
	Changes []Change
	// IsDisabled is whether the server was not enabled, because the job is disabled as a whole.
	IsDisabled bool
	// Err says why the job is not as it was to be; Changes have what was done before it.
	Err error
}

// Disable is [Job.DisableServers] in all jobs that have the server; a job that gets it later is not
// disabled there. The outcomes are by job.
//
// Errors: ErrNoServer if no job has it; those of a read; one with the first failure if jobs have failed; the
// cause of ctx if it ends before all were tried.
func (s *Server) Disable(ctx context.Context) ([]JobResult, error) {
	return s.eachJob(ctx, ActionDisableServers, func(j *Job) error { return j.DisableServers(ctx, s.address) })
}

// Enable is [Job.EnableServers] in all jobs that have the server. It is like Disable. A job that an operator has disabled
// as a whole, by [Job.DisableServers] without addresses, stays disabled.
func (s *Server) Enable(ctx context.Context) ([]JobResult, error) {
	return s.eachJob(ctx, ActionEnableServers, func(j *Job) error {
		return j.setServers(ctx, ActionEnableServers, []string{s.address}, jobtree.Enabled, allJobs)
	})
}

// Shutdown is [Job.Shutdown] of the server's instances in all jobs that have it. It is like Disable.
func (s *Server) Shutdown(ctx context.Context, why string) ([]JobResult, error) {
	return s.eachJob(ctx, ActionShutdown, func(j *Job) error {
		_, err := j.Shutdown(ctx, ShutdownRequest{Servers: []string{s.address}, Why: why})
		return err
	})
}

// Remove is [Job.RemoveServers] in all jobs that have the server. It is like Disable.
func (s *Server) Remove(ctx context.Context) ([]JobResult, error) {
	return s.eachJob(ctx, ActionRemoveServers, func(j *Job) error { return j.RemoveServers(ctx, s.address) })
}

// jobsAtOnce is how many jobs a server's operation changes at a time.
const jobsAtOnce = 8

// eachJob does something to each job that has the server.
func (s *Server) eachJob(ctx context.Context, action Action, do func(*Job) error) ([]JobResult, error) {
	failed := func(list []JobResult, err error) ([]JobResult, error) {
		return list, fmt.Errorf("server %s: %s: %w", brief.Text(s.address), action, err)
	}
	names, err := s.jobs(ctx)
	if err != nil {
		return failed(nil, err)
	}
	var list []JobResult
	var first error
	failures, untried, together := 0, len(names), s.ops.Together()
	for some := range slices.Chunk(names, jobsAtOnce) {
		untried -= len(some)
		outcomes := make([]JobResult, len(some))
		var jobs sync.WaitGroup
		for i, name := range some {
			jobs.Go(func() { outcomes[i] = together.outcome(name, do) })
		}
		jobs.Wait()
		isAway := true
		for _, outcome := range outcomes {
			isAway = isAway && errors.Is(outcome.Err, coord.ErrUnavailable)
			if errors.Is(outcome.Err, ErrNoJob) {
				continue // it was removed meanwhile, or only a rest of it is there
			}
			list = append(list, outcome)
			for _, c := range outcome.Changes {
				s.ops.tell(c)
			}
			if outcome.Err != nil {
				failures++
				first = cmp.Or(first, outcome.Err)
			}
		}
		if isAway || ctx.Err() != nil {
			break // the others would fail, too, each after some time
		}
	}
	switch {
	case failures == 0 && untried > 0:
		return failed(list, fmt.Errorf("%d of %d jobs were not tried: %w", untried, len(names), context.Cause(ctx)))
	case failures > 0:
		return failed(list, fmt.Errorf("%d of %d jobs have failed, and %d were not tried; the first error: %w", failures, len(names), untried, first))
	}
	return list, nil
}

// outcome does something to a job, and notes what has changed. It tells nobody: its goroutine is not the
// caller's.
func (o *Ops) outcome(name string, do func(*Job) error) JobResult {
	outcome := JobResult{Job: name}
	quiet := o.with(func(o *Ops) {
		o.onChange = []func(Change){func(c Change) { outcome.Changes = append(outcome.Changes, c) }}
	})
	outcome.Err = do(quiet.Job(name))
	if outcome.IsDisabled = errors.Is(outcome.Err, errDisabled); outcome.IsDisabled {
		outcome.Err = nil
	}
	return outcome
}

// jobs lists the jobs that have the server.
func (s *Server) jobs(ctx context.Context) ([]string, error) {
	if s.address == "" || len(s.address) > jobtree.MaxIP || strings.Contains(s.address, "/") || coord.ValidatePath(jobtree.Job("job").Server(s.address)) != nil {
		return nil, wrong("server", "address %s: 1 to %d bytes without / are allowed", brief.Quote(s.address), jobtree.MaxIP)
	}
	all, err := s.ops.listJobs(ctx)
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(all))
	for i, name := range all {
		paths[i] = jobtree.Job(name).Server(s.address)
	}
	var names []string
	for _, err := range s.ops.reg.GetAll(ctx, paths) {
		switch {
		case err == nil:
			names = append(names, all[0])
		case !errors.Is(err, coord.ErrNoNode):
			return nil, err
		}
		all = all[1:]
	}
	if len(names) == 0 {
		return nil, ErrNoServer
	}
	return names, nil
}
