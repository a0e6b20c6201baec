package selection

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// atOnce is how many jobs are worked on at a time.
const atOnce = 8

// Each does something with jobs, a few at a time, and goes on when one has failed. It does not begin further ones when
// ctx has ended or the store is away. The error joins the first failures; of a single job it is its own. progress is told
// how many are through, by one goroutine at a time; it may be nil.
func Each(ctx context.Context, jobs []string, progress func(done, total int), do func(i int, job string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failures := make([]error, len(jobs))
	turns := make(chan int)
	var mu sync.Mutex // held to call progress, and guards through
	through := 0
	var workers sync.WaitGroup
	for range min(atOnce, len(jobs)) {
		workers.Go(func() {
			for i := range turns {
				if ctx.Err() != nil {
					failures[i] = fmt.Errorf("job %s: not tried: %w", jobs[i], context.Cause(ctx))
					continue
				}
				if failures[i] = do(i, jobs[i]); errors.Is(failures[i], coord.ErrUnavailable) {
					cancel(failures[i]) // each of the others would fail, after some time
				}
				if progress != nil && len(jobs) > 1 {
					mu.Lock()
					through++
					progress(through, len(jobs))
					mu.Unlock()
				}
			}
		})
	}
	for i := range jobs {
		turns <- i
	}
	close(turns)
	workers.Wait()
	if len(jobs) == 1 {
		return failures[0]
	}
	return joined(failures)
}

func joined(all []error) error {
	var first []error
	failed := 0
	for _, err := range all {
		if err == nil {
			continue
		}
		if failed++; failed <= brief.MaxList {
			first = append(first, brief.Error(err))
		}
	}
	if more := failed - len(first); more > 0 {
		first = append(first, fmt.Errorf("and %d more", more))
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d jobs failed: %w", failed, len(all), errors.Join(first...))
}
