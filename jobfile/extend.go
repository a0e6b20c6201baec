package jobfile

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/trace"
)

// OpenDatabase opens what a type of the section tracing writes into. The database may be down then.
type OpenDatabase func(DatabaseConfig) (Database, error)

// DatabaseConfig is what the section says of a database.
type DatabaseConfig struct {
	Address string        // database
	Keep    time.Duration // keep; 0 is the default of the type
	Log     *slog.Logger
}

// Database is what a type of the section tracing writes into.
type Database interface {
	trace.Sink
	Close() error
}

// NewExporter makes what a type of the section metrics shows.
type NewExporter func(ExporterConfig) (Exporter, error)

// ExporterConfig is what the files say of metrics, and what else of the process they may show.
type ExporterConfig struct {
	Namespace        string // of the section registry; empty if the program has a registry of its own
	Include, Exclude []string
	Alerts           *alert.Counts // of the error handlers that send messages
}

// Exporter shows metrics at the address of the section: GET /metrics.
type Exporter interface {
	http.Handler
	// Observer is told of the jobs that the section is for.
	Observer() job.Observer
	// Registry returns the registry, with its calls measured.
	Registry(coord.Registry) coord.Registry
	// Watch shows a node, and the recorder of the section tracing, which is nil if there is none.
	Watch(*job.Node, *trace.Recorder)
}

// openExporter makes what the section metrics shows, if it is of a type that listens and that the
// program has.
func (a *App) openExporter() error {
	s := a.file.metrics
	if s == nil || s.off {
		return nil
	}
	if _, isObserver := a.file.options.Metrics[s.typ]; isObserver {
		return nil
	}
	makeOne := a.file.options.Exporters[s.typ]
	if makeOne == nil {
		return nil
	}
	var err error
	c := ExporterConfig{Namespace: a.file.registry.namespace(), Include: s.include, Exclude: s.exclude, Alerts: a.file.options.Alert.Counts}
	if a.exporter, err = makeOne(c); err != nil {
		return fmt.Errorf("jobfile: %s: %s: %w", a.file.at(keyMetrics), keyMetrics, err)
	}
	return nil
}
