package prom_test

import (
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// Names and help texts are as Prometheus wants them.
func TestLint(t *testing.T) {
	promtool := find(t, "promtool")
	page := httptest.NewRecorder()
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.process("a", prom.Options{Namespace: "billing"})
		p.metrics.WatchTrace(new(leakyRecorder))
		p.metrics.WatchAlerts(new(alert.Counts))
		p.schedule(every("settle", "* * * * * ?"), lasts(time.Hour))
		pass(time.Minute)
		promhttp.HandlerFor(p.gather, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	})
	check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
	check.Stdin = page.Body
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
