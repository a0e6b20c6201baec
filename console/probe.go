package console

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// addProbes adds what machines ask that watch the console.
func (c *Console) addProbes(table *route.Table) error {
	open := route.Need{Scope: route.Open}
	metrics := route.Need{Scope: route.Everything, Role: access.Viewer}
	if c.o.OpenMetrics {
		metrics = open
	}
	return addAll(table, []route.Route{
		{Method: http.MethodGet, Pattern: "/healthz", Need: open, Handler: http.HandlerFunc(alive), Probe: true},
		{Method: http.MethodGet, Pattern: "/readyz", Need: open, Handler: http.HandlerFunc(c.ready), Probe: true},
		{Method: http.MethodGet, Pattern: "/metrics", Need: metrics, Handler: c.metrics.Handler(), Probe: true},
	})
}

func alive(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "ok\n") // the client has gone
}

// readiness is the answer of /readyz.
type readiness struct {
	Ready bool `json:"ready"`
	// Faults and Connections are for those who may see everything.
	Faults      []string           `json:"faults,omitempty"`
	Connections []connection.State `json:"connections,omitempty"`
}

// ready says whether the console takes requests. A store that is away does not keep it from that: its
// namespace says so, and the others go on. Nothing is asked over the network.
func (c *Console) ready(w http.ResponseWriter, r *http.Request) {
	a := readiness{Ready: !c.guard.Closing()}
	if access.From(r.Context()).MayEverywhere(access.Viewer) {
		a.Connections = c.o.Connections.States()
		a.Faults = c.faults()
	}
	w.Header().Set("Content-Type", "application/json")
	if !a.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(a) // the client has gone
}

// faults returns what an operator of the console has to see to.
func (c *Console) faults() (list []string) {
	if err := c.o.Connections.Fault(); err != nil {
		list = append(list, err.Error())
	}
	if c.o.Access != nil {
		if err := c.o.Access.Fault(); err != nil {
			list = append(list, err.Error())
		}
	}
	return list
}

// connections is a metric: how many connections are in which phase.
type connections struct{ book *connection.Book }

var phases = prometheus.NewDesc("elasticjob_console_connections", "Namespaces and databases, by how it stands with them.", []string{"what", "phase"}, nil)

// Describe is for prometheus.Collector.
func (connections) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- phases }

// Collect is for prometheus.Collector.
func (c connections) Collect(metrics chan<- prometheus.Metric) {
	count := map[[2]string]float64{}
	for _, s := range c.book.States() {
		count[[2]string{s.What, string(s.Phase)}]++
	}
	for labels, n := range count {
		metrics <- prometheus.MustNewConstMetric(phases, prometheus.GaugeValue, n, labels[:]...)
	}
}
