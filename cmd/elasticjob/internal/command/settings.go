package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// settings is the configuration of a job for programs.
type settings struct {
	Job            string `json:"job"`
	Version        int64  `json:"version"`
	Implementation string `json:"implementation"`
	// Config are the keys of a file: see jobfile.
	Config map[string]any `json:"config"`
}

func (c *cli) getCommand() *cobra.Command {
	isForJVM := false
	cmd := &cobra.Command{
		Use: "get JOB", Short: "Show the configuration of a job, as a file would say it", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: fmt.Sprintf(`Show the configuration of a job, as a file would say it. With --for-jvm, list what members of ElasticJob 3.0 do
otherwise with it, beside Go members and after the way back. Then it ends with code %d if they refuse something.`, exit.Findings),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ask(cmd, func(ctx context.Context, s *store) error {
				now, err := s.job(args[0]).Settings(ctx)
				if fault, isInvalid := errors.AsType[*jobtype.ConfigError](err); isInvalid && !fault.Partial {
					c.warn("Go members refuse this configuration: %v", err)
				} else if err != nil {
					return err
				}
				if isForJVM {
					return c.printForJVM(now)
				}
				job := []jobfile.Declared{jobfile.InRegistry(now.Config, declare.Work(now))}
				c.veil(job)
				d, err := describe(job[0])
				if d == nil {
					return err
				}
				document, err := d.bytes()
				if err != nil {
					return err
				}
				if c.output.ForPeople() {
					return c.printer().Say("# version %d\n%s", now.Version, strings.TrimSuffix(string(document), "\n"))
				}
				result := settings{Job: args[0], Version: now.Version, Implementation: declare.Work(now)}
				if err := d.keys.Decode(&result.Config); err != nil {
					return err
				}
				return c.print(show.Result{Value: result, Names: func() []string { return []string{args[0]} }})
			})
		},
	}
	cmd.Flags().BoolVar(&isForJVM, "for-jvm", false, "list what members of ElasticJob do otherwise, or refuse")
	return cmd
}

// printForJVM shows what members of ElasticJob do otherwise.
func (c *cli) printForJVM(now ops.Settings) error {
	issues, err := now.ForJVM()
	if err != nil {
		return err
	}
	err = c.print(show.Result{
		Value: struct {
			Job    string               `json:"job"`
			Issues []jobtype.MixedIssue `json:"issues"`
		}{now.Job, append([]jobtype.MixedIssue{}, issues...)},
		Names: func() []string { return namesOf(issues, func(i jobtype.MixedIssue) string { return i.Field }) },
		Table: func() *show.Table {
			t := show.NewTable()
			for _, i := range issues {
				one := show.NewTable()
				one.Field("  JVM members", i.Does)
				one.Field("  Beside Go members", i.Harm)
				one.Field("  Do", i.Advice)
				title := i.Field
				if i.Refused {
					title = "REFUSED  " + title
				}
				t.Section(title, one)
			}
			t.Head = fmt.Sprintf("%s: %s for JVM members", now.Job, count(len(issues), "difference"))
			return t
		},
	})
	if slices.ContainsFunc(issues, func(i jobtype.MixedIssue) bool { return i.Refused }) {
		return cmp.Or(err, quiet(exit.Findings))
	}
	return err
}

func (c *cli) createCommand() *cobra.Command {
	var sets []string
	var file string
	cmd := c.changes(&cobra.Command{
		Use: "create JOB --set KEY=VALUE…", Short: "Create a job, which runs when a process joins it", Args: cobra.ExactArgs(1),
		Long:    keysHelp("Create a job, of --set, or of --file with that job and no other.\nWithout type and implementation, its name is that of the implementation."),
		Example: "  elasticjob create ping --set type=HTTP --set shardingTotalCount=1 --set 'cron=0 * * * * ?' --set props.http.uri=https://shop/ping --set props.http.method=GET",
		RunE: func(cmd *cobra.Command, args []string) error {
			d := newDescription(args[0])
			if file != "" {
				source, err := c.source(file)
				if err == nil {
					d, err = readDescription(args[0], source.Text)
				}
				if err != nil {
					return exit.With(exit.Usage, fmt.Errorf("--file: %w", err))
				}
			}
			for _, s := range sets {
				if err := d.set(s); err != nil {
					return err
				}
			}
			if child(d.keys, "type") == nil && child(d.keys, "implementation") == nil {
				d.keys.Content = append(d.keys.Content, text("implementation"), text(args[0]))
			}
			next, err := d.declared(c.worker(nil), jobfile.Declared{})
			if err != nil {
				return err
			}
			return c.change(cmd, func(ctx context.Context, ch *changer) error {
				return ch.ops.Create(ctx, ops.CreateRequest{Config: next.Config, Implementation: next.Work()})
			})
		},
	})
	cmd.Flags().StringVarP(&file, "file", "f", "", "file in the format of elasticjob.yaml, which has this job; - is the standard input")
	cmd.Flags().StringArrayVarP(&sets, "set", "s", nil, "a setting; may be given several times, and counts before the file")
	return cmd
}

// keysHelp explains the keys of settings.
func keysHelp(what string) string {
	return what + `

Keys are those of a job in elasticjob.yaml: cron, shardingTotalCount, timeout, retry.attempts, props.script.command.line.
elasticjob get shows them. Those of the registry are taken, too: execution.timeout.seconds, or with props. before it. A
list is written [a, b].`
}

func (c *cli) updateCommand() *cobra.Command {
	var sets, unsets []string
	var version int64
	cmd := c.changes(&cobra.Command{
		Use: "update JOB --set KEY=VALUE…", Short: "Change settings of a job", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long:    keysHelp("Change settings of a job, on condition that nobody changes them meanwhile. What is not named stays."),
		Example: "  elasticjob update settle --set 'cron=0 0/10 * * * ?' --set retry.attempts=3 --unset timeout --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(sets)+len(unsets) == 0 {
				return exit.Errorf(exit.Usage, "update %s: nothing is given: --set or --unset is needed", args[0])
			}
			return c.updateBy(cmd, args[0], version, func(_ context.Context, d *description) (*description, error) {
				for _, key := range unsets {
					d.unset(key)
				}
				for _, s := range sets {
					if err := d.set(s); err != nil {
						return nil, err
					}
				}
				return d, nil
			})
		},
	})
	cmd.Flags().StringArrayVarP(&sets, "set", "s", nil, "a setting; may be given several times")
	cmd.Flags().StringArrayVarP(&unsets, "unset", "u", nil, "a key that gets its default, or that goes if only ElasticJob has it; may be given several times")
	cmd.Flags().Int64Var(&version, "version", 0, "only if the configuration has this version; default: the one that is read first")
	return cmd
}

// updateBy reads the settings of a job, has them changed, and writes them if nobody else has meanwhile.
// version is the one that they have to have; 0 is any.
func (c *cli) updateBy(cmd *cobra.Command, name string, version int64, change func(context.Context, *description) (*description, error)) error {
	return c.change(cmd, func(ctx context.Context, ch *changer) error {
		j := ch.job(name)
		now, err := j.Settings(ctx)
		fault, isInvalid := errors.AsType[*jobtype.ConfigError](err)
		if err != nil && (!isInvalid || fault.Partial) {
			return err
		}
		work := declare.Work(now)
		before := jobfile.InRegistry(now.Config, work)
		d, err := describe(before)
		if err != nil && (!isInvalid || d == nil) {
			return err
		}
		d.registry, _ = yamldoc.Parse(now.Document) // in one that cannot be read there is nothing to take away
		if d, err = change(ctx, d); err != nil {
			return err
		}
		after, err := d.declared(c.worker(nil), before)
		if err != nil {
			return fmt.Errorf("job %s: %w", name, err)
		}
		if after.Work() != work {
			return exit.Errorf(exit.Usage, "job %s: its implementation is %q, and is not changed with its settings: use elasticjob implement", name, work)
		}
		version = cmp.Or(version, now.Version)
		plan, err := j.Plan(ctx, ops.PlanRequest{Config: after.Config, Version: version, Without: d.gone})
		if err != nil {
			return err
		}
		ch.result = plan
		if plan.Empty() {
			return nil
		}
		for _, w := range plan.Warnings {
			ch.tells("Warning: %s", w)
		}
		if !slices.EqualFunc(plan.TicksBefore, plan.TicksAfter, time.Time.Equal) {
			ch.tells("Next ticks: %s; they were %s", clocks(plan.TicksAfter), clocks(plan.TicksBefore))
		}
		return j.Update(ctx, ops.UpdateRequest{Config: after.Config, Version: version, Without: d.gone})
	})
}

// editTime is how long a person may take to edit.
const editTime = time.Hour

func (c *cli) editCommand() *cobra.Command {
	return c.changes(&cobra.Command{
		Use: "edit JOB", Short: "Change the settings of a job in an editor", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.jobNames),
		Long: `Open the settings of a job in the editor that VISUAL or EDITOR names, and write what has changed, on condition
that nobody else has changed them meanwhile.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c.timeout, c.limited = max(c.timeout, editTime), true
			return c.updateBy(cmd, args[0], 0, func(ctx context.Context, d *description) (*description, error) {
				document, err := d.bytes()
				if err != nil {
					return nil, err
				}
				edited, err := c.edit(ctx, args[0], document)
				if err != nil {
					return nil, err
				}
				return readDescription(args[0], edited)
			})
		},
	})
}

// edit lets a person edit a document.
func (c *cli) edit(ctx context.Context, name string, document []byte) ([]byte, error) {
	editor := []string{"vi"}
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		if words, ok := c.env.Lookup(variable); ok && strings.TrimSpace(words) != "" {
			editor = strings.Fields(words)
			break
		}
	}
	folder, err := os.MkdirTemp("", "elasticjob-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // the system clears its folder for such files, too
	file := filepath.Join(folder, "job.yaml")
	if err := os.WriteFile(file, document, 0o600); err != nil {
		return nil, err
	}
	run := exec.CommandContext(ctx, editor[0], append(editor[1:], file)...)
	run.Stdin, run.Stdout, run.Stderr = c.env.In, c.env.Out, c.env.Err
	if err := run.Run(); err != nil {
		return nil, fmt.Errorf("job %s: editor %s: %w", name, editor[0], err)
	}
	edited, err := os.ReadFile(file)
	if err == nil && len(bytes.TrimSpace(edited)) == 0 {
		err = exit.Errorf(exit.Failed, "job %s: the document is empty, nothing was done", name)
	}
	return edited, err
}
