package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/ops"
)

// listedCalendar is a calendar for programs.
type listedCalendar struct {
	Name     string `json:"name"`
	Version  int64  `json:"version"`
	Document string `json:"document"`
	Error    string `json:"error,omitempty"`
}

func listed(l *ops.Calendar) listedCalendar {
	r := listedCalendar{Name: l.Name, Version: l.Version, Document: string(l.Document)}
	if l.Err != nil {
		r.Error = l.Err.Error()
	}
	return r
}

func (c *cli) calendarCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List the calendars of the namespace", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				calendars, err := s.ops.Calendars(ctx)
				if err != nil {
					return err
				}
				rows := namesOf(calendars, func(l *ops.Calendar) listedCalendar { return listed(l) })
				return c.print(show.Result{Value: rows, Names: func() []string { return namesOf(rows, func(l listedCalendar) string { return l.Name }) }, Table: func() *show.Table {
					t := show.NewTable("CALENDAR", "VERSION", "ERROR")
					t.Empty = "No calendar."
					for _, l := range rows {
						t.Row(l.Name, l.Version, l.Error)
					}
					return t
				}})
			})
		},
	}
	get := &cobra.Command{
		Use: "get NAME", Short: "Show a calendar", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.calendarNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				l, err := s.ops.Calendar(ctx, args[0])
				if err != nil {
					return err
				}
				if c.output.ForPeople() {
					return c.printer().Say("%s", strings.TrimSuffix(string(l.Document), "\n"))
				}
				return c.print(show.Result{Value: listed(l), Names: func() []string { return []string{l.Name} }})
			})
		},
	}
	return family("calendar", "Calendars: times that ticks leave out", list, get, c.putCalendarCommand(), c.removeCalendarCommand())
}

func (c *cli) putCalendarCommand() *cobra.Command {
	var file string
	var version int64
	cmd := c.changes(&cobra.Command{
		Use: "put NAME --file FILE", Short: "Write a calendar; the jobs that name it go by it at once", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.calendarNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := c.source(file)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			if _, err := calendar.Parse(source.Text); err != nil {
				return exit.Errorf(exit.Usage, "%s: %w", source.Name, err)
			}
			r := ops.PutCalendarRequest{Name: args[0], Document: source.Text}
			if cmd.Flags().Changed("version") {
				r.Version = &version
			}
			return c.change(cmd, func(ctx context.Context, ch *changer) error {
				put, err := ch.ops.PutCalendar(ctx, r)
				if err != nil {
					return err
				}
				ch.result = calendarEffect(put)
				if len(put.Jobs) > 0 {
					ch.tells("Jobs that name it: %s", strings.Join(put.Jobs, ", "))
				}
				if len(put.Idle) > 0 {
					ch.tells("Jobs that have no tick to come by it: %s", strings.Join(put.Idle, ", "))
				}
				return nil
			})
		},
	})
	cmd.Flags().StringVarP(&file, "file", "f", "", "file with the calendar; - is the standard input")
	cmd.Flags().Int64Var(&version, "version", 0, "only if it has this version")
	if err := cmd.MarkFlagRequired("file"); err != nil {
		panic(err) // an error of the program
	}
	return cmd
}

// calendarEffect is what a calendar that was written does.
type calendarEffect struct {
	Jobs []string `json:"jobs"`
	Idle []string `json:"idle"`
}

func (c *cli) removeCalendarCommand() *cobra.Command {
	var force bool
	cmd := c.changes(&cobra.Command{
		Use: "remove NAME", Short: "Remove a calendar that no job names", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.calendarNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.confirmThere(cmd.Context(), "remove calendar %s", args[0]); err != nil {
				return err
			}
			return c.change(cmd, func(ctx context.Context, ch *changer) error {
				return ch.ops.RemoveCalendar(ctx, ops.RemoveCalendarRequest{Name: args[0], Force: force})
			})
		},
	})
	cmd.Flags().BoolVar(&force, "force", false, "also if jobs name it: they go on by it, with a fault, until their processes end")
	return cmd
}
