// Command observed shows what a process can tell of its jobs: their history in a database, with
// the lines of each run; metrics; spans; and what it believes beside what the registry has.
//
//	go run ./examples/observed -for 1m
//
// The store is in memory, the database a file of SQLite that goes with the program. Meanwhile:
//
//	curl -s 127.0.0.1:8080/metrics | grep ^elasticjob_
//	curl -s '127.0.0.1:8080/dump/settle?format=text'
//	echo dump@settle | nc 127.0.0.1 8080
//
// It prints each span when that has ended, and in the end what the history has.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	_ "modernc.org/sqlite"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/trace"
	oteljob "github.com/elasticjob-go/elasticjob/trace/otel"
	"github.com/elasticjob-go/elasticjob/trace/prom"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

const namespace = "billing"

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address of the metrics and of dumps")
	limit := flag.Duration("for", 15*time.Second, "how long to run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	listener, err := net.Listen("tcp", *listen)
	if err == nil {
		err = run(ctx, listener, os.Stdout)
	}
	if err != nil {
		slog.Error("observed has failed", "error", err)
		os.Exit(1)
	}
}

// closing bounds what is done at the end.
const closing = 10 * time.Second

// run runs the job until ctx ends, then prints its history.
func run(ctx context.Context, listener net.Listener, out io.Writer) (err error) {
	end := context.WithoutCancel(ctx)
	atEnd := func(f func(context.Context) error) {
		ctx, cancel := context.WithTimeout(end, closing)
		defer cancel()
		err = errors.Join(err, f(ctx))
	}
	folder, err := os.MkdirTemp("", "observed")
	if err != nil {
		return err
	}
	defer atEnd(func(context.Context) error { return os.RemoveAll(folder) })

	// Where it is told.
	db, err := sql.Open("sqlite", filepath.Join(folder, "history.db"))
	if err != nil {
		return err
	}
	defer atEnd(func(context.Context) error { return db.Close() })
	history, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{Retention: sqltrace.Retention{Age: 90 * 24 * time.Hour}})
	if err != nil {
		return err
	}
	defer history.Close()
	recorder, err := trace.New(history, trace.Options{Log: slog.Default()})
	if err != nil {
		return err
	}
	defer atEnd(func(ctx context.Context) error { return show(ctx, out, history) }) // after the recorder has written all
	defer atEnd(recorder.Close)
	metrics, err := prom.New(prom.Options{Namespace: namespace})
	if err != nil {
		return err
	}
	metrics.WatchTrace(recorder)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(&printer{to: out}, sdktrace.WithBatchTimeout(time.Second)), sdktrace.WithIDGenerator(oteljob.IDs{}))
	defer atEnd(provider.Shutdown)
	spans, err := oteljob.New(oteljob.Options{TracerProvider: provider, Namespace: namespace})
	if err != nil {
		return err
	}

	// What is told.
	store, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: namespace}) // etcd.Dial or zk.Dial
	if err != nil {
		return err
	}
	reg := metrics.Registry(store)
	defer atEnd(reg.Close)
	node, err := job.NewNode(reg, job.NodeConfig{Drain: closing, Options: []job.Option{recorder.Option(), metrics.Option(), spans.Option()}})
	if err != nil {
		return err
	}
	metrics.Watch(node)
	if _, err := node.Schedule(ctx, job.Config{
		Name: "settle", Cron: "0/2 * * * * ?", ShardingTotalCount: 3, ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
		Retry: job.Retry{Attempts: 1, InitialBackoff: 100 * time.Millisecond}, Failover: true,
	}, settler{provider.Tracer("billing")}); err != nil {
		return errors.Join(err, node.Shutdown(end))
	}

	// Where people and Prometheus ask.
	dumps, err := dump.New(reg, node, dump.Options{})
	if err != nil {
		return errors.Join(err, node.Shutdown(end))
	}
	pages := http.NewServeMux()
	registered := prometheus.NewRegistry()
	registered.MustRegister(metrics)
	pages.Handle("/metrics", promhttp.HandlerFor(registered, promhttp.HandlerOpts{}))
	pages.Handle("/", dumps.Handler())
	server := &http.Server{Handler: pages, ReadHeaderTimeout: time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(dumps.Listener(listener)) }()
	defer atEnd(func(ctx context.Context) error {
		if err := server.Shutdown(ctx); err != nil {
			return err
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return node.Run(ctx) // waits, and shuts down
}

// show writes what the history has of the last runs.
func show(ctx context.Context, out io.Writer, history *sqltrace.Tracer) error {
	page, err := history.Executions(ctx, sqltrace.Filter{Job: "settle", Limit: 6})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nthe last runs:")
	for _, x := range page.Rows {
		fmt.Fprintf(out, "%s item %d %-6s after %v, %d attempts %s\n", x.ScheduledTime.Format(time.TimeOnly), x.Item, x.Outcome, x.Duration, x.Attempts, x.Error)
		lines, err := history.Lines(ctx, x.ID, 0, 10)
		if err != nil {
			return err
		}
		for _, l := range lines {
			fmt.Fprintf(out, "  %d %s %s\n", l.Number, l.Level, l.Text)
		}
	}
	return nil
}
