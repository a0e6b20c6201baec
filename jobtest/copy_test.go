package jobtest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

var settle = job.Config{
	Name: "settle", Cron: "0/10 * * * * ?", ShardingTotalCount: 3, Failover: true,
	ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
	Retry:                  job.Retry{Attempts: 3},
}

// bank is what handlers call: an API that may be down for some calls.
type bank struct {
	mu   sync.Mutex
	down int // how many calls fail from now on
	paid []string
}

func (b *bank) Pay(city string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down > 0 {
		b.down--
		return errors.New("the bank does not answer")
	}
	b.paid = append(b.paid, city)
	return nil
}

// handler pays the city of its item.
func handler(b *bank) job.Handler {
	return job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error { return b.Pay(sc.ItemParameter) })
}

// One item, as the scheduler runs it. The pauses between attempts take no time in a bubble.
func TestPaysWhenTheBankIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bank{down: 2}
		res := jobtest.Run(t, handler(b), jobtest.Case{Config: settle, Item: 1})
		if res.Outcome != job.OutcomeOK || res.Attempts != 3 || res.Took != 3*time.Second {
			t.Error(res)
		}
		if fmt.Sprint(b.paid) != "[Shanghai]" {
			t.Error(b.paid)
		}
	})
}

// slow works for three seconds, and returns when it has to stop.
func slow(ctx context.Context, sc job.ShardingContext) error {
	select {
	case <-time.After(3 * time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// An instance dies while it runs an item. Another one runs it again.
func TestNoTickIsLostWhenAnInstanceDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		c := jobtest.NewCluster(t)
		a, b := c.Instance("10.0.0.1"), c.Instance("10.0.0.2")
		a.Schedule(settle, job.HandlerFunc(slow))
		b.Schedule(settle, job.HandlerFunc(slow))

		c.Until(time.Minute, func() bool { return c.Executions().On("10.0.0.1").Running().Len() > 0 })
		a.Die()
		c.Advance(time.Minute)

		execs := c.Executions()
		if execs.Source(job.SourceFailover).On("10.0.0.2").Len() == 0 {
			t.Error(c.Recorder())
		}
		ticks, err := jobtest.Ticks(settle, begin, begin.Add(30*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		jobtest.NoTickTwice(t, execs)
		jobtest.NoOverlap(t, execs)
		jobtest.TokensGrow(t, execs)
		t.Log(c.Recorder(), ticks)
	})
}
