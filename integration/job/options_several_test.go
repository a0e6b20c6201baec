package job_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Several options as one do what each of them does, and fail as they do.
func TestOptionsAsOne(t *testing.T) {
	reg, err := memory.NewStore(memory.Options{}).Dial(t.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reg.Close(t.Context()) }() // nothing was opened on it
	_, err = job.NewNode(reg, job.NodeConfig{Options: []job.Option{job.Options(nil, job.WithWeight(0), job.Options(nil, job.WithIP("a/b")), nil), job.Options([]int{1})}})
	for _, want := range []string{"weight 0", "a/b", "option 3 is nil", "a key of type []int cannot be compared"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{job.Options(nil), job.Options(nil, job.WithWeight(3), job.WithLabels("gpu"))}}); err != nil {
		t.Error(err)
	}
}

// A job has the options of a key once, also if it gets them from its node, too. Other jobs do not
// lose them by that.
func TestOptionsOfAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		told := map[string]int{}
		tells := func(who string) job.Option {
			return job.Options(who, job.WithObserver(func(e job.Event) {
				if e.Kind == jobtype.EventJoined {
					mu.Lock()
					defer mu.Unlock()
					told[e.JobName+" "+who]++
				}
			}))
		}
		c := jobtest.NewCluster(t)
		in := c.Process("10.0.0.1", tells("a"), tells("a"))
		nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		in.Schedule(job.Config{Name: "both", ShardingTotalCount: 1}, nothing, tells("b"), tells("a"), tells("b"))
		in.Schedule(job.Config{Name: "node", ShardingTotalCount: 1}, nothing)
		in.Schedule(job.Config{Name: "job", ShardingTotalCount: 1}, nothing, tells("b"))
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := map[string]int{"both a": 1, "both b": 1, "node a": 1, "job a": 1, "job b": 1}; !maps.Equal(told, want) {
			t.Errorf("got %v, want %v", told, want)
		}
	})
}
