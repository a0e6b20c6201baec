package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/failed"
)

func (c *cli) failedCommand() *cobra.Command {
	var from, to moment.Moment
	all := false
	cmd := &cobra.Command{
		Use: "failed", Short: "List what has failed, by job, and what of it has not succeeded since", Args: cobra.NoArgs,
		Long: `List what has failed today, or since --from: jobs with something that still fails first. FAILED counts items at ticks of
which nothing has succeeded since, OLDER those that have gone on to later ticks, SUCCEEDED the others. Without the database
of the history (--history) only the last execution of each item is known.`,
		Example: "  elasticjob failed --from 18:00 --all-contexts",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from.IsZero() {
				if err := from.Set("00:00"); err != nil {
					return err
				}
			}
			if !to.IsZero() && !to.After(from.Time) {
				return exit.Errorf(exit.Usage, "--from %s --to %s: nothing is in between", from.Format(time.RFC3339), to.Format(time.RFC3339))
			}
			clis := []*cli{c}
			if all {
				if c.context != "" || c.flags != (target.Settings{}) {
					return exit.Errorf(exit.Usage, "--all-contexts goes with no flag that names a store")
				}
				clis = nil
				err := c.readContexts(func(f *target.File) error {
					for _, name := range f.Names() {
						clis = append(clis, &cli{env: c.env, context: name, timeout: c.timeout, limited: c.limited})
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			list, errs := []show.Failures{}, []error(nil)
			for _, one := range clis {
				err := one.ask(cmd, func(ctx context.Context, s *store) error {
					q, unseen, err := one.failures(ctx, s, from.Time, to.Time)
					if err != nil {
						return err
					}
					r, err := failed.List(ctx, s.ops, q)
					list = append(list, show.Failures{Context: one.context, Namespace: s.place.Namespace, Report: r, Unseen: unseen})
					return err
				})
				if err != nil && all {
					err = fmt.Errorf("context %s: %w", one.context, err)
				}
				errs = append(errs, err)
			}
			failure := errors.Join(errs...)
			if len(list) == 0 && failure != nil {
				return failure
			}
			return cmp.Or(c.print(show.Failed(list)), failure)
		},
	}
	cmd.Flags().Var(&from, "from", "executions that began then or later; default: today")
	cmd.Flags().Var(&to, "to", "executions that began before")
	cmd.Flags().BoolVar(&all, "all-contexts", false, "of all contexts of the contexts file")
	return cmd
}

// failures returns the question about failures of the namespace, and what cannot be answered.
func (c *cli) failures(ctx context.Context, s *store, from, to time.Time) (q failed.Query, unseen string, err error) {
	list, err := s.ops.Jobs(ctx, ops.JobsQuery{})
	if err != nil {
		return q, "", err
	}
	q = failed.Query{From: from, To: to, Jobs: list.Jobs}
	past, none := s.ops.History()
	shared := c.readContexts(func(f *target.File) error { return f.SharesHistory(c.chosen) })
	if none = cmp.Or(s.noPast, none, shared); none != nil {
		return q, fmt.Sprintf("Of %s only the last execution of each item is known: %v", s.place.Namespace, none), nil
	}
	q.History = past
	return q, "", nil
}

// retryFailures runs again what has failed since then.
func (c *cli) retryFailures(cmd *cobra.Command, from *selection.Selection, since time.Time, older bool) error {
	p := plan{isFor: func(j *ops.JobInfo) bool { return older || j.Failing > 0 }}
	return c.choose(cmd, c.follow, from, p, func(ctx context.Context, s *store, names []string, _ bool) error {
		return c.changeAt(ctx, s, func(ctx context.Context, ch *changer) error {
			q, unseen, err := c.failures(ctx, s, since, time.Time{})
			if err != nil || len(names) == 0 {
				return err
			}
			for _, name := range names {
				if !slices.ContainsFunc(q.Jobs, func(j ops.JobInfo) bool { return j.Name == name }) {
					return fmt.Errorf("job %s: %w", name, ops.ErrNoJob)
				}
			}
			result, err := failed.Retry(ctx, ch.ops.Together(), failed.Request{Query: q, Older: older, Choices: namesOf(names, func(name string) failed.Choice { return failed.Choice{Job: name} })})
			if ch.result = result; unseen != "" {
				ch.tells("%s", unseen)
			}
			refused := 0
			for _, p := range result.Left {
				if p.Why == failed.Refused {
					refused += p.Failures
				}
				ch.tells("%s", strings.TrimSpace(fmt.Sprintf("Left: %s, items %s: %s %s", p.Job, selection.Ranges(p.Items), p.Why, p.Error)))
			}
			if err == nil && refused > 0 && len(result.Begun) == 0 {
				err = fmt.Errorf("nothing runs again: %d were refused", refused)
			}
			return err
		})
	})
}
