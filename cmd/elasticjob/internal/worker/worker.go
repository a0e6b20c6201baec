// Package worker has what jobs of files get from the elasticjob command beside scripts and HTTP requests: a history in a
// database, metrics for Prometheus, and mail.
//
//	options := worker.Options()
//	options.Supervisor = supervisor
//	file, err := jobfile.Read(options, "elasticjob.yaml")
package worker

import (
	"cmp"
	"database/sql"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/prom"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// Options returns options with the types SQL of tracing, PROMETHEUS of metrics and EMAIL of error handlers.
func Options() jobfile.Options {
	alerts := alert.Options{Counts: new(alert.Counts)}
	return jobfile.Options{
		Alert:     alerts,
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
