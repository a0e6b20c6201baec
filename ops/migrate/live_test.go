package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// Live instances keep a job from moving, or are stopped. What was asked for at the source and has not
// begun is done at the target, in its turn, and a cursor is where it was.
func TestLiveInstances(t *testing.T) {
	for name, stores := range map[string]func(testing.TB) (dial, dial){
		"zookeeper to etcd": func(t testing.TB) (dial, dial) { return onZooKeeper(t), onEtcd(t) },
		"etcd to zookeeper": func(t testing.TB) (dial, dial) { return onEtcd(t), onZooKeeper(t) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := stores(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := make(chan string, 10)
			settle := job.Config{Name: "settle", Cron: "0 0 3 1 1 ?", ShardingTotalCount: 1, Failover: true, ErrorHandler: "IGNORE"}
			starts := func(d dial, ip string) *job.Scheduler {
				s, err := job.Schedule(ctx, open(t, d), settle, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
					at, err := job.Cursor(ctx)
					began <- sc.JobParameter + at
					if sc.JobParameter == "first" && at == "" {
						err = errors.Join(job.MoveCursor(ctx, " on from 42"), wait(ctx))
					}
					return err
				}), job.WithIP(ip))
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := starts(a, "10.0.0.1")
			from, to := open(t, a), open(t, b)
			for _, parameter := range []string{"first", "second"} { // the first hangs, and the second waits for it
				if _, err := ops.New(from).Job("settle").Trigger(ctx, job.TriggerRequest{Items: []int{0}, Parameter: parameter}); err != nil {
					t.Fatal(err)
				}
			}
			if got := next(ctx, began); got != "first" {
				t.Fatalf("begun is %q", got)
			}
			m := between(from, to)
			if _, err := m.Run(ctx); !errors.Is(err, migrate.ErrRunning) {
				t.Fatalf("moved although an instance runs: %v", err)
			}
			m.StopInstances = true
			plan, err := m.Plan(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(plan.Findings); !strings.Contains(text, "items that run: 1. ") || strings.Contains(text, "whose run was cut short") {
				t.Errorf("the plan says of an item that runs: %s", text)
			}
			result, err := m.Run(ctx)
			if err != nil || !slices.Equal(result.Moved, []string{"settle"}) || result.SourceToken == 0 || result.TargetToken == 0 {
				t.Fatal(result, err)
			}
			select {
			case <-s.Done():
			case <-ctx.Done():
				t.Fatal("the instance at the source goes on")
			}
			if err := s.Err(); !errors.Is(err, job.ErrJobRemoved) {
				t.Errorf("the instance at the source has ended with %v", err)
			}
			s = starts(b, "10.0.0.2")
			for _, want := range []string{"first on from 42", "second on from 42"} {
				if got := next(ctx, began); got != want {
					t.Errorf("begun is %q, want %q", got, want)
				}
			}
			if err := s.Shutdown(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

func wait(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func next(ctx context.Context, began <-chan string) string {
	select {
	case parameter := <-began:
		return parameter
	case <-ctx.Done():
		return "nothing"
	}
}
