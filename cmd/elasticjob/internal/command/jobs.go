package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/ops"
)

func (c *cli) jobsCommand() *cobra.Command {
	var q ops.JobsQuery
	var statuses []string
	cmd := &cobra.Command{
		Use: "jobs", Short: "List the jobs, and how they are", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := mayBe("--limit", q.Limit); err != nil {
				return err
			}
			for _, s := range statuses {
				q.Statuses = append(q.Statuses, ops.JobStatus(s))
			}
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				list, err := s.ops.Jobs(ctx, q)
				if err != nil {
					return err
				}
				return c.print(jobList(list, s.place.Namespace))
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Search, "search", "", "only those with this in name, description or implementation")
	f.StringVar(&q.Label, "label", "", "only those with this label")
	f.StringVar(&q.Server, "server", "", "only those that know the server with this address")
	f.Var(&oneOf{to: &statuses, allowed: jobStatuses()}, "status", "only those with one of these: "+strings.ToLower(strings.Join(jobStatuses(), ", ")))
	f.BoolVar(&q.Paused, "paused", false, "only those that are paused")
	f.BoolVar(&q.Faulty, "faulty", false, "only those that have a fault")
	f.BoolVar(&q.Failing, "failing", false, "only those with items whose last execution was no success")
	f.StringVar(&q.After, "after", "", "only those whose names come after this one")
	f.IntVar(&q.Limit, "limit", 0, "how many at most; 0 is all")
	c.complete(cmd, "status", func(*cobra.Command, []string, string) []string {
		return strings.Fields(strings.ToLower(strings.Join(jobStatuses(), " ")))
	})
	return cmd
}

func jobStatuses() []string {
	return namesOf([]ops.JobStatus{ops.JobOK, ops.JobCrashed, ops.JobStopped, ops.JobNeverStarted, ops.JobDisabled, ops.JobShardingFlag}, func(s ops.JobStatus) string { return string(s) })
}

func jobList(list *ops.JobList, namespace string) show.Result {
	return show.Result{
		Value: list,
		Names: func() []string { return namesOf(list.Jobs, func(j ops.JobInfo) string { return j.Name }) },
		Table: func() *show.Table {
			t := jobTable(list.Jobs, namespace)
			t.Foot = totals(list.Totals)
			if list.Next != "" {
				t.Foot += "\nThere are more: --after " + list.Next
			}
			return t
		},
	}
}

// totals says in a line what the jobs have together.
func totals(t ops.Totals) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{t.OK, "ok"}, {t.Crashed, "crashed"}, {t.Stopped, "stopped"}, {t.NeverStarted, "never started"}, {t.Disabled, "disabled"}, {t.ShardingFlag, "to be assigned"},
		{t.Paused, "paused"}, {t.Faulty, "faulty"}, {t.Failing, "failing"}, {t.BegunLate, "late"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	parts = append(parts, fmt.Sprintf("%d of %s running", t.Running, count(t.Items, "item")))
	return count(t.Jobs, "job") + ": " + strings.Join(parts, ", ")
}

func jobTable(jobs []ops.JobInfo, namespace string) *show.Table {
	t := show.NewTable("JOB", "STATUS", "ITEMS", "RUNNING", "INSTANCES", "LAST", "OUTCOME", "NEXT", "REMARKS", "(CRON)", "(ZONE)", "(LABEL)", "(IMPLEMENTATION)", "(DESCRIPTION)")
	t.Empty = "No job in namespace " + namespace + "."
	for i := range jobs {
		j := &jobs[i]
		t.Row(j.Name, j.Status, j.ShardingTotalCount, j.Running, j.Instances, short(j.Last.Ended), j.Last.Outcome, short(j.Next), strings.Join(remarks(j), "; "),
			j.Cron, j.TimeZone, j.Label, j.Implementation, j.Description)
	}
	return t
}

// remarks says in a few words what is not as always.
func remarks(j *ops.JobInfo) (list []string) {
	add := func(isSo bool, format string, args ...any) {
		if isSo {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(j.JVMOnly, "JVM members only")
	add(j.ConfigError != "", "configuration: %s", j.ConfigError)
	add(!j.Paused.Since.IsZero(), "paused")
	add(j.Faults == 1, "fault: %s", j.Fault)
	add(j.Faults > 1, "%d faults: %s", j.Faults, j.Fault)
	add(j.NextError != "", "next tick: %s", j.NextError)
	add(j.Failing > 0, "%d failing", j.Failing)
	add(j.Waiting > 0, "%d wait for failover", j.Waiting)
	add(j.Disabled > 0, "%s disabled", count(j.Disabled, "item"))
	add(j.DisabledServers > 0 && j.Status != ops.JobDisabled, "%d of %d servers disabled", j.DisabledServers, j.Servers)
	add(j.Requests > 0, "%s", count(j.Requests, "request"))
	add(j.Pins > 0, "%s", count(j.Pins, "pin"))
	add(j.JVM > 0, "%s", count(j.JVM, "JVM member"))
	add(j.Expired, "expired")
	return list
}
