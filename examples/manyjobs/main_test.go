package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// All jobs run, until the program is told to end.
func TestManyJobs(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	const jobs = 30
	ran := make(chan string, 1000)
	go func() {
		defer stop()
		seen := map[string]bool{}
		for len(seen) < jobs {
			select {
			case name := <-ran:
				seen[name] = true
			case <-ctx.Done():
				t.Errorf("%d of %d jobs have run", len(seen), jobs)
				return
			}
		}
	}()
	err := run(ctx, settings{listen: "127.0.0.1:0", jobs: jobs, threads: 4}, slog.New(slog.DiscardHandler), func(ctx context.Context, sc job.ShardingContext) error {
		ran <- sc.JobName
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A job that cannot start ends the program, which says why.
func TestAJobThatCannotStart(t *testing.T) {
	err := run(t.Context(), settings{listen: "127.0.0.1:0", jobs: 3, threads: 1}, slog.New(slog.DiscardHandler), nil)
	if err == nil || !strings.Contains(err.Error(), "handler") {
		t.Errorf("got %v", err)
	}
}
