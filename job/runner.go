package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/either"
	"github.com/elasticjob-go/elasticjob/internal/engine/runner"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// Runner is a [Node] that serves every job of the namespace whose implementation or type it
// offers. Jobs are created, changed and removed in the registry, by package ops or any other
// program; the Runner starts and stops their schedulers. It writes no configuration.
//
//	r, err := job.NewRunner(reg, job.RunnerConfig{
//		NodeConfig: job.NodeConfig{Threads: 100},
//		Handlers: map[string]job.Handler{
//			"settle":    job.HandlerFunc(settle),
//			script.Name: job.OfType(script.Name, scripts),
//		},
//	})
//	…
//	err = r.Run(ctx) // until ctx ends; then all jobs are shut down
//
// The page docs/understand/processes.md says what becomes of a job in a Runner.
type Runner struct {
	*Node
	handlers map[string]Handler
	offers   []string       // names of the types and handlers, ascending
	paired   *setup.Options // those of the node, with loggers
	begun    atomic.Bool
	bell     chan struct{} // has a signal if the announcement is to be looked after
	server   *runner.Server
}

// RunnerConfig is what a Runner offers, and what its jobs share.
type RunnerConfig struct {
	// NodeConfig holds for all jobs. WithImplementation is not allowed among its options.
	NodeConfig
	// Handlers do the work of the jobs whose implementation has the name: the value of the job's
	// node, which is the job's own name unless its creator has said otherwise ([WithImplementation],
	// or the class of a JVM job). A name has up to 1,000 bytes. That of a type ([OfType]) is its own.
	Handlers map[string]Handler
}

// NewRunner returns a Runner that does not run yet. The registry stays the caller's: close it
// after Run.
func NewRunner(reg coord.Registry, c RunnerConfig) (*Runner, error) {
	n, err := NewNode(reg, c.NodeConfig)
	if err != nil {
		return nil, err
	}
	r := &Runner{Node: n, handlers: maps.Clone(c.Handlers), bell: make(chan struct{}, 1)}
	if r.paired, err = optionsWith(n.options, nil); err == nil {
		err = r.checkOffers()
	}
	if err != nil {
		return nil, fmt.Errorf("job: runner: %w", err)
	}
	r.offers = slices.Sorted(maps.Keys(r.handlers))
	offers := runner.Offers{Handlers: map[string]bool{}, Types: map[string]bool{}}
	for _, name := range r.offers {
		h := r.handlers[name]
		n.pool.Announcement.Describe(setup.Described(name, h))
		if _, isType := h.(setup.OfType); isType {
			offers.Types[name] = true
		} else {
			offers.Handlers[name] = true
		}
	}
	r.server = runner.New(runner.Config{Registry: reg, Process: n.pool.Announcement, Offers: offers, Drain: n.config.Drain, Log: r.paired.Logger}, runnerHost{r})
	n.runner = r
	return r, nil
}

func (r *Runner) checkOffers() error {
	o := r.paired
	if o.Implementation != "" {
		return errors.New("WithImplementation is not allowed: the names in Handlers say which implementations it has")
	}
	if len(r.handlers) == 0 {
		return errors.New("it offers nothing: Handlers are needed")
	}
	for name, h := range r.handlers {
		if err := jobconf.CheckText(name, maxImplementationLength); err != nil {
			return fmt.Errorf("handler %s: name: %w", quote(name), err)
		}
		if setup.IsNil(h) {
			return fmt.Errorf("handler %s is nil", quote(name))
		}
		if t, isType := h.(setup.OfType); isType {
			if err := t.Check(); err != nil {
				return fmt.Errorf("handler %s: %w", quote(name), err)
			}
			if t.Name != name {
				return fmt.Errorf("handler %s is of type %s: its own name is allowed", quote(name), quote(t.Name))
			}
		}
	}
	return nil
}

// Run serves the jobs until ctx ends, or Shutdown is called. Then it shuts all of them down,
// with NodeConfig.Drain for handlers that run, and returns what Shutdown returns. It waits for a
// store that does not answer when it begins. It may be called once.
//
// Errors, beside those of [Node.Shutdown]: that of a namespace that may not be read, and
// coord.ErrClosed if the registry was closed. That a job or an instance was removed is none.
func (r *Runner) Run(ctx context.Context) error {
	if r.begun.Swap(true) {
		return errors.New("job: runner: Run was called before")
	}
	following, stop := either.Context(ctx, r.closing)
	defer stop()
	view, err := r.open(following)
	if view == nil {
		return errors.Join(err, r.drain(ctx))
	}
	defer view.Close()
	r.paired.Logger.Info("the runner serves jobs", zap.String("offers", short(strings.Join(r.offers, ", "))))
	r.pool.Announcement.Offer(r.offers, r.options.Labels, func() { runner.Signal(r.bell) })
	var showing sync.WaitGroup
	showing.Go(func() { r.show(following) })
	err = r.server.Serve(following, view)
	stop()
	err = errors.Join(err, r.drain(ctx))
	r.server.Close()
	showing.Wait()
	r.removeAnnouncement()
	return err
}

// open opens the view of the namespace. It is nil if there is an error, or ctx has ended.
func (r *Runner) open(ctx context.Context) (view coord.View, err error) {
	r.server.Reading(nil)
	waiting := r.paired.Clone()
	waiting.StartRetry = true
	err = waiting.Retry(ctx, "", func() (err error) {
		// The job's nodes, and their configurations.
		if view, err = r.reg.View(ctx, "", 2, runner.Bounds()); err != nil {
			r.server.Reading(err)
		}
		return err
	})
	switch {
	case err == nil:
		return view, nil
	case ctx.Err() != nil:
		return nil, nil
	}
	return nil, fmt.Errorf("job: runner: view of the namespace: %w", err)
}

// expects reports whether the error of a scheduler that was shut down is nothing to tell the
// program, because jobs come and go: nothing but that the job or the instance was removed.
func (r *Runner) expects(err error) bool {
	if r == nil {
		return false
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !r.expects(e) })
	}
	return errors.Is(err, ErrJobRemoved) || errors.Is(err, ErrInstanceRemoved)
}

// schedulerGone tells the Runner of a node, if it has one, that a scheduler is out of the tree.
func (r *Runner) schedulerGone(name string) {
	if r != nil && r.begun.Load() {
		r.server.SchedulerEnded(name)
	}
}
