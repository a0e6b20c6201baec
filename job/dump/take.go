package dump

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Process is what is asked for the jobs that run here. A [job.Node] is one, and so are a
// [job.Runner] and [Schedulers].
type Process interface {
	// Job returns the scheduler of a job; nil if it does not run here.
	Job(name string) *job.Scheduler
	Jobs() []*job.Scheduler
}

// Schedulers are the jobs of a process that has no node.
type Schedulers []*job.Scheduler

// Job implements [Process].
func (list Schedulers) Job(name string) *job.Scheduler {
	for _, s := range list {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// Jobs implements [Process].
func (list Schedulers) Jobs() []*job.Scheduler { return list }

// Take dumps a job. If it runs in this process, what the process believes is compared with what
// the registry has: see the package comment. If the registry cannot be read then, or not in two
// thirds of the time that ctx has, the dump has the view alone, and says why.
//
// Errors: ErrNoJob; those of [coord.Registry.Walk] for a job that does not run here; the cause of
// ctx.
func Take(ctx context.Context, reg coord.Registry, p Process, name string) (Dump, error) {
	return take(ctx, reg, p, name, bounds{MaxNodes, MaxBytes})
}

// Directly dumps a job from the registry alone, as a process does that does not run it.
//
// Errors: ErrNoJob; those of [coord.Registry.Walk].
func Directly(ctx context.Context, reg coord.Registry, name string) (Dump, error) {
	return Take(ctx, reg, Schedulers(nil), name)
}

// isJob reports whether a child of the namespace may be a job. What begins with ~ is the
// namespace's own.
func isJob(name string) bool {
	return coord.ValidatePath(name) == nil && !strings.Contains(name, "/") && name[0] != '~'
}

// bounds are those of what is read of a job.
type bounds struct{ nodes, bytes int }

func take(ctx context.Context, reg coord.Registry, p Process, name string, most bounds) (Dump, error) {
	wrap := func(err error) (Dump, error) { return Dump{}, fmt.Errorf("dump: job %s: %w", brief.Quote(name), err) }
	if !isJob(name) {
		return wrap(ErrNoJob)
	}
	d := newDump(name)
	s := p.Job(name)
	if s != nil {
		status := StatusOf(s)
		d.Status = &status
	}
	if s != nil && d.Status.Stopped != "" { // its view follows nothing any more
		s = nil
	}
	var view func() coord.Snapshot
	if s != nil {
		view = s.Snapshot
	}
	first, err := lookAt(ctx, reg, name, view, most)
	now := first
	if err == nil && first.isDifferent() {
		if !sleep.For(ctx, lag) {
			return wrap(context.Cause(ctx))
		}
		now, err = lookAt(ctx, reg, name, view, most)
	}
	switch {
	case ctx.Err() != nil:
		return wrap(context.Cause(ctx))
	case err != nil && s == nil:
		return wrap(err)
	case err != nil:
		d.StoreError = brief.Error(err).Error()
		now = look{}
		now.store, now.last, _ = gather(withoutErrors(s.Snapshot().All("")), most) // a snapshot has none
		now.view = now.store
	case d.Status == nil && now.store.Len() == 0:
		return wrap(ErrNoJob)
	}
	d.Cut = now.last != ""
	d.Nodes = now.nodes(first, name)
	for _, n := range d.Nodes {
		if n.Difference != "" {
			d.Differing++
		}
	}
	if config, ok := now.store.Get(jobtree.Job(name).Config()); ok {
		d.Config = string(config.Value)
		if _, err := jobtype.DecodeConfig(config.Value); err != nil {
			d.ConfigError = brief.Error(err).Error()
		}
	}
	return d, nil
}

var errSlow = errors.New("the registry is too slow")

// readingTime returns the context of reading the registry: it leaves some time for the rest.
func readingTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, time.Until(deadline)*2/3, errSlow)
}

// gather reads nodes up to a bound. If there are more, last is the path of the last one that was
// read.
func gather(nodes iter.Seq2[coord.Node, error], most bounds) (s coord.Snapshot, last string, err error) {
	tree, path := coord.NewTree(), ""
	for n, err := range nodes {
		if err != nil {
			return coord.Snapshot{}, "", err
		}
		most.nodes--
		most.bytes -= len(n.Path) + len(n.Value)
		if most.nodes < 0 || most.bytes < 0 {
			last = path
			break
		}
		tree.Put(n)
		path = n.Path
	}
	return tree.Snapshot(), last, nil
}

func withoutErrors(nodes iter.Seq[coord.Node]) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		for n := range nodes {
			if !yield(n, nil) {
				return
			}
		}
	}
}

// newDump says who has made a dump, and when.
func newDump(name string) Dump {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Dump{
		Job: name, Time: time.Now(), Host: host, Process: os.Getpid(),
		Version: moduleVersion(), Go: runtime.Version(), Protocol: jobtree.Protocol,
	}
}
