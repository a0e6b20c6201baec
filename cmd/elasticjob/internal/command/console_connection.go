package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/consolefile"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
)

// consoleConnections are the commands for the file of connections of a console.
type consoleConnections struct {
	*cli
	path, config string
}

// listedConnections is what console connection list prints.
type listedConnections struct {
	Namespaces []connection.Namespace `json:"namespaces"`
	Databases  []connection.Database  `json:"databases"`
}

// testedConnection is what console connection test prints.
type testedConnection struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
}

// newKey is what console connection key prints.
type newKey struct {
	Key string `json:"key"`
}

// resealed is what console connection reseal prints.
type resealed struct {
	Encrypted int `json:"encrypted"`
}

func (c *consoleConnections) command() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "List namespaces and databases of the console, without passwords", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.open(cmd, func(_ context.Context, b *connection.Book) error { return c.list(b) })
		},
	}
	reseal := &cobra.Command{
		Use: "reseal", Short: "Encrypt passwords that stand in clear text, or are of an older key, with the first key", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.open(cmd, c.reseal) },
	}
	key := &cobra.Command{
		Use: "key", Short: "Print a new key for passwords of connections", Args: cobra.NoArgs,
		Long: "Prints a new key, 32 random bytes in base64. Keep it where connections.keys of the console's --config says. To change a\n" +
			"key, put the new one in a line above it, call \"console connection reseal\", and then remove the old one.",
		RunE: func(*cobra.Command, []string) error {
			text := connection.NewKey()
			if c.output.ForPeople() {
				return c.printer().Say("%s", text)
			}
			return c.print(show.Result{Value: newKey{text}, Names: func() []string { return []string{text} }})
		},
	}
	cmd := family("connection", "Namespaces and databases of the console, in its file of connections", list, c.test(), reseal, key)
	cmd.PersistentFlags().StringVar(&c.path, "connections", "", "file with namespaces and databases")
	cmd.PersistentFlags().StringVar(&c.config, "config", "", "file with settings of the console: it says where the keys are")
	return cmd
}

func (c *consoleConnections) test() *cobra.Command {
	var isDatabase bool
	cmd := &cobra.Command{
		Use: "test NAME", Short: "Try to connect to a namespace, or to a database", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.open(cmd, func(ctx context.Context, b *connection.Book) error {
				if err := c.try(ctx, b, args[0], isDatabase); err != nil {
					return err
				}
				if c.output.ForPeople() {
					return c.printer().Say("%s: connected.", args[0])
				}
				return c.print(show.Result{Value: testedConnection{args[0], true}, Names: func() []string { return args }})
			})
		},
	}
	cmd.Flags().BoolVar(&isDatabase, "database", false, "NAME is that of a database")
	return cmd
}

// try tries one connection. The code of its error says why it has failed.
func (c *consoleConnections) try(ctx context.Context, b *connection.Book, name string, isDatabase bool) error {
	var err error
	if isDatabase {
		var d connection.Database
		if d, err = b.Database(name); err == nil {
			err = b.TestDatabase(ctx, d)
		}
	} else {
		var n connection.Namespace
		if n, err = b.Namespace(name); err == nil {
			err = b.TestNamespace(ctx, n)
		}
	}
	fault, ok := errors.AsType[*connection.TestError](err)
	if !ok {
		return err
	}
	switch fault.Reason {
	case connection.Refused, connection.Denied, connection.Untrusted:
		return exit.With(exit.Denied, err)
	case connection.Invalid:
		return exit.With(exit.Usage, err)
	}
	return exit.With(exit.Unreachable, err)
}

func (c *consoleConnections) reseal(ctx context.Context, b *connection.Book) error {
	count, err := b.Reseal(ctx)
	if errors.Is(err, connection.ErrNoKey) {
		return exit.Errorf(exit.Usage, "there is no key: give --config with connections.keys")
	}
	if err != nil {
		return err
	}
	if c.output.ForPeople() {
		return c.printer().Say("%s: %d encrypted.", c.path, count)
	}
	return c.print(show.Result{Value: resealed{count}})
}

func (c *consoleConnections) list(b *connection.Book) error {
	all := listedConnections{b.Namespaces(), b.Databases()}
	names := func() (names []string) {
		for _, n := range all.Namespaces {
			names = append(names, n.Name)
		}
		return names
	}
	return c.print(show.Result{Value: all, Names: names, Table: func() *show.Table {
		t := show.NewTable("NAME", "KIND", "ADDRESS", "NAMESPACE", "DATABASE", "USER", "PASSWORD", "TLS")
		t.Empty = "Nothing is in " + c.path
		for _, n := range all.Namespaces {
			t.Row(n.Name, string(n.Kind), strings.Join(n.Endpoints, ","), n.Path, n.Database, n.User, n.Password.String(), yesNo(n.TLS != nil))
		}
		for _, d := range all.Databases {
			t.Row(d.Name, string(d.Driver), d.Address, "", d.Schema, d.User, d.Password.String(), yesNo(d.TLS != nil))
		}
		return t
	}})
}

// open opens the file for a command.
func (c *consoleConnections) open(cmd *cobra.Command, do func(context.Context, *connection.Book) error) (err error) {
	if c.path == "" {
		return exit.Errorf(exit.Usage, "%s: give --connections", cmd.CommandPath())
	}
	if _, err := os.Stat(c.path); err != nil { // a console takes one that is missing for an empty one, which its admins fill
		return exit.With(exit.Usage, fmt.Errorf("--connections: %w", err))
	}
	file, err := consolefile.Read(c.config)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	keys, err := file.Keys()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	b, err := connection.Open(connection.Options{File: c.path, Dial: target.Dial, OpenHistory: target.OpenHistory, Keys: keys})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	ctx, cancel := context.WithTimeout(access.With(cmd.Context(), &access.Principal{Name: c.who(cmd)}), c.timeout)
	defer cancel()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		err = cmp.Or(err, b.Close(end))
	}()
	return do(ctx, b)
}
