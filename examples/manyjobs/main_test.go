package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
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

func TestPages(t *testing.T) {
	reg, err := memory.NewStore(memory.Options{}).Dial(t.Context(), memory.Config{Namespace: "pages"})
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close(context.Background())
	n, err := job.NewNode(reg, job.NodeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) int {
		answer := httptest.NewRecorder()
		pages(n).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer.Code
	}
	if ask("/readyz") != http.StatusOK || ask("/faults") != http.StatusOK {
		t.Error("a node without jobs")
	}
	s, err := n.Schedule(t.Context(), job.Config{Name: "a", Cron: "0 0 0 1 1 ?", ShardingTotalCount: 1}, job.HandlerFunc(work))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reg.Commit(t.Context(), coord.Delete("a/instances/"+s.Status().InstanceID)); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if ask("/readyz") != http.StatusServiceUnavailable || ask("/faults") != http.StatusServiceUnavailable {
		t.Error("a job that has stopped")
	}
	if err := n.Shutdown(t.Context()); !errors.Is(err, job.ErrInstanceRemoved) {
		t.Error(err)
	}
}
