package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/dev"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/serve"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/console/access"
)

func (c *cli) devCommand() *cobra.Command {
	var f consoleFlags
	var paths, profiles []string
	var o dev.Options
	cmd := &cobra.Command{
		Use: "dev [-f FILE]", Short: "A store, a history and the console for one developer, with the jobs of files", Args: cobra.NoArgs,
		Long: `Start etcd, a history in SQLite and the console in this process, for the namespace dev or that of --namespace or
ELASTICJOB_NAMESPACE: nothing has to be installed. With --file it runs the jobs of files, as run does; their registry and
tracing are left out, so that a try touches nothing else. All other commands, and your own programs, reach it by the
address that it prints.

Without --data all is gone when it ends. It is not for production: there is one copy of the data, and etcd has no users
and no TLS, so who reaches its address may do anything.`,
		Example: "  elasticjob dev -f elasticjob.yaml\n  elasticjob dev --data ./store",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if given := slices.DeleteFunc(c.storeFlags(cmd), func(name string) bool { return name == "namespace" }); len(given) > 0 {
				return exit.Errorf(exit.Usage, "dev has a store and a history of its own: leave --%s out", strings.Join(given, ", --"))
			}
			if !serve.IsLoopback(f.listen) {
				return exit.Errorf(exit.Usage, "--listen %s can be reached from elsewhere: dev is for one machine, allowed is a loopback address such as 127.0.0.1:%s", f.listen, consolePort)
			}
			o.Namespace = cmp.Or(c.flags.Namespace, target.FromEnvironment(c.env.Lookup).Namespace, "dev")
			store, err := dev.Start(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer func() { err = cmp.Or(err, store.Close()) }()
			return c.serveDev(cmd.Context(), store, &f, paths, profiles)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&paths, "file", "f", nil, "file with jobs to run; may be given several times")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:"+consolePort, "loopback host:port of the console")
	flags.StringVar(&o.Listen, "etcd", "127.0.0.1:2379", "host:port of etcd")
	flags.StringVar(&o.Folder, "data", "", "folder that keeps the data; default: a temporary one")
	c.profiles(cmd, &profiles)
	return cmd
}

// serveDev serves the console and runs the jobs of files until ctx ends.
func (c *cli) serveDev(ctx context.Context, store *dev.Store, f *consoleFlags, paths, profiles []string) error {
	group, ctx := errgroup.WithContext(ctx)
	if len(paths) > 0 {
		jobs, err := store.Read(c.worker(profiles), paths...)
		if err != nil {
			return c.showMistakes(err)
		}
		app, err := jobs.Start(ctx)
		if err != nil {
			return err
		}
		group.Go(func() error { return app.Run(ctx) })
	}
	address := fmt.Sprintf("etcd://%s/%s", store.Settings.Endpoints, store.Settings.Namespace)
	text := fmt.Sprintf("A store, its history and this console. It is not for production.\n\n  store     %s\n  history   %s\n", address, store.Settings.History)
	if other := target.FromEnvironment(c.env.Lookup).Store; other != "" && other != address {
		c.warn("ELASTICJOB_STORE names another store: commands go there without --store %s", address)
	}
	group.Go(func() error { return c.serveOwn(ctx, f, store, "dev", text) })
	group.Go(func() error { return store.Wait(ctx) })
	return group.Wait()
}

// serveOwn serves the console of a store that this process has, for one user with the rights of an admin. His password
// is another one at each start. text is printed when it serves, with the address and the user.
func (c *cli) serveOwn(ctx context.Context, f *consoleFlags, store *dev.Store, user, text string) error {
	password := rand.Text()
	f.users = filepath.Join(store.Folder, "users.yaml")
	if err := access.File(f.users).Change(ctx, func(u *access.Users) error {
		err := u.Add(user, password, []access.Grant{{Role: access.Admin}})
		if errors.Is(err, access.ErrExists) {
			return u.SetPassword(user, password)
		}
		return err
	}); err != nil {
		return err
	}
	f.ready = func(url string) {
		// Whoever does not read it asks no more.
		_, _ = fmt.Fprintf(c.env.Out, "%s  console   %s\n  user      %s\n  password  %s\n\n", text, url, user, password)
	}
	c.flags, c.context = store.Settings, ""
	return c.serveConsole(ctx, f)
}
