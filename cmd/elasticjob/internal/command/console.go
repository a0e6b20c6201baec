package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/consolefile"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/serve"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/console"
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/access/oidc"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/legacy"
	"github.com/elasticjob-go/elasticjob/console/sink"
	"github.com/elasticjob-go/elasticjob/coord"
)

// consoleFlags are those of the console.
type consoleFlags struct {
	users string // --users, which all of its commands share

	listen, metricsListen string
	cert, key             string
	isInsecure            bool
	connections, config   string
	firstUser             string
	isDemo                bool
	ready                 func(url string) // is told where it listens
}

// consolePort is that of ElasticJob's console.
const consolePort = "8899"

// metricsTime bounds a request at --metrics-listen.
const metricsTime = 30 * time.Second

func (c *cli) consoleCommand() *cobra.Command {
	var f consoleFlags
	cmd := &cobra.Command{
		Use: "console", Short: "Serve the console", Args: cobra.NoArgs,
		Long: `Serve the console: pages and an API, with log-in and rights, for the namespace that --store or a context names, and
for those of --connections. Users log in by name and password, and are in the file of --users: make the first one
by "elasticjob console user add". The file of --config may name a provider of OpenID Connect, a proxy that logs users
in, the names of the console, and how many requests there may be, how large, and for how long.

Without TLS it listens on a loopback address only, unless --insecure-http says that something before it ends TLS: then
session cookies are for TLS only. Certificate and key are read again when they have changed.

SIGINT and SIGTERM end it: nobody is accepted any more, streams end at once, requests have 10 s. A second one ends it
at once.`,
		Example: "  elasticjob console --demo\n  elasticjob console user add anna --role admin\n  elasticjob console --store etcd://127.0.0.1:2379/billing",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.isDemo {
				if given := c.storeFlags(cmd); len(given) > 0 {
					return exit.Errorf(exit.Usage, "--demo has a store and a history of its own: leave --%s out", strings.Join(given, ", --"))
				}
				return c.serveDemo(cmd.Context(), f)
			}
			return c.serveConsole(cmd.Context(), &f)
		},
	}
	cmd.PersistentFlags().StringVar(&f.users, "users", "", "file with users and tokens; default: console-users.yaml beside the contexts file")
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:"+consolePort, "host:port to listen on")
	flags.StringVar(&f.metricsListen, "metrics-listen", "", "host:port on which anybody may read the metrics")
	flags.StringVar(&f.cert, "tls-cert", "", "file with the console's certificate")
	flags.StringVar(&f.key, "tls-key", "", "file with the private key of --tls-cert")
	flags.BoolVar(&f.isInsecure, "insecure-http", false, "HTTP without TLS on any address: something before the console ends TLS")
	flags.StringVar(&f.connections, "connections", "", "file with more namespaces and databases, which admins may change")
	flags.StringVar(&f.config, "config", "", "file with settings of the console")
	flags.StringVar(&f.firstUser, "first-user", "", "name of an admin who is added if the users file has no user; the password is random, and printed")
	flags.BoolVar(&f.isDemo, "demo", false, "serve a demo: a store, workers and jobs that begin and end with the console")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	cmd.MarkFlagsMutuallyExclusive("tls-cert", "insecure-http")
	for _, given := range []string{"users", "first-user", "connections", "config"} {
		cmd.MarkFlagsMutuallyExclusive("demo", given) // it has its own
	}
	cmd.AddCommand(c.consoleCommands(&f)...)
	return cmd
}

// storeFlags are the names of flags that were given and say which store or history is meant.
func (c *cli) storeFlags(cmd *cobra.Command) []string {
	var given []string
	for _, f := range target.Fields() {
		if f.Flag != "" && cmd.Flags().Changed(f.Flag) {
			given = append(given, f.Flag)
		}
	}
	if cmd.Flags().Changed("context") {
		given = append(given, "context")
	}
	return given
}

// consoleCommands are those below console.
func (c *cli) consoleCommands(f *consoleFlags) []*cobra.Command {
	users := consoleUsers{c, f}
	connections := consoleConnections{cli: c}
	return append(c.demoCommands(), users.userCommand(), users.tokenCommand(), connections.command())
}

// usersFile returns the path of the file with users.
func (c *cli) usersFile(f *consoleFlags) (string, error) {
	if f.users != "" {
		return f.users, nil
	}
	contexts, err := c.contextsFile()
	return filepath.Join(filepath.Dir(contexts), "console-users.yaml"), err
}

// serveConsole serves the console until ctx ends.
func (c *cli) serveConsole(ctx context.Context, f *consoleFlags) (err error) {
	log := slog.New(slog.NewTextHandler(c.env.Err, nil))
	file, err := consolefile.Read(f.config)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	site := serve.Site{Listen: f.listen, Ready: f.ready, Log: log}
	switch {
	case f.cert != "":
		if site.Certificate, err = serve.ReadCertificate(f.cert, f.key, log); err != nil {
			return exit.With(exit.Usage, err)
		}
	case !f.isInsecure && !serve.IsLoopback(f.listen):
		return exit.Errorf(exit.Usage, "--listen %s can be reached from elsewhere, and passwords would be sent in the clear: give --tls-cert and --tls-key, or --insecure-http if something before the console ends TLS", f.listen)
	}
	sinks, err := sink.Open(file.Sinks, c.env.Out, log)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("--config: %w", err))
	}
	defer func() { err = cmp.Or(err, closeIn(ctx, sinks.Close)) }()
	if err := c.addFirstUser(ctx, f, sinks); err != nil {
		return err
	}
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "elasticjob_console_log_ins_refused_total", Help: "Names, passwords, tokens and sessions that were refused, by kind.",
	}, []string{"kind"})
	control, provider, err := c.openAccess(f, file, log, refused, sinks)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, control.Close()) }()
	book, err := c.openBook(ctx, f, file, log, sinks)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, closeIn(ctx, book.Close)) }()
	zone, err := file.Zone()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	old, err := legacy.New(legacy.Options{Connections: book, Access: control, Zone: zone, Slog: log})
	if err != nil {
		return err
	}
	served, err := console.New(console.Options{
		Connections: book, Access: control, OIDC: provider, Mount: []console.Routes{old},
		Hosts: consolefile.Plain(file.Hosts), Origins: consolefile.Plain(file.Origins), Secure: f.isInsecure, Limits: file.Limits, Findings: file.Findings, OpenMetrics: file.OpenMetrics,
		Collectors: []prometheus.Collector{refused, sinks, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})},
		Version:    built().Version, Slog: log,
	})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	site.Handler, site.Close = served, served.Close
	sites := []serve.Site{site}
	if f.metricsListen != "" {
		sites = append(sites, serve.Site{Listen: f.metricsListen, Handler: served.Metrics(), Most: metricsTime, Log: log})
	}
	return serve.Run(ctx, sites...)
}

// closeIn closes something in closeTime.
func closeIn(ctx context.Context, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return end(ctx)
}

// addFirstUser adds the user of --first-user if nobody could log in, and prints the password.
func (c *cli) addFirstUser(ctx context.Context, f *consoleFlags, sinks *sink.Sinks) error {
	path, err := c.usersFile(f)
	if err != nil || f.firstUser == "" {
		return exit.With(exit.Usage, err)
	}
	password, err := access.File(path).AddFirst(ctx, f.firstUser)
	if err != nil || password == "" {
		return exit.With(exit.Usage, err)
	}
	// Before anything else can fail: nobody can ask for the password again.
	if _, err := fmt.Fprintf(c.env.Out, "The console's first user. The password is not shown again.\n\n  user      %s\n  password  %s\n\n", f.firstUser, password); err != nil {
		return err
	}
	e := access.Event{Time: time.Now().UTC(), By: "--first-user", Kind: access.UserAdded, User: f.firstUser}
	sinks.Event(e)
	return access.TrailOf(path).Append(ctx, e)
}

// openAccess opens the ways to log in. At least one is there. provider is nil if there is none.
func (c *cli) openAccess(f *consoleFlags, file *consolefile.File, log *slog.Logger, refused *prometheus.CounterVec, sinks *sink.Sinks) (*access.Control, *oidc.Login, error) {
	path, err := c.usersFile(f)
	if err != nil {
		return nil, nil, err
	}
	proxy, err := file.TrustedProxy()
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	users := access.File(path)
	others := file.OIDC != nil || proxy.User != ""
	switch known, err := users.Read(); {
	case errors.Is(err, access.ErrNoFile) && others && f.users == "":
		users = "" // nobody has asked for it
	case err != nil && !errors.Is(err, access.ErrNoFile):
		return nil, nil, exit.With(exit.Usage, err)
	case !others && (known == nil || len(known.Users) == 0):
		return nil, nil, exit.Errorf(exit.Usage, "nobody could log in: %s has no user; make one by: elasticjob console user add NAME --role admin, or have --config name a provider or a proxy", path)
	}
	control, err := access.Open(access.Options{
		File: users, Trail: trailOf(users), Secure: f.isInsecure, Proxy: proxy, Idle: file.Sessions.Idle, Absolute: file.Sessions.Absolute,
		Tell: func(e access.Event) {
			if e.Kind == access.LogInRefused || e.Kind == access.LogInLimited {
				refused.WithLabelValues(string(e.Kind)).Add(float64(1 + e.More))
			}
			sinks.Event(e)
			log.Info("console: "+string(e.Kind), "by", e.By, "user", e.User, "token", e.Token, "address", e.Address, "detail", e.Detail)
		},
	})
	if err != nil {
		return nil, nil, exit.With(exit.Usage, err)
	}
	if file.OIDC == nil {
		return control, nil, nil
	}
	provider, err := file.OIDC.Open(control, log)
	if err != nil {
		return nil, nil, exit.With(exit.Usage, cmp.Or(err, control.Close()))
	}
	return control, provider, nil
}

// trailOf returns where log-ins are noted: beside the users.
func trailOf(users access.File) access.Trail {
	if users == "" {
		return ""
	}
	return access.TrailOf(string(users))
}

// openBook opens the namespaces: the one that flags, environment and context name, and those of --connections.
func (c *cli) openBook(ctx context.Context, f *consoleFlags, file *consolefile.File, log *slog.Logger, sinks *sink.Sinks) (*connection.Book, error) {
	keys, err := file.Keys()
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	o := connection.Options{
		File: f.connections, Dial: target.Dial, OpenHistory: target.OpenHistory, Keys: keys, Tell: sinks.Event, OnChange: sinks.Change, Slog: log,
		Allow: connection.Allow{Variables: consolefile.Plain(file.Connections.Variables), Folders: consolefile.Plain(file.Connections.Folders)},
	}
	switch given, name, err := c.settings(); {
	case errors.Is(err, target.ErrNoStore) && f.connections != "":
	case err != nil:
		return nil, err
	default:
		if err := c.give(ctx, &o, given, name); err != nil {
			return nil, err
		}
	}
	book, err := connection.Open(o)
	return book, exit.With(exit.Usage, err)
}

// give gives a book the namespace of settings, under the name of their context, or the last part of its own.
func (c *cli) give(ctx context.Context, o *connection.Options, s target.Settings, name string) error {
	t, err := c.targetOf(ctx, s)
	if err != nil {
		return err
	}
	n := connection.Namespace{
		Name: cmp.Or(name, t.Namespace[strings.LastIndexByte(t.Namespace, '/')+1:]),
		Kind: connection.Kind(t.Kind), Endpoints: t.Endpoints, Path: t.Namespace, User: t.User, Production: s.Production,
	}
	if s.History != "" {
		n.Database = n.Name
		o.GivenDatabases = append(o.GivenDatabases, connection.GivenDatabase{
			Database: connection.Database{Name: n.Name},
			Open: func() (connection.History, error) {
				h, err := s.OpenHistory()
				if err != nil {
					return nil, err // h would be a nil pointer
				}
				return h, nil
			},
		})
	} else if _, err := s.OpenHistory(); err != nil {
		c.warn("the console shows no history: %v", err)
	}
	o.Given = append(o.Given, connection.Given{
		Namespace: n, Dial: func(ctx context.Context) (coord.Registry, error) { return t.Dial(ctx, dialTime) },
	})
	return nil
}
