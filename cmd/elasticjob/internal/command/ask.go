package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
)

// confirmThere is confirm for what is done to a namespace, which it names: the current context may be another one than
// somebody thinks.
func (c *cli) confirmThere(ctx context.Context, format string, args ...any) error {
	s, context, err := c.settings()
	if err != nil {
		return err
	}
	t, err := s.Target()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	there := t.String()
	if context != "" {
		there = fmt.Sprintf("context %s, %s", context, there)
	}
	return c.confirm(ctx, "%s: %s", there, fmt.Sprintf(format, args...))
}

// confirm asks whether something dangerous is to be done. With --yes, and in a dry run, it is. It does
// not wait for anybody where nobody is.
func (c *cli) confirm(ctx context.Context, format string, args ...any) error {
	what := show.Line(fmt.Sprintf(format, args...))
	switch {
	case c.yes || c.dryRun:
		return nil
	case c.env.Ask == nil:
		return exit.Errorf(exit.Usage, "%s: nobody can be asked whether that is wanted, because there is no terminal: give --yes", what)
	}
	answer, err := c.env.Ask(ctx, what+"? [y/N] ", false)
	if err != nil {
		return exit.Errorf(exit.Failed, "%s: not confirmed: %w", what, err)
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return exit.Errorf(exit.Failed, "%s: not confirmed, nothing was done", what)
	}
	return nil
}

// password asks for a password.
func (c *cli) password(ctx context.Context, of string) (string, error) {
	if c.env.Ask == nil {
		return "", exit.Errorf(exit.Usage, "%s has no password, and nobody can be asked for it: give --password-file, or ELASTICJOB_PASSWORD", of)
	}
	text, err := c.env.Ask(ctx, "Password of "+show.Line(of)+": ", true)
	return text, exit.With(exit.Usage, err)
}
