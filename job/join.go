package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/jobtype"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// join starts a job of a node of NewNode by the configuration that the registry has. It writes none, and
// replaces none: Config.Overwrite and the precedence do not count. The job has a schedule, or
// runs when it is triggered, as the configuration says.
//
// Errors: ErrJobRemoved if the registry has no configuration of the job; those of Schedule.
func (n *Node) join(ctx context.Context, name string, h Handler, opts []Option) (*Scheduler, error) {
	if isNil(h) {
		return nil, fmt.Errorf("job %s: a handler is needed", short(name))
	}
	if !jobtree.IsName(name) {
		return nil, fmt.Errorf("job %s: no job can have this name", short(name))
	}
	return n.named(ctx, name, func(ctx context.Context) (s *Scheduler, err error) {
		o, err := n.optionsWith(opts)
		if err != nil {
			return nil, err
		}
		o.joinOnly, o.precedence = true, PrecedenceRegistry
		view, err := openView(ctx, n.reg, name, o)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", name, err)
		}
		found, err := configIn(ctx, n.reg, view, jobtree.Job(name), o)
		if err == nil {
			err = isOf(found, name)
		}
		var given *settings
		if err == nil {
			given, err = o.settle(found, h)
		}
		if err != nil {
			view.Close()
			return nil, fmt.Errorf("configuration of job %s in the registry: %w", name, err)
		}
		return n.begin(ctx, view, given, o, 0)
	})
}

// configIn returns the configuration that a view shows which was just opened.
func configIn(ctx context.Context, reg coord.Registry, view coord.View, job jobtree.Job, o *options) (Config, error) {
	document, isThere := view.Snapshot().Get(job.Config())
	if !isThere && view.Fault() != nil { // it may leave nodes out
		err := o.retry(ctx, string(job), func() (err error) {
			document, err = reg.Get(ctx, job.Config())
			return err
		})
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			return Config{}, err
		}
		isThere = err == nil
	}
	if !isThere {
		return Config{}, fmt.Errorf("%w: there is none", ErrJobRemoved)
	}
	return jobtype.DecodeConfig(document.Value)
}
