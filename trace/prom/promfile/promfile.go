// Package promfile has the type PROMETHEUS of the section metrics of job files, for programs that run such files:
//
//	app, err := jobfile.Load(ctx, jobfile.Options{
//		Exporters: map[string]jobfile.NewExporter{promfile.Name: promfile.New},
//	}, "elasticjob.yaml") // metrics: {listen: "127.0.0.1:8080"}
//
// It is a package of its own, because package jobfile brings the clients of all stores.
package promfile

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// Name is the name of the type.
const Name = "PROMETHEUS"

// exporter shows the metrics of package prom.
type exporter struct {
	*prom.Metrics
	http.Handler
}

// New makes the metrics of package prom for a section. It is a [jobfile.NewExporter].
func New(c jobfile.ExporterConfig) (jobfile.Exporter, error) {
	m, err := prom.New(prom.Options{Namespace: c.Namespace, Include: c.Include, Exclude: c.Exclude})
	if err != nil {
		return nil, err
	}
	m.WatchAlerts(c.Alerts)
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
