package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/either"
	"github.com/elasticjob-go/elasticjob/internal/engine"
	"github.com/elasticjob-go/elasticjob/internal/engine/instance"
	"github.com/elasticjob-go/elasticjob/internal/engine/pool"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Node runs any number of jobs in one process, and holds what they share. Its methods may be
// called from any goroutine.
//
//	n, err := job.NewNode(reg, job.NodeConfig{Threads: 100, Options: []job.Option{job.WithSlog(logger)}})
//	…
//	_, err = n.Schedule(ctx, settle, job.HandlerFunc(…))
//	_, err = n.Schedule(ctx, rebuild, job.HandlerFunc(…))
//	err = n.Run(ctx) // until ctx ends; then all jobs are shut down
//
// A program with one job needs no node: [Schedule] does the same for one.
type Node struct {
	reg     coord.Registry
	config  NodeConfig
	options *setup.Options  // of all jobs; the loggers are not paired yet. nil if the job is alone
	pool    *pool.Pool      // what the jobs share
	runner  *Runner         // nil if it is not that of one
	closing context.Context // ends with ErrNodeClosed when a shutdown is asked for
	close   context.CancelCauseFunc

	mu       sync.Mutex
	isRun    bool                  // Run was called
	isClosed bool                  // a shutdown was asked for: nothing starts, and no job is forgotten
	jobs     map[string]*Scheduler // by name; nil while it starts
	first    map[string]bool       // of those that start, the ones that do so for the first time
	missing  map[string]Fault      // of jobs that did not start, with WithStartFault
	starting sync.WaitGroup        // calls of start; added to under mu while isClosed is false
}

// NodeConfig is what the jobs of a node share.
type NodeConfig struct {
	// Threads bounds how many items all jobs together run at a time, beside Config.Threads of
	// each. Jobs that wait for a thread get one in turn. An item is not claimed before there
	// is one for it, so another process may run it meanwhile. 0 is no bound.
	Threads int
	// Drain is how long [Node.Run] lets handlers run on when its context has ended. Default
	// 30 s.
	Drain time.Duration
	// Options hold for each job. Those that a job is started with come after them. Without
	// an address among them, that of this host is looked up once, by NewNode.
	Options []Option
}

// NewNode returns a node without jobs. The registry stays the caller's: close it after
// Shutdown.
func NewNode(reg coord.Registry, c NodeConfig) (*Node, error) {
	const defaultDrain = 30 * time.Second
	switch {
	case setup.IsNil(reg):
		return nil, errors.New("job: node: a registry is needed")
	case c.Threads < 0:
		return nil, fmt.Errorf("job: node: threads %d: must not be negative", c.Threads)
	case c.Drain < 0:
		return nil, fmt.Errorf("job: node: drain %v: must not be negative", c.Drain)
	case c.Drain == 0:
		c.Drain = defaultDrain
	}
	n := &Node{reg: reg, config: c, options: setup.DefaultOptions(), jobs: map[string]*Scheduler{}, first: map[string]bool{}, missing: map[string]Fault{}}
	err := apply(n.options, c.Options)
	if err == nil {
		_, err = optionsWith(n.options, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("job: node: %w", err)
	}
	if n.options.IP == "" {
		n.options.IP = instance.LocalIP()
	}
	n.pool = pool.New(reg, pool.Config{Threads: c.Threads, Address: n.options.IP})
	n.closing, n.close = context.WithCancelCause(context.Background())
	return n, nil
}

// alone returns a node for a job that shares nothing. It has only the registry and calendars.
func alone(reg coord.Registry) *Node {
	return &Node{reg: reg, pool: pool.Alone(reg)}
}

// Schedule is the function [Schedule] for a job of this node. The name of the job may be used
// again when [Scheduler.Shutdown] has returned, or when the scheduler has stopped by itself.
//
// Errors, beside those of the function: ErrJobTwice, ErrNodeClosed.
func (n *Node) Schedule(ctx context.Context, c Config, h Handler, opts ...Option) (*Scheduler, error) {
	if setup.IsNil(n.reg) || setup.IsNil(h) {
		return nil, fmt.Errorf("job %s: a registry and a handler are needed", c.Name)
	}
	if t, ok := h.(setup.OfType); ok {
		n.pool.Announcement.Describe(setup.Described(t.Name, t))
	}
	return n.named(ctx, c.Name, opts, func(ctx context.Context, p engine.Params) (*engine.Scheduler, error) {
		return engine.Start(ctx, p, c, h)
	})
}

// note keeps why a job did not start; nil if it did.
func (n *Node) note(name string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		delete(n.missing, name)
		return
	}
	since := clocks.Wall()
	if before, isThere := n.missing[name]; isThere {
		since = before.Since
	}
	n.missing[name] = Fault{Kind: jobtype.FaultConfig, Err: err, Since: since}
}

// named has a job started, under a name that no other job of the node has meanwhile.
func (n *Node) named(ctx context.Context, name string, opts []Option, start func(context.Context, engine.Params) (*engine.Scheduler, error)) (s *Scheduler, err error) {
	if n.options != nil {
		if err := n.reserve(name); err != nil {
			return nil, err
		}
		defer n.starting.Done()
		defer func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(n.first, name)
			if n.jobs[name] = s; s == nil {
				delete(n.jobs, name)
			}
		}()
		within, cancel := either.Context(ctx, n.closing)
		defer cancel()
		ctx = within
	}
	o, err := n.optionsWith(opts)
	if err != nil {
		return nil, err
	}
	started, err := start(ctx, engine.Params{Registry: n.reg, Pool: n.pool, Options: o, Deregistered: func() { n.runner.schedulerGone(name) }})
	if o.StartFault && n.options != nil {
		n.note(name, err)
	}
	if err != nil {
		return nil, err
	}
	return &Scheduler{started, n}, nil
}

// optionsWith returns the options of a job that is started with some.
func (n *Node) optionsWith(opts []Option) (*setup.Options, error) {
	if n.options == nil {
		return newOptions(opts)
	}
	return optionsWith(n.options, opts)
}

// reserve gives a name to a job that starts.
func (n *Node) reserve(name string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isClosed {
		return fmt.Errorf("job %s: %w", short(name), ErrNodeClosed)
	}
	s, isThere := n.jobs[name]
	if isThere && (s == nil || !s.engine.IsDone()) {
		return fmt.Errorf("job %s: %w", short(name), ErrJobTwice)
	}
	n.jobs[name] = nil
	if !isThere {
		n.first[name] = true
	}
	n.starting.Add(1)
	return nil
}

// forget removes a job that was shut down by itself. When the whole node is shut down, all
// jobs stay, with their errors.
func (n *Node) forget(s *Scheduler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.isClosed && n.jobs[s.Name()] == s {
		delete(n.jobs, s.Name())
	}
}

// Job returns the scheduler of a job; nil if the node does not run it, or if it still starts.
func (n *Node) Job(name string) *Scheduler {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.jobs[name]
}

// Jobs returns the schedulers of all jobs that have started, by name. Those that have stopped
// by themselves are among them, until they are shut down or started again; a Runner forgets them.
func (n *Node) Jobs() []*Scheduler {
	n.mu.Lock()
	list := slices.Collect(maps.Values(n.jobs))
	n.mu.Unlock()
	list = slices.DeleteFunc(list, func(s *Scheduler) bool { return s == nil })
	slices.SortFunc(list, func(a, b *Scheduler) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// Run waits until ctx ends, or until Shutdown is called. Then it shuts all jobs down, with
// NodeConfig.Drain for handlers that run, and returns what Shutdown returns. Jobs may be
// started before and meanwhile; for [Node.Ready] it is better to start them before.
func (n *Node) Run(ctx context.Context) error {
	n.mu.Lock()
	n.isRun = true
	n.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-n.closing.Done():
	}
	return n.drain(ctx)
}

// drain shuts all jobs down, with NodeConfig.Drain for handlers that run.
func (n *Node) drain(ctx context.Context) error {
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.config.Drain)
	defer cancel()
	return n.Shutdown(drain)
}

// Shutdown is [Scheduler.Shutdown] for all jobs at once. No job waits for another one, and
// none can be started any more. The error has those of all jobs, by name; its text shows the
// first ones. If it is called again, or [Node.Run] waits, it returns the same.
func (n *Node) Shutdown(ctx context.Context) error {
	n.mu.Lock()
	n.isClosed = true
	n.mu.Unlock()
	n.close(ErrNodeClosed)
	stop := func() {
		for _, s := range n.Jobs() {
			s.engine.EndDrain()
		}
	}
	for _, s := range n.Jobs() {
		s.engine.BeginShutdown()
	}
	defer context.AfterFunc(ctx, stop)() // a start may take its time
	n.starting.Wait()                    // their contexts have ended
	jobs := n.Jobs()
	for _, s := range jobs {
		s.engine.BeginShutdown()
	}
	defer context.AfterFunc(ctx, stop)() // for those that have started meanwhile
	var errs []error
	for _, s := range jobs {
		err := s.Shutdown(ctx)
		if n.runner.expects(err) {
			err = nil
		}
		errs = append(errs, err)
	}
	return joinJobs("have shut down with errors", len(jobs), errs)
}
