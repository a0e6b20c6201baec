package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// plan says what a command does with the jobs that are chosen. Several of them, and those that nobody has named, are
// asked about once.
type plan struct {
	does func() string // before the jobs, in the question; nil is the name of the command
	adds string        // behind them
	// isFor is whether there is something to do for a job; nil is yes. One that is named is tried.
	isFor func(*ops.JobInfo) bool
	// asks is to ask also about one job that is named, and saysWho to say which instances run the jobs.
	asks, saysWho bool
}

// selects gives a command the flags that choose jobs.
func (c *cli) selects(cmd *cobra.Command, hasAll bool) *selection.Selection {
	s := &selection.Selection{}
	s.Flags(cmd, hasAll)
	cmd.ValidArgsFunction = arguments(c.jobNames)
	return s
}

// choose connects, chooses jobs, asks about them, and has something done with their names. isMany is whether what is
// said of them needs their names.
func (c *cli) choose(cmd *cobra.Command, within asker, from *selection.Selection, p plan, do func(ctx context.Context, s *store, names []string, isMany bool) error) error {
	name, isOne := from.One()
	if isOne && !p.asks {
		if err := c.confirmProduction(cmd); err != nil {
			return err
		}
		return within(cmd, func(ctx context.Context, s *store) error {
			s.asked = name
			return do(ctx, s, []string{name}, false)
		})
	}
	return c.follow(cmd, func(ctx context.Context, s *store) error {
		jobs := []ops.JobInfo{{Name: name}}
		if s.asked = name; !isOne {
			list, err := s.ops.Jobs(ctx, ops.JobsQuery{})
			if err == nil {
				jobs, err = from.Of(list.Jobs)
			}
			if err != nil {
				return fmt.Errorf("namespace %s: %w", s.place.Namespace, err)
			}
			jobs = slices.DeleteFunc(jobs, func(j ops.JobInfo) bool { return p.isFor != nil && !p.isFor(&j) && !from.IsNamed(j.Name) })
		} else if there, err := s.reg.List(ctx, name); errors.Is(err, coord.ErrNoNode) || err == nil && len(there) == 0 {
			return fmt.Errorf("job %s: %s: %w", brief.Text(name), cmd.Name(), ops.ErrNoJob)
		}
		if len(jobs) > 0 {
			if err := c.confirmPlan(ctx, s, cmd.Name(), p, jobs); err != nil {
				return err
			}
		}
		return do(ctx, s, namesOf(jobs, func(j ops.JobInfo) string { return j.Name }), !isOne)
	})
}

// confirmPlan asks whether something is to be done with jobs, and says with how many and which.
func (c *cli) confirmPlan(ctx context.Context, s *store, does string, p plan, jobs []ops.JobInfo) error {
	if err := c.head(s); err != nil {
		return err
	}
	if p.does != nil {
		does = p.does()
	}
	names := namesOf(jobs, func(j ops.JobInfo) string { return j.Name })
	what := fmt.Sprintf("%s job %s%s", does, names[0], p.adds)
	if len(jobs) > 1 {
		what = fmt.Sprintf("%s %d jobs (%s)%s", does, len(jobs), someOf(names), p.adds)
	}
	if p.saysWho {
		if who := runBy(ctx, s, jobs); who != "" {
			who += selection.CutShort(ctx, s.ops, jobs)
			what += ", run by " + who
			s.notes = append(s.notes, "Run by "+who)
		}
	}
	return c.confirm(ctx, s.place, "%s", what)
}

// runBy says which instances run jobs; empty if none does.
func runBy(ctx context.Context, s *store, jobs []ops.JobInfo) string {
	if len(jobs) == 1 {
		return declare.RunBy(ctx, s.ops, jobs[0].Name)
	}
	var list []string
	instances := 0
	for _, j := range jobs {
		if j.Instances > 0 {
			list = append(list, fmt.Sprintf("%s (%d)", j.Name, j.Instances))
			instances += j.Instances
		}
	}
	if list == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s", count(instances, "instance"), someOf(list))
}

// each does something with jobs, a few at a time. What was changed is told by job.
func (c *cli) each(ctx context.Context, ch *changer, names []string, do func(i int, job string) error) error {
	bar := c.progress("jobs")
	err := selection.Each(ctx, names, bar.At, do)
	bar.End()
	slices.SortStableFunc(ch.made, func(a, b ops.Change) int { return strings.Compare(a.Job, b.Job) })
	return err
}

// jobResult is what has become of one of several jobs, for programs.
type jobResult struct {
	Job    string `json:"job"`
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// steers is a command that does the same with one job or with several. do returns what it tells beside the changes: to
// programs, and to people.
func (c *cli) steers(cmd *cobra.Command, p plan, do func(context.Context, *ops.Job) (result any, say string, err error)) *cobra.Command {
	from := c.selects(cmd, cmd.Name() != "shutdown") // whose --all means instances
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.choose(cmd, c.ask, from, p, func(ctx context.Context, s *store, names []string, isMany bool) error {
			return c.changeAt(ctx, s, func(ctx context.Context, ch *changer) error {
				if isMany {
					ch.ops = ch.ops.Together()
				}
				results, says := make([]jobResult, len(names)), make([]string, len(names))
				err := c.each(ctx, ch, names, func(i int, name string) error {
					result, say, err := do(ctx, ch.ops.Job(name))
					results[i], says[i] = jobResult{Job: name, Result: result}, say
					if err != nil {
						results[i].Error = err.Error()
					}
					return err
				})
				if ch.result = results; !isMany {
					ch.result = results[0].Result
				}
				for i, say := range says {
					switch {
					case say != "" && isMany:
						ch.tells("%s: %s", names[i], say)
					case say != "":
						ch.tells("%s", say)
					}
				}
				return err
			})
		})
	}
	return c.changes(cmd)
}
