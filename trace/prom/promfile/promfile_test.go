package promfile_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/trace/prom/promfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A program shows the jobs of its file, what its file says of them, and the namespace.
func TestSection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil { // the section gets its port
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "elasticjob.yaml")
	text := fmt.Sprintf(`
registry: {memory: {namespace: shop/jobs}}
defaults: {implementation: settle, shardingTotalCount: 3}
jobs: {settle: {}, report: {}}
tracing: {}
metrics: {listen: %q, exclude: [report]}
`, address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	app, err := jobfile.Load(t.Context(), jobfile.Options{
		Handlers:  map[string]job.Handler{"settle": job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })},
		Profiles:  []string{},
		Exporters: map[string]jobfile.NewExporter{promfile.Name: promfile.New},
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := app.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	page := get(t, "http://"+address+"/metrics")
	for _, want := range []string{
		`elasticjob_jobs{job_namespace="shop/jobs"} 2`,
		`elasticjob_registered{job_name="settle",job_namespace="shop/jobs"} 1`,
		`elasticjob_store_requests_total{job_namespace="shop/jobs",operation="commit",result="ok"} `,
		`elasticjob_trace_dropped_total{job_namespace="shop/jobs",what="event"} 0`,
		`elasticjob_alerts_failed_total{job_namespace="shop/jobs"} 0`,
	} {
		if !strings.Contains(page, "\n"+want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	if strings.Contains(page, `"report"`) {
		t.Errorf("the page shows a job that the section leaves out:\n%s", page)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	var text strings.Builder
	if err := answer.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
