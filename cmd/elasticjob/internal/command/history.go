package command

import (
	"context"
	"errors"
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
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// pastError gives an error of the history its code: what is not one of those that say more means that
// the database does not answer.
func pastError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ops.ErrNoHistory):
		return exit.Errorf(exit.Usage, "%w: give --history, ELASTICJOB_HISTORY, or a context that has one", err)
	case errors.Is(err, history.ErrQuery), errors.Is(err, history.ErrNotFound), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	}
	return exit.With(exit.Unreachable, err)
}

// past connects, and asks the history.
func (c *cli) past(cmd *cobra.Command, within asker, do func(context.Context, *store, history.Reader) error) error {
	return within(cmd, func(ctx context.Context, s *store) error {
		if s.noPast != nil {
			return exit.With(exit.Usage, s.noPast)
		}
		reader, err := s.ops.History()
		if err == nil {
			err = do(ctx, s, reader)
		}
		if _, ok := errors.AsType[*exit.Error](err); ok {
			return err
		}
		return pastError(err)
	})
}

// elsewhere says which jobs of a page the namespace does not have.
func (s *store) elsewhere(ctx context.Context, jobs []string) string {
	return selection.Elsewhere(ctx, s.reg, s.target.Namespace, jobs)
}

func (c *cli) historyCommand() *cobra.Command {
	var f history.ExecutionFilter
	var of items
	var from, to moment.Moment
	var source, after, id string
	var outcomes []string
	var failures bool
	cmd := &cobra.Command{
		Use: "history [JOB]", Short: "List executions of the past, the newest first", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: "List executions of the past, the newest first. It needs the database of the history: --history.",
		Example: `  elasticjob history settle --failures --from 24h
  elasticjob history --id 0199c0de-…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.Job = args[0]
			}
			if len(of) > 0 && f.Job == "" {
				return exit.Errorf(exit.Usage, "--items are those of a job: name it")
			}
			f.Items, f.From, f.To, f.After = of, from.Time, to.Time, history.Cursor(after)
			for _, o := range outcomes {
				f.Outcomes = append(f.Outcomes, history.Outcome(o))
			}
			if failures {
				f.Outcomes = append(f.Outcomes, history.Failures()...)
			}
			if source != "" {
				var err error
				if f.Source, err = sourceOf(source); err != nil {
					return err
				}
			}
			return c.past(cmd, c.ask, func(ctx context.Context, s *store, reader history.Reader) error {
				if id != "" {
					return c.showExecution(ctx, reader, id)
				}
				page, err := reader.Executions(ctx, f)
				if err != nil {
					return err
				}
				return c.print(executionPage(page, s.elsewhere(ctx, namesOf(page.Rows, func(x history.Execution) string { return x.Job }))))
			})
		},
	}
	flags := cmd.Flags()
	flags.VarP(&of, "items", "i", "items of the job, such as 0,2-4")
	flags.StringVar(&f.Instance, "instance", "", "id of an instance")
	flags.StringVar(&f.IP, "server", "", "address of a server")
	flags.StringVar(&source, "source", "", "why it ran: "+strings.ToLower(strings.Join(sources(), ", ")))
	flags.Var(&oneOf{to: &outcomes, allowed: knownOutcomes()}, "outcome", "how it ended: "+strings.ToLower(strings.Join(knownOutcomes(), ", ")))
	flags.BoolVar(&failures, "failures", false, "those that have failed by themselves")
	flags.StringVar(&f.RequestID, "request", "", "id of a request")
	flags.Var(&from, "from", "those that began then or later")
	flags.Var(&to, "to", "those that began before")
	flags.StringVar(&after, "after", "", "where the page before has ended")
	flags.IntVar(&f.Limit, "limit", history.DefaultLimit, fmt.Sprintf("how many at most, up to %d", history.MaxLimit))
	flags.StringVar(&id, "id", "", "one execution, with its output and those that repeat it")
	c.complete(cmd, "outcome", func(*cobra.Command, []string, string) []string { return knownOutcomes() })
	c.complete(cmd, "source", func(*cobra.Command, []string, string) []string { return sources() })
	return cmd
}

func knownOutcomes() (list []string) {
	list = append(list, string(history.OutcomeOf(jobtype.OutcomeOK)))
	for _, o := range append(history.Failures(), history.Interrupted()...) {
		list = append(list, string(o))
	}
	return append(list, string(history.OutcomeRunning))
}

// sources returns why executions run.
func sources() (list []string) {
	for s := jobtype.SourceNormal; s.String() != "UNKNOWN"; s++ {
		list = append(list, s.String())
	}
	return list
}

func sourceOf(text string) (jobtype.Source, error) {
	for s := jobtype.SourceNormal; s.String() != "UNKNOWN"; s++ {
		if strings.EqualFold(s.String(), text) {
			return s, nil
		}
	}
	return 0, exit.Errorf(exit.Usage, "--source %q is unknown; allowed are %s", text, strings.ToLower(strings.Join(sources(), ", ")))
}

// execution is an execution of the past for programs.
type execution struct {
	ID            string    `json:"id"`
	Job           string    `json:"job"`
	Item          int       `json:"item"`
	Instance      string    `json:"instance,omitempty"`
	Server        string    `json:"server,omitempty"`
	Source        string    `json:"source,omitempty"`
	ScheduledTime time.Time `json:"scheduledTime,omitzero"`
	StartTime     time.Time `json:"startTime,omitzero"`
	CompleteTime  time.Time `json:"completeTime,omitzero"`
	Waited        string    `json:"waited,omitempty"`
	Duration      string    `json:"duration,omitempty"`
	Token         int64     `json:"token,omitempty"`
	Attempts      int       `json:"attempts,omitempty"`
	Outcome       string    `json:"outcome"`
	Request       string    `json:"request,omitempty"`
	Original      string    `json:"original,omitempty"`
	Error         string    `json:"error,omitempty"`
	Output        string    `json:"output,omitempty"`
}

func executionOf(x history.Execution) execution {
	e := execution{
		ID: x.ID, Job: x.Job, Item: x.Item, Instance: x.Instance, Server: x.IP, ScheduledTime: x.ScheduledTime, StartTime: x.StartTime, CompleteTime: x.CompleteTime,
		Token: x.Token, Attempts: x.Attempts, Outcome: string(x.Outcome), Request: x.RequestID, Original: x.OriginalTaskID, Error: x.Error, Output: x.Output,
	}
	if x.Source != 0 {
		e.Source = x.Source.String()
	}
	if x.Waited > 0 {
		e.Waited = x.Waited.String()
	}
	if x.Duration > 0 {
		e.Duration = x.Duration.String()
	}
	return e
}

// executions is a page of history for programs.
type executions struct {
	Executions []execution `json:"executions"`
	Next       string      `json:"next,omitempty"` // for --after
}

func executionPage(page history.Page[history.Execution], elsewhere string) show.Result {
	list := executions{namesOf(page.Rows, executionOf), string(page.Next)}
	return show.Result{
		Value: list, Names: func() []string { return namesOf(list.Executions, func(e execution) string { return e.ID }) },
		Table: func() *show.Table {
			t := executionTable(list.Executions)
			t.Foot = elsewhere
			if list.Next != "" {
				t.Foot = strings.TrimSpace(elsewhere + "\nThere are more: --after " + list.Next)
			}
			return t
		},
	}
}

func executionTable(list []execution) *show.Table {
	t := show.NewTable("STARTED", "JOB", "ITEM", "TICK", "SOURCE", "OUTCOME", "TOOK", "SERVER", "ID", "ERROR", "(ATTEMPTS)", "(WAITED)", "(TOKEN)", "(REQUEST)")
	t.Empty = "No execution."
	for _, e := range list {
		t.Row(clock(e.StartTime), e.Job, e.Item, clock(e.ScheduledTime), e.Source, e.Outcome, e.Duration, e.Server, e.ID, show.FirstLine(e.Error), e.Attempts, e.Waited, e.Token, e.Request)
	}
	return t
}

// oneExecution is an execution with those that repeat it, for programs.
type oneExecution struct {
	execution
	Chain []execution `json:"chain"`
}

func (c *cli) showExecution(ctx context.Context, reader history.Reader, id string) error {
	x, err := reader.Execution(ctx, id)
	if err != nil {
		return err
	}
	chain, err := reader.Chain(ctx, x)
	if err != nil {
		return err
	}
	e := oneExecution{executionOf(x), namesOf(chain, executionOf)}
	return c.print(show.Result{Value: e, Names: func() []string { return []string{id} }, Table: func() *show.Table {
		t := show.NewTable()
		t.Field("ID", e.ID)
		t.Field("Job", e.Job)
		t.Field("Item", e.Item)
		t.Field("Outcome", e.Outcome)
		t.Field("Source", e.Source)
		t.Field("Tick", clock(e.ScheduledTime))
		t.Field("Started", clock(e.StartTime))
		t.Field("Completed", clock(e.CompleteTime))
		t.Field("Took", e.Duration)
		t.Field("Waited", e.Waited)
		t.Field("Attempts", e.Attempts)
		t.Field("Instance", e.Instance)
		t.Field("Server", e.Server)
		t.Field("Token", e.Token)
		t.Field("Request", e.Request)
		t.Section("Error:", show.Text(e.Error))
		t.Section("Output:", show.Text(e.Output))
		if len(e.Chain) > 1 {
			t.Section("All runs of this item for this tick:", executionTable(e.Chain))
		}
		return t
	}})
}

func (c *cli) eventsCommand() *cobra.Command {
	var f history.EventFilter
	var from, to moment.Moment
	var after string
	cmd := &cobra.Command{
		Use: "events [JOB]", Short: "List what else has happened: faults, leaders, failovers, what operators have changed", Args: cobra.MaximumNArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: "List what has happened beside executions, the newest first. It needs the database of the history: --history.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.Job = args[0]
			}
			f.From, f.To, f.After = from.Time, to.Time, history.Cursor(after)
			return c.past(cmd, c.ask, func(ctx context.Context, s *store, reader history.Reader) error {
				page, err := reader.Events(ctx, f)
				if err != nil {
					return err
				}
				return c.print(eventPage(page, s.elsewhere(ctx, namesOf(page.Rows, func(x trace.Event) string { return x.Job }))))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Instance, "instance", "", "id of an instance")
	flags.StringVar(&f.By, "of", "", "only what this person has changed")
	flags.StringVar(&f.What, "what", "", "only this, such as pause")
	flags.Var(&from, "from", "what happened then or later")
	flags.Var(&to, "to", "what happened before")
	flags.StringVar(&after, "after", "", "where the page before has ended")
	flags.IntVar(&f.Limit, "limit", history.DefaultLimit, fmt.Sprintf("how many at most, up to %d", history.MaxLimit))
	return cmd
}

// event is something that has happened, for programs.
type event struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Job      string    `json:"job,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Item     *int      `json:"item,omitempty"` // of the ticks that were made up or skipped
	Tick     time.Time `json:"scheduledTime,omitzero"`
	Count    int       `json:"count,omitempty"`
	Items    []int     `json:"items,omitempty"`
	What     string    `json:"what,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	By       string    `json:"by,omitempty"`
	From     string    `json:"from,omitempty"`
	Why      string    `json:"why,omitempty"`
	Before   string    `json:"before,omitempty"`
	After    string    `json:"after,omitempty"`
	Error    string    `json:"error,omitempty"`
	Over     bool      `json:"over,omitempty"`
}

// events is a page of events for programs.
type events struct {
	Events []event `json:"events"`
	Next   string  `json:"next,omitempty"` // for --after
}

func eventPage(page history.Page[trace.Event], elsewhere string) show.Result {
	list := events{Next: string(page.Next), Events: namesOf(page.Rows, func(e trace.Event) event {
		x := event{
			ID: e.ID, Time: e.Time, Kind: e.Kind.String(), Job: e.Job, Instance: e.Instance, Items: e.Items, What: e.What, Detail: e.Detail,
			By: e.By, From: e.From, Why: e.Why, Before: e.Before, After: e.After, Error: e.Error, Over: e.Over, Tick: e.Execution.ScheduledTime, Count: e.Ticks,
		}
		if e.Kind == jobtype.EventMadeUp || e.Kind == jobtype.EventSkipped {
			x.Item = &e.Execution.Item
		}
		return x
	})}
	return show.Result{
		Value: list, Names: func() []string { return namesOf(list.Events, func(e event) string { return e.ID }) },
		Table: func() *show.Table {
			t := show.NewTable("TIME", "KIND", "JOB", "WHAT", "ITEMS", "TICK", "COUNT", "BY", "DETAIL", "(INSTANCE)", "(ID)")
			t.Empty = "No event."
			for _, e := range list.Events {
				kind := e.Kind
				if e.Over {
					kind += " is over"
				}
				var detail []string
				for _, text := range []string{e.Detail, e.Why, e.Error} {
					if text != "" {
						detail = append(detail, show.FirstLine(text))
					}
				}
				of, ticks := e.Items, ""
				if e.Item != nil {
					of, ticks = []int{*e.Item}, fmt.Sprint(e.Count)
				}
				t.Row(clock(e.Time), kind, e.Job, e.What, selection.Ranges(of), clock(e.Tick), ticks, e.By, strings.Join(detail, ": "), e.Instance, e.ID)
			}
			t.Foot = elsewhere
			if list.Next != "" {
				t.Foot = strings.TrimSpace(elsewhere + "\nThere are more: --after " + list.Next)
			}
			return t
		},
	}
}
