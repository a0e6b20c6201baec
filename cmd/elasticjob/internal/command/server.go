package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

func (c *cli) shutdownCommand() *cobra.Command {
	var r ops.ShutdownRequest
	cmd := c.steers(&cobra.Command{
		Use: "shutdown JOB…", Short: "Tell instances to leave a job when what they run has ended",
		Long: `Tell instances to leave a job. Their idle items go to others at once; what runs comes to its end. The process goes
on with its other jobs, and does not come back to this one by itself: there is no command that undoes this. Nothing in the
store keeps it away either: start the process again, or another one.`,
		Example: "  elasticjob shutdown settle --server 10.0.0.7 --why 'disk is failing'",
	}, plan{
		does: func() string {
			if r.All {
				return "have all instances leave"
			}
			return "have the instances that are named leave"
		},
		isFor: func(j *ops.JobInfo) bool { return j.Instances > 0 }, asks: true,
	}, func(ctx context.Context, j *ops.Job) (any, string, error) {
		told, err := j.Shutdown(ctx, r)
		say := ""
		if len(told) > 0 {
			say = comesBack
		}
		return told, say, err
	})
	cmd.Flags().StringSliceVar(&r.Instances, "instance", nil, "id of an instance; may be given several times")
	cmd.Flags().StringSliceVar(&r.Servers, "server", nil, "address of a server; may be given several times")
	cmd.Flags().BoolVar(&r.All, "all", false, "all instances of the job")
	cmd.Flags().StringVar(&r.Why, "why", "", "why, for people")
	cmd.MarkFlagsOneRequired("instance", "server", "all")
	cmd.MarkFlagsMutuallyExclusive("all", "instance")
	cmd.MarkFlagsMutuallyExclusive("all", "server")
	c.complete(cmd, "instance", c.instanceNames)
	c.complete(cmd, "server", c.serverNames)
	return cmd
}

// comesBack says what undoes a shutdown.
const comesBack = "What was shut down comes back when its process is started again; no command does that, and nothing in the store is to be undone"

// serverChanges are what is done with a server in all its jobs.
func (c *cli) serverChanges() []*cobra.Command {
	var why string
	shutdown := c.serverChange("shutdown ADDRESS", "Tell the instances of a server to leave all their jobs", "have all instances at %s leave their jobs",
		func(ctx context.Context, s *ops.Server) ([]ops.JobResult, error) { return s.Shutdown(ctx, why) })
	shutdown.Long = shutdown.Short + ".\n" + comesBack + "."
	shutdown.Flags().StringVar(&why, "why", "", "why, for people")
	return []*cobra.Command{
		c.serverChange("disable ADDRESS", "Keep a server from having items of the jobs that have run there", "",
			func(ctx context.Context, s *ops.Server) ([]ops.JobResult, error) { return s.Disable(ctx) }),
		c.serverChange("enable ADDRESS", "No longer keep a server from having items, but of jobs that are disabled as a whole", "",
			func(ctx context.Context, s *ops.Server) ([]ops.JobResult, error) { return s.Enable(ctx) }),
		shutdown,
		c.serverChange("remove ADDRESS", "Shut the instances of a server down, and remove what all jobs have of it", "remove server %s from all jobs",
			func(ctx context.Context, s *ops.Server) ([]ops.JobResult, error) { return s.Remove(ctx) }),
	}
}

func (c *cli) serverChange(use, short, question string, do func(context.Context, *ops.Server) ([]ops.JobResult, error)) *cobra.Command {
	return c.changes(&cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.allServerNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if question != "" {
				if err := c.confirmThere(cmd.Context(), question, args[0]); err != nil {
					return err
				}
			}
			return c.changeMuch(cmd, func(ctx context.Context, ch *changer) error {
				outcomes, err := do(ctx, ch.ops.Server(args[0]))
				for _, o := range outcomes {
					switch {
					case o.Err != nil:
						ch.tells("Job %s failed: %v", o.Job, o.Err)
					case o.IsDisabled:
						ch.tells("Job %s is disabled as a whole, and stays so: elasticjob enable %[1]s", o.Job)
					}
				}
				return err
			})
		},
	})
}

func (c *cli) clearCommand() *cobra.Command {
	var of items
	failovers := c.clears("failovers JOB", "Have items not run again that were cut short", "have items of job %s not run again that were cut short",
		func(ctx context.Context, j *ops.Job) (any, error) { return j.ClearFailovers(ctx, of...) })
	failovers.Flags().VarP(&of, "items", "i", "items, such as 0,2-4; default: all that wait")
	c.complete(failovers, "items", c.itemNames)
	var r ops.ClearServersRequest
	servers := c.clears("servers JOB", "Remove servers that have no instance", "",
		func(ctx context.Context, j *ops.Job) (any, error) { return j.ClearServers(ctx, r) })
	servers.Flags().BoolVar(&r.Disabled, "disabled", false, "also those that are disabled")
	return family("clear", "Clear away what keeps a job, or nobody needs",
		c.clears("misfires JOB", "Forget ticks that were missed: they are not made up", "forget what job %s has missed",
			func(ctx context.Context, j *ops.Job) (any, error) { return nil, j.ClearMisfires(ctx) }),
		failovers, servers,
		c.clears("stale JOB", "Remove what instances have left behind that others wait for", "",
			func(ctx context.Context, j *ops.Job) (any, error) { return j.ClearStale(ctx) }),
	)
}

func (c *cli) clears(use, short, question string, do func(context.Context, *ops.Job) (any, error)) *cobra.Command {
	return c.changes(&cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if question != "" {
				if err := c.confirmThere(cmd.Context(), question, args[0]); err != nil {
					return err
				}
			}
			return c.change(cmd, func(ctx context.Context, ch *changer) (err error) {
				ch.result, err = do(ctx, ch.job(args[0]))
				return err
			})
		},
	})
}

func (c *cli) implementCommand() *cobra.Command {
	var r ops.ImplementRequest
	var adopt bool
	cmd := c.changes(&cobra.Command{
		Use: "implement JOB --from OLD --to NEW", Short: "Give a job another implementation", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: `Give a job another implementation, if it has the one of --from. Processes that run it under the old name run on, with a
fault, until they end; only those with the new one start. So a job that instances run is refused without --adopt.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, func(ctx context.Context, ch *changer) error {
				if who := declare.RunBy(ctx, ch.ops, args[0]); who != "" && !adopt && r.From != r.To {
					return exit.Errorf(exit.Conflict, "job %s is run by %s; they would go on under the old name: give --adopt if that is wanted", args[0], who)
				}
				return ch.job(args[0]).Implement(ctx, r)
			})
		},
	})
	cmd.Flags().StringVar(&r.From, "from", "", "implementation that the job has")
	cmd.Flags().StringVar(&r.To, "to", "", "implementation that it gets")
	cmd.Flags().Int64Var(&r.Version, "version", 0, "only if the configuration has this version")
	cmd.Flags().BoolVar(&adopt, "adopt", false, "also if instances run it: they go on under the old name until they end")
	for _, flag := range []string{"from", "to"} {
		if err := cmd.MarkFlagRequired(flag); err != nil {
			panic(err) // an error of the program
		}
	}
	return cmd
}
