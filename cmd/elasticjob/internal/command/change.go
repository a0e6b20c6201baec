package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/ops"
)

// changes gives a command the flags of all that change something in a namespace. In a production context each of them
// asks before.
func (c *cli) changes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().VarPF(&c.yes, "yes", "y", "do not ask; in a production context only --yes=NAMESPACE does").NoOptDefVal = "true"
	return c.recorded(cmd)
}

// recorded gives a command the flags of all that change something.
func (c *cli) recorded(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "change nothing, and say what would change")
	cmd.Flags().String("by", "", "in whose name; default: ELASTICJOB_BY, or user@host")
	return cmd
}

// outcome is what a command that changes something has done, for programs.
type outcome struct {
	DryRun  bool         `json:"dryRun,omitempty"`
	Changes []ops.Change `json:"changes"`
	// Result is what the command says beside that, if anything.
	Result any `json:"result,omitempty"`
}

// changer collects what is changed. In a dry run nothing is.
type changer struct {
	*store
	mu   sync.Mutex   // for add: some operations work on several jobs at once
	made []ops.Change // all of the rest reads it after them
	// result and say are what the command tells beside the changes: to programs, and to people.
	result any
	say    []string
}

// tells says something to people, below the changes.
func (c *changer) tells(format string, args ...any) {
	c.say = append(c.say, fmt.Sprintf(format, args...))
}

// change connects, has something changed, and prints what was. That is printed after an error, too,
// because some of it may have been done.
func (c *cli) change(cmd *cobra.Command, do func(context.Context, *changer) error) error {
	return c.changeWithin(c.ask, cmd, do)
}

// changeMuch is change for what takes as long as it takes.
func (c *cli) changeMuch(cmd *cobra.Command, do func(context.Context, *changer) error) error {
	return c.changeWithin(c.follow, cmd, do)
}

type asker func(*cobra.Command, func(context.Context, *store) error) error

func (c *cli) changeWithin(within asker, cmd *cobra.Command, do func(context.Context, *changer) error) error {
	if err := c.confirmProduction(cmd); err != nil {
		return err
	}
	return within(cmd, func(ctx context.Context, s *store) error { return c.changeAt(ctx, s, do) })
}

// changeAt is change for what has connected, and was confirmed.
func (c *cli) changeAt(ctx context.Context, s *store, do func(context.Context, *changer) error) error {
	ch := c.changer(s)
	err := do(ctx, ch)
	if err != nil && len(ch.made) == 0 {
		return err
	}
	return cmp.Or(err, c.printChanges(ch, err == nil))
}

// changer returns a store whose changes are collected, and not made in a dry run.
func (c *cli) changer(s *store) *changer {
	ch := &changer{store: s, say: s.notes}
	s.ops = s.ops.OnChange(ch.add)
	if c.dryRun {
		s.ops = s.ops.DryRun()
	} else if s.noPast != nil {
		c.warn("the history does not get what is changed: %v", s.noPast)
	}
	return ch
}

// add takes a change. What takes several commits is told of with each of them.
func (c *changer) add(made ops.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := func(m ops.Change) [4]string { return [4]string{m.ID, m.Job, string(m.Action), m.Detail} }
	if !slices.ContainsFunc(c.made, func(m ops.Change) bool { return of(m) == of(made) }) {
		c.made = append(c.made, made)
	}
}

func (c *cli) printChanges(ch *changer, through bool) error {
	o := outcome{DryRun: c.dryRun, Changes: ch.made, Result: ch.result}
	if o.Changes == nil {
		o.Changes = []ops.Change{}
	}
	if !c.output.ForPeople() {
		return c.print(show.Result{Value: o, Names: func() []string {
			var ids []string
			for _, made := range ch.made {
				if made.ID != "" {
					ids = append(ids, made.ID)
				}
			}
			slices.Sort(ids) // several jobs may share an entry
			return slices.Compact(ids)
		}})
	}
	p := c.printer()
	if err := c.head(ch.store); err != nil {
		return err
	}
	for _, made := range ch.made {
		if err := p.Say("%s", changeText(made, c.dryRun)); err != nil {
			return err
		}
	}
	if through && len(ch.made) == 0 {
		ch.say = slices.Insert(ch.say, 0, "Nothing to change.")
	}
	for _, line := range ch.say {
		if err := p.Say("%s", line); err != nil {
			return err
		}
	}
	if c.dryRun && len(ch.made) > 0 {
		return p.Say("Nothing was changed: this is a dry run.")
	}
	return nil
}

// changeText says in a line, or with the lines that differ, what has changed.
func changeText(made ops.Change, isDry bool) string {
	made = show.VeiledChange(made)
	var b strings.Builder
	if isDry {
		b.WriteString("would ")
	}
	b.WriteString(string(made.Action))
	for _, word := range []string{made.Job, made.Detail} {
		if word != "" {
			b.WriteString(" " + show.Line(word))
		}
	}
	switch {
	case made.Before == made.After:
	case strings.Contains(made.Before, "\n") || strings.Contains(made.After, "\n"):
		for _, line := range show.Differing(made.Before, made.After) {
			b.WriteString("\n  " + line)
		}
	default:
		fmt.Fprintf(&b, ": %s → %s", orNothing(made.Before), orNothing(made.After))
	}
	return b.String()
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return show.Line(text)
}
