package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/ops/why"
)

func (c *cli) whyCommand() *cobra.Command {
	var item int
	var at moment.Moment
	cmd := &cobra.Command{
		Use: "why JOB", Short: "Say why a job did not run at a time", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: `Say what became of the last tick of a job, or of an item, up to a time, and why it did not run: who had paused it, which
calendar has left it out, what was wrong then. It knows more with the database of the history: --history.`,
		Example: "  elasticjob why settle --item 3 --at 12:00",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				q := why.Query{Job: args[0], At: at.Time}
				if s.asked = q.Job; cmd.Flags().Changed("item") {
					q.Item = &item
				}
				if s.noPast != nil {
					q.Unseen = []string{"The history cannot be read: " + s.noPast.Error()}
				}
				q.History, _ = s.ops.History() // without one the answer says so
				a, err := why.Explain(ctx, s.ops, q)
				if err != nil {
					return err
				}
				for i := range a.Causes {
					if a.Causes[i].Command != "" {
						a.Causes[i].Command += c.flags.Words(c.context)
					}
				}
				return c.print(show.Answer(a))
			})
		},
	}
	cmd.Flags().IntVarP(&item, "item", "i", 0, "item; default: all")
	cmd.Flags().Var(&at, "at", "when, such as 12:00; default: now")
	c.complete(cmd, "item", c.itemNames)
	return cmd
}
