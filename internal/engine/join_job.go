package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Join starts a job by the configuration that the registry has: see job.Node. It writes none.
func Join(ctx context.Context, p Params, name string, h jobtype.Handler) (*Scheduler, error) {
	o := p.Options
	o.JoinOnly = true
	view, err := openView(ctx, p.Registry, name, o)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", name, err)
	}
	found, err := configIn(ctx, p.Registry, view, jobtree.Job(name), o)
	if err == nil {
		err = setup.CheckName(found, name)
	}
	var given *setup.Settings
	if err == nil {
		given, err = o.Prepare(found, h)
	}
	if err != nil {
		view.Close()
		return nil, fmt.Errorf("configuration of job %s in the registry: %w", name, err)
	}
	return launch(ctx, p, view, given, jobtype.Config{})
}

// configIn returns the configuration that a view shows which was just opened.
func configIn(ctx context.Context, reg coord.Registry, view coord.View, job jobtree.Job, o *setup.Options) (jobtype.Config, error) {
	document, isThere := view.Snapshot().Get(job.Config())
	if !isThere && view.Fault() != nil { // it may leave nodes out
		err := o.Retry(ctx, string(job), func() (err error) {
			document, err = reg.Get(ctx, job.Config())
			return err
		})
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			return jobtype.Config{}, err
		}
		isThere = err == nil
	}
	if !isThere {
		return jobtype.Config{}, fmt.Errorf("%w: there is none", jobtype.ErrJobRemoved)
	}
	return jobtype.DecodeConfig(document.Value)
}

// openView opens the view of a job.
func openView(ctx context.Context, reg coord.Registry, job string, o *setup.Options) (view coord.View, err error) {
	err = o.Retry(ctx, job, func() (err error) {
		view, err = reg.View(ctx, job, coord.AllLevels, jobtree.Bounds())
		return err
	})
	return view, err
}
