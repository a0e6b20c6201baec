package job_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// A request that names instances runs their items only, and with items too, those of them
// that it names.
func TestTriggerOfSomeInstances(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "", 6
		a := c.join("10.0.0.1", cfg, nil)
		b := c.join("10.0.0.2", cfg, nil)
		d := c.join("10.0.0.3", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1}, "10.0.0.2": {2, 3}, "10.0.0.3": {4, 5}})
		ids := func(members ...*member) (list []string) {
			for _, m := range members {
				list = append(list, m.Status().InstanceID)
			}
			slices.Sort(list)
			return list
		}
		for _, tc := range []struct {
			name string
			r    job.TriggerRequest
			asks []string
			runs []int
		}{
			{"one", job.TriggerRequest{Instances: ids(b)}, ids(b), []int{2, 3}},
			{"two", job.TriggerRequest{Instances: ids(d, a)}, ids(a, d), []int{0, 1, 4, 5}},
			{"with items", job.TriggerRequest{Instances: ids(a, b), Items: []int{1, 3, 5}}, ids(a, b), []int{1, 3}},
			{"with items of one of them", job.TriggerRequest{Instances: ids(a, b), Items: []int{0, 4}}, ids(a), []int{0}},
			{"with one that is unknown", job.TriggerRequest{Instances: append(ids(d), deadID)}, ids(d), []int{4, 5}},
			{"all", job.TriggerRequest{}, ids(a, b, d), []int{0, 1, 2, 3, 4, 5}},
		} {
			before := len(c.record.find(anything))
			result, err := a.Trigger(t.Context(), tc.r)
			if err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
			if !slices.Equal(result.Instances, tc.asks) {
				t.Errorf("%s: %v are asked, want %v", tc.name, result.Instances, tc.asks)
			}
			c.awaitRuns(tc.name, before+len(tc.runs), anything)
			c.await("all are through", func(s *jobtree.State) bool { return len(s.Triggers) == 0 })
			c.settled()
			var ran []int
			for _, e := range c.record.find(anything)[before:] {
				ran = append(ran, e.Item)
				if got := c.completion(e.Item).Request; got != result.ID {
					t.Errorf("%s: item %d was run for the request %q, want %q", tc.name, e.Item, got, result.ID)
				}
			}
			if slices.Sort(ran); !slices.Equal(ran, tc.runs) {
				t.Errorf("%s: items %v ran, want %v", tc.name, ran, tc.runs)
			}
		}
		c.check()
	})
}

// Where none of the instances that are named has any of the items, nobody is asked.
func TestTriggerOfInstancesThatHaveNone(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		a := c.join("10.0.0.1", cfg, nil)
		b := c.join("10.0.0.2", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		for _, tc := range []struct {
			job.TriggerRequest
			why string
		}{
			{job.TriggerRequest{Instances: []string{deadID}}, "is not there"},
			{job.TriggerRequest{Instances: []string{""}}, "is not there"},
			{job.TriggerRequest{Instances: []string{deadID}, Items: []int{0}}, "is not there"},
			{job.TriggerRequest{Instances: []string{b.Status().InstanceID}, Items: []int{0, 2}}, "has none of the items"},
		} {
			result, err := a.Trigger(t.Context(), tc.TriggerRequest)
			if want := fmt.Sprintf("instance %q %s", tc.Instances[0], tc.why); !errors.Is(err, job.ErrNobodyRunsIt) || result != nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %+v, %v, want ErrNobodyRunsIt: %s", tc.TriggerRequest, result, err, want)
			}
		}
		c.pass(time.Second)
		if n := len(c.record.find(anything)); n > 0 || len(c.state().Requests) > 0 {
			t.Errorf("%d executions\n%s", n, c.dump())
		}
	})
}
