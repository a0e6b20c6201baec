package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// requested is what a command that asks for runs says to programs.
type requested struct {
	Job       string       `json:"job"`
	Error     string       `json:"error,omitempty"` // why it was not made
	ID        string       `json:"id,omitempty"`    // empty in a dry run
	Items     []int        `json:"items"`
	Ticks     []time.Time  `json:"ticks,omitempty"`
	Instances []string     `json:"instances,omitempty"`
	JVM       []string     `json:"jvm,omitempty"`
	Beside    []int        `json:"beside,omitempty"`
	Results   []itemResult `json:"results,omitempty"`
}

// itemResult is what has become of an item.
type itemResult struct {
	Item    int       `json:"item"`
	Outcome string    `json:"outcome"`
	Error   string    `json:"error,omitempty"`
	TaskID  string    `json:"taskId,omitempty"`
	Token   int64     `json:"token,omitempty"`
	Ended   time.Time `json:"ended,omitzero"`
	Runs    int       `json:"runs"`
	Failed  int       `json:"failed"`
}

// asks is what trigger, retry and backfill have in common.
type asks struct {
	cli   *cli
	from  *selection.Selection
	items items
	wait  bool
	param string
}

func (c *cli) asks(cmd *cobra.Command) (*cobra.Command, *asks) {
	a := &asks{cli: c, from: c.selects(cmd, true)}
	cmd.Flags().VarP(&a.items, "items", "i", "items to run, such as 0,2-4; default: all")
	cmd.Flags().StringVarP(&a.param, "parameter", "p", "", "replaces the parameter of the job in these runs")
	cmd.Flags().BoolVarP(&a.wait, "wait", "w", false, "wait until all items are through, and fail if one was not successful")
	c.complete(cmd, "items", c.itemNames)
	return c.changes(cmd), a
}

// waits waits for a request that can be waited for.
type waits func(context.Context) ([]jobtype.ItemResult, error)

// run makes a request of each job, prints them, and waits for them if that is wanted.
func (a *asks) run(cmd *cobra.Command, p plan, request func(context.Context, *ops.Job) (requested, waits, error)) error {
	c, within := a.cli, a.cli.ask
	if a.wait {
		within = c.follow
	}
	return c.choose(cmd, within, a.from, p, func(ctx context.Context, s *store, names []string, isMany bool) error {
		ch := c.changer(s)
		all, waiting := make([]requested, len(names)), make([]waits, len(names))
		failed := c.each(ctx, ch, names, func(i int, name string) (err error) {
			if all[i], waiting[i], err = request(ctx, ch.ops.Job(name)); err != nil {
				all[i].Error = err.Error()
			}
			all[i].Job = name
			return err
		})
		if failed != nil && len(ch.made) == 0 {
			return failed
		}
		for _, r := range all {
			r.tell(ch)
		}
		ch.result = resultOf(all, isMany)
		if !a.wait || c.dryRun || c.output.ForPeople() {
			if err := c.printChanges(ch, failed == nil); err != nil || !a.wait || c.dryRun {
				return cmp.Or(failed, err)
			}
		}
		unawaited := selection.Each(ctx, names, nil, func(i int, _ string) error { return all[i].await(ctx, waiting[i]) })
		if unawaited != nil && !isMany {
			return unawaited
		}
		return cmp.Or(failed, unawaited, c.printResults(ch, all, isMany))
	})
}

// resultOf is what programs get of requests.
func resultOf(all []requested, isMany bool) any {
	if isMany {
		return all
	}
	return all[0]
}

// tell tells people of a request.
func (r *requested) tell(ch *changer) {
	if r.ID != "" {
		ch.tells("Request %s of %s, items %s", r.ID, r.Job, selection.Ranges(r.Items))
	}
	if len(r.JVM) > 0 {
		ch.tells("JVM members run all of their items when they are asked for one, and without a parameter: %s", strings.Join(r.JVM, ", "))
	}
	if len(r.Beside) > 0 {
		ch.tells("They run these although they were not asked for: items %s", selection.Ranges(r.Beside))
	}
}

// await waits for a request, if it was made, and notes what has become of its items.
func (r *requested) await(ctx context.Context, wait waits) error {
	if wait == nil {
		return nil
	}
	results, err := wait(ctx)
	if err != nil {
		return fmt.Errorf("request %s of job %s goes on; nobody waits for it any more: %w", r.ID, r.Job, err)
	}
	for _, ir := range results {
		r.Results = append(r.Results, itemResult{
			Item: ir.Item, Outcome: ir.Outcome.String(), Error: ir.Error, TaskID: ir.TaskID, Token: ir.Token,
			Ended: ir.Ended, Runs: ir.Runs, Failed: ir.Failed,
		})
	}
	return nil
}

func (c *cli) printResults(ch *changer, all []requested, isMany bool) error {
	items, failed := 0, 0
	for _, r := range all {
		items += len(r.Results)
		for _, ir := range r.Results {
			if ir.Outcome != jobtype.OutcomeOK.String() {
				failed++
			}
		}
	}
	printed := c.print(show.Result{
		Value: outcome{Changes: ch.made, Result: resultOf(all, isMany)},
		Names: func() []string { return namesOf(all, func(r requested) string { return r.ID }) },
		Table: func() *show.Table {
			job := "(JOB)"
			if isMany {
				job = "JOB"
			}
			t := show.NewTable(job, "ITEM", "OUTCOME", "ENDED", "RUNS", "FAILED", "ERROR", "(TASK)")
			for _, r := range all {
				for _, ir := range r.Results {
					t.Row(r.Job, ir.Item, ir.Outcome, clock(ir.Ended), ir.Runs, ir.Failed, ir.Error, ir.TaskID)
				}
			}
			return t
		},
	})
	if failed > 0 {
		return cmp.Or(printed, exit.Errorf(exit.RunFailed, "%d of %d items were not successful", failed, items))
	}
	return printed
}

func (c *cli) triggerCommand() *cobra.Command {
	var instances []string
	cmd, a := c.asks(&cobra.Command{
		Use: "trigger JOB…", Short: "Run items now",
		Example: "  elasticjob trigger settle --items 0,2-4 --wait",
	})
	cmd.Flags().StringSliceVar(&instances, "instance", nil, "only items of this instance; may be given several times")
	c.complete(cmd, "instance", c.instanceNames)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.run(cmd, plan{}, func(ctx context.Context, j *ops.Job) (requested, waits, error) {
			r, err := j.Trigger(ctx, jobtype.TriggerRequest{Items: a.items, Instances: instances, Parameter: a.param})
			if err != nil {
				return requested{}, nil, err
			}
			return requested{ID: c.unlessDry(r.ID), Items: r.Items, Instances: r.Instances, JVM: r.JVM, Beside: r.Beside}, r.Wait, nil
		})
	}
	return cmd
}

func (c *cli) retryCommand() *cobra.Command {
	var tick, since moment.Moment
	older := false
	cmd, a := c.asks(&cobra.Command{
		Use: "retry JOB…", Short: "Run items again that have failed",
		Long: `Run items again whose last execution has failed for a tick. Items that --items names run again also if they were
cut short or killed. With --since: all that has failed since then and has no reason to wait, whatever tick it was for.`,
		Example: "  elasticjob retry --all --since 18:00 --dry-run",
	})
	cmd.Flags().Var(&since, "since", "what has failed since then")
	cmd.Flags().BoolVar(&older, "older", false, "with --since: also ticks that items have gone on from, by backfills")
	cmd.Flags().Var(&tick, "tick", "scheduled time of the executions; default: the latest for which an item has failed")
	for _, flag := range []string{"tick", "items", "parameter", "wait"} {
		cmd.MarkFlagsMutuallyExclusive("since", flag)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if older && since.IsZero() {
			return exit.Errorf(exit.Usage, "--older goes with --since")
		}
		if !since.IsZero() {
			return c.retryFailures(cmd, a.from, since.Time, older)
		}
		isFor := func(j *ops.JobInfo) bool { return j.Failing > 0 }
		return a.run(cmd, plan{isFor: isFor}, func(ctx context.Context, j *ops.Job) (requested, waits, error) {
			return c.requestedOf(j.Retry(ctx, ops.RetryRequest{Tick: tick.Time, Items: a.items, Parameter: a.param}))
		})
	}
	return cmd
}

func (c *cli) backfillCommand() *cobra.Command {
	var from, to moment.Moment
	var stop bool
	cmd, a := c.asks(&cobra.Command{
		Use: "backfill JOB… --from TIME --to TIME", Short: "Run items for ticks of the past",
		Long: fmt.Sprintf("Run items for the ticks of some time, as the schedule is now; both ends count. At most %d ticks.", ops.MaxBackfillTicks),
	})
	cmd.Flags().Var(&from, "from", "the first tick is not before this")
	cmd.Flags().Var(&to, "to", "the last tick is not after this")
	cmd.Flags().BoolVar(&stop, "stop-at-failure", false, "leave the other ticks of an item out when one has failed")
	for _, flag := range []string{"from", "to"} {
		if err := cmd.MarkFlagRequired(flag); err != nil {
			panic(err) // an error of the program
		}
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if to.Before(from.Time) {
			return exit.Errorf(exit.Usage, "--to is before --from")
		}
		return a.run(cmd, plan{}, func(ctx context.Context, j *ops.Job) (requested, waits, error) {
			return c.requestedOf(j.Backfill(ctx, ops.BackfillRequest{
				From: from.Time, To: to.Time, Items: a.items, Parameter: a.param, StopAtFailure: stop,
			}))
		})
	}
	return cmd
}

func (c *cli) requestedOf(r *jobtype.Requested, err error) (requested, waits, error) {
	if err != nil {
		return requested{}, nil, err
	}
	return requested{ID: c.unlessDry(r.ID), Items: r.Items, Ticks: r.Ticks, JVM: r.JVM, Beside: r.Beside}, r.Wait, nil
}

// unlessDry returns the id of a request that there is.
func (c *cli) unlessDry(id string) string {
	if c.dryRun {
		return ""
	}
	return id
}

func (c *cli) cancelCommand() *cobra.Command {
	return c.changes(&cobra.Command{
		Use: "cancel JOB REQUEST", Short: "End a request; what runs for it comes to its end", Args: cobra.ExactArgs(2),
		ValidArgsFunction: arguments(c.jobNames, c.requestNames, nothing),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, func(ctx context.Context, ch *changer) error { return ch.job(args[0]).Cancel(ctx, args[1]) })
		},
	})
}

func (c *cli) requestsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "requests JOB", Short: "List what was asked for by trigger, retry and backfill", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				list, err := s.job(args[0]).Requests(ctx)
				if err != nil {
					return err
				}
				return c.print(show.Result{
					Value: list, Table: func() *show.Table { return requestTable(list) },
					Names: func() []string { return namesOf(list, func(r ops.RequestState) string { return r.ID }) },
				})
			})
		},
	}
}

func requestTable(list []ops.RequestState) *show.Table {
	t := show.NewTable("REQUEST", "SOURCE", "BY", "AT", "THROUGH", "RUNNING", "WAITING", "ENDED", "WHY", "(ITEMS)")
	t.Empty = "No request."
	for _, r := range list {
		t.Row(r.ID, r.Source, r.By, clock(r.At), fmt.Sprintf("%d of %d", len(r.Through), len(r.Items)),
			selection.Ranges(r.Running), selection.Ranges(r.Waiting), clock(r.Ended), r.Why, selection.Ranges(r.Items))
	}
	return t
}
