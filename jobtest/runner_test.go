package jobtest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Runners serve the jobs that somebody creates, and one of them takes over what another one had.
func TestRunner(t *testing.T) {
	inCluster(t, func(t *testing.T, c *jobtest.Cluster) {
		offers := map[string]job.Handler{"settle": lasts(20 * time.Second)}
		a, b := c.Runner("10.0.0.1", offers), c.Runner("10.0.0.2", offers)
		begin := time.Now()
		cfg := job.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 2, Failover: true}
		if err := c.Ops().Create(t.Context(), ops.CreateRequest{Config: cfg}); err != nil {
			t.Fatal(err)
		}
		c.Until(time.Hour, func() bool { return c.Executions().On("10.0.0.1").Running().Len() == 1 })
		a.Die()
		c.Advance(5 * time.Minute)
		ticks, err := jobtest.Ticks(cfg, begin, begin.Add(5*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		jobtest.EachTickOnce(t, c.Executions().Outcome(job.OutcomeOK), ticks, 2)

		if err := c.Ops().Job("settle").Remove(t.Context(), ops.RemoveRequest{}); err != nil {
			t.Fatal(err)
		}
		c.Advance(time.Minute)
		if jobs := b.Node().Jobs(); len(jobs) != 0 {
			t.Errorf("%s runs still", jobs[0].Name())
		}
		if err := b.Shutdown(time.Minute); err != nil {
			t.Error(err)
		}
	})
}

func TestRunnerThatOffersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := failureOf(t, func(t testing.TB) { jobtest.NewCluster(t).Runner("10.0.0.1", nil) })
		if !strings.Contains(failure, "it offers nothing") {
			t.Error(failure)
		}
	})
}
