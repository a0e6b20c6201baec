package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/ops"
)

func (c *cli) auditCommand() *cobra.Command {
	var q ops.AuditQuery
	var action, id string
	cmd := &cobra.Command{
		Use: "audit [JOB]", Short: "List what operators have changed, the newest first", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: fmt.Sprintf("List what operators have changed: the newest %d changes of the namespace. A history has more: see elasticjob events.", ops.MaxAudit),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := mayBe("--limit", q.Limit); err != nil {
				return err
			}
			q.Action = ops.Action(action)
			if len(args) > 0 {
				q.Job = args[0]
			}
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				if id != "" {
					return c.showChange(ctx, s, id)
				}
				list, err := s.ops.Audit(ctx, q)
				if err != nil {
					return err
				}
				return c.print(show.Result{Value: list, Names: func() []string { return namesOf(list, func(made ops.Change) string { return made.ID }) }, Table: func() *show.Table {
					return changeTable(list)
				}})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.By, "of", "", "only what this person has changed")
	f.StringVar(&action, "action", "", "only this action, such as pause")
	f.StringVar(&q.Before, "before", "", "only what came before the change with this ID")
	f.IntVar(&q.Limit, "limit", 50, "how many at most; 0 is all")
	f.StringVar(&id, "id", "", "one change, with what was before and after")
	return cmd
}

func changeTable(list []ops.Change) *show.Table {
	t := show.NewTable("AT", "BY", "ACTION", "JOB", "DETAIL", "CHANGE", "WHY", "(FROM)", "(ID)")
	t.Empty = "Nothing was changed."
	for _, made := range list {
		why := made.Why
		if made.Err != nil {
			why = made.Err.Error()
		}
		t.Row(clock(made.At), made.By, made.Action, made.Job+someOf(made.Jobs), made.Detail, shortly(made), why, made.From, made.ID)
	}
	return t
}

// shortly says in one line what has changed.
func shortly(made ops.Change) string {
	made = show.VeiledChange(made)
	if made.Before == made.After {
		return ""
	}
	if !strings.Contains(made.Before, "\n") && !strings.Contains(made.After, "\n") {
		return orNothing(made.Before) + " → " + orNothing(made.After)
	}
	return strings.Join(show.Differing(made.Before, made.After), ", ")
}

func (c *cli) showChange(ctx context.Context, s *store, id string) error {
	list, err := s.ops.Audit(ctx, ops.AuditQuery{})
	if err != nil {
		return err
	}
	for _, made := range list {
		if made.ID != id {
			continue
		}
		return c.print(show.Result{Value: made, Names: func() []string { return []string{id} }, Table: func() *show.Table {
			made := show.VeiledChange(made)
			t := show.NewTable()
			for _, f := range [][2]string{{"ID", made.ID}, {"At", clock(made.At)}, {"By", made.By}, {"From", made.From}, {"Action", string(made.Action)}, {"Job", made.Job + strings.Join(made.Jobs, ", ")}, {"Detail", made.Detail}, {"Why", made.Why}} {
				t.Field(f[0], f[1])
			}
			t.Section("Before:", show.Text(made.Before))
			t.Section("After:", show.Text(made.After))
			t.Section("Difference:", show.Text(strings.Join(show.Differing(made.Before, made.After), "\n")))
			return t
		}})
	}
	return exit.Errorf(exit.NotFound, "audit: there is no change %q, or not any more", id)
}
