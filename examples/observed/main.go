// Command observed shows how a program learns what happened to its jobs, with nothing installed:
//
//	go run ./examples/observed
//
// A job of three items runs each second. The bank of Shanghai answers at the second attempt only, and
// that of Guangzhou not at all for each second tick. Meanwhile the program asks its own port for
// lines, a dump and metrics, and afterwards the history, which is in SQLite. Who tells something ends
// before what it is told to: the node, then recorders and spans, the history, and the database.
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
	"sync"
	"syscall"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	_ "modernc.org/sqlite" // the driver

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/oteljob"
	"github.com/elasticjob-go/elasticjob/trace/prom"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

func main() {
	file := flag.String("db", "", "file that keeps the history; empty: a temporary one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := run(ctx, *file, log, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "observed:", err)
		os.Exit(1)
	}
}

// run opens the history, has the job work, and asks what has happened.
func run(ctx context.Context, file string, log *slog.Logger, out io.Writer) (err error) {
	if file == "" {
		dir, err := os.MkdirTemp("", "observed-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // the system removes it otherwise
		file = filepath.Join(dir, "history.db")
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	history, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{Retention: sqltrace.Retention{Age: 90 * 24 * time.Hour}, Slog: log})
	if err != nil {
		return err
	}
	defer history.Close()
	begin, spans := time.Now(), traces{}
	if err := observe(ctx, history, spans, log, out); err != nil {
		return err
	}
	return ask(ctx, history, begin, spans, out) // it has everything now
}

// observe runs the job with all that is told of it, until there is something to be seen.
func observe(ctx context.Context, history trace.Sink, spans sdktrace.SpanExporter, log *slog.Logger, out io.Writer) (err error) {
	recorder, err := trace.New(history, trace.Options{Slog: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(ctx, recorder.Close)) }()
	newest, err := trace.NewNewest(trace.NewestOptions{})
	if err != nil {
		return err
	}
	recent, err := trace.New(newest, trace.Options{Slog: log, Interval: 10 * time.Millisecond})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(ctx, recent.Close)) }()
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithIDGenerator(oteljob.IDs{}))
	defer func() { err = errors.Join(err, end(ctx, provider.Shutdown)) }()
	tracer, err := oteljob.New(oteljob.Options{TracerProvider: provider, Namespace: namespace})
	if err != nil {
		return err
	}
	metrics, err := prom.New(prom.Options{Namespace: namespace})
	if err != nil {
		return err
	}
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: namespace}) // or etcd.Dial, zk.Dial
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(ctx, reg.Close)) }()
	ended := make(chan job.Event, 100)
	told := trace.Join(metrics.Observer(), endsTo(ended)) // in this order
	node, err := job.NewNode(metrics.Registry(reg), job.NodeConfig{Options: []job.Option{
		job.WithSlog(log), recorder.Option(), recent.Option(), tracer.Option(), job.WithObserver(told),
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(ctx, node.Shutdown)) }()
	metrics.Watch(node)
	metrics.WatchTrace(recorder)
	if _, err = node.Schedule(ctx, settling(), job.HandlerFunc(settle)); err != nil {
		return err
	}
	service, err := dump.New(reg, node, dump.Options{Log: newest, Slog: log})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: pages(service, metrics), ReadHeaderTimeout: 5 * time.Second}
	var serving sync.WaitGroup
	defer serving.Wait()
	defer server.Close()
	serving.Go(func() { log.Info("serves no more", "because", server.Serve(listener)) })

	if err := enough(ctx, ended); err != nil {
		return err
	}
	return look(ctx, listener.Addr().String(), out)
}

// end has something end within ten seconds, also after Ctrl-C: what waits is kept.
func end(ctx context.Context, it func(context.Context) error) error {
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return it(soon)
}
