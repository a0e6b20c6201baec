package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
)

// terminal asks the person at the terminal. The read cannot be called off: if the context ends, it
// ends with the process, which has nothing more to do then.
func terminal(ctx context.Context, question string, isSecret bool) (string, error) {
	fmt.Fprint(os.Stderr, question)
	in := int(os.Stdin.Fd())
	before, err := term.GetState(in)
	if err != nil {
		return "", err
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		if isSecret {
			text, err := term.ReadPassword(in)
			read <- line{string(text), err}
			return
		}
		text, err := bufio.NewReader(os.Stdin).ReadString('\n')
		read <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-read:
		if isSecret {
			fmt.Fprintln(os.Stderr) // for that of the person, which was not shown
		}
		return l.text, l.err
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), term.Restore(in, before))
	}
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
