package prom_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// A program serves its metrics beside its other pages.
func Example() {
	ctx := context.Background()
	m, err := prom.New(prom.Options{Namespace: "billing"})
	if err != nil {
		panic(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	pages := http.NewServeMux()
	pages.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	store := memory.NewStore(memory.Options{}) // in place of etcd or ZooKeeper
	defer store.Close()
	centre, err := store.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		panic(err)
	}
	reg := m.Registry(centre)
	defer reg.Close(ctx)
	node, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{job.WithIP("10.0.0.1"), m.Option()}})
	if err != nil {
		panic(err)
	}
	m.Watch(node)
	settle := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	s, err := node.Schedule(ctx, job.Config{Name: "settle", ShardingTotalCount: 3}, settle)
	if err != nil {
		panic(err)
	}
	asked, err := s.Trigger(ctx, job.TriggerRequest{})
	if err != nil {
		panic(err)
	}
	if _, err := asked.Wait(ctx); err != nil {
		panic(err)
	}
	if err := node.Shutdown(ctx); err != nil { // which waits until observers were told everything
		panic(err)
	}

	page := httptest.NewRecorder()
	pages.ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for lines := bufio.NewScanner(page.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "elasticjob_executions_finished_total") && strings.Contains(lines.Text(), `"ok"`) {
			fmt.Println(lines.Text())
		}
	}
	// Output:
	// elasticjob_executions_finished_total{job_name="settle",job_namespace="billing",outcome="ok"} 3
}
