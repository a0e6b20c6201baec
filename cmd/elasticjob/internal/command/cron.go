package command

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

func (c *cli) cronCommand() *cobra.Command {
	return family("cron", "Cron expressions: their ticks, in words, and from Unix", c.cronNextCommand(), c.cronExplainCommand(), c.cronConvertCommand())
}

// maxTicks bounds how many ticks are shown.
const maxTicks = 10_000

// tick is one for programs.
type tick struct {
	At  time.Time `json:"at"` // in the zone of the schedule
	UTC time.Time `json:"utc"`
}

func (c *cli) cronNextCommand() *cobra.Command {
	var zone string
	var count int
	var from moment.Moment
	var calendars []string
	cmd := &cobra.Command{
		Use: "next EXPRESSION…", Short: "Show the next ticks",
		Long: `Show the next ticks of an expression in Quartz syntax or of the five fields of Unix cron, or of several together. Ticks
that a calendar leaves out are not shown: it is a document as calendar put takes it, or an iCalendar file.`,
		Example: `  elasticjob cron next '0 0 3 L * ?' --zone Asia/Shanghai --count 12
  elasticjob cron next '0 0 9 ? * MON-FRI' --calendar holidays.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if count < 1 || count > maxTicks {
				return exit.Errorf(exit.Usage, "--count is %d; allowed are 1 to %d", count, maxTicks)
			}
			schedule, err := c.schedule(args, zone, calendars)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			at := from.Time
			if at.IsZero() {
				at = time.Now()
			}
			list := []tick{}
			for at = schedule.Next(at); !at.IsZero() && len(list) < count; at = schedule.Next(at) {
				list = append(list, tick{at, at.UTC()})
			}
			return c.print(show.Result{Value: list, Names: func() []string {
				return namesOf(list, func(t tick) string { return t.At.Format(time.RFC3339) })
			}, Table: func() *show.Table {
				t := show.NewTable("TICK", "DAY", "UTC")
				t.Empty = "No tick is to come."
				for _, one := range list {
					t.Row(one.At.Format("2006-01-02 15:04:05 -0700"), one.At.Format("Mon"), one.UTC.Format(moment.Layout))
				}
				return t
			}})
		},
	}
	cmd.Flags().StringVar(&zone, "zone", "", "time zone: Asia/Shanghai, or GMT+08:00; default: the local one")
	cmd.Flags().IntVarP(&count, "count", "n", 10, "how many ticks")
	cmd.Flags().Var(&from, "from", "only ticks after this time; default: now")
	cmd.Flags().StringArrayVar(&calendars, "calendar", nil, "file with a calendar; may be given several times")
	return cmd
}

// schedule returns the ticks of expressions, without those that calendars leave out.
func (c *cli) schedule(expressions []string, zone string, files []string) (calendar.Schedule, error) {
	location, err := cronexpr.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("--zone: %w", err)
	}
	var all cronexpr.Union
	for _, expr := range expressions {
		s, err := cronexpr.Parse(expr, location)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	var calendars []*calendar.Calendar
	for _, file := range files {
		source, err := c.source(file)
		if err != nil {
			return nil, err
		}
		read := calendar.Parse
		if bytes.HasPrefix(bytes.TrimSpace(source.Text), []byte("BEGIN:VCALENDAR")) {
			read = func(text []byte) (*calendar.Calendar, error) { return calendar.FromICalendar(location.String(), text) }
		}
		one, err := read(source.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		calendars = append(calendars, one)
	}
	return calendar.Without(all, calendars...), nil
}

// explained is an expression in words, for programs.
type explained struct {
	Expression string `json:"expression"`
	Words      string `json:"words"`
}

func (c *cli) cronExplainCommand() *cobra.Command {
	var language string
	languages := map[string]cronexpr.Language{"en": cronexpr.English, "zh": cronexpr.Chinese}
	cmd := &cobra.Command{
		Use: "explain EXPRESSION", Short: "Say in words when an expression ticks",
		Example: `  elasticjob cron explain '0 0 3 LW * ?'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			in, ok := languages[language]
			if !ok {
				return exit.Errorf(exit.Usage, "--language is %q; allowed are en and zh", language)
			}
			s, err := cronexpr.Parse(args[0], time.UTC)
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			e := explained{s.String(), s.Explain(in)}
			if c.output.ForPeople() {
				return c.printer().Say("%s", e.Words)
			}
			return c.print(show.Result{Value: e, Names: func() []string { return []string{e.Words} }})
		},
	}
	cmd.Flags().StringVar(&language, "language", "en", "en or zh")
	c.complete(cmd, "language", func(*cobra.Command, []string, string) []string { return []string{"en", "zh"} })
	return cmd
}

// converted are Quartz expressions for programs.
type converted struct {
	Unix        string   `json:"unix"`
	Expressions []string `json:"expressions"`
}

func (c *cli) cronConvertCommand() *cobra.Command {
	return &cobra.Command{
		Use: "convert LINE", Short: "Make Quartz expressions of a line of Unix cron",
		Long: `Make Quartz expressions of the five fields of Unix cron, with the meaning of Vixie cron: for JVM members, which read
no five fields, and for what cron and robfig/cron take for different things, which a job does not take as it is. There are
two if both day fields say something, because cron runs on the days of either: cron and moreCrons of a job.`,
		Example: `  elasticjob cron convert '30 4 1,15 * 5'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := cronexpr.Convert(args[0])
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			if c.output.ForPeople() {
				return c.printer().Say("%s", strings.Join(list, "\n"))
			}
			return c.print(show.Result{Value: converted{args[0], list}, Names: func() []string { return list }})
		},
	}
}
