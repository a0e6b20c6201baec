// Command manyjobs runs many jobs in one process, which share a few threads:
//
//	go run ./examples/manyjobs -jobs 500 -threads 20
//	go run ./examples/manyjobs -endpoints 127.0.0.1:2379
//
// Without endpoints the store is in memory, and ends with the program. Start it several times
// on one etcd, and the processes share the jobs. While it runs, /ready says whether all jobs
// have started, and /faults what is at fault. Ctrl-C ends it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/health"
)

type settings struct {
	endpoints, listen string
	jobs, threads     int
}

func main() {
	var s settings
	flag.StringVar(&s.endpoints, "endpoints", "", "addresses of etcd, with commas between them; empty: a store in memory")
	flag.StringVar(&s.listen, "listen", "127.0.0.1:8080", "address of /live, /ready and /faults")
	flag.IntVar(&s.jobs, "jobs", 100, "number of jobs")
	flag.IntVar(&s.threads, "threads", 8, "number of threads that they share")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	if err := run(ctx, s, log, work); err != nil {
		log.Error("manyjobs has failed", "error", err)
		os.Exit(1)
	}
}

// work is what each job does every five seconds.
func work(ctx context.Context, sc job.ShardingContext) error {
	job.Logger(ctx).Info("at work")
	return nil
}

// run starts the jobs and runs them until ctx ends.
func run(ctx context.Context, s settings, log *slog.Logger, handler job.HandlerFunc) (err error) {
	reg, err := s.dial(ctx, log)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, reg.Close(closing))
	}()
	n, err := job.NewNode(reg, job.NodeConfig{Threads: s.threads, Options: []job.Option{job.WithSlog(log.With("of", "node"))}})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: health.Handler(n), ReadHeaderTimeout: time.Second}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the pages are away", "error", err)
		}
	})
	defer serving.Wait()
	defer server.Close()

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = start(ctx, n, s.jobs, handler)
	if err != nil {
		stop()
	}
	return errors.Join(err, n.Run(ctx)) // says that all have started, and waits
}

func (s settings) dial(ctx context.Context, log *slog.Logger) (coord.Registry, error) {
	const namespace = "manyjobs"
	if s.endpoints == "" {
		return memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: namespace})
	}
	return etcd.Dial(ctx, etcd.Config{Endpoints: strings.Split(s.endpoints, ","), Namespace: namespace, Slog: log})
}

// start starts the jobs, several at a time. It stops at the first one that fails.
func start(ctx context.Context, n *job.Node, jobs int, handler job.Handler) error {
	const workers = 16
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	numbers := make(chan int)
	var starting sync.WaitGroup
	for range workers {
		starting.Go(func() {
			for i := range numbers {
				cfg := job.Config{Name: fmt.Sprintf("job-%d", i), Cron: "0/5 * * * * ?", ShardingTotalCount: 1, Failover: true}
				if _, err := n.Schedule(ctx, cfg, handler); err != nil && ctx.Err() == nil {
					stop(err)
				}
			}
		})
	}
	for i := range jobs {
		select {
		case numbers <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(numbers)
	starting.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // also if the program ends while they start
}
