package jobtest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// These are tests to copy. What they test is a job that pays, city by city, what the table of
// payments says.

var settle = job.Config{
	Name: "settle", Cron: "0 0/5 * * * ?", ShardingTotalCount: 3, Failover: true,
	ShardingItemParameters: "0=Beijing,1=Shanghai,2=Guangzhou",
	Retry:                  job.Retry{Attempts: 3},
}

// settler is the handler.
type settler struct {
	bank     *bank
	payments *payments
}

func (s *settler) Execute(ctx context.Context, sc job.ShardingContext) error {
	if err := s.bank.Pay(ctx, sc.ItemParameter); err != nil {
		return err
	}
	return job.NoRetry(s.payments.MarkPaid(sc.ItemParameter, sc.Token))
}

// A bank that does not answer is asked again. In a bubble the pauses between attempts take no
// time.
func TestTheBankIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSettler()
		h.bank.fails = 2
		res := jobtest.Run(t, h, jobtest.Case{Config: settle, Item: 1})
		if res.Outcome != job.OutcomeOK || res.Attempts != 3 || res.Took != 6*time.Second {
			t.Error(res)
		}
		if !slices.Equal(h.bank.paid, []string{"Shanghai"}) {
			t.Error("paid:", h.bank.paid)
		}
	})
}

// An operator can end it.
func TestItStopsWhenItIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSettler()
		h.bank.takes = time.Hour
		res := jobtest.Run(t, h, jobtest.Case{Config: settle, KillAfter: time.Minute})
		if res.Outcome != job.OutcomeKilled || !errors.Is(res.Err, job.ErrKilled) || res.Took != time.Minute || h.bank.paid != nil {
			t.Error(res, h.bank.paid)
		}
	})
}

// The process that pays a city dies. Another one pays it, and no tick is left out.
func TestEveryTickIsPaidAlthoughAProcessDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, begin := newSettler(), time.Now()
		c := jobtest.NewCluster(t)
		a, b := c.Process("10.0.0.1"), c.Process("10.0.0.2")
		a.Schedule(settle, h)
		b.Schedule(settle, h)

		c.Until(time.Hour, func() bool { return c.Executions().On("10.0.0.1").Running().Len() > 0 })
		a.Die()
		c.Advance(time.Hour)

		ticks, err := jobtest.Ticks(settle, begin, begin.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		jobtest.EachTickOnce(t, c.Executions().Outcome(job.OutcomeOK), ticks, settle.ShardingTotalCount)
		jobtest.NoOverlap(t, c.Executions())
		c.Faults().Lasting().Require(t, 0)
	})
}

// A process that was paused for long pays on when others have its city already. Its token is too
// old for the table.
func TestAnOldWriteIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSettler()
		h.bank.takes, h.bank.deaf = 5*time.Second, true
		c := jobtest.NewCluster(t)
		a, b := c.Process("10.0.0.1"), c.Process("10.0.0.2")
		a.Schedule(settle, h)
		b.Schedule(settle, h)

		c.Until(time.Hour, func() bool { return c.Executions().On("10.0.0.1").Running().Len() > 0 })
		h.bank.takes = time.Second // whoever comes next is faster
		a.LoseSession()
		c.Advance(time.Minute)

		old := c.Executions().On("10.0.0.1").Outcome(job.OutcomeFailed).List()
		if len(old) == 0 || !errors.Is(old[0].Err, errFenced) {
			t.Fatal(c.Recorder())
		}
		again := c.Executions().Item(old[0].Item).Source(job.SourceFailover).Outcome(job.OutcomeOK).One(t)
		if again.Token <= old[0].Token {
			t.Error(again)
		}
	})
}

// While the store is away nothing runs, and somebody sees why. Then one run makes up for all.
func TestAnOutageIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := jobtest.NewCluster(t)
		c.Process("10.0.0.1").Schedule(settle, newSettler())
		c.StoreAway(time.Hour)
		c.Advance(59 * time.Minute)
		c.Executions().Require(t, 0)
		c.Faults().Kind(jobtype.FaultStore).Lasting().Require(t, 1)

		c.Advance(2 * time.Minute)
		c.Executions().Source(job.SourceMisfire).Outcome(job.OutcomeOK).Require(t, 3)
		c.Faults().Lasting().Require(t, 0)
	})
}

func newSettler() *settler {
	return &settler{&bank{takes: time.Second}, &payments{fences: map[string]int64{}}}
}

// bank takes the place of somebody else's service.
type bank struct {
	takes time.Duration
	deaf  bool // it does not stop when it is asked to
	fails int  // how many calls fail from now on

	mu   sync.Mutex
	paid []string
}

func (b *bank) Pay(ctx context.Context, city string) error {
	if b.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails > 0 {
		b.fails--
		return errors.New("the bank does not answer")
	}
	b.paid = append(b.paid, city)
	return nil
}

// payments takes the place of a table. In SQL:
//
//	UPDATE payments SET paid = $1, fence = $2 WHERE city = $3 AND fence <= $2
type payments struct {
	mu     sync.Mutex
	fences map[string]int64
}

var errFenced = errors.New("no row: another execution has written it since")

func (p *payments) MarkPaid(city string, token int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if token < p.fences[city] {
		return errFenced
	}
	p.fences[city] = token
	return nil
}
