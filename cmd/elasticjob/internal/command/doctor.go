package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

func (c *cli) doctorCommand() *cobra.Command {
	var o doctor.Options
	var least string
	var isList bool
	cmd := &cobra.Command{
		Use: "doctor [JOB…]", Short: "Look for what is wrong, and say what to do", ValidArgsFunction: arguments(c.jobNames),
		Long: fmt.Sprintf(`Look for what is wrong with jobs, or with the whole namespace and its store: why, since when, and what to do.
What looks wrong is looked at again after a while, because most heals by itself. It ends with code %d if there is a
finding of the severity of --fail-on, or above. "elasticjob docs findings#KIND" says what a kind of finding means.`, exit.Findings),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isList {
				return c.printKinds()
			}
			var bound doctor.Severity
			if err := bound.UnmarshalText([]byte(least)); err != nil {
				return exit.Errorf(exit.Usage, "--fail-on is %q; allowed are info, warning and critical", least)
			}
			if err := cmp.Or(o.Thresholds.Validate(), mayBe("--wait", o.Wait)); err != nil {
				return exit.With(exit.Usage, err)
			}
			o.Jobs = args
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				if len(args) == 1 {
					s.asked = args[0]
				}
				bar := c.progress("examining")
				o.Progress = bar.At
				o.History, _ = s.ops.History() // without one, less is found
				report, err := doctor.Examine(ctx, s.reg, o)
				if bar.End(); report.NoHistory != "" {
					c.warn("the history does not tell all: %s", report.NoHistory)
				}
				if err != nil {
					return err
				}
				again := c.flags.Words(c.context)
				for i := range report.Findings {
					if f := &report.Findings[i]; f.Command != "" {
						f.Command += again
					}
				}
				if err := c.print(findings(report, s.place.Namespace)); err != nil {
					return err
				}
				if report.Worst() >= bound {
					return quiet(exit.Findings)
				}
				return nil
			})
		},
	}
	cmd.Flags().DurationVar(&o.Wait, "wait", 5*time.Second, "time until the second look")
	cmd.Flags().DurationVar(&o.Thresholds.Late, "late", ops.LateAfter, "how long after its tick an execution may begin")
	cmd.Flags().DurationVar(&o.Thresholds.Long, "long", 0, "how long an execution may go on; 0: until the next tick")
	cmd.Flags().IntVar(&o.Thresholds.Missed, "missed", 100, "how many ticks of a job may be missed within a day, as the history tells")
	cmd.Flags().StringVar(&least, "fail-on", "warning", "least severity that counts for the exit code: info, warning or critical")
	cmd.Flags().BoolVar(&isList, "kinds", false, "list all kinds of findings, and look at nothing")
	c.complete(cmd, "fail-on", func(*cobra.Command, []string, string) []string { return []string{"info", "warning", "critical"} })
	return cmd
}

func (c *cli) printKinds() error {
	kinds := doctor.Kinds()
	return c.print(show.Result{Value: kinds, Names: func() []string { return namesOf(kinds, func(k doctor.About) string { return string(k.Kind) }) }, Table: func() *show.Table {
		t := show.NewTable("KIND", "WORST", "MEANING")
		for _, k := range kinds {
			t.Row(k.Kind, k.Worst, k.Meaning)
		}
		return t
	}})
}

// findings shows a report: a paragraph for each finding, because the sentences are long.
func findings(r doctor.Report, namespace string) show.Result {
	return show.Result{
		Value: r, Names: func() []string { return namesOf(r.Findings, func(f doctor.Finding) string { return string(f.Kind) }) },
		Table: func() *show.Table {
			t := show.NewTable()
			for _, f := range r.Findings {
				one := show.NewTable()
				for _, line := range [][2]string{{"Cause", f.Cause}, {"Since", clock(f.Since)}, {"Path", f.Path}, {"Do", f.Advice}, {"With", f.Command}} {
					one.Field("  "+line[0], line[1])
				}
				for _, e := range f.Effects[:min(len(f.Effects), 4)] { // with them a finding has ten lines
					one.Field("  Effect", e)
				}
				t.Section(findingTitle(f), one)
			}
			t.Head = fmt.Sprintf("%s examined: %s", count(r.Jobs, "job"), count(len(r.Findings)+r.More, "finding"))
			if r.Store != nil {
				t.Head += "; " + r.Store.Product + ", namespace " + namespace
			}
			return t
		},
	}
}

func findingTitle(f doctor.Finding) string {
	parts := []string{strings.ToUpper(f.Severity.String()), string(f.Kind)}
	add := func(is bool, format string, about any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, about))
		}
	}
	add(f.Job != "", "job %s", f.Job)
	add(len(f.Items) > 0, "items %s", selection.Ranges(f.Items))
	add(f.MoreItems > 0, "and %d more items", f.MoreItems)
	add(f.Instance != "", "%s", f.Instance)
	add(len(f.Others) > 0, "and %d more", len(f.Others)+f.MoreOthers)
	add(len(f.Effects) > 1, "%d effects", len(f.Effects))
	return strings.Join(parts, "  ")
}
