package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// logPause is how often an execution under way is asked for further lines.
const logPause = time.Second

func (c *cli) logsCommand() *cobra.Command {
	var item int
	var id string
	var isFollowed bool
	cmd := &cobra.Command{
		Use: "logs JOB [--item ITEM]", Short: "Show what an execution has logged", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: `Show what the newest execution of an item has logged, or the one that --id names. It needs the database of the
history: --history. With --follow it goes on until the execution has ended.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			within := c.ask
			if isFollowed {
				within = c.follow
			}
			return c.past(cmd, within, func(ctx context.Context, reader history.Reader) error {
				if id == "" {
					latest, err := reader.Latest(ctx, args[0], item-1, 1)
					if err != nil {
						return err
					}
					if len(latest) == 0 || latest[0].Item != item {
						return exit.Errorf(exit.NotFound, "history: item %d of job %s has no execution", item, args[0])
					}
					id = latest[0].ID
				}
				return c.printLines(ctx, reader, id, isFollowed)
			})
		},
	}
	cmd.Flags().IntVarP(&item, "item", "i", 0, "item")
	cmd.Flags().StringVar(&id, "id", "", "id of an execution, as history shows it")
	cmd.Flags().BoolVarP(&isFollowed, "follow", "f", false, "show further lines until the execution has ended")
	c.complete(cmd, "item", c.itemNames)
	return cmd
}

// printLines prints the lines of an execution, with those to come if it is followed.
func (c *cli) printLines(ctx context.Context, reader history.Reader, id string, isFollowed bool) error {
	last := 0
	for {
		x, err := reader.Execution(ctx, id) // before its lines: after its end none comes
		if err != nil {
			return err
		}
		for {
			lines, err := reader.Lines(ctx, id, last, history.MaxLimit)
			if err != nil {
				return err
			}
			for _, line := range lines {
				last = line.Number
				if err := c.printLine(line); err != nil {
					return err
				}
			}
			if len(lines) < history.MaxLimit {
				break
			}
		}
		if !isFollowed || x.Outcome != history.OutcomeRunning {
			return nil
		}
		if !sleep.For(ctx, logPause) {
			return fmt.Errorf("execution %s still runs: %w", id, context.Cause(ctx))
		}
	}
}

// logLine is a line for programs.
type logLine struct {
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	Level  string    `json:"level"`
	Text   string    `json:"text"`
}

func (c *cli) printLine(l trace.Line) error {
	p := c.printer()
	if c.output.ForPeople() {
		return p.Say("%s %-5s %s", l.Time.Local().Format("2006-01-02 15:04:05.000"), l.Level, show.Line(l.Text))
	}
	return p.PrintNext(show.Result{Value: logLine{l.Number, l.Time, l.Level.String(), l.Text}})
}
