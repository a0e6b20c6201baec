package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/console/access"
)

// place returns the namespace that was asked for, without connecting to it. All commands of a namespace ask for it
// before they plan anything, so it is here that a --yes of another namespace ends them.
func (c *cli) place() (target.Place, error) {
	s, context, err := c.settings()
	if err != nil {
		return target.Place{}, err
	}
	p, err := s.Place(context)
	if err == nil {
		err = c.yes.Check(p)
	}
	return p, exit.With(exit.Usage, err)
}

// head says for people, once and before all else, on which namespace of which store a command works.
func (c *cli) head(s *store) error {
	if s.isNamed {
		return nil
	}
	s.isNamed = true
	return c.printer().Head(s.place.String(), s.place.Production)
}

// confirmThere is confirm for what is done to a namespace.
func (c *cli) confirmThere(ctx context.Context, format string, args ...any) error {
	p, err := c.place()
	if err != nil {
		return err
	}
	return c.confirm(ctx, p, format, args...)
}

// confirmProduction is confirmThere for a change that can be taken back: only that of a production context is asked for.
func (c *cli) confirmProduction(cmd *cobra.Command) error {
	p, err := c.place()
	if err != nil || c.isConfirmed || !p.Production {
		return err
	}
	return c.confirm(cmd.Context(), p, "%s", strings.Join(append([]string{cmd.CommandPath()}, cmd.Flags().Args()...), " "))
}

// confirm asks whether something dangerous is to be done in a place; the zero place is none. With --yes, and in a dry
// run, it is. It does not wait for anybody where nobody is.
func (c *cli) confirm(ctx context.Context, p target.Place, format string, args ...any) error {
	what, there := fmt.Sprintf(format, args...), ""
	if p != (target.Place{}) {
		there = p.String() + ": "
	}
	isSettled, err := c.yes.Settle(p)
	switch {
	case err != nil:
		return exit.Errorf(exit.Usage, "%s%s: %w", there, what, err)
	case isSettled || c.dryRun:
		c.isConfirmed = true
		return nil
	case c.env.Ask == nil:
		return exit.Errorf(exit.Usage, "%s%s: nobody can be asked whether that is wanted, because there is no terminal: give %s", there, what, p.Flag())
	}
	answer, err := c.env.Ask(ctx, show.Red(there, p.Production && c.hasColours())+show.Line(what)+p.Prompt(), false)
	if err != nil {
		return exit.Errorf(exit.Failed, "%s%s: not confirmed: %w", there, what, err)
	}
	if !p.Accepts(answer) {
		return exit.Errorf(exit.Failed, "%s%s: not confirmed, nothing was done", there, what)
	}
	c.isConfirmed = true
	return nil
}

// hasColours reports whether terminals are to show colours.
func (c *cli) hasColours() bool {
	no, _ := c.env.Lookup("NO_COLOR")
	return no == ""
}

// password asks for a password.
func (c *cli) password(ctx context.Context, of string) (string, error) {
	if c.env.Ask == nil {
		return "", exit.Errorf(exit.Usage, "%s has no password, and nobody can be asked for it: give --password-file, or ELASTICJOB_PASSWORD", of)
	}
	text, err := c.env.Ask(ctx, "Password of "+show.Line(of)+": ", true)
	return text, exit.With(exit.Usage, err)
}

func (c consoleUsers) setPassword() *cobra.Command {
	var p passwordFlags
	cmd := c.recorded(&cobra.Command{
		Use: "password NAME", Short: "Set the password of a user of the console, and end his sessions", Args: cobra.ExactArgs(1), ValidArgsFunction: one(c.userNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.read(func(u *access.Users) error { _, err := u.User(args[0]); return err }); err != nil {
				return err
			}
			password, err := c.newPassword(cmd.Context(), args[0], p)
			if err != nil {
				return err
			}
			tokens := 0
			err = c.change(cmd, access.Event{Kind: access.PasswordChanged, User: args[0]}, func(u *access.Users) error {
				if user := u.Users[args[0]]; user != nil {
					tokens = len(user.Tokens)
				}
				return u.SetPassword(args[0], password)
			})
			if err != nil || tokens == 0 {
				return err
			}
			return c.printer().Say("What he has beside the password stays, %s: elasticjob console token list %s", count(tokens, "API token"), args[0])
		},
	})
	p.flag(cmd)
	return cmd
}

// passwordFlags say where a password comes from.
type passwordFlags struct {
	file string
	none bool
}

func (p *passwordFlags) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "password-file", "", "file with the password of the user; - is the standard input; default: it is asked for")
}

// newPassword reads a password, or asks for it twice.
func (c consoleUsers) newPassword(ctx context.Context, name string, p passwordFlags) (string, error) {
	switch {
	case p.none && p.file != "":
		return "", exit.Errorf(exit.Usage, "--no-password and --password-file: allowed is one of them")
	case p.none:
		return "", nil
	case p.file != "":
		source, err := c.source(p.file)
		if err != nil {
			return "", exit.With(exit.Usage, err)
		}
		line, _, _ := strings.Cut(string(source.Text), "\n")
		password := strings.TrimSuffix(line, "\r")
		return password, access.CheckPassword(name, password)
	case c.env.Ask == nil:
		return "", exit.Errorf(exit.Usage, "user %s needs a password, and nobody can be asked for it: give --password-file", name)
	}
	password, err := c.env.Ask(ctx, "New password of "+show.Line(name)+": ", true)
	if err == nil {
		err = access.CheckPassword(name, password)
	}
	if err != nil {
		return "", exit.With(exit.Usage, err)
	}
	again, err := c.env.Ask(ctx, "Again: ", true)
	if err == nil && again != password {
		err = errors.New("the passwords differ: nothing was done")
	}
	return password, exit.With(exit.Usage, err)
}
