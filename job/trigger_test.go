package job_test

import (
	"context"
	"errors"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

func TestTriggersDuringARunAreQueuedOnce(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		cfg := c.config()
		cfg.Cron = rarely
		release := make(chan struct{}, 10)
		a := c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return nil
		})
		trigger := func(r job.TriggerRequest) {
			if _, err := a.Trigger(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		trigger(job.TriggerRequest{Items: []int{1}})
		c.awaitRuns("item 1", 1, func(e execution) bool { return e.Item == 1 })
		for _, parameter := range []string{"a", "b", "c"} {
			trigger(job.TriggerRequest{Items: []int{1}, Parameter: parameter})
			c.await("taken", func(s *jobtree.State) bool { return len(s.Triggers) == 0 })
		}
		release <- struct{}{}
		runs := c.awaitRuns("item 1 once more", 2, func(e execution) bool { return e.Item == 1 })
		if runs[1].Source != job.Manual || runs[1].JobParameter != "c" {
			t.Errorf("%v with %q", runs[1].Source, runs[1].JobParameter)
		}
		release <- struct{}{}
		c.settled()
		// A last trigger of another item shows that nothing of item 1 was left.
		trigger(job.TriggerRequest{Items: []int{2}})
		c.awaitRuns("item 2", 1, func(e execution) bool { return e.Item == 2 })
		release <- struct{}{}
		c.settled()
		if all := c.record.find(func(execution) bool { return true }); len(all) != 3 {
			t.Errorf("%d executions, want 3\n%s", len(all), c.record)
		}
		c.check()
	})
}

func TestOneOffRunsWhenItIsTriggered(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		cfg := c.config()
		cfg.Cron = ""
		a := c.join("10.0.0.1", cfg, nil)
		b := c.join("10.0.0.2", cfg, nil)
		asked, err := a.Trigger(t.Context(), job.TriggerRequest{Parameter: "today"})
		if err != nil {
			t.Fatal(err)
		}
		runs := c.awaitRuns("all items", 3, func(execution) bool { return true })
		for _, e := range runs {
			if e.Source != job.Manual || e.JobParameter != "today" {
				t.Errorf("item %d: %v with %q", e.Item, e.Source, e.JobParameter)
			}
		}
		if len(asked) == 0 {
			t.Error("nobody was asked")
		}
		c.settled()
		if _, err := b.Trigger(t.Context(), job.TriggerRequest{}); err != nil {
			t.Fatal(err)
		}
		c.awaitRuns("all items again", 6, func(execution) bool { return true })
		c.settled()
		c.check()
	})
}

func TestTriggerThatNobodyCanTake(t *testing.T) {
	onEveryStore(t, func(t *testing.T, s store) {
		c := newCluster(t, s, "settle")
		cfg := c.config()
		cfg.Cron = rarely
		a := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.commit(coord.Set(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled)))
		if _, err := a.Trigger(t.Context(), job.TriggerRequest{}); !errors.Is(err, job.ErrNoInstance) {
			t.Errorf("got %v, want ErrNoInstance", err)
		}
		if _, err := a.Trigger(t.Context(), job.TriggerRequest{Items: []int{-1}}); err == nil {
			t.Error("item -1 was accepted")
		}
	})
}
