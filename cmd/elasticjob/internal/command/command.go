// Package command is the elasticjob command: one file for each group of commands.
//
// A command connects by ask or follow, does one thing with package ops, and prints what that has
// given by print or did. It returns an error for all that went wrong; [Run] prints it and makes the
// exit code of it. So no command writes to the standard streams by itself, or ends the process.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/manual"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/usage"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// Environment is what the command has of its process.
type Environment struct {
	In       io.Reader
	Out, Err io.Writer
	// Lookup returns a variable.
	Lookup func(name string) (string, bool)
	// Width is how many columns Out has; 0 if it is no terminal.
	Width int
	// Ask asks the person at the terminal, and returns the answer; a secret one is not shown. nil if
	// nobody can be asked, because In or Err is no terminal.
	Ask func(ctx context.Context, question string, isSecret bool) (string, error)
	// Supervisor is what script.Supervise has returned: without it no scripts run.
	Supervisor script.Supervisor
	// Patience is how long a store may take for each thing that it is asked; 0 is 5 s, and 3 s for a good-bye. It is
	// for tests: their machine may stand still for longer.
	Patience time.Duration
}

// Process returns the environment of this process.
func Process() Environment {
	e := Environment{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Lookup: os.LookupEnv}
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		e.Width = cmp.Or(width, 80) // one that tells no size is a terminal, too
	}
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())) {
		e.Ask = show.Ask
	}
	return e
}

// cli is what all commands share.
type cli struct {
	env     Environment
	flags   target.Settings // as the flags say
	context string          // --context
	chosen  target.Settings // what settings has returned first, with the context that it is from
	from    string
	output  show.Format
	timeout time.Duration
	limited bool       // --timeout was given
	began   bool       // the command line was understood
	warning sync.Mutex // held by who warns: some operations work on several jobs at once
	// Of those that change something.
	dryRun      bool
	yes         target.Yes
	isConfirmed bool // a question whether to change something was answered
}

// Run runs the command with arguments, prints its error, and returns the exit code. When ctx ends
// the command does.
func Run(ctx context.Context, env Environment, args ...string) exit.Code {
	c := &cli{env: env}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	err := root.ExecuteContext(ctx)
	code := exit.Of(err)
	switch {
	case err == nil:
		return exit.Done
	case ctx.Err() != nil:
		code = exit.Interrupted
		if errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)) {
			err = errors.New("interrupted")
		} else { // what went wrong while it ended
			err = fmt.Errorf("interrupted: %w", err)
		}
	case !c.began:
		code = exit.Usage
	}
	if text := err.Error(); text != "" {
		text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
		fmt.Fprintln(env.Err, "elasticjob:", show.Line(brief.Cut(text, maxError)))
	}
	return code
}

// maxError bounds the line about an error, in bytes.
const maxError = 2000

// quiet is an error that says nothing more: the output has said it all.
func quiet(code exit.Code) error { return exit.With(code, errors.New("")) }

// The groups of help.
const (
	groupLook   = "look"
	groupSteer  = "steer"
	groupConfig = "config"
	groupStore  = "store"
)

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "elasticjob",
		Short: "Show, steer, change, check and move jobs",
		Long: `elasticjob shows, steers, changes, checks and moves the jobs of a namespace in etcd or ZooKeeper.
It runs none of them, except "elasticjob run".

The namespace is given by flags, by the environment, or by a context: see "elasticjob help store".`,
		SilenceErrors: true, SilenceUsage: true, Version: built().Version,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fmt.Errorf("no command %s%s; elasticjob help lists them", brief.Quote(args[0]), usage.DidYouMean(cmd.SuggestionsFor(args[0])))
		},
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SuggestionsMinimumDistance: 2,
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetVersionTemplate("{{.Version}}\n")
	c.output = show.TableFormat
	flags := root.PersistentFlags()
	for _, f := range target.Fields() {
		if f.Flag != "" {
			flags.StringVar(f.In(&c.flags), f.Flag, "", f.Meaning)
		}
	}
	flags.StringVar(&c.context, "context", "", "context of the contexts file")
	flags.VarP(&c.output, "output", "o", "table, wide, json, yaml or name")
	flags.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long the command may take; one that waits, follows or moves much is not bounded unless this is given")
	c.complete(root, "context", c.contextNames)
	c.complete(root, "output", formats)

	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "Look:"},
		&cobra.Group{ID: groupSteer, Title: "Steer:"},
		&cobra.Group{ID: groupConfig, Title: "Configure:"},
		&cobra.Group{ID: groupStore, Title: "Stores and this command:"},
	)
	root.SetHelpCommandGroupID(groupStore)
	root.SetCompletionCommandGroupID(groupStore)
	for group, commands := range map[string][]*cobra.Command{
		groupLook:   c.lookCommands(),
		groupSteer:  c.steerCommands(),
		groupConfig: c.configCommands(),
		groupStore:  c.storeCommands(),
	} {
		for _, cmd := range commands {
			cmd.GroupID = group
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(topics()...)
	root.InitDefaultHelpCmd()
	usage.Explain(root)
	c.begin(root)
	return root
}

// begin notes for a command, and all below it, when its command line was understood: what is wrong before
// that is a wrong command line.
func (c *cli) begin(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			c.limited = cmd.Flags().Changed("timeout")
			if c.timeout <= 0 {
				return exit.Errorf(exit.Usage, "--timeout is %v; allowed are times above 0", c.timeout)
			}
			c.began = true
			return run(cmd, args)
		}
	}
	for _, child := range cmd.Commands() {
		c.begin(child)
	}
}

// Each command has its place in one of these lists.

func (c *cli) lookCommands() []*cobra.Command {
	return []*cobra.Command{
		c.jobsCommand(), c.describeCommand(), c.itemsCommand(), c.instancesCommand(), c.serversCommand(), c.processesCommand(),
		c.watchCommand(), c.requestsCommand(), c.removedCommand(), c.auditCommand(), c.historyCommand(), c.failedCommand(), c.eventsCommand(), c.logsCommand(), c.dumpCommand(), c.treeCommand(), c.doctorCommand(), c.whyCommand(),
	}
}

func (c *cli) steerCommands() []*cobra.Command {
	return []*cobra.Command{
		c.triggerCommand(), c.retryCommand(), c.backfillCommand(), c.cancelCommand(), c.killCommand(),
		c.pauseCommand(), c.resumeCommand(), c.switchCommand(false), c.switchCommand(true),
		c.pinCommand(), c.unpinCommand(), c.reshardCommand(), c.shutdownCommand(), c.clearCommand(), c.removeCommand(), c.readmitCommand(),
	}
}

func (c *cli) configCommands() []*cobra.Command {
	return []*cobra.Command{
		c.getCommand(), c.createCommand(), c.updateCommand(), c.editCommand(), c.implementCommand(),
		c.applyCommand(), c.diffCommand(), c.exportCommand(), c.validateCommand(), c.calendarCommand(), c.cronCommand(),
	}
}

func (c *cli) storeCommands() []*cobra.Command {
	return []*cobra.Command{c.migrateCommand(), c.storeRolesCommand(), c.aclCommand(), c.runCommand(), c.devCommand(), c.etcdCommand(), c.consoleCommand(), c.contextCommand(), manual.Command(c.env.Out, c.print), versionCommand(c)}
}

// topics returns what help knows beside commands.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "The codes with which elasticjob ends", Long: "elasticjob ends with one of these codes:\n\n" + exit.Table()},
		{Use: "store", Short: "How elasticjob finds the store", Long: target.Topic()},
	}
}

// family is a command that only has others below it.
func family(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		var names []string
		for _, child := range cmd.Commands() {
			names = append(names, child.Name())
		}
		return exit.Errorf(exit.Usage, "%s: which one? allowed are %s", cmd.CommandPath(), strings.Join(names, ", "))
	}}
	cmd.AddCommand(below...)
	return cmd
}

// progress returns a bar on the terminal of the person who waits, if there is one.
func (c *cli) progress(label string) *show.Progress {
	if c.env.Ask == nil {
		return show.NewProgress(nil, label)
	}
	return show.NewProgress(c.env.Err, label)
}

// print prints a result.
func (c *cli) print(r show.Result) error { return c.printer().Print(r) }

func (c *cli) printer() show.Printer {
	return show.Printer{Out: c.env.Out, Format: c.output, Width: c.env.Width, Colours: c.env.Width > 0 && c.hasColours()}
}
