package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/trace"
)

// ordersIn is the variable of the environment that makes a process a worker.
const ordersIn = "BROWSERTEST_WORKER"

// sessionTimeout is how long a worker that was killed seems alive.
const sessionTimeout = 5 * time.Second

// orders are what a worker is told.
type orders struct {
	Number    int
	Endpoints []string
	History   string
}

// Work must be the first thing that TestMain does: in a worker, which is the binary of the tests again, or in
// the supervisor of one of its scripts, it does the work, and does not return.
func Work() {
	supervisor := script.Supervise()
	text := os.Getenv(ordersIn)
	if text == "" {
		return
	}
	if err := work(text, supervisor); err != nil {
		slog.Error("a worker", "error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work runs what the namespace has until somebody kills the process, or who has started it ends.
func work(text string, supervisor script.Supervisor) error {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // however it ends
		os.Exit(1)
	}()
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("orders: %w", err)
	}
	ctx := context.Background()
	reg, err := dial(ctx, o.Endpoints, Namespace)
	if err != nil {
		return err
	}
	past, err := openHistory(o.History)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	recorder, err := trace.New(past, trace.Options{Slog: log, Interval: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	scripts, err := script.New(supervisor, script.Options{})
	if err != nil {
		return err
	}
	runner, err := job.NewRunner(reg, job.RunnerConfig{
		NodeConfig: job.NodeConfig{Options: []job.Option{
			job.WithIP(Address(o.Number)), job.WithLabels(fmt.Sprintf("rack-%d", o.Number)), recorder.Option(),
			job.WithEarlyClaims(0), // else an item counts as running before its tick when the machine is busy
		}},
		Handlers: handlers(scripts),
	})
	if err != nil {
		return err
	}
	return errors.Join(runner.Run(ctx), errors.New("it has ended by itself"))
}

func dial(ctx context.Context, endpoints []string, namespace string) (coord.Registry, error) {
	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: endpoints, Namespace: namespace, SessionTimeout: sessionTimeout})
	if err != nil {
		return nil, err // reg would be a nil pointer
	}
	return reg, nil
}
