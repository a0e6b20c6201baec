package command

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
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
	c.env.Ask = nil
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
	return c.fromStore(cmd, func(ctx context.Context, s *store) ([]string, error) { return selection.Names(ctx, s.reg) })
}

// ofJob completes by what a store has of the job that is the first argument.
func (c *cli) ofJob(read func(context.Context, *store, string) ([]string, error)) names {
	return func(cmd *cobra.Command, args []string, _ string) []string {
		if len(args) == 0 {
			return nil
		}
		return c.fromStore(cmd, func(ctx context.Context, s *store) ([]string, error) { return read(ctx, s, args[0]) })
	}
}

// children completes by the names of nodes of the job.
func (c *cli) children(of func(jobtree.Job) string) names {
	return c.ofJob(func(ctx context.Context, s *store, name string) ([]string, error) {
		nodes, err := s.reg.List(ctx, of(jobtree.Job(name)))
		return namesOf(nodes, func(n coord.Node) string { return coord.Base(n.Path) }), err
	})
}

func (c *cli) instanceNames(cmd *cobra.Command, args []string, begin string) []string {
	return c.children(jobtree.Job.Instances)(cmd, args, begin)
}

func (c *cli) serverNames(cmd *cobra.Command, args []string, begin string) []string {
	return c.children(func(j jobtree.Job) string { return coord.Parent(j.Server("any")) })(cmd, args, begin)
}

func (c *cli) allServerNames(cmd *cobra.Command, _ []string, _ string) []string {
	return c.fromStore(cmd, func(ctx context.Context, s *store) ([]string, error) {
		servers, err := s.ops.Servers(ctx)
		return namesOf(servers, func(v ops.ServerInfo) string { return v.Server }), err
	})
}

func (c *cli) calendarNames(cmd *cobra.Command, _ []string, _ string) []string {
	return c.fromStore(cmd, func(ctx context.Context, s *store) ([]string, error) {
		calendars, err := s.ops.Calendars(ctx)
		return namesOf(calendars, func(l *ops.Calendar) string { return l.Name }), err
	})
}

func (c *cli) itemNames(cmd *cobra.Command, args []string, begin string) []string {
	return c.ofJob(func(ctx context.Context, s *store, name string) ([]string, error) {
		settings, err := s.job(name).Settings(ctx)
		var list []string
		for i := range min(settings.Config.ShardingTotalCount, maxCompletions) {
			list = append(list, strconv.Itoa(i))
		}
		return list, err
	})(cmd, args, begin)
}

func (c *cli) requestNames(cmd *cobra.Command, args []string, begin string) []string {
	return c.ofJob(func(ctx context.Context, s *store, name string) ([]string, error) {
		requests, err := s.job(name).Requests(ctx)
		return namesOf(requests, func(r ops.RequestState) string { return r.ID }), err
	})(cmd, args, begin)
}

func (c *cli) removedNames(cmd *cobra.Command, _ []string, _ string) []string {
	return c.fromStore(cmd, func(ctx context.Context, s *store) ([]string, error) {
		removed, err := s.ops.Removed(ctx)
		return namesOf(removed, func(r ops.Removed) string { return r.Name }), err
	})
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
