package declare

import (
	"context"
	"errors"
	"sync"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// atATime bounds how many jobs are read, or written, at the same time.
const atATime = 32

// manyJobs is how many jobs are read one by one. For more of them all jobs of the namespace are read,
// which takes half as many requests for each.
const manyJobs = 256

// readAll reads what the registry has of some jobs, in their order.
func readAll(ctx context.Context, o *ops.Ops, names []string, progress func(done, total int)) ([]seen, error) {
	if len(names) > manyJobs {
		return pick(ctx, o, names, progress)
	}
	list := make([]seen, len(names))
	errs := each(ctx, names, progress, func(ctx context.Context, i int, name string) error {
		var err error
		list[i], err = read(ctx, o, name)
		return err
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// pick reads all jobs, and takes some of them.
func pick(ctx context.Context, o *ops.Ops, names []string, progress func(done, total int)) ([]seen, error) {
	all, err := allSettings(ctx, o, progress)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]ops.Settings, len(all))
	for _, s := range all {
		byName[s.Job] = s
	}
	list := make([]seen, len(names))
	for i, name := range names {
		s, isThere := byName[name]
		list[i] = seen{isThere: isThere, settings: s, unread: s.Err}
	}
	return list, nil
}

// allSettings reads the settings of all jobs. How many there are is not known before.
func allSettings(ctx context.Context, o *ops.Ops, progress func(done, total int)) ([]ops.Settings, error) {
	var list []ops.Settings
	for s, err := range o.AllSettings(ctx) {
		if err != nil {
			return nil, err
		}
		if list = append(list, s); progress != nil {
			progress(len(list), 0)
		}
	}
	return list, nil
}

// read reads what the registry has of a job.
func read(ctx context.Context, o *ops.Ops, name string) (seen, error) {
	settings, err := o.Job(name).Settings(ctx)
	switch {
	case errors.Is(err, ops.ErrNoJob):
		return seen{}, nil
	case errors.Is(err, jobtype.ErrInvalidConfig):
		return seen{isThere: true, settings: settings, unread: err}, nil
	}
	return seen{isThere: true, settings: settings}, err
}

// each does something for each of some things, a few at a time, and returns the errors in their order. When ctx
// has ended the others have its cause.
func each[T any](ctx context.Context, list []T, progress func(done, total int), do func(ctx context.Context, i int, one T) error) []error {
	errs := make([]error, len(list))
	var (
		mu      sync.Mutex
		done    int
		workers sync.WaitGroup
		next    = make(chan int)
	)
	for range min(atATime, len(list)) {
		workers.Go(func() {
			for i := range next {
				if errs[i] = context.Cause(ctx); errs[i] == nil {
					errs[i] = do(ctx, i, list[i])
				}
				mu.Lock()
				if done++; progress != nil {
					progress(done, len(list))
				}
				mu.Unlock()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	workers.Wait()
	return errs
}
