package command

import (
	"cmp"
	"database/sql"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/prom"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// defaultFile is what run reads if no file is given.
const defaultFile = "elasticjob.yaml"

func (c *cli) runCommand() *cobra.Command {
	var paths, profiles []string
	var check bool
	cmd := &cobra.Command{
		Use: "run [-f FILE]", Short: "Run the script and HTTP jobs of files",
		Long: `Run the jobs of files in the format of elasticjob.yaml: scripts and HTTP requests, without any Go. The files say in
which store, so the flags for that do not count. With node.serve it also runs such jobs that others put into the
namespace, as apply does.

tracing may have the type SQL, with a database, and metrics the type PROMETHEUS; jobErrorHandlerType may name EMAIL,
too. The files are read again when they have changed, and at a SIGHUP. SIGINT and SIGTERM end it when what runs is
through, or node.drain is over; a second one ends it at once. Then the exit code is 0.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(paths) == 0 {
				paths = []string{defaultFile}
			}
			f, err := jobfile.Read(c.worker(profiles), paths...)
			if err == nil && check {
				err = f.Check()
			}
			if err != nil {
				return c.showMistakes(err)
			}
			if check {
				return c.printer().Say("%s, no mistake", count(len(f.Jobs()), "job"))
			}
			app, err := f.Start(cmd.Context())
			if err != nil {
				return err
			}
			return app.Run(cmd.Context())
		},
	}
	cmd.Flags().StringArrayVarP(&paths, "file", "f", nil, "file with the jobs and this worker; may be given several times; default: "+defaultFile)
	cmd.Flags().BoolVar(&check, "check", false, "only check the files")
	c.profiles(cmd, &profiles)
	return cmd
}

// worker is what this command has for files.
func (c *cli) worker(profiles []string) jobfile.Options {
	alerts := alert.Options{Counts: new(alert.Counts)}
	return jobfile.Options{
		Supervisor: c.env.Supervisor, Profiles: profiles, LookupEnv: c.env.Lookup, Alert: alerts,
		Alerts:    map[string]func(alert.Options) job.ErrorHandlerType{email.Name: email.Type},
		Databases: map[string]jobfile.OpenDatabase{"SQL": openHistory},
		Exporters: map[string]jobfile.NewExporter{"PROMETHEUS": func(include, exclude []string) (jobfile.Exporter, error) {
			return newExporter(include, exclude, alerts.Counts)
		}},
	}
}

// defaultKeep is how long a history is kept.
const defaultKeep = 90 * 24 * time.Hour

// database is a history in a database.
type database struct {
	*sqltrace.Tracer
	db *sql.DB
}

// openHistory opens the database of a section. It may be down then.
func openHistory(c jobfile.DatabaseConfig) (jobfile.Database, error) {
	db, dialect, err := target.OpenDatabase(c.Address)
	if err != nil {
		return nil, err
	}
	t, err := sqltrace.Open(db, dialect, sqltrace.Options{Retention: sqltrace.Retention{Age: cmp.Or(c.Keep, defaultKeep)}, Slog: c.Log})
	if err != nil {
		return nil, cmp.Or(err, db.Close())
	}
	return database{t, db}, nil
}

func (d database) Close() error {
	d.Tracer.Close()
	return d.db.Close()
}

// exporter shows metrics for Prometheus.
type exporter struct {
	*prom.Metrics
	http.Handler
}

func newExporter(include, exclude []string, alerts prom.Alerts) (jobfile.Exporter, error) {
	m, err := prom.New(prom.Options{Include: include, Exclude: exclude})
	if err != nil {
		return nil, err
	}
	m.WatchAlerts(alerts)
	r := prometheus.NewRegistry()
	if err := r.Register(m); err != nil {
		return nil, err
	}
	return exporter{m, promhttp.HandlerFor(r, promhttp.HandlerOpts{})}, nil
}

// Watch shows a node, and the recorder of the history.
func (e exporter) Watch(n *job.Node, r *trace.Recorder) {
	e.Metrics.Watch(n)
	if r != nil {
		e.WatchTrace(r)
	}
}
