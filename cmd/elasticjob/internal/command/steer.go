package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/ops"
)

// killed is an execution that a kill was sent to.
type killed struct {
	Item     int       `json:"item"`
	Tick     time.Time `json:"tick,omitzero"`
	Token    int64     `json:"token,omitempty"`
	Instance string    `json:"instance,omitempty"`
}

func (c *cli) killCommand() *cobra.Command {
	var r ops.KillRequest
	var of items
	var tick moment.Moment
	cmd := c.changes(&cobra.Command{
		Use: "kill JOB", Short: "End executions that run", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: "End executions. Without flags that choose: all that run, and items that wait to be run again after a crash do not begin.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Items, r.Tick = of, tick.Time
			what := "all executions"
			if len(of) > 0 {
				what = "the executions of items " + selection.Ranges(of)
			}
			if err := c.confirmThere(cmd.Context(), "end %s of job %s", what, args[0]); err != nil {
				return err
			}
			return c.change(cmd, func(ctx context.Context, ch *changer) error {
				list, err := ch.job(args[0]).Kill(ctx, r)
				result := []killed{}
				for _, k := range list {
					result = append(result, killed(k))
				}
				ch.result = result
				return err
			})
		},
	})
	cmd.Flags().VarP(&of, "items", "i", "items whose executions end, such as 0,2-4; default: all")
	cmd.Flags().Var(&tick, "tick", "scheduled time of the executions")
	cmd.Flags().Int64Var(&r.Token, "token", 0, "fencing token of the executions")
	cmd.Flags().BoolVar(&r.Failover, "failover", false, "have the items run again for the same tick")
	c.complete(cmd, "items", c.itemNames)
	return cmd
}

func (c *cli) pauseCommand() *cobra.Command {
	var r ops.PauseRequest
	cmd := c.steers(&cobra.Command{Use: "pause JOB…", Short: "Let no further tick begin; what runs goes on"},
		plan{isFor: func(j *ops.JobInfo) bool { return j.Paused.Since.IsZero() }},
		func(ctx context.Context, j *ops.Job) (any, string, error) {
			paused, err := j.Pause(ctx, r)
			if err != nil {
				return nil, "", err
			}
			var say []string
			if len(paused.JVM) > 0 {
				say = append(say, fmt.Sprintf("JVM members know no pause and go on: %s (--disable-jvm disables their servers)", strings.Join(paused.JVM, ", ")))
			}
			if len(paused.Old) > 0 {
				say = append(say, "Members of old programs know no pause and go on: "+strings.Join(paused.Old, ", "))
			}
			return pausedResult(paused), strings.Join(say, "\n"), nil
		})
	cmd.Flags().StringVar(&r.Why, "why", "", "why, for people")
	cmd.Flags().BoolVar(&r.MakeUp, "make-up", false, "when the pause ends, run each item once for all ticks that it has missed")
	cmd.Flags().BoolVar(&r.DisableJVM, "disable-jvm", false, "disable the servers of JVM members until the pause ends")
	return cmd
}

// pausedResult is what a pause does not reach.
type pausedResult struct {
	Since    time.Time `json:"since"`
	JVM      []string  `json:"jvm,omitempty"`
	Old      []string  `json:"old,omitempty"`
	Disabled []string  `json:"disabled,omitempty"`
}

func (c *cli) resumeCommand() *cobra.Command {
	var r ops.ResumeRequest
	cmd := c.steers(&cobra.Command{Use: "resume JOB…", Short: "End a pause"}, plan{isFor: func(j *ops.JobInfo) bool { return !j.Paused.Since.IsZero() }},
		func(ctx context.Context, j *ops.Job) (any, string, error) { return nil, "", j.Resume(ctx, r) })
	cmd.Flags().BoolFunc("make-up", "run each item once for all ticks that the pause has made it miss, or with =false for none (default as pause was told)", func(v string) error { return json.Unmarshal([]byte(v), &r.MakeUp) })
	return cmd
}

func (c *cli) reshardCommand() *cobra.Command {
	return c.steers(&cobra.Command{Use: "reshard JOB…", Short: "Assign the items as if nobody had had any"}, plan{},
		func(ctx context.Context, j *ops.Job) (any, string, error) { return nil, "", j.Reshard(ctx) })
}

func (c *cli) pinCommand() *cobra.Command {
	var r ops.PinRequest
	cmd := c.changes(&cobra.Command{
		Use: "pin JOB ITEM", Short: "Give an item to an instance, an address or a label", Args: cobra.ExactArgs(2),
		ValidArgsFunction: arguments(c.jobNames, c.itemNames, nothing),
		Example:           "  elasticjob pin settle 3 --label gpu --strict",
		RunE: func(cmd *cobra.Command, args []string) error {
			item, err := itemOf(args[1])
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			return c.change(cmd, func(ctx context.Context, ch *changer) error {
				j := ch.job(args[0])
				err := j.Pin(ctx, item, r)
				if err == nil && selection.HasNobody(ctx, j, r) {
					c.warn("no instance of job %s is there now that the pin names: item %d has no owner until one comes", args[0], item)
				}
				return err
			})
		},
	})
	cmd.Flags().StringVar(&r.Instance, "instance", "", "id of an instance; the pin holds until its process ends")
	cmd.Flags().StringVar(&r.Address, "address", "", "address of a host")
	cmd.Flags().StringVar(&r.Label, "label", "", "label of instances")
	cmd.Flags().BoolVar(&r.Strict, "strict", false, "leave the item without an owner while there is no such instance")
	cmd.MarkFlagsOneRequired("instance", "address", "label")
	cmd.MarkFlagsMutuallyExclusive("instance", "address", "label")
	c.complete(cmd, "instance", c.instanceNames)
	return cmd
}

func (c *cli) unpinCommand() *cobra.Command {
	return c.changes(&cobra.Command{
		Use: "unpin JOB ITEM", Short: "End a pin", Args: cobra.ExactArgs(2), ValidArgsFunction: arguments(c.jobNames, c.itemNames, nothing),
		RunE: func(cmd *cobra.Command, args []string) error {
			item, err := itemOf(args[1])
			if err != nil {
				return exit.With(exit.Usage, err)
			}
			return c.change(cmd, func(ctx context.Context, ch *changer) error { return ch.job(args[0]).Unpin(ctx, item) })
		},
	})
}

func (c *cli) removeCommand() *cobra.Command {
	var r ops.RemoveRequest
	cmd := c.steers(&cobra.Command{
		Use: "remove JOB…", Short: "Remove a job with all that the store has of it",
		Long: `Remove a job with all that the store has of it. Its instances stop, and what runs is cut short: to
let it end, shut them down before (elasticjob shutdown JOB --all). Programs do not set the job up again, unless they
have a higher revision, until it is readmitted (elasticjob readmit). elasticjob apply and create bring it back at once.`,
	}, plan{adds: ", with configuration, records and instances", asks: true, saysWho: true},
		func(ctx context.Context, j *ops.Job) (any, string, error) { return nil, "", j.Remove(ctx, r) })
	cmd.Flags().StringVar(&r.Why, "why", "", "why, for people")
	return cmd
}

func (c *cli) readmitCommand() *cobra.Command {
	var r ops.ReadmitRequest
	cmd := c.changes(&cobra.Command{
		Use: "readmit JOB", Short: "Let programs set a job up again that was removed", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.removedNames),
		Long: `Let programs set a job up again that was removed. A program does so when it starts, or schedules the job again: one
that runs already does not notice. A job of files that were applied comes back with elasticjob apply, or create.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.changeMuch(cmd, func(ctx context.Context, ch *changer) error {
				ch.tells("The job is not back yet: it comes when a program that schedules it starts, or with elasticjob apply or create.")
				return ch.ops.Readmit(ctx, args[0], r)
			})
		},
	})
	cmd.Flags().BoolVar(&r.Moved, "moved", false, "also a job that was moved to another namespace, and does not run there any more")
	return cmd
}

// switchCommand is enable or disable.
func (c *cli) switchCommand(isOn bool) *cobra.Command {
	verb, what := "disable", "Keep"
	if isOn {
		verb, what = "enable", "No longer keep"
	}
	var servers []string
	var of items
	var isAhead bool
	cmd := c.steers(&cobra.Command{
		Use:   verb + " JOB…",
		Short: what + " a job, servers or items from running",
		Long:  fmt.Sprintf("%s a job from running. With --server: instances at that address from having items of it. With --items: these items.", what),
	}, plan{isFor: func(j *ops.JobInfo) bool {
		return len(servers)+len(of) > 0 || j.Servers == 0 || isOn && j.DisabledServers > 0 || !isOn && j.DisabledServers < j.Servers
	}}, func(ctx context.Context, j *ops.Job) (any, string, error) {
		switch {
		case len(of) > 0 && isOn:
			return nil, "", j.EnableItems(ctx, of...)
		case len(of) > 0:
			return nil, "", j.DisableItems(ctx, of...)
		case isOn:
			err := j.EnableServers(ctx, servers...)
			if err != nil || len(servers) > 0 {
				return nil, "", err
			}
			return nil, selection.Disabled(ctx, j), nil
		case isAhead:
			return nil, "", j.DisableServersAhead(ctx, servers...)
		}
		return nil, "", j.DisableServers(ctx, servers...)
	})
	cmd.Flags().StringSliceVar(&servers, "server", nil, "address of a server; may be given several times")
	cmd.Flags().VarP(&of, "items", "i", "items, such as 0,2-4")
	cmd.MarkFlagsMutuallyExclusive("server", "items")
	if !isOn {
		cmd.Long += `

Without a flag it disables the whole job, also on servers that join later, until the job is enabled. A JVM member that joins
later knows nothing of that, and runs it.`
		cmd.Flags().BoolVar(&isAhead, "ahead", false, "also servers that the job does not know yet")
		cmd.MarkFlagsMutuallyExclusive("ahead", "items")
	}
	c.complete(cmd, "server", c.serverNames)
	c.complete(cmd, "items", c.itemNames)
	return cmd
}
