package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/ops"
)

func (c *cli) describeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "describe JOB", Aliases: []string{"job"}, Short: "Show all that the store tells of a job", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				d, err := s.job(args[0]).Describe(ctx)
				if err != nil {
					return err
				}
				return c.print(detail(d))
			})
		},
	}
}

func detail(d *ops.JobDetail) show.Result {
	return show.Result{Value: d, Names: func() []string { return []string{d.Info.Name} }, Table: func() *show.Table {
		j := &d.Info
		t := show.NewTable()
		t.Field("Job", j.Name)
		t.Field("Description", j.Description)
		if !d.DoubtSince.IsZero() {
			t.Field("Old since", clock(d.DoubtSince)+": "+d.Doubt)
		} else {
			t.Field("Incomplete", d.Doubt)
		}
		t.Field("Status", j.Status)
		if !j.Paused.Since.IsZero() {
			t.Field("Paused", fmt.Sprintf("since %s by %s: %s", clock(j.Paused.Since), orNothing(j.Paused.By), orNothing(j.Paused.Why)))
		}
		t.Field("Implementation", j.Implementation)
		t.Field("Cron", j.Cron)
		t.Field("Time zone", j.TimeZone)
		t.Field("Items", j.ShardingTotalCount)
		t.Field("Leader", j.Leader)
		t.Field("Schedule in force since", clock(d.Since))
		t.Field("Remarks", strings.Join(remarks(j), "; "))
		var ticks []string
		for _, tick := range d.Ticks {
			ticks = append(ticks, clock(tick))
		}
		t.Field("Next ticks", strings.Join(ticks, ", "))
		if d.Asked {
			t.Field("Asked", "the items are to be resharded")
		}
		t.Section("Faults:", faultTable(d.Faults))
		t.Section("Items:", itemTable(d.Items))
		t.Section("Instances:", instanceTable(d.Instances))
		t.Section("Servers:", jobServerTable(d.Servers))
		t.Section("Requests:", requestTable(d.Requests))
		debris := show.NewTable("NODE")
		for _, path := range d.Debris {
			debris.Row(path)
		}
		t.Section("Nodes that are in the way:", debris)
		t.Section("Configuration:", show.Text(veil.Document(d.Document)))
		return t
	}}
}

func faultTable(faults []ops.FaultInfo) *show.Table {
	t := show.NewTable("SINCE", "KIND", "INSTANCE", "CAUSE")
	for _, f := range faults {
		t.Row(clock(f.Since), f.Kind, f.Instance, f.Cause)
	}
	return t
}

func (c *cli) itemsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "items JOB", Short: "List the items of a job", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				list, err := s.job(args[0]).Items(ctx)
				if err != nil {
					return err
				}
				return c.print(show.Result{
					Value: list, Table: func() *show.Table { return itemTable(list) },
					Names: func() []string { return namesOf(list, func(i ops.ItemInfo) string { return fmt.Sprint(i.Item) }) },
				})
			})
		},
	}
}

func itemTable(list []ops.ItemInfo) *show.Table {
	t := show.NewTable("ITEM", "STATUS", "SERVER", "LAST TICK", "OUTCOME", "ENDED", "REMARKS", "(INSTANCE)", "(PARAMETER)", "(TOKEN)", "(TASK)")
	t.Empty = "No item."
	for i := range list {
		it := &list[i]
		var last ops.LastRun
		if it.Last != nil {
			last = *it.Last
		}
		task, token := last.TaskID, last.Token
		if it.Run != nil {
			task, token = it.Run.TaskID, it.Run.Token
		}
		t.Row(it.Item, it.Status, it.Server, short(last.Tick), last.Outcome, short(last.Ended), strings.Join(itemRemarks(it), "; "), it.Instance, it.Parameter, token, task)
	}
	return t
}

func itemRemarks(it *ops.ItemInfo) (list []string) {
	add := func(isSo bool, format string, args ...any) {
		if isSo {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(it.Error != "", "%s", it.Error)
	if it.Run != nil {
		add(true, "runs for %s", clock(it.Run.Tick))
		add(it.Run.Instance != it.Instance, "on %s", it.Run.Instance)
		add(it.Run.Lost, "whose instance is gone")
	}
	if it.Last != nil {
		add(it.Last.Error != "", "last error: %s", it.Last.Error)
	}
	add(it.Disabled, "disabled")
	add(it.Waits, "waits for failover")
	add(it.Failover != "", "taken over by %s", it.Failover)
	add(it.Misfire, "missed a tick")
	add(it.Killed, "is to end")
	if it.Pin != nil {
		where := it.Pin.Instance + it.Pin.Address + it.Pin.Label
		add(true, "pinned to %s", where)
		add(!it.Pin.Holds, "which is not there")
	}
	add(len(it.Requests) > 0, "%d requests", len(it.Requests))
	return list
}

func (c *cli) instancesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "instances [JOB]", Short: "List the instances of a job, or of all jobs", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				read, none := s.ops.Instances, "No instance."
				if len(args) > 0 {
					read = s.job(args[0]).Instances
				}
				list, err := read(ctx)
				if err == nil && len(args) > 0 && len(list) == 0 {
					var info ops.JobInfo
					info, err = s.job(args[0]).Info(ctx)
					none = noInstance(info.Status)
				}
				if err != nil {
					return err
				}
				return c.print(show.Result{
					Value: list, Table: func() *show.Table {
						t := instanceTable(list)
						t.Empty = none
						return t
					},
					Names: func() []string { return namesOf(list, func(i ops.InstanceInfo) string { return i.ID }) },
				})
			})
		},
	}
}

// noInstance says why a job has no instance, as far as the tree tells.
func noInstance(status ops.JobStatus) string {
	switch status {
	case ops.JobCrashed:
		return "No instance: one has crashed in the middle of an execution."
	case ops.JobNeverStarted:
		return "No instance: the job was never started."
	}
	return "No instance: the last one has left, or died while it ran nothing."
}

func instanceTable(list []ops.InstanceInfo) *show.Table {
	t := show.NewTable("INSTANCE", "JOB", "SERVER", "ITEMS", "RUNNING", "REMARKS", "(LABELS)", "(WEIGHT)", "(PROTOCOL)", "(REVISION)", "(PROCESS)")
	for i := range list {
		in := &list[i]
		t.Row(in.ID, in.Job, in.Server, selection.Ranges(in.Items), selection.Ranges(in.Running), strings.Join(instanceRemarks(in), "; "),
			strings.Join(in.Labels, ","), in.Weight, in.Protocol, in.Revision, in.Process)
	}
	return t
}

func instanceRemarks(in *ops.InstanceInfo) (list []string) {
	for _, r := range []struct {
		isSo bool
		text string
	}{
		{in.Leader, "leads"}, {!in.Enabled, "disabled"}, {in.Leaving, "leaving"}, {in.JVM, "JVM"}, {in.Old, "old program"},
		{in.Refuses, "refuses the configuration"}, {in.Behind, "works by an earlier configuration"},
		{in.ClockOff, "its clock is off: runs nothing"}, {in.ClockFar, "its clock is off: gets no items"}, {in.Error != "", in.Error},
	} {
		if r.isSo {
			list = append(list, r.text)
		}
	}
	for _, f := range in.Faults {
		list = append(list, f.Kind+": "+f.Cause)
	}
	return list
}

func (c *cli) serversCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "servers [JOB]", Aliases: []string{"server"}, Short: "List the servers of a job, or of all jobs", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				if len(args) > 0 {
					list, err := s.job(args[0]).Servers(ctx)
					if err != nil {
						return err
					}
					return c.print(show.Result{
						Value: list, Table: func() *show.Table { return jobServerTable(list) },
						Names: func() []string { return namesOf(list, func(v ops.JobServer) string { return v.Server }) },
					})
				}
				list, err := s.ops.Servers(ctx)
				if err != nil {
					return err
				}
				return c.print(show.Result{
					Value: list, Table: func() *show.Table { return serverTable(list) },
					Names: func() []string { return namesOf(list, func(v ops.ServerInfo) string { return v.Server }) },
				})
			})
		},
	}
	cmd.AddCommand(c.serverChanges()...)
	return cmd
}

func jobServerTable(list []ops.JobServer) *show.Table {
	t := show.NewTable("SERVER", "JOB", "ENABLED", "INSTANCES", "(IDS)")
	t.Empty = "No server."
	for _, v := range list {
		t.Row(v.Server, v.Job, yesNo(v.Enabled), len(v.Instances), strings.Join(v.Instances, ","))
	}
	return t
}

func serverTable(list []ops.ServerInfo) *show.Table {
	t := show.NewTable("SERVER", "INSTANCES", "JOBS", "DISABLED IN", "ITEMS", "RUNNING")
	t.Empty = "No server."
	for _, v := range list {
		t.Row(v.Server, v.Instances, v.Jobs, v.DisabledJobs, v.Items, v.Running)
	}
	return t
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func (c *cli) processesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "processes", Short: "List the processes that run many jobs, or serve those of others", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				list, err := s.ops.Processes(ctx)
				if err != nil {
					return err
				}
				return c.print(show.Result{Value: list, Names: func() []string { return namesOf(list, func(p ops.ProcessInfo) string { return p.ID }) }, Table: func() *show.Table {
					t := show.NewTable("PROCESS", "SERVER", "ITEMS", "OFFERS", "LABELS", "ERROR")
					t.Empty = "No process has said what it offers."
					for _, p := range list {
						t.Row(p.ID, p.Server, p.Items, andMore(p.Offers, p.MoreOffers), andMore(p.Labels, p.MoreLabels), p.Error)
					}
					return t
				}})
			})
		},
	}
}

func andMore(list []string, more int) string {
	text := strings.Join(list, ",")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
