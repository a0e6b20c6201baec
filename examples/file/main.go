//go:build unix

// Command file runs the jobs of elasticjob.yaml, a script and a request for each of some cities,
// and ends after three ticks:
//
//	go run ./examples/file
//
// No job has Go code. The server to which the requests go is part of the example. Change the file
// while it runs with -ticks 1000: what has changed is put in force if revision is larger.
//
// A profile of the file keeps a history in SQLite, and shows metrics for Prometheus. The program has both types:
//
//	HISTORY=history.db METRICS=127.0.0.1:8080 ELASTICJOB_PROFILES=observed go run ./examples/file -ticks 1000
//	curl 127.0.0.1:8080/metrics
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver of the history

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/prom/promfile"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace/sqlfile"
)

func main() {
	supervisor := script.Supervise() // before all else: supervisors of scripts end here
	path := flag.String("file", "examples/file/elasticjob.yaml", "the `file` with the jobs")
	ticks := flag.Int("ticks", 3, "how many `ticks` of each item to run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, supervisor, os.Stdout, *path, *ticks); err != nil {
		fmt.Fprintln(os.Stderr, "file:", err)
		os.Exit(1)
	}
}

// run runs the jobs until each item has finished a number of times, or ctx ends.
func run(ctx context.Context, supervisor script.Supervisor, out io.Writer, path string, ticks int) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	billing := &http.Server{Handler: http.HandlerFunc(serve), ReadHeaderTimeout: time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = billing.Serve(listener) }) // the jobs fail if it does
	defer serving.Wait()
	defer billing.Close()
	// What the file refers to. In earnest it is not the program that sets it.
	if err := errors.Join(os.Setenv("BILLING_HOST", listener.Addr().String()), os.Setenv("BILLING_TOKEN", "for-show")); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex // each job has a goroutine that calls the observer
	finished := map[string]int{}
	o := jobfile.Options{
		Supervisor: supervisor,
		Databases:  map[string]jobfile.OpenDatabase{sqlfile.Name: sqlfile.Open},
		Exporters:  map[string]jobfile.NewExporter{promfile.Name: promfile.New},
		Job: []job.Option{job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(out, "%s, item %d: %v, %s\n", e.JobName, e.Item, e.Outcome, bytes.TrimSpace(e.Output))
				if finished[e.JobName]++; min(finished["settle"], finished["announce"]) >= 3*ticks {
					stop()
				}
			}
		})},
	}
	app, err := jobfile.Load(ctx, o, path)
	if err != nil {
		return err
	}
	return app.Run(ctx)
}

// serve is the server of the example.
func serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer for-show" {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	fmt.Fprint(w, r.Method, " ", r.URL.Path)
}
