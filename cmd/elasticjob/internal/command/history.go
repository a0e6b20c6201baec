package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// pastError gives an error of the history its code: what is not one of those that say more means that
// the database does not answer.
func pastError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ops.ErrNoHistory):
		return exit.Errorf(exit.Usage, "%w: give --history, ELASTICJOB_HISTORY, or a context that has one", err)
	case errors.Is(err, history.ErrQuery), errors.Is(err, history.ErrNotFound), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	}
	return exit.With(exit.Unreachable, err)
}

// past connects, and asks the history.
func (c *cli) past(cmd *cobra.Command, within asker, do func(context.Context, *store, history.Reader) error) error {
	return within(cmd, func(ctx context.Context, s *store) error {
		if s.noPast != nil {
			return exit.With(exit.Usage, s.noPast)
		}
		reader, err := s.ops.History()
		if err == nil {
			err = do(ctx, s, reader)
		}
		if _, ok := errors.AsType[*exit.Error](err); ok {
			return err
		}
		return pastError(err)
	})
}

// elsewhere says which jobs of a page the namespace does not have.
func (s *store) elsewhere(ctx context.Context, jobs []string) string {
	return selection.Elsewhere(ctx, s.reg, s.target.Namespace, jobs)
}

func (c *cli) historyCommand() *cobra.Command {
	var f history.ExecutionFilter
	var of items
	var from, to moment.Moment
	var source, after, id string
	var outcomes []string
	var failures bool
	cmd := &cobra.Command{
		Use: "history [JOB]", Short: "List executions of the past, the newest first", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: "List executions of the past, the newest first. It needs the database of the history: --history.",
		Example: `  elasticjob history settle --failures --from 24h
  elasticjob history --id 0199c0de-…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.Job = args[0]
			}
			if len(of) > 0 && f.Job == "" {
				return exit.Errorf(exit.Usage, "--items are those of a job: name it")
			}
			f.Items, f.From, f.To, f.After = of, from.Time, to.Time, history.Cursor(after)
			for _, o := range outcomes {
				f.Outcomes = append(f.Outcomes, history.Outcome(o))
			}
			if failures {
				f.Outcomes = append(f.Outcomes, history.Failures()...)
			}
			if source != "" {
				var err error
				if f.Source, err = sourceOf(source); err != nil {
					return err
				}
			}
			return c.past(cmd, c.ask, func(ctx context.Context, s *store, reader history.Reader) error {
				if id != "" {
					return c.showExecution(ctx, reader, id)
				}
				page, err := reader.Executions(ctx, f)
				if err != nil {
					return err
				}
				return c.print(show.Executions(page, s.elsewhere(ctx, namesOf(page.Rows, func(x history.Execution) string { return x.Job }))))
			})
		},
	}
	flags := cmd.Flags()
	flags.VarP(&of, "items", "i", "items of the job, such as 0,2-4")
	flags.StringVar(&f.Instance, "instance", "", "id of an instance")
	flags.StringVar(&f.IP, "server", "", "address of a server")
	flags.StringVar(&source, "source", "", "why it ran: "+strings.ToLower(strings.Join(sources(), ", ")))
	flags.Var(&oneOf{to: &outcomes, allowed: knownOutcomes()}, "outcome", "how it ended: "+strings.ToLower(strings.Join(knownOutcomes(), ", ")))
	flags.BoolVar(&failures, "failures", false, "those that have failed by themselves")
	flags.StringVar(&f.RequestID, "request", "", "id of a request")
	flags.Var(&from, "from", "those that began then or later")
	flags.Var(&to, "to", "those that began before")
	flags.StringVar(&after, "after", "", "where the page before has ended")
	flags.IntVar(&f.Limit, "limit", history.DefaultLimit, fmt.Sprintf("how many at most, up to %d", history.MaxLimit))
	flags.StringVar(&id, "id", "", "one execution, with its output and those that repeat it")
	c.complete(cmd, "outcome", func(*cobra.Command, []string, string) []string { return knownOutcomes() })
	c.complete(cmd, "source", func(*cobra.Command, []string, string) []string { return sources() })
	return cmd
}

func knownOutcomes() (list []string) {
	list = append(list, string(history.OutcomeOf(jobtype.OutcomeOK)))
	for _, o := range append(history.Failures(), history.Interrupted()...) {
		list = append(list, string(o))
	}
	return append(list, string(history.OutcomeRunning))
}

// sources returns why executions run.
func sources() (list []string) {
	for s := jobtype.SourceNormal; s.String() != "UNKNOWN"; s++ {
		list = append(list, s.String())
	}
	return list
}

func sourceOf(text string) (jobtype.Source, error) {
	for s := jobtype.SourceNormal; s.String() != "UNKNOWN"; s++ {
		if strings.EqualFold(s.String(), text) {
			return s, nil
		}
	}
	return 0, exit.Errorf(exit.Usage, "--source %q is unknown; allowed are %s", text, strings.ToLower(strings.Join(sources(), ", ")))
}

func (c *cli) showExecution(ctx context.Context, reader history.Reader, id string) error {
	x, err := reader.Execution(ctx, id)
	if err != nil {
		return err
	}
	chain, err := reader.Chain(ctx, x)
	if err != nil {
		return err
	}
	return c.print(show.Execution(x, chain))
}

func (c *cli) eventsCommand() *cobra.Command {
	var f history.EventFilter
	var from, to moment.Moment
	var after string
	cmd := &cobra.Command{
		Use: "events [JOB]", Short: "List what else has happened: faults, leaders, failovers, what operators have changed", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: "List what has happened beside executions, the newest first. It needs the database of the history: --history.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.Job = args[0]
			}
			f.From, f.To, f.After = from.Time, to.Time, history.Cursor(after)
			return c.past(cmd, c.ask, func(ctx context.Context, s *store, reader history.Reader) error {
				page, err := reader.Events(ctx, f)
				if err != nil {
					return err
				}
				return c.print(show.Events(page, s.elsewhere(ctx, namesOf(page.Rows, func(x trace.Event) string { return x.Job }))))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Instance, "instance", "", "id of an instance")
	flags.StringVar(&f.By, "of", "", "only what this person has changed")
	flags.StringVar(&f.What, "what", "", "only this, such as pause")
	flags.Var(&from, "from", "what happened then or later")
	flags.Var(&to, "to", "what happened before")
	flags.StringVar(&after, "after", "", "where the page before has ended")
	flags.IntVar(&f.Limit, "limit", history.DefaultLimit, fmt.Sprintf("how many at most, up to %d", history.MaxLimit))
	return cmd
}
