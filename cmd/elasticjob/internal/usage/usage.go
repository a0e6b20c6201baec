// Package usage says what is wrong with a command line, in the words of its help:
//
//	elasticjob trigger
//	elasticjob: JOB is missing: elasticjob trigger JOB [flags]
package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Explain has the commands below one name the arguments and flags that are missing as their usage does, or say that
// there are too many. Its help refuses a command that there is not, as the command line does.
func Explain(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" {
			cmd.Args = refuseUnknown(root)
			continue
		}
		if check := cmd.Args; check != nil && (!cmd.HasSubCommands() || len(strings.Fields(cmd.Use)) > 1) {
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				if err := check(cmd, args); err != nil {
					return errors.Join(explained(cmd, args, err), checkFlags(cmd))
				}
				return nil
			}
		}
		read := cmd.PreRunE
		cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
			var err error
			if read != nil {
				err = read(cmd, args)
			}
			return errors.Join(err, checkFlags(cmd))
		}
		Explain(cmd)
	}
}

func refuseUnknown(root *cobra.Command) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if found, rest, err := root.Find(args); err == nil && found.HasSubCommands() && len(rest) > 0 {
			return fmt.Errorf("no command %s; elasticjob help lists them", brief.Quote(strings.Join(args, " ")))
		}
		return nil
	}
}

// explained says what is wrong with the number of arguments; err, if that is not it.
func explained(cmd *cobra.Command, args []string, err error) error {
	var names, needed []string
	for _, name := range strings.Fields(cmd.Use)[1:] {
		names = append(names, name)
		if !strings.HasPrefix(name, "[") {
			needed = append(needed, name)
		}
	}
	switch {
	case len(args) < len(needed):
		return fmt.Errorf("%s is missing: %s", strings.TrimSuffix(needed[len(args)], "…"), cmd.UseLine())
	case len(args) > len(names): // which are not shown: one may be a password
		return fmt.Errorf("%d too many arguments: %s", len(args)-len(names), cmd.UseLine())
	}
	return err
}
