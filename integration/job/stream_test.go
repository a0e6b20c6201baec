package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// streaming is a handler that streams if its configuration says so.
type streaming struct {
	job.HandlerFunc
	streams bool
}

func (s streaming) Streams() bool { return s.streams }

func (s streaming) Handler(c job.Config) (job.Handler, error) {
	s.streams = c.Props["streams"] == "true"
	return s, nil
}

// A stream may go on over its ticks. If it gives no sign for a minute, or if it is no stream,
// that is a fault, here and for a leader that sees it from elsewhere.
func TestStreamsGoOnOverTheirTicks(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		hangs := make(chan struct{})
		work := streaming{HandlerFunc: func(ctx context.Context, _ job.ShardingContext) error {
			for job.StopAsked(ctx) == nil {
				select {
				case <-hangs:
					<-ctx.Done()
				default:
				}
				if err := elapse(ctx, time.Second); err != nil {
					return err
				}
			}
			return nil
		}}
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Props = 2, map[string]string{"streams": "true"}
		var members []*member
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			m := c.dial(ip)
			c.must(m.begin(cfg, work))
			members = append(members, m)
		}
		c.pass(10 * time.Minute)
		for _, m := range members {
			if faults := m.Status().Faults; len(faults) > 0 {
				t.Errorf("faults of streams: %v", faults)
			}
		}
		c.configure(func(cfg *job.Config) { cfg.Props["streams"] = "false" })
		for _, m := range members {
			m.awaitFault(jobtype.FaultStarvation, "is not through")
		}
		c.configure(func(cfg *job.Config) { cfg.Props["streams"] = "true" })
		for _, m := range members {
			m.awaitFaultOver(jobtype.FaultStarvation)
		}
		close(hangs)
		began := time.Now()
		c.pass(50 * time.Second)
		for _, m := range members {
			m.awaitFault(jobtype.FaultStarvation, "is not through")
		}
		if took := time.Since(began); took < time.Minute || took > 75*time.Second {
			t.Errorf("a stream that hangs is noticed after %v", took)
		}
	})
}
