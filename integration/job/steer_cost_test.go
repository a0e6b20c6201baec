package job_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// steered is a job of 100 items over three instances, and an operator; what each of them
// commits is counted.
type steered struct {
	*cluster
	ops      *ops.Job
	operator *counting
	members  []*counting
}

func newSteered(t *testing.T) *steered {
	s := &steered{cluster: newCluster(t, newMemoryStore(t), "settle")}
	cfg := s.config()
	cfg.Cron, cfg.TimeZone, cfg.ShardingTotalCount, cfg.Threads, cfg.ReconcileInterval, cfg.ErrorHandler = "0 0 12 * * ?", "UTC", 100, 100, -1, "IGNORE"
	for _, ip := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"} {
		m, reg := s.counted(ip)
		s.mustSchedule(m, cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.JobParameter != "wait" {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		s.members = append(s.members, reg)
	}
	_, reg := s.counted("10.0.0.9")
	s.operator = reg
	s.ops = ops.New(reg).By("anna").Job("settle")
	s.pass(time.Minute)
	return s
}

// costs does something, lets it take effect, and compares how many commits the operator and all
// members have made.
func (s *steered) costs(what string, operator, members int, do func(ctx context.Context) error) {
	s.Helper()
	s.settle()
	if err := do(s.Context()); err != nil {
		s.Fatalf("%s: %v", what, err)
	}
	s.pass(2 * time.Second)
	byOperator, byMembers := s.settle()
	if len(byOperator) != operator || len(byMembers) != members {
		s.Errorf("%s: %d commits by the operator and %d by members, want %d and %d: %v", what, len(byOperator), len(byMembers), operator, members, byMembers)
	}
}

// settle takes what has been counted.
func (s *steered) settle() (operator, members [][]coord.Op) {
	synctest.Wait()
	operator, _ = s.operator.take()
	for _, m := range s.members {
		commits, _ := m.take()
		members = append(members, commits...)
	}
	return operator, members
}

// What an operator asks for costs as many commits as this table says: of 100 items over three
// instances. An etcd commit has 128 operations at most, so each instance needs two to begin or to
// finish its 33 items, and the operator three to kill 99.
func TestWhatSteeringCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSteered(t)
		s.costs("a tick", 0, 12, func(ctx context.Context) error {
			noon := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
			return elapse(ctx, time.Until(noon))
		})
		s.costs("pause", 1, 0, func(ctx context.Context) error {
			_, err := s.ops.Pause(ctx, ops.PauseRequest{})
			return err
		})
		s.costs("resume", 1, 0, func(ctx context.Context) error { return s.ops.Resume(ctx, ops.ResumeRequest{}) })
		s.costs("trigger", 1, 13, func(ctx context.Context) error {
			_, err := s.ops.Trigger(ctx, job.TriggerRequest{})
			return err
		})
		s.costs("trigger of items that go on", 1, 6, func(ctx context.Context) error {
			_, err := s.ops.Trigger(ctx, job.TriggerRequest{Parameter: "wait"})
			return err
		})
		s.costs("kill of an item", 1, 1, func(ctx context.Context) error {
			_, err := s.ops.Kill(ctx, ops.KillRequest{Items: []int{5}})
			return err
		})
		s.costs("kill of all others", 3, 7, func(ctx context.Context) error {
			_, err := s.ops.Kill(ctx, ops.KillRequest{})
			return err
		})
		s.costs("retry", 1, 13, func(ctx context.Context) error {
			all := make([]int, 100)
			for i := range all {
				all[i] = i
			}
			_, err := s.ops.Retry(ctx, ops.RetryRequest{Items: all})
			return err
		})
		s.costs("backfill of three ticks", 1, 37, func(ctx context.Context) error {
			now := time.Now()
			_, err := s.ops.Backfill(ctx, ops.BackfillRequest{From: now.Add(-72 * time.Hour), To: now})
			return err
		})
		s.costs("pin", 1, 1, func(ctx context.Context) error { return s.ops.Pin(ctx, 5, ops.PinRequest{Address: "10.0.0.3"}) })
		s.costs("unpin", 1, 1, func(ctx context.Context) error { return s.ops.Unpin(ctx, 5) })
		s.costs("reshard", 1, 1, s.ops.Reshard)
		s.costs("disable an item", 1, 0, func(ctx context.Context) error { return s.ops.DisableItems(ctx, 5) })
		s.check()
	})
}
