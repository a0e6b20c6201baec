package trace_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
)

// A process without a database keeps the newest runs in memory, and logs a line for each.
func Example() {
	ctx := context.Background()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: onlySome}))

	lines, err := trace.New(trace.Slog(logger), trace.Options{Slog: logger, Lines: trace.Lines{Off: true}})
	if err != nil {
		panic(err)
	}
	newest, err := trace.NewNewest(trace.NewestOptions{})
	if err != nil {
		panic(err)
	}
	runs, err := trace.New(newest, trace.Options{Slog: logger})
	if err != nil {
		panic(err)
	}

	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		panic(err)
	}
	report := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		log := job.Logger(ctx)
		log.Info("reads", "file", "march.csv")
		log.Warn("a row is left out", "row", 17)
		return errors.New("the disk is full")
	})
	s, err := job.Schedule(ctx, reg, job.Config{Name: "report", ShardingTotalCount: 1, ErrorHandler: job.ErrorHandlerIgnore}, report, lines.Option(), runs.Option())
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
	if err := errors.Join(s.Shutdown(ctx), lines.Close(ctx), runs.Close(ctx), reg.Close(ctx)); err != nil {
		panic(err)
	}

	for _, l := range newest.Lines("report", 0, "", 0) {
		fmt.Println(l.Number, l.Level, l.Text)
	}
	// Output:
	// level=WARN msg="execution finished" job=report item=0 source=MANUAL outcome=FAILED attempts=1 error="the disk is full"
	// 1 INFO reads file=march.csv
	// 2 WARN a row is left out row=17
}

// onlySome leaves out what is different each time.
func onlySome(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case "time", "instance", "task", "tick", "token", "took", "waited", "request":
		return slog.Attr{}
	}
	return a
}
