package show

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// Ask asks the person at the terminal. The read cannot be called off: if the context ends, it
// ends with the process, which has nothing more to do then.
func Ask(ctx context.Context, question string, isSecret bool) (string, error) {
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
