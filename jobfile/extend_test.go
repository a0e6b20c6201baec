package jobfile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// shelf is a database that counts.
type shelf struct {
	config jobfile.DatabaseConfig
	events atomic.Int64
	closed atomic.Bool
}

func (s *shelf) Write(_ context.Context, b trace.Batch) error {
	if s.closed.Load() {
		return errors.New("closed")
	}
	s.events.Add(int64(len(b.Events)))
	return nil
}

func (s *shelf) Close() error { s.closed.Store(true); return nil }

// gauge is an exporter that knows what it was told.
type gauge struct {
	config   jobfile.ExporterConfig
	finished chan struct{}
	commits  atomic.Int64
	node     *job.Node
	recorder *trace.Recorder
}

func (g *gauge) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, "%s %v %v %v %v %v", g.config.Namespace, g.config.Include, g.config.Alerts.Sent(), g.commits.Load() > 0, g.node != nil, g.recorder != nil)
}

func (g *gauge) Observer() job.Observer {
	return func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			g.finished <- struct{}{}
		}
	}
}

func (g *gauge) Registry(reg coord.Registry) coord.Registry { return measured{reg, g} }

func (g *gauge) Watch(n *job.Node, r *trace.Recorder) { g.node, g.recorder = n, r }

type measured struct {
	coord.Registry
	gauge *gauge
}

func (m measured) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	m.gauge.commits.Add(1)
	return m.Registry.Commit(ctx, ops...)
}

// A program may have types with a database, and types that listen.
func TestTypesOfSections(t *testing.T) {
	address := free(t, 1)[0]
	o := options(nil)
	s, g := &shelf{}, &gauge{finished: make(chan struct{}, 100)}
	o.Databases = map[string]jobfile.OpenDatabase{"SHELF": func(c jobfile.DatabaseConfig) (jobfile.Database, error) {
		s.config = c
		return s, nil
	}}
	o.Exporters = map[string]jobfile.NewExporter{"GAUGE": func(c jobfile.ExporterConfig) (jobfile.Exporter, error) {
		g.config = c
		return g, nil
	}}
	text := jobOf() + "tracing: {type: SHELF, database: 'x:y', keep: 48h}\nmetrics: {type: GAUGE, listen: '" + address + "', include: [settle]}\n"
	app, err := jobfile.Load(t.Context(), o, write(t, text)...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = app.Shutdown(context.Background()) }() // it was shut down, or the test has failed
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := app.Node().Job("settle").Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		select {
		case <-g.finished:
		case <-ctx.Done():
			t.Fatal("the exporter was not told of three runs")
		}
	}
	if _, page := get(t, "http://"+address+"/metrics"); page != "test [settle] 0 true true true" {
		t.Errorf("metrics: %q", page)
	}
	if err := app.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if s.config.Address != "x:y" || s.config.Keep != 48*time.Hour || s.events.Load() == 0 || !s.closed.Load() {
		t.Errorf("database: %+v, %d events, closed: %v", s.config, s.events.Load(), s.closed.Load())
	}
}

func TestTypesOfSectionsRefuse(t *testing.T) {
	o := options(nil)
	o.Databases = map[string]jobfile.OpenDatabase{"SHELF": func(jobfile.DatabaseConfig) (jobfile.Database, error) { return nil, errors.New("no shelf") }}
	o.Exporters = map[string]jobfile.NewExporter{"GAUGE": func(jobfile.ExporterConfig) (jobfile.Exporter, error) { return nil, errors.New("no gauge") }}
	for text, want := range map[string]string{
		"tracing: {type: SHELF}":                      "1.yaml:8:10: tracing: database is needed with the type SHELF",
		"tracing: {database: x}":                      "tracing: database, keep: the type LOG has no database",
		"tracing: {type: SHLF}":                       "tracing.type: \"SHLF\": this program knows LOG, SHELF",
		"tracing: {type: SQL}":                        "tracing.type: \"SQL\": this program knows LOG, SHELF; package trace/sqltrace/sqlfile has it",
		"metrics: {listen: 127.0.0.1:0}":              "1.yaml:8:10: metrics.type: \"PROMETHEUS\": this program knows EXPVAR, GAUGE; package trace/prom/promfile has it",
		"tracing: {type: SHELF, keep: 1m}":            "tracing.keep: \"1m\": a time of at least 1h0m0s is allowed",
		"tracing: {type: SHELF, database: x}":         "1.yaml:8:10: tracing.database: no shelf",
		"metrics: {type: GAUGE}":                      "1.yaml:8:10: metrics: listen is needed",
		"metrics: {type: GAUGE, listen: 127.0.0.1:0}": "1.yaml:8:10: metrics: no gauge",
	} {
		_, err := jobfile.Load(t.Context(), o, write(t, jobOf()+text)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
