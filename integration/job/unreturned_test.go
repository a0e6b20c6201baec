package job_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A handler that does not return after its time-out or a kill is told in the log, once, and is a fault until it returns,
// although its item has no other tick for a day. One that returns within the grace time is nothing.
func TestHandlerThatDoesNotReturn(t *testing.T) {
	const (
		timeout, grace = 20 * time.Second, 3 * time.Second
		line           = "a handler does not return although its context has ended"
	)
	for name, tc := range map[string]struct {
		timeout time.Duration
		kill    bool
		takes   time.Duration // from the end of the context on
		cause   error         // nil: nothing is told
	}{
		"a time-out that is ignored":       {timeout: timeout, takes: time.Hour, cause: job.ErrTimeout},
		"a kill that is ignored":           {kill: true, takes: time.Hour, cause: job.ErrKilled},
		"a time-out, and a kill after it":  {timeout: timeout, kill: true, takes: time.Hour, cause: job.ErrTimeout},
		"it returns within the grace time": {timeout: timeout, takes: grace - time.Second},
		"it returns at once":               {timeout: timeout},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount, cfg.Timeout = "@daily", 2, tc.timeout
			logged, logs := newLogbook()
			began, ended := make(chan struct{}), make(chan struct{})
			a := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
				if sc.Item != 1 {
					return nil
				}
				close(began)
				<-ctx.Done()
				close(ended)
				return errors.Join(elapse(context.WithoutCancel(ctx), tc.takes), context.Cause(ctx))
			}, logs, job.WithCancelGrace(grace))
			c.trigger(a, 1)
			<-began
			c.await("the tree shows that item 1 runs", func(s *jobtree.State) bool { return len(s.Items) > 1 && s.Items[1].Running != nil })
			if tc.timeout == 0 {
				c.kill(ops.KillRequest{Items: []int{1}})
			}
			<-ended
			if tc.kill && tc.timeout > 0 {
				c.pass(time.Millisecond) // at the same instant either may be the first
				c.kill(ops.KillRequest{Items: []int{1}})
			}
			told := func() int { return len(logged.says(line)) }
			at := time.Now()
			c.pass(grace - 500*time.Millisecond)
			if n := told(); n != 0 || faultOf(a.Status(), jobtype.FaultStarvation) != nil {
				t.Errorf("within the grace time the log says it %d times; status %+v", n, a.Status())
			}
			if tc.cause == nil {
				c.pass(time.Minute)
				if n := told(); n != 0 || len(a.Status().Faults) > 0 {
					t.Errorf("the handler has returned, and the log says %d times that it does not; faults %v", n, a.Status().Faults)
				}
				return
			}
			status := a.awaitFault(jobtype.FaultStarvation, "the handlers of items 1 do not return although their contexts have ended")
			if late := time.Since(at) - grace; late > time.Second {
				t.Errorf("the fault comes %v after the grace time", late)
			}
			if err := faultOf(status, jobtype.FaultStarvation); !errors.Is(err, tc.cause) {
				t.Errorf("the fault is %v, want the cause %v", err, tc.cause)
			}
			c.pass(tc.takes - time.Since(at) - time.Second)
			if faultOf(a.Status(), jobtype.FaultStarvation) == nil {
				t.Error("the fault is over before the handler has returned")
			}
			a.awaitSound()
			if late := time.Since(at) - tc.takes; late > time.Second {
				t.Errorf("the fault is over %v after the handler has returned", late)
			}
			lines := logged.FilterMessage(line).All()
			if len(lines) != 1 {
				t.Fatalf("the log says %d times that the handler does not return, want once", len(lines))
			}
			fields := lines[0].ContextMap()
			if text, _ := fields["cause"].(string); lines[0].Level.String() != "warn" || fields["job"] != "settle" || fields["item"] != int64(1) || fields["task"] == "" || !strings.Contains(text, tc.cause.Error()) {
				t.Errorf("the line is %v %v", lines[0].Level, fields)
			}
		})
	}
}
