package command

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"
)

// consoleFlags are those of the console that its commands share.
type consoleFlags struct {
	users string // --users
}

func (c *cli) consoleCommand() *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use: "console", Short: "Serve the console", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return errors.New("console: it cannot be served yet") },
	}
	cmd.PersistentFlags().StringVar(&f.users, "users", "", "file with users and tokens; default: console-users.yaml beside the contexts file")
	cmd.AddCommand(c.consoleCommands(&f)...)
	return cmd
}

// consoleCommands are those below console.
func (c *cli) consoleCommands(f *consoleFlags) []*cobra.Command {
	users := consoleUsers{c, f}
	return []*cobra.Command{users.userCommand(), users.tokenCommand()}
}

// usersFile returns the path of the file with users.
func (c *cli) usersFile(f *consoleFlags) (string, error) {
	if f.users != "" {
		return f.users, nil
	}
	contexts, err := c.contextsFile()
	return filepath.Join(filepath.Dir(contexts), "console-users.yaml"), err
}
