package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/usage"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// suggest adds the names of similar jobs to the error that there is no such job.
func (s *store) suggest(ctx context.Context, err error) error {
	if s.asked == "" || !errors.Is(err, ops.ErrNoJob) {
		return err
	}
	names, listing := jobNames(ctx, s.reg)
	if listing != nil {
		return err // that there is no such job is what matters
	}
	return fmt.Errorf("%w%s", err, usage.DidYouMean(brief.Similar(s.asked, names)))
}

// jobNames returns the names of all jobs of a namespace, ascending.
func jobNames(ctx context.Context, reg coord.Registry) ([]string, error) {
	nodes, err := reg.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range nodes {
		if name := coord.Base(n.Path); isJob(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// isJob reports whether a job can have the name: the namespace keeps other things, too.
func isJob(name string) bool {
	return jobtype.Config{Name: name, ShardingTotalCount: 1}.Validate() == nil
}
