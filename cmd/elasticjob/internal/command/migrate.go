package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// migration is what the flags of migrate say.
type migration struct {
	*cli
	from, to string
	move     migrate.Move
	place    target.Place // whose change is confirmed: that which the jobs leave, unless the other one alone is in production
	isAbort  bool
}

func (c *cli) migrateCommand() *cobra.Command {
	m := &migration{cli: c}
	cmd := c.changes(&cobra.Command{
		Use: "migrate --from STORE --to STORE [JOB…]", Short: "Move jobs to another store", ValidArgsFunction: arguments(c.jobNames),
		Long: `Move jobs to another store: their configurations, what operators have said of them, and what they have run, so that
no tick is lost or run twice. Without names: all of the namespace, with its audit. A store is an address, as
--store takes it, or a context; --from is by default the store that the other flags, the environment or the context give.

First all is checked. What is cut short goes on when the same command is given again; --abort takes back what is
on its way. --dry-run only checks.`,
		Example: "  elasticjob migrate --from zookeeper://zk-0,zk-1/shop/jobs --to etcd://etcd-0,etcd-1/shop/jobs --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			m.move.Jobs = args
			return m.run(cmd)
		},
	})
	f := cmd.Flags()
	f.StringVar(&m.from, "from", "", "store that the jobs leave; default: the current one")
	f.StringVar(&m.to, "to", "", "store that they go to")
	f.StringVar(&m.move.Why, "why", "", "why, for people")
	f.BoolVar(&m.move.StopInstances, "stop-instances", false, "stop instances that run; without it jobs with instances are refused")
	f.BoolVar(&m.isAbort, "abort", false, "take back what is on its way")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // an error of the program
	}
	c.complete(cmd, "from", c.contextNames)
	c.complete(cmd, "to", c.contextNames)
	return cmd
}

// run connects to both stores, and does what is wanted.
func (m *migration) run(cmd *cobra.Command) (err error) {
	ctx, cancel := m.bounded(cmd, true)
	defer cancel()
	var places []target.Place
	for _, side := range []struct {
		flag, named string
		to          *migrate.Store
	}{{"--from", m.from, &m.move.From}, {"--to", m.to, &m.move.To}} {
		t, place, err := m.side(ctx, side.flag, side.named)
		if err != nil {
			return err
		}
		reg, hangUp, err := m.dial(ctx, t)
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, hangUp()) }()
		*side.to = migrate.Store{Registry: reg, Name: t.String(), ZooKeeper: t.Kind == target.ZooKeeper}
		places = append(places, place)
	}
	if m.place = places[0]; places[1].Production && !m.place.Production {
		m.place = places[1]
	}
	if err := m.yes.Check(m.place); err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := m.printer().Head(fmt.Sprintf("from %v, to %v", places[0], places[1]), m.place.Production); err != nil {
		return err
	}
	m.move.By = m.who(cmd)
	if m.isAbort {
		return m.abort(ctx)
	}
	return m.forward(ctx)
}

// side returns one of the two stores, and its place; that which nothing names is the current one.
func (m *migration) side(ctx context.Context, flag, named string) (t *target.Target, p target.Place, err error) {
	var s target.Settings
	var name string
	if named != "" {
		s, name, err = m.named(flag, named)
	} else {
		s, name, err = m.settings()
	}
	if err == nil {
		t, err = m.targetOf(ctx, s)
	}
	if err == nil {
		p, err = s.Place(name)
	}
	return t, p, err
}

// planned is the plan for programs.
type planned struct {
	DryRun bool `json:"dryRun"`
	*migrate.Plan
}

// forward shows the plan, asks, and moves.
func (m *migration) forward(ctx context.Context) error {
	plan, err := m.move.Plan(ctx)
	if err != nil {
		return err
	}
	refused := plan.Refused()
	if m.dryRun || m.output.ForPeople() || len(refused) > 0 {
		if err := m.print(planOf(planned{m.dryRun, plan})); err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return exit.Errorf(exit.Conflict, "%w: %s", migrate.ErrRefused, count(len(refused), "finding"))
	}
	if m.dryRun {
		return m.printer().Say("\nNothing was changed: this is a dry run.")
	}
	if err := m.confirm(ctx, m.place, "move %s from %s to %s", count(len(plan.Jobs), "job"), m.move.From.Name, m.move.To.Name); err != nil {
		return err
	}
	bar := m.progress("moving")
	m.move.Progress = bar.At
	result, err := m.move.Run(ctx)
	bar.End()
	return cmp.Or(m.printMoved(result), m.goesOn(err))
}

func (m *migration) abort(ctx context.Context) error {
	if m.dryRun {
		return exit.Errorf(exit.Usage, "--abort: there is no dry run of it; elasticjob migrate --dry-run without it shows what is on its way")
	}
	if err := m.confirm(ctx, m.place, "take back what is on its way from %s to %s", m.move.From.Name, m.move.To.Name); err != nil {
		return err
	}
	result, err := m.move.Abort(ctx)
	return cmp.Or(m.printMoved(result), err)
}

// goesOn says what to do about a migration that is half done.
func (m *migration) goesOn(err error) error {
	if err == nil || errors.Is(err, migrate.ErrRefused) || errors.Is(err, migrate.ErrOther) || errors.Is(err, migrate.ErrTakenOver) {
		return err
	}
	return fmt.Errorf("%w; give the same command again, or --abort", err)
}

func planOf(p planned) show.Result {
	return show.Result{
		Value: p, Names: func() []string { return namesOf(p.Jobs, func(j migrate.JobPlan) string { return j.Name }) },
		Table: func() *show.Table {
			t := show.NewTable("JOB", "STATE", "ITEMS", "NODES", "INSTANCES", "REMARKS")
			t.Empty = "No job is to be moved."
			for _, j := range p.Jobs {
				remarks := ""
				if j.IsConverted {
					remarks = "configuration of elastic-job 2.1, which is converted"
				}
				t.Row(j.Name, j.State, j.Items, j.Nodes, len(j.Instances), remarks)
			}
			if slices.ContainsFunc(p.Jobs, func(j migrate.JobPlan) bool { return j.State != migrate.There }) {
				t.Foot = "A migration is half done, and goes on."
			}
			findings := show.NewTable("SEVERITY", "JOB", "CAUSE")
			for _, f := range p.Findings {
				findings.Row(f.Severity, f.Job, f.Cause)
			}
			t.Section("Findings:", findings)
			return t
		},
	}
}

// moved is the result for programs.
type moved struct {
	Moved       []string          `json:"moved"`
	Stayed      []string          `json:"stayed,omitempty"`
	Findings    []migrate.Finding `json:"findings,omitempty"`
	SourceToken int64             `json:"sourceToken,omitempty"`
	TargetToken int64             `json:"targetToken,omitempty"`
}

func (m *migration) printMoved(r *migrate.Result) error {
	if r == nil {
		return nil
	}
	if !m.output.ForPeople() {
		return m.print(show.Result{Value: moved(*r), Names: func() []string { return r.Moved }})
	}
	p := m.printer()
	if len(r.Moved) > 0 {
		if err := p.Say("\nMoved: %s", someOf(r.Moved)); err != nil {
			return err
		}
	}
	if len(r.Stayed) > 0 {
		if err := p.Say("Back at the source: %s. Jobs that had arrived before stay at the target.", someOf(r.Stayed)); err != nil {
			return err
		}
	}
	if r.TargetToken > 0 && r.TargetToken < r.SourceToken {
		return p.Say("Fencing tokens at the target are smaller: up to %d at the source, from %d on at the target. Systems that refuse smaller ones have to be reset.", r.SourceToken, r.TargetToken)
	}
	return nil
}

// someOf lists names in a line, as many as a person may want to read; -o json has all.
func someOf(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
