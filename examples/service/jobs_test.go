package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// inShop runs a test in virtual time, with tables of its own.
func inShop(t *testing.T, test func(*testing.T, shop)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := open(t.Context(), ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.db.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(t, s)
	})
}

// settling is the job of the service, without its alerts.
func settling() job.Config {
	settle, _ := jobs()
	settle.ErrorHandler = ""
	return settle
}

// An execution settles its own shard, and no other one.
func TestSettle(t *testing.T) {
	inShop(t, func(t *testing.T, s shop) {
		res := jobtest.Run(t, job.HandlerFunc(s.settle), jobtest.Case{Config: settling(), Item: 2})
		if res.Outcome != job.OutcomeOK {
			t.Error(res)
		}
		s.isSound(t)
		if open := s.number(t, `SELECT count(*) FROM orders WHERE NOT settled AND shard <> 2`); open != 750 {
			t.Errorf("%d orders of other shards are open", open)
		}
		if open := s.number(t, `SELECT count(*) FROM orders WHERE NOT settled AND shard = 2`); open != 0 {
			t.Errorf("%d orders of the shard are open", open)
		}
	})
}

// A city that nobody has ordered from is an error, which names it.
func TestReportOfNothing(t *testing.T) {
	inShop(t, func(t *testing.T, s shop) {
		res := jobtest.Run(t, job.HandlerFunc(s.rebuild), jobtest.Case{Parameter: "Atlantis"})
		if res.Outcome != job.OutcomeFailed || !strings.Contains(res.Err.Error(), `report of "Atlantis"`) {
			t.Error(res)
		}
	})
}

// takes is settle on a machine that takes its time, and that does not notice when it should stop.
func (s shop) takes(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		time.Sleep(d)
		return s.settle(context.WithoutCancel(ctx), sc)
	}
}

// An instance dies in the middle of its shards. Another one settles them.
func TestAnInstanceDies(t *testing.T) {
	inShop(t, func(t *testing.T, s shop) {
		c := jobtest.NewCluster(t)
		dies := c.Process("10.0.0.1")
		dies.Schedule(settling(), job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}))
		c.Process("10.0.0.2").Schedule(settling(), s.takes(time.Second))
		c.Until(time.Minute, func() bool { return c.Executions().On("10.0.0.1").Running().Len() == 2 })
		dies.Die()
		c.Advance(13 * time.Second) // its session ends after 10 s
		c.Executions().On("10.0.0.2").Source(job.SourceFailover).Outcome(job.OutcomeOK).Require(t, 2)
		jobtest.NoTickTwice(t, c.Executions())
		s.isSound(t)
		if open := s.number(t, `SELECT count(*) FROM orders WHERE NOT settled`); open != 0 {
			t.Errorf("%d orders are open", open)
		}
	})
}

// An instance freezes in the middle of a shard, for so long that another one takes it over. When it
// wakes up, the table refuses what it writes.
func TestTheFenceHolds(t *testing.T) {
	inShop(t, func(t *testing.T, s shop) {
		c := jobtest.NewCluster(t)
		freezes := c.Process("10.0.0.1")
		freezes.Schedule(settling(), s.takes(3*time.Second))
		c.Process("10.0.0.2").Schedule(settling(), s.takes(time.Second))
		c.Until(time.Minute, func() bool { return c.Executions().On("10.0.0.1").Running().Len() == 2 })
		freezes.LoseSession()
		c.Advance(4 * time.Second)
		c.Executions().Source(job.SourceFailover).On("10.0.0.2").Outcome(job.OutcomeOK).Require(t, 2)
		c.Executions().Where("that were refused", func(e jobtest.Execution) bool {
			return e.Err != nil && strings.Contains(e.Err.Error(), "a later execution has written it")
		}).On("10.0.0.1").Require(t, 2)
		jobtest.TokensGrow(t, c.Executions())
		s.isSound(t)
	})
}
