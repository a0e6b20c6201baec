package dataflow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

// endless returns a source without an end. A batch takes 100 ms.
func endless() *source {
	s := newSource(0)
	s.pace = 100 * time.Millisecond
	return s
}

// awaitBatch waits for a batch that matches.
func (c *cluster) awaitBatch(what string, s *source, match func(batch) bool) batch {
	c.Helper()
	for {
		if b := await(c, what, s.batches); match(b) {
			return b
		}
	}
}

// awaitEnd waits for the end of an execution of an item, and checks it.
func (c *cluster) awaitEnd(item int, outcome job.Outcome, err error) job.Event {
	c.Helper()
	for {
		e := await(c, "the end of an execution", c.finished)
		if e.Item != item {
			continue
		}
		if e.Outcome != outcome || !errors.Is(e.Err, err) {
			c.Errorf("item %d ended with %v, %v; want %v, %v", item, e.Outcome, e.Err, outcome, err)
		}
		return e
	}
}

// Streaming and the page size are read before each batch.
func TestPropertiesAreReadLive(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		cfg := config(1)
		cfg.Cron = ""
		m := c.join(cfg, s.flow())
		if _, err := m.Trigger(c.Context(), job.TriggerRequest{}); err != nil {
			c.Fatal(err)
		}
		c.awaitBatch("a batch", s, func(b batch) bool { return b.rows == 100 })
		c.configure(func(cfg *job.Config) { cfg.Props["dataflow.page.size"] = "3" })
		c.awaitBatch("a small batch", s, func(b batch) bool { return b.rows == 3 })
		c.configure(func(cfg *job.Config) { cfg.Props = nil })
		c.awaitEnd(0, job.OutcomeOK, nil)
		s.check(c, 0, 0)
	})
}

// An execution that was to do one batch goes on if streaming is switched on meanwhile.
func TestStreamingIsSwitchedOn(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := newSource(250)
		s.pace = time.Second
		cfg := config(1)
		cfg.Cron, cfg.Props = "", nil
		m := c.join(cfg, s.flow())
		if _, err := m.Trigger(c.Context(), job.TriggerRequest{}); err != nil {
			c.Fatal(err)
		}
		synctest.Wait() // the batch is under way
		c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"streaming.process": "true"} })
		c.awaitEnd(0, job.OutcomeOK, nil)
		s.check(c, 0, 0)
	})
}

// A stream may go on over its ticks: that is no fault.
func TestStreamIsNoFault(t *testing.T) {
	for streaming, isFault := range map[string]bool{"true": false, "false": true} {
		t.Run(streaming, func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				s := endless()
				s.pace = 40 * time.Second
				cfg := config(1)
				cfg.Props["streaming.process"] = streaming
				m := c.join(cfg, s.flow())
				waits := time.NewTimer(5*time.Minute + 30*time.Second) // a batch is under way
				select {
				case <-waits.C:
				case <-m.Done():
				}
				if err := m.Status().Fault(); (err != nil) != isFault {
					c.Errorf("the fault is %v", err)
				}
			})
		})
	}
}

// Shutdown waits for a batch, not for the stream. Another instance goes on behind that batch.
func TestShutdown(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		first := c.join(config(1), s.flow())
		c.awaitBatch("a batch", s, func(batch) bool { return true })
		begun := time.Now()
		if err := first.Shutdown(c.Context()); err != nil {
			c.Error(err)
		}
		if took := time.Since(begun); took > time.Second {
			c.Errorf("the shutdown took %v", took)
		}
		c.awaitEnd(0, job.OutcomeCut, job.ErrShutdown)
		second := c.join(config(1), s.flow())
		c.awaitBatch("a batch of the other", s, func(b batch) bool { return b.by == second.Status().InstanceID })
		s.check(c, 0, 0)
	})
}

// A shutdown that cannot wait ends the batch. It is processed again.
func TestShutdownInABatch(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		s.pace = time.Minute
		first := c.join(config(1), s.flow())
		c.awaitBatch("a batch", s, func(batch) bool { return true })
		synctest.Wait() // the next one is under way
		ctx, cancel := context.WithTimeout(c.Context(), time.Second)
		defer cancel()
		if err := first.Shutdown(ctx); err != nil {
			c.Error(err)
		}
		c.awaitEnd(0, job.OutcomeCut, job.ErrShutdown)
		c.join(config(1), s.flow())
		c.awaitBatch("the next batch", s, func(b batch) bool { return b.first == 101 })
		s.check(c, 0, 0)
	})
}

// A stream gives its item away between two batches, and the new owner goes on.
func TestItemMoves(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		first := c.join(config(2), s.flow())
		c.awaitBatch("item 0", s, func(b batch) bool { return b.item == 0 })
		c.awaitBatch("item 1", s, func(b batch) bool { return b.item == 1 })
		second := c.join(config(2), s.flow())
		one := c.awaitBatch("a batch of the second", s, func(b batch) bool { return b.by == second.Status().InstanceID })
		c.awaitEnd(one.item, job.OutcomeCut, job.ErrItemMoves)
		c.awaitBatch("a batch of the first", s, func(b batch) bool { return b.by == first.Status().InstanceID && b.item != one.item })
		s.check(c, 0, 0)
		s.check(c, 1, 0)
	})
}

// An item that is disabled stops, and goes on when it is enabled.
func TestItemIsDisabled(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		c.join(config(1), s.flow())
		c.awaitBatch("a batch", s, func(batch) bool { return true })
		c.commit(coord.Put("flow/sharding/0/disabled", nil))
		token := c.awaitEnd(0, job.OutcomeCut, job.ErrDisabled).Token
		c.commit(coord.Delete("flow/sharding/0/disabled"))
		c.awaitBatch("a batch of another execution", s, func(b batch) bool { return b.token > token })
		s.check(c, 0, 0)
	})
}

// A fetch that always returns rows is bounded by the time-out alone.
func TestTimeout(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		s.pace = 150 * time.Millisecond // so that no batch ends together with its context
		cfg := config(1)
		cfg.Timeout = 2 * time.Second
		c.join(cfg, s.flow())
		e := c.awaitEnd(0, job.OutcomeTimeout, job.ErrTimeout)
		if e.Took < 2*time.Second || e.Took > 3*time.Second {
			c.Errorf("it took %v", e.Took)
		}
		c.awaitBatch("a batch of another execution", s, func(b batch) bool { return b.token > e.Token })
		s.check(c, 0, 0)
	})
}

// A fetch that returns nothing because it was cut short is not taken for the end.
func TestFetchThatWasCutShort(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := newSource(100)
		cfg := config(1)
		cfg.Timeout = time.Second
		c.join(cfg, cutShort(s))
		c.awaitEnd(0, job.OutcomeTimeout, job.ErrTimeout)
	})
}

// A context that has ended ends the stream, even if nothing of the user's looks at it.
func TestContextIsLookedAt(t *testing.T) {
	inCluster(t, func(c *cluster) {
		cfg := config(1)
		cfg.Timeout = time.Second
		c.join(cfg, dataflow.New(func(ctx context.Context, sc job.ShardingContext, size int) ([]int, error) {
			<-ctx.Done()
			return []int{1}, nil
		}, func(ctx context.Context, sc job.ShardingContext, rows []int) error { return nil }))
		c.awaitEnd(0, job.OutcomeTimeout, job.ErrTimeout)
	})
}

// What happens during the first batch stops the stream after it.
func TestStopInTheFirstBatch(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		s.pace = time.Minute
		disable := func(ctx context.Context, sc job.ShardingContext, rows []int) error {
			c.commit(coord.Put("flow/sharding/0/disabled", nil))
			return s.process(ctx, sc, rows)
		}
		c.join(config(1), dataflow.WithCursor(s.fetch, disable))
		if e := c.awaitEnd(0, job.OutcomeCut, job.ErrDisabled); e.Took > time.Minute {
			c.Errorf("it took %v", e.Took)
		}
	})
}

// Another instance goes on from the cursor when one has ended without a shutdown. What the old
// one still does comes to nothing: it cannot move the cursor.
func TestFailover(t *testing.T) {
	inCluster(t, func(c *cluster) {
		s := endless()
		first := c.join(config(1), s.flow())
		c.awaitBatch("a batch", s, func(batch) bool { return true })
		second := c.join(config(1), s.flow())
		first.reg.Link().Cut()
		c.awaitBatch("a batch of the second", s, func(b batch) bool { return b.by == second.Status().InstanceID })
		c.awaitEnd(0, job.OutcomeCut, coord.ErrSessionLost)
		s.check(c, 0, 100) // it has processed one batch whose cursor it could not move
	})
}

// cutShort returns a flow whose fetch returns nothing when its context has ended.
func cutShort(s *source) job.Handler {
	return dataflow.WithCursor(func(ctx context.Context, sc job.ShardingContext, after, size int) ([]int, int, error) {
		<-ctx.Done()
		return nil, after, nil
	}, s.process)
}
