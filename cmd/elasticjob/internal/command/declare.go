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
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// planning are the flags of commands that plan what files say.
type planning struct {
	*files
	set          string
	prune, adopt bool
}

func (c *cli) planning(cmd *cobra.Command) *planning {
	p := &planning{files: c.files(cmd)}
	cmd.Flags().StringVar(&p.set, "set", declare.DefaultSet, "name of the set that the files are: it is noted with the jobs")
	cmd.Flags().BoolVar(&p.prune, "prune", false, "remove the jobs that this set has applied, and that the files do not have any more")
	cmd.Flags().BoolVar(&p.adopt, "adopt", false, "take jobs of other sets or of none, and change the implementation of those that run")
	return p
}

// run reads the files, and then what the namespace has, and goes on with the plan.
func (p *planning) run(cmd *cobra.Command, do func(context.Context, *store, *declare.Plan) error) error {
	d, err := p.declare()
	if err != nil {
		return err
	}
	return p.cli.follow(cmd, func(ctx context.Context, s *store) error {
		bar := p.cli.progress("reading")
		plan, err := declare.NewPlan(ctx, s.ops, declare.Request{Set: p.set, Files: d, Prune: p.prune, Adopt: p.adopt, Progress: bar.At})
		bar.End()
		if err == nil {
			err = p.cli.head(s)
		}
		if err != nil {
			return err
		}
		return do(ctx, s, plan)
	})
}

// applied is what apply and diff say to programs.
type applied struct {
	DryRun  bool         `json:"dryRun,omitempty"`
	Set     string       `json:"set"`
	Steps   []step       `json:"steps"`
	Changes []ops.Change `json:"changes,omitempty"`
}

// step is one step of a plan, and what has come of it.
type step struct {
	declare.Step
	// Error is why it was not done, and Lost whether somebody else was faster.
	Error string `json:"error,omitempty"`
	Lost  bool   `json:"lost,omitempty"`
}

func (c *cli) applyCommand() *cobra.Command {
	var p *planning
	cmd := c.changes(&cobra.Command{
		Use: "apply -f FILE", Short: "Bring jobs and calendars to what files say",
		Long: `Bring jobs and calendars to what files in the format of elasticjob.yaml say. The plan is shown first, and nothing
is done if a part of it is refused. Each job is changed only if it is still as the plan has seen it: what somebody else
has changed meanwhile is left alone, and the exit code is 4. To apply the same files again changes nothing.

A job of another set, or of none because a program or an operator has made it, is refused, and so is another type or
implementation for a job that instances run. --adopt takes it.
A file without a revision keeps that of the registry; a smaller one is refused.`,
		Args: cobra.NoArgs,
		Example: `  elasticjob apply -f jobs.yaml --dry-run
  elasticjob export > jobs.yaml && elasticjob apply -f jobs.yaml --store etcd://other:2379/shop
  elasticjob apply -f jobs/ --set billing --prune --yes`,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd, c.apply) },
	})
	p = c.planning(cmd)
	return cmd
}

func (c *cli) apply(ctx context.Context, s *store, plan *declare.Plan) error {
	if err := c.showPlan(plan); err != nil {
		return err
	}
	if refused := plan.Refused(); refused != nil {
		return cmp.Or(c.printSteps(applied{DryRun: c.dryRun, Set: plan.Set, Steps: stepsOf(plan)}), exit.Errorf(exit.Conflict, "%s refused; nothing was done", count(plan.Count(declare.Refuse), "job")))
	}
	if plan.Changes() {
		if err := c.confirm(ctx, s.place, "apply this: %s", strings.Join(counts(plan, true), ", ")); err != nil {
			return err
		}
	}
	ch := c.changer(s)
	bar := c.progress("applying")
	results := plan.Apply(ctx, ch.ops, bar.At)
	bar.End()

	a := applied{DryRun: c.dryRun, Set: plan.Set, Changes: ch.made}
	done, lost := 0, 0
	var failures []error
	for _, r := range results {
		one := step{Step: r.Step}
		switch {
		case r.Err != nil:
			one.Error, one.Lost = r.Err.Error(), r.Lost()
			failures = append(failures, r.Err)
			if r.Lost() {
				lost++
			}
		case r.Action.Writes():
			done++
		}
		a.Steps = append(a.Steps, one)
	}
	if err := c.printSteps(a); err != nil {
		return err
	}
	switch {
	case lost == len(failures) && lost > 0:
		return exit.Errorf(exit.Conflict, "%s changed by somebody else since the plan was made, and left alone; apply again", count(lost, "job"))
	case len(failures) > 0:
		return exit.With(exit.Of(failures[0]), fmt.Errorf("%d of %d not done: %w", len(failures), done+len(failures), failures[0]))
	case !c.output.ForPeople() || done == 0:
		return nil
	case c.dryRun:
		return c.printer().Say("Nothing was changed: this is a dry run.")
	}
	return c.printer().Say("Done: %s.", strings.Join(counts(plan, true), ", "))
}

func stepsOf(p *declare.Plan) []step {
	list := make([]step, len(p.Steps))
	for i, s := range p.Steps {
		list[i].Step = s
	}
	return list
}

// printSteps tells programs what has come of a plan, and people what has not.
func (c *cli) printSteps(a applied) error {
	if !c.output.ForPeople() {
		return c.print(show.Result{Value: a, Names: func() []string {
			var names []string
			for _, s := range a.Steps {
				if s.Action.Writes() && s.Error == "" {
					names = append(names, s.Name)
				}
			}
			return names
		}})
	}
	for _, s := range a.Steps {
		if s.Error != "" {
			if err := c.printer().Say("not done: %s %s %s: %s", s.Action, s.Kind, s.Name, show.Line(s.Error)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cli) diffCommand() *cobra.Command {
	var p *planning
	cmd := &cobra.Command{
		Use: "diff -f FILE", Short: "Show what apply would change",
		Long: `Show what apply would change, key by key, with the next ticks before and after. The exit code is 7 if there is
something to change, or something is refused.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.run(cmd, func(_ context.Context, _ *store, plan *declare.Plan) error {
				err := cmp.Or(c.showPlan(plan), c.printSteps(applied{DryRun: true, Set: plan.Set, Steps: stepsOf(plan)}))
				if err == nil && (plan.Changes() || plan.Refused() != nil) {
					return quiet(exit.Findings)
				}
				return err
			})
		},
	}
	p = c.planning(cmd)
	return cmd
}

// showPlan shows people a plan.
func (c *cli) showPlan(plan *declare.Plan) error {
	var b strings.Builder
	for _, s := range plan.Steps {
		if s.Action == declare.Unchanged && c.output != show.Wide {
			continue
		}
		planText(&b, s)
	}
	fmt.Fprintf(&b, "Set %s: %s", plan.Set, strings.Join(counts(plan, false), ", "))
	return c.printer().Say("%s", b.String())
}

// planText writes a step: what is to be done, and below it what changes.
func planText(b *strings.Builder, s declare.Step) {
	fmt.Fprintf(b, "%s %s %s", s.Action, s.Kind, show.Line(s.Name))
	if s.Place != "" {
		fmt.Fprintf(b, "  (%s)", show.Line(s.Place))
	}
	b.WriteByte('\n')
	line := func(text string) { fmt.Fprintf(b, "    %s\n", show.Line(text)) }
	if s.Why != "" {
		line(s.Why)
	}
	for _, d := range s.Differences {
		switch d = show.VeiledDifference(d); {
		case s.Kind == declare.Calendar:
			for _, text := range show.Differing(*d.Before, *d.After) {
				line(text)
			}
		case s.Action == declare.Create:
			line(fmt.Sprintf("%s: %s", d.Key, d.AfterText()))
		default:
			line(d.String())
		}
	}
	switch {
	case s.Action == declare.Create && s.After != nil:
		line("next ticks: " + clocks(s.After))
	case s.Before != nil || s.After != nil:
		line("next ticks before: " + clocks(s.Before))
		line("next ticks after:  " + clocks(s.After))
	}
	if s.Action == declare.Keep {
		line("the files do not have it any more; --prune removes it")
	}
	for _, w := range s.Warnings {
		line("warning: " + w)
	}
}

func clocks(times []time.Time) string {
	if len(times) == 0 {
		return "none"
	}
	var texts []string
	for _, t := range times {
		texts = append(texts, t.Format("2006-01-02 15:04:05 -0700"))
	}
	return strings.Join(texts, ", ")
}

// counts says how many steps there are of each action: of all, or of those that write.
func counts(p *declare.Plan, writing bool) []string {
	var list []string
	for _, a := range []declare.Action{declare.Create, declare.Update, declare.Adopt, declare.Prune, declare.Forget, declare.Keep, declare.Refuse, declare.Unchanged} {
		if n := p.Count(a); n > 0 && (a.Writes() || !writing) {
			list = append(list, fmt.Sprintf("%d %s", n, a))
		}
	}
	if list == nil {
		return []string{"nothing"}
	}
	return list
}

// exported is what export says to programs.
type exported struct {
	Jobs []string `json:"jobs"`
	// File is the text of the file.
	File string `json:"file"`
	// Unread says what is not in it.
	Unread []string `json:"unread,omitempty"`
}

func (c *cli) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "export [JOB…]", Short: "Write a file with jobs, as apply takes it back",
		Long: `Write a file in the format of elasticjob.yaml with some jobs and the calendars that they name, or with all jobs and
calendars of the namespace. Keys that have their default are left out. References in properties stay references. Documents
of ElasticJob 3.0 and elastic-job 2.1 become files, too; their classes are the implementations. A secret in clear text is
in the file, with a warning; a terminal shows *** in its place.`,
		ValidArgsFunction: arguments(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.follow(cmd, func(ctx context.Context, s *store) error { return c.export(ctx, s, args) })
		},
	}
}

// veil hides secrets of jobs from a terminal, and warns of them. A file needs them: it may be applied.
func (c *cli) veil(jobs []jobfile.Declared) {
	if secrets := show.Veil(jobs, c.env.Width > 0); secrets != "" {
		c.warn("secrets in clear text, where references such as ${file:/path} should stand: %s", secrets)
	}
}

func (c *cli) export(ctx context.Context, s *store, names []string) error {
	if len(names) == 1 {
		s.asked = names[0]
	}
	bar := c.progress("reading")
	all, unread, err := declare.Export(ctx, s.ops, names, bar.At)
	bar.End()
	if err != nil {
		return err
	}
	c.veil(all.Jobs)
	text, err := all.Write()
	if err != nil {
		return err
	}
	e := exported{Jobs: []string{}, File: string(text)}
	var overwrite brief.List
	for _, j := range all.Jobs {
		if e.Jobs = append(e.Jobs, j.Config.Name); j.Config.Overwrite {
			overwrite.Add(j.Config.Name)
		}
	}
	if !overwrite.Empty() {
		c.warn("the file keeps overwrite: true of %v: each process that starts with it replaces what the registry has then, also what operators have changed; take it out", &overwrite)
	}
	if len(names) == 0 && len(e.Jobs) == 0 && len(unread) == 0 {
		c.warn("namespace %s has no job", s.place.Namespace)
	}
	isLost := func(why error) bool { return errors.Is(why, declare.ErrNoSuchKey) }
	for _, why := range unread {
		e.Unread = append(e.Unread, why.Error())
		if isLost(why) {
			c.warn("not in the file: %v", why)
		}
	}
	unread = slices.DeleteFunc(unread, isLost)
	switch {
	case c.output == show.JSON || c.output == show.Name:
		err = c.print(show.Result{Value: e, Names: func() []string { return e.Jobs }})
	case c.env.Width > 0: // a terminal
		err = c.printer().Say("%s", strings.TrimSuffix(e.File, "\n"))
	default:
		_, err = c.env.Out.Write(text)
	}
	if err == nil && len(unread) > 0 {
		return exit.Errorf(exit.Findings, "%s not in the file: %w", count(len(unread), "thing"), errors.Join(unread...))
	}
	return err
}
