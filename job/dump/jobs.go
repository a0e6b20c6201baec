package dump

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// askedAtOnce is how many jobs of a namespace are looked at at a time.
const askedAtOnce = 16

// Jobs lists the jobs of the namespace, ascending: those that have a configuration, as far as it may
// be read.
//
// Errors: those of [coord.Registry.List].
func Jobs(ctx context.Context, reg coord.Registry) ([]string, error) {
	children, err := reg.List(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("dump: jobs of the namespace: %w", err)
	}
	errs := make([]error, len(children)) // of looking for each configuration
	next := make(chan int)
	var asking sync.WaitGroup
	for range askedAtOnce {
		asking.Go(func() {
			for i := range next {
				_, errs[i] = reg.Get(ctx, jobtree.Job(children[i].Path).Config())
			}
		})
	}
	for i := range children {
		next <- i
	}
	close(next)
	asking.Wait()
	names := []string{}
	for i, child := range children {
		switch {
		case !isJob(child.Path), errors.Is(errs[i], coord.ErrNoNode), errors.Is(errs[i], coord.ErrDenied):
		case errs[i] != nil:
			return nil, fmt.Errorf("dump: jobs of the namespace: %w", errs[i])
		default:
			names = append(names, child.Path)
		}
	}
	return names, nil
}
