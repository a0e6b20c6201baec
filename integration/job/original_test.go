package job_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// originals keeps which execution began as a repetition of which other one, by task ids.
type originals struct {
	mu        sync.Mutex
	of        map[string]string
	recovered []string
}

func (o *originals) option() job.Option {
	return job.WithObserver(func(e job.Event) {
		switch e.Kind {
		case jobtype.EventStarted:
			o.mu.Lock()
			defer o.mu.Unlock()
			o.of[e.TaskID] = e.OriginalTaskID
		case jobtype.EventRecovered:
			o.mu.Lock()
			defer o.mu.Unlock()
			o.recovered = append(o.recovered, e.TaskIDs...)
		}
	})
}

// The first execution is cut short by a crash, and so is the one that takes its place; the third
// fails, and so does its retry. All of them know the first one.
func TestOriginalTaskID(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		o := &originals{of: map[string]string{}}
		errNot := errors.New("not today")
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if err := c.work(ctx, sc); err != nil || sc.JobParameter == "now" {
				return err
			}
			return errNot
		}
		a := c.join("10.0.0.1", c.config(), work, o.option())
		members := map[string]*member{"10.0.0.2": c.join("10.0.0.2", c.config(), work, o.option()), "10.0.0.3": c.join("10.0.0.3", c.config(), work, o.option())}
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}, "10.0.0.2": {1}, "10.0.0.3": {2}})
		c.trigger(a, 0)
		first := c.awaitRuns("item 0 runs", 1, of(0))[0]
		a.crash()
		second := c.awaitRuns("item 0 taken over", 1, reruns)[0]
		members[second.ip].crash()
		third := c.awaitRuns("item 0 taken over again", 2, reruns)[1]
		close(c.release)
		var retried []execution
		var id string
		for n, parameter := range []string{"", "now"} {
			c.await("it has failed", func(s *jobtree.State) bool {
				d := c.completion(0)
				return d.Outcome == jobtree.OutcomeFailed && s.Item(0).Running == nil && (n == 0 || d.TaskID == retried[0].TaskID)
			})
			request, err := c.ops().Retry(t.Context(), ops.RetryRequest{Parameter: parameter})
			c.must(err)
			id = request.ID
			retried = c.awaitRuns("the retry", n+1, func(e execution) bool { return e.Source == job.SourceRetry })
		}
		c.completes(retried[1], jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK, Request: id, Original: first.TaskID})
		for ip, m := range members {
			if ip != second.ip {
				m.leave() // the observers have been told everything then
			}
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if got := o.of[first.TaskID]; got != "" {
			t.Errorf("the first one repeats %s", got)
		}
		for _, e := range []execution{second, third, retried[0], retried[1]} {
			if got := o.of[e.TaskID]; got != first.TaskID {
				t.Errorf("%v repeats %q, want %s", e.Source, got, first.TaskID)
			}
		}
		if len(o.recovered) != 2 || o.recovered[0] != first.TaskID || o.recovered[1] != second.TaskID {
			t.Errorf("the leaders have found %q, want %s and %s", o.recovered, first.TaskID, second.TaskID)
		}
		c.check()
	})
}
