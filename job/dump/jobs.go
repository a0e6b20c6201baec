package dump

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Jobs lists the jobs of the namespace, ascending: those that have a configuration, as far as it may
// be read.
//
// Errors: those of [coord.Registry.List].
func Jobs(ctx context.Context, reg coord.Registry) ([]string, error) {
	children, err := reg.List(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("dump: jobs of the namespace: %w", err)
	}
	paths := make([]string, 0, len(children))
	for _, child := range children {
		if isJob(child.Path) {
			paths = append(paths, jobtree.Job(child.Path).Config())
		}
	}
	names := []string{}
	for config, err := range reg.GetAll(ctx, paths) {
		switch {
		case errors.Is(err, coord.ErrNoNode), errors.Is(err, coord.ErrDenied):
		case err != nil:
			return nil, fmt.Errorf("dump: jobs of the namespace: %w", err)
		default:
			names = append(names, coord.Parent(config.Path))
		}
	}
	return names, nil
}
