package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
)

// removedJob is a removed job for programs.
type removedJob struct {
	Job      string    `json:"job"`
	By       string    `json:"by,omitempty"`
	At       time.Time `json:"at,omitzero"`
	Why      string    `json:"why,omitempty"`
	Revision int       `json:"revision,omitempty"`
	Expired  bool      `json:"expired,omitempty"`
	MovedTo  string    `json:"movedTo,omitempty"`
	Error    string    `json:"error,omitempty"`
}

func (c *cli) removedCommand() *cobra.Command {
	return &cobra.Command{
		Use: "removed", Short: "List jobs that were removed, and that no program sets up again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				all, err := s.ops.Removed(ctx)
				if err != nil {
					return err
				}
				list := make([]removedJob, len(all))
				for i, r := range all {
					list[i] = removedJob{Job: r.Name, By: r.By, At: r.At, Why: r.Why, Revision: r.Revision, Expired: r.Expired, MovedTo: r.MovedTo}
					if r.Err != nil {
						list[i].Error = r.Err.Error()
					}
				}
				return c.print(show.Result{Value: list, Names: func() []string { return namesOf(list, func(r removedJob) string { return r.Job }) }, Table: func() *show.Table {
					t := show.NewTable("JOB", "BY", "AT", "WHY", "(REVISION)", "(EXPIRED)", "(MOVED TO)", "(ERROR)")
					t.Empty = "No job was removed."
					for _, r := range list {
						t.Row(r.Job, r.By, clock(r.At), r.Why, r.Revision, r.Expired, r.MovedTo, r.Error)
					}
					return t
				}})
			})
		},
	}
}

// namesOf returns what a list has in common, such as the names.
func namesOf[T, N any](list []T, name func(T) N) []N {
	names := make([]N, len(list))
	for i, element := range list {
		names[i] = name(element)
	}
	return names
}
