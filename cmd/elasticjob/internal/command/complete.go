package command

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
)

// completeTime bounds how long a shell waits for a store.
const completeTime = 2 * time.Second

// maxCompletions bounds what a shell is told.
const maxCompletions = 1000

// names returns what may stand in the place of a word that begins in some way.
type names func(cmd *cobra.Command, args []string, begin string) []string

// complete completes a flag.
func (c *cli) complete(cmd *cobra.Command, flag string, of names) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
		return matching(of(cmd, args, begin), begin), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the command has no such flag: an error of the program
	}
}

// arguments completes arguments: the first by the first of the functions, and so on; further ones by
// the last one.
func arguments(of ...names) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
		n := of[min(len(args), len(of)-1)]
		return matching(n(cmd, args, begin), begin), cobra.ShellCompDirectiveNoFileComp
	}
}

// one completes a single argument, and nothing after it.
func one(of names) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return arguments(of, nothing)
}

func nothing(*cobra.Command, []string, string) []string { return nil }

// matching keeps what begins as the word does. What is no plain text is left out: a shell would take
// it apart.
func matching(all []string, begin string) []string {
	var list []string
	for _, name := range all {
		if strings.HasPrefix(name, begin) && show.Line(name) == name && len(list) < maxCompletions {
			list = append(list, name)
		}
	}
	return list
}

// fromStore completes by what a store has. If that cannot be asked, soon and without a question to the
// person, there is no completion.
func (c *cli) fromStore(cmd *cobra.Command, read func(context.Context, *store) ([]string, error)) (list []string) {
	c.env.ReadPassword = nil
	c.timeout, c.limited = completeTime, true
	if cmd.Context() == nil {
		cmd.SetContext(context.Background())
	}
	_ = c.ask(cmd, func(ctx context.Context, s *store) (err error) { // no completion then
		list, err = read(ctx, s)
		return err
	})
	return list
}

func (c *cli) jobNames(cmd *cobra.Command, _ []string, _ string) []string {
	return c.fromStore(cmd, func(ctx context.Context, s *store) ([]string, error) { return jobNames(ctx, s.reg) })
}

func (c *cli) contextNames(*cobra.Command, []string, string) []string {
	path, err := c.contextsFile()
	if err != nil {
		return nil
	}
	f, err := target.ReadFile(path)
	if err != nil {
		return nil
	}
	return f.Names()
}

func formats(*cobra.Command, []string, string) (list []string) {
	for _, f := range show.Formats() {
		list = append(list, string(f))
	}
	return list
}
