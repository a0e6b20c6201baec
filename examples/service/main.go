// Command service is a service as you would write it: it settles the orders of a SQL table shard by
// shard, makes a report when it is asked to, and sends an alert to $ALERT_URL when that fails:
//
//	go run ./examples/service
//	curl -X POST 'localhost:8080/rebuild?city=Shanghai' # Atlantis fails
//	curl localhost:8080/health/ready # and /metrics
//
// With -etcd, -db and other addresses several share the shards. The environment has the defaults of flags, as
// docs/operate/kubernetes.md gives them. SIGTERM ends a process when what runs is through.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/health"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

func main() {
	listen := flag.String("listen", cmp.Or(os.Getenv("LISTEN"), "localhost:8080"), "address of the probes, the metrics and POST /rebuild")
	endpoints := flag.String("etcd", os.Getenv("ETCD_ENDPOINTS"), "addresses of etcd, with commas between them; empty: a store in memory")
	file := flag.String("db", ":memory:", "file of the SQLite database")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	listener, err := net.Listen("tcp", *listen)
	if err == nil {
		err = run(listener, *endpoints, *file, log)
	}
	if err != nil {
		log.Error("the service has failed", "error", err)
		os.Exit(1)
	}
}

// run runs the service until a signal ends it, or until it cannot go on.
func run(listener net.Listener, endpoints, file string, log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pager := cmp.Or(os.Getenv("ALERT_URL"), "http://"+listener.Addr().String()+"/alerts")
	lookup := func(name string) (string, bool, error) { return pager, name == "env:ALERT_URL", nil }
	shop, err := open(ctx, file)
	if err != nil {
		return err
	}
	m, err := prom.New(prom.Options{Namespace: "shop"})
	if err != nil {
		return err
	}
	reg, err := dial(ctx, endpoints, log)
	if err != nil {
		return err
	}
	reg = m.Registry(reg) // its requests are measured
	counts := new(alert.Counts)
	options := []job.Option{
		job.WithSlog(log), job.WithStartRetry(), job.WithStartFault(), m.Option(),
		job.WithErrorHandler(alert.NameWebhook, alert.Webhook(alert.Options{Lookup: lookup, Counts: counts})),
	}
	if ip := os.Getenv("POD_IP"); ip != "" {
		options = append(options, job.WithIP(ip))
	}
	node, err := job.NewNode(reg, job.NodeConfig{Drain: 30 * time.Second, Options: options})
	if err != nil {
		return err
	}
	m.Watch(node)
	m.WatchAlerts(counts)
	server := &http.Server{Handler: routes(node, reg, m), ReadHeaderTimeout: 5 * time.Second}
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { log.Info("serves no more", "because", server.Serve(listener)); stop() })
	// A job that cannot start keeps no other one from running: an operator may have removed it. Until it starts it is a fault,
	// which /health/faults and a metric show.
	serve := func(c job.Config, handle job.HandlerFunc) {
		if _, err := node.Schedule(ctx, c, handle); err != nil {
			log.Error("a job is not served", "job", c.Name, "error", err)
		}
	}
	settle, rebuild := jobs()
	serve(settle, shop.settle)
	serve(rebuild, shop.rebuild)
	err = node.Run(ctx) // until ctx ends; then it drains, and the probes are answered meanwhile
	soon, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(soon), reg.Close(soon), shop.db.Close())
}

func dial(ctx context.Context, endpoints string, log *slog.Logger) (coord.Registry, error) {
	if endpoints == "" {
		return memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "shop"})
	}
	return etcd.Dial(ctx, etcd.Config{Endpoints: strings.Split(endpoints, ","), Namespace: "shop", Slog: log})
}

// routes serves the probes (live, ready and faults), the metrics, and what people ask for.
func routes(node *job.Node, reg coord.Registry, m *prom.Metrics) http.Handler {
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(m)
	mux := http.NewServeMux()
	mux.Handle("/health/", http.StripPrefix("/health", health.Handler(node)))
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("POST /rebuild", func(w http.ResponseWriter, r *http.Request) {
		request, err := ops.New(reg).Job("rebuild").Trigger(r.Context(), job.TriggerRequest{Parameter: r.FormValue("city")})
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		shards, _ := request.Wait(r.Context()) // it fails if nobody waits for the answer any more
		for _, s := range shards {
			fmt.Fprintf(w, "shard %d: %v %s\n", s.Item, s.Outcome, s.Error)
		}
	})
	mux.HandleFunc("POST /alerts", func(_ http.ResponseWriter, r *http.Request) { // if there is no pager
		text, _ := io.ReadAll(io.LimitReader(r.Body, 4096)) // it is only for show
		fmt.Printf("ALERT %s\n", text)
	})
	return mux
}
