package command

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/ops"
)

func (c *cli) watchCommand() *cobra.Command {
	var every time.Duration
	cmd := &cobra.Command{
		Use: "watch [JOB]", Short: "Show the jobs, or all of one job, and go on with each change", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: `Show the jobs, and go on with a line for each that has changed; or all of one job, and go on with it whenever it
has changed. -o json prints a document in a line for each change. It ends with Ctrl-C, or after --timeout.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := mayBe("--every", every); err != nil {
				return err
			}
			return c.follow(cmd, func(ctx context.Context, s *store) error {
				var doubts doubts
				if len(args) > 0 {
					for d, err := range s.job(args[0]).Watch(ctx, every) {
						if err != nil {
							return err
						}
						if err := c.printer().PrintNext(c.page(detail(d))); err != nil {
							return err
						}
						c.warnOf(&doubts, d.Doubt, d.DoubtSince)
					}
					return nil
				}
				isFirst := true
				for u, err := range s.ops.Watch(ctx, every) {
					if err != nil {
						return err
					}
					if err := c.printUpdate(u, s.place.Namespace, isFirst); err != nil {
						return err
					}
					c.warnOf(&doubts, u.Fault, u.FaultSince)
					isFirst = false
				}
				return nil
			})
		},
	}
	cmd.Flags().DurationVar(&every, "every", ops.DefaultEvery, "least time between two changes; what happens meanwhile comes together")
	return cmd
}

// page is a result that takes the place of the one before on a terminal.
func (c *cli) page(r show.Result) show.Result {
	table := r.Table
	r.Table = func() *show.Table {
		t := table()
		t.Head = clock(time.Now())
		t.Page = c.env.Width > 0
		return t
	}
	return r
}

func (c *cli) printUpdate(u ops.Update, namespace string, isFirst bool) error {
	p := c.printer()
	if !c.output.ForPeople() {
		return p.PrintNext(show.Result{Value: u, Names: func() []string {
			return append(namesOf(u.Jobs, func(j ops.JobInfo) string { return j.Name }), u.Removed...)
		}})
	}
	if isFirst {
		if err := p.Print(show.Result{Table: func() *show.Table { return jobTable(u.Jobs, namespace) }}); err != nil {
			return err
		}
	} else {
		for i := range u.Jobs {
			j := &u.Jobs[i]
			if err := p.Say("%s  %s  %s  %d of %d run on %d instances  %s", clock(time.Now()), show.Line(j.Name), j.Status, j.Running, j.ShardingTotalCount, j.Instances,
				show.Line(strings.Join(remarks(j), "; "))); err != nil {
				return err
			}
		}
	}
	for _, name := range u.Removed {
		if err := p.Say("%s  %s  removed", clock(time.Now()), show.Line(name)); err != nil {
			return err
		}
	}
	return nil
}

// doubts is what was said last of whether what is shown may be old.
type doubts struct {
	why   string
	since time.Time
}

// warnOf says why what is shown may be old, and since when, and that this is over: once for each.
func (c *cli) warnOf(said *doubts, why string, since time.Time) {
	before := *said
	if *said = (doubts{why, since}); before.why == why && before.since.Equal(since) {
		return
	}
	switch {
	case why == "":
		c.warn("what is shown is up to date again")
	case since.IsZero():
		c.warn("what is shown may be incomplete or old: %s", why)
	default:
		c.warn("what is shown may be old, since %s: %s", clock(since), why)
	}
}
