//go:build unix

package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Work is a worker: it runs what the namespace has until ctx ends, and then leaves gracefully. orders are
// those of Options.Worker, as JSON. When in ends, the process ends at once: there is no demo any more.
func Work(ctx context.Context, orders string, in io.Reader, supervisor script.Supervisor) (err error) {
	go func() { // lives as long as the process
		_, _ = io.Copy(io.Discard, in) // however it ends
		os.Exit(1)
	}()
	var o Orders
	if err := json.Unmarshal([]byte(orders), &o); err != nil {
		return fmt.Errorf("orders of a worker: %w", err)
	}
	reg, err := o.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, soon(ctx, reg.Close)) }()
	history, err := (target.Settings{History: "sqlite:" + o.History}).OpenHistory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, history.Close()) }()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	recorder, err := trace.New(history, trace.Options{Slog: log, Interval: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, soon(ctx, recorder.Close)) }()
	scripts, err := script.New(supervisor, script.Options{})
	if err != nil {
		return err
	}
	requests := httpjob.New(httpjob.Options{})
	defer requests.Close()
	runner, err := job.NewRunner(reg, job.RunnerConfig{
		NodeConfig: job.NodeConfig{Threads: 100, Drain: 5 * time.Second, Options: []job.Option{
			job.WithIP(address(o.Number)), job.WithLabels(labels[o.Number]), recorder.Option(),
		}},
		Handlers: handlers(scripts, requests),
	})
	if err != nil {
		return err
	}
	return runner.Run(ctx)
}

// labels are those of the workers.
var labels = [workers]string{"rack-a", "rack-b", "rack-c"}

// soon has something end within some seconds, also after a signal.
func soon(ctx context.Context, end func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return end(ctx)
}
