package declare

import (
	"context"
	"iter"
	"sync"

	"github.com/elasticjob-go/elasticjob/ops"
)

// atATime bounds how many jobs are read, or written, at the same time.
const atATime = 32

// readAll reads what the registry has of some jobs, in their order.
func readAll(ctx context.Context, o *ops.Ops, names []string, progress func(done, total int)) ([]seen, error) {
	there, err := collect(o.SettingsOf(ctx, names), progress)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]ops.Settings, len(there))
	for _, s := range there {
		byName[s.Job] = s
	}
	list := make([]seen, len(names))
	for i, name := range names {
		s, isThere := byName[name]
		list[i] = seen{isThere: isThere, settings: s, unread: s.Err}
	}
	return list, nil
}

// collect collects settings. How many there are is not known before.
func collect(settings iter.Seq2[ops.Settings, error], progress func(done, total int)) ([]ops.Settings, error) {
	var list []ops.Settings
	for s, err := range settings {
		if err != nil {
			return nil, err
		}
		if list = append(list, s); progress != nil {
			progress(len(list), 0)
		}
	}
	return list, nil
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
