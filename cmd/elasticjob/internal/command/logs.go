package command

import (
	"context"
	"fmt"
	"slices"
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

// maxLogs is how many items are shown together, and logPage how many lines of each are read at a time.
const (
	maxLogs = 100
	logPage = 200
)

func (c *cli) logsCommand() *cobra.Command {
	var item int
	var id string
	var isFollowed bool
	cmd := &cobra.Command{
		Use: "logs JOB [--item ITEM]", Short: "Show what executions have logged", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: fmt.Sprintf(`Show what the newest execution of each item has logged, by time and with the item in front, of %d items at most; or that
of the item of --item, or the execution that --id names. It needs the database of the history: --history. With --follow
it goes on until the executions have ended.`, maxLogs),
		RunE: func(cmd *cobra.Command, args []string) error {
			within := c.ask
			if isFollowed {
				within = c.follow
			}
			return c.past(cmd, within, func(ctx context.Context, _ *store, reader history.Reader) error {
				p := logPrinter{cli: c, reader: reader, isFollowed: isFollowed}
				if id != "" {
					p.logs = []*execLog{{id: id}}
					return p.print(ctx)
				}
				after, most := -1, maxLogs+1
				if p.hasItems = !cmd.Flags().Changed("item"); !p.hasItems {
					after, most = item-1, 1
				}
				latest, err := reader.Latest(ctx, args[0], after, most)
				switch {
				case err != nil:
					return err
				case len(latest) == 0 && p.hasItems:
					return exit.Errorf(exit.NotFound, "history: job %s has no execution", args[0])
				case !p.hasItems && (len(latest) == 0 || latest[0].Item != item):
					return exit.Errorf(exit.NotFound, "history: item %d of job %s has no execution", item, args[0])
				case len(latest) > maxLogs:
					c.warn("the items from %d on are not shown: give --item", latest[maxLogs].Item)
				}
				for _, x := range latest[:min(len(latest), maxLogs)] {
					p.logs = append(p.logs, &execLog{id: x.ID})
				}
				return p.print(ctx)
			})
		},
	}
	cmd.Flags().IntVarP(&item, "item", "i", 0, "item; default: all")
	cmd.Flags().StringVar(&id, "id", "", "id of an execution, as history shows it")
	cmd.Flags().BoolVarP(&isFollowed, "follow", "f", false, "show further lines until the executions have ended")
	cmd.MarkFlagsMutuallyExclusive("item", "id")
	c.complete(cmd, "item", c.itemNames)
	return cmd
}

// logPrinter prints the logs of executions, with the lines to come if they are followed.
type logPrinter struct {
	*cli
	reader     history.Reader
	logs       []*execLog
	hasItems   bool // lines begin with their item
	isFollowed bool
}

// execLog is the log of an execution.
type execLog struct {
	id        string
	run       history.Execution
	isRunning bool
	last      int          // number of the last line that was read
	lines     []trace.Line // read, and not printed
	isRead    bool         // there are no more, for now
}

func (p *logPrinter) print(ctx context.Context) error {
	for {
		for _, l := range p.logs {
			var err error
			if l.run, err = p.reader.Execution(ctx, l.id); err != nil { // before its lines: after its end none comes
				return err
			}
			l.isRunning, l.isRead = l.run.Outcome == history.OutcomeRunning, false
		}
		for {
			first, err := p.next(ctx)
			if err != nil {
				return err
			}
			if first == nil {
				break
			}
			if err := p.printLine(first.lines[0]); err != nil {
				return err
			}
			first.lines = first.lines[1:]
		}
		for _, l := range p.logs {
			if !l.isRunning && l.last == 0 {
				p.warn("item %d has logged nothing: %v %s", l.run.Item, l.run.Outcome, l.run.Error)
			}
		}
		p.logs = slices.DeleteFunc(p.logs, func(l *execLog) bool { return !l.isRunning })
		if !p.isFollowed || len(p.logs) == 0 {
			return nil
		}
		if !sleep.For(ctx, logPause) {
			return fmt.Errorf("execution %s still runs: %w", p.logs[0].id, context.Cause(ctx))
		}
	}
}

// next returns the log with the earliest line that is not printed; nil if there is none.
func (p *logPrinter) next(ctx context.Context) (first *execLog, err error) {
	for _, l := range p.logs {
		if len(l.lines) == 0 && !l.isRead {
			if l.lines, err = p.reader.Lines(ctx, l.id, l.last, logPage); err != nil {
				return nil, err
			}
			l.isRead = len(l.lines) < logPage
			if n := len(l.lines); n > 0 {
				l.last = l.lines[n-1].Number
			}
		}
		if len(l.lines) > 0 && (first == nil || l.lines[0].Time.Before(first.lines[0].Time)) {
			first = l
		}
	}
	return first, nil
}

// logLine is a line for programs.
type logLine struct {
	Item   int       `json:"item"`
	Number int       `json:"number"`
	Time   time.Time `json:"time"`
	Level  string    `json:"level"`
	Text   string    `json:"text"`
}

func (p *logPrinter) printLine(l trace.Line) error {
	if !p.output.ForPeople() {
		return p.printer().PrintNext(show.Result{Value: logLine{l.Item, l.Number, l.Time, l.Level.String(), l.Text}})
	}
	item := ""
	if p.hasItems {
		item = fmt.Sprintf("[%d] ", l.Item)
	}
	return p.printer().Say("%s%s %-5s %s", item, l.Time.Local().Format("2006-01-02 15:04:05.000"), l.Level, show.Line(l.Text))
}
