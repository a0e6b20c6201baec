package job_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// completion is what the tree says of how the last execution of an item has ended; zero if
// it says nothing.
func (c *cluster) completion(item int) jobtree.CompletionDocument {
	c.Helper()
	node := c.state().Item(item).Completed
	if node == nil {
		return jobtree.CompletionDocument{}
	}
	document, err := node.Document()
	c.must(err)
	return document
}

// completes waits until the tree says how an execution has ended, and checks what it says.
func (c *cluster) completes(e execution, want jobtree.CompletionDocument) {
	c.Helper()
	c.until(fmt.Sprintf("how item %d with token %d has ended", e.Item, e.Token), func() bool {
		return c.completion(e.Item).Token == e.Token
	})
	e = c.record.find(func(r execution) bool { return r.TaskID == e.TaskID && r.Attempt == e.Attempt })[0]
	got := c.completion(e.Item)
	if got.Ended.Before(e.end.Truncate(time.Millisecond)) || got.Ended.After(time.Now()) {
		c.Errorf("it ended at %v, and the tree says %v", e.end, got.Ended)
	}
	if got.Begun.After(e.begin) || got.Begun.Before(e.begin.Add(-time.Minute)) {
		c.Errorf("it began at %v, and the tree says %v", e.begin, got.Begun)
	}
	if !got.Tick.Equal(e.ScheduledTime.Truncate(time.Millisecond)) {
		c.Errorf("its tick is %v, and the tree says %v", e.ScheduledTime, got.Tick)
	}
	want.Tick, want.Begun, want.Ended, want.Token = got.Tick, got.Begun, got.Ended, e.Token
	want.TaskID, want.Source = e.TaskID, e.Source.String()
	if got != want {
		c.Errorf("the tree says %+v, want %+v", got, want)
	}
	if s := c.state().Item(e.Item); s.Running != nil {
		c.Errorf("it runs still:\n%s", c.dump())
	}
}

// Every way in which a handler can end has its outcome for observers and in the tree, where errors are cut.
func TestTreeTellsEachOutcome(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, tc := range map[string]struct {
		handler job.HandlerFunc
		want    jobtree.Outcome
		says    string
	}{
		"nil":        {nil, jobtree.OutcomeOK, ""},
		"error":      {func(context.Context, job.ShardingContext) error { return errors.New("no") }, jobtree.OutcomeFailed, "no"},
		"long error": {func(context.Context, job.ShardingContext) error { return errors.New(long) }, jobtree.OutcomeFailed, long[:256] + "…"},
		"panic":      {func(context.Context, job.ShardingContext) error { panic("oh") }, jobtree.OutcomePanic, "job: panic: oh"},
		"goexit": {func(context.Context, job.ShardingContext) error {
			runtime.Goexit()
			return nil
		}, jobtree.OutcomeFailed, "job: handler called runtime.Goexit"},
		"timeout": {untilDone, jobtree.OutcomeTimeout, job.ErrTimeout.Error()},
		"late success": {func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return nil
		}, jobtree.OutcomeOK, ""},
		"panic after the time-out": {func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			panic("oh")
		}, jobtree.OutcomeTimeout, "job: panic: oh"},
		"retries": {func(_ context.Context, sc job.ShardingContext) error {
			if sc.Attempt <= 2 {
				return errors.New("not yet")
			}
			return nil
		}, jobtree.OutcomeOK, ""},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.ShardingTotalCount, cfg.Cron, cfg.Timeout, cfg.ErrorHandler = 1, "0/30 * * * * ?", 10*time.Second, job.ErrorHandlerIgnore
			cfg.Retry = job.Retry{Attempts: 2, InitialBackoff: time.Second}
			var w witness
			c.join("10.0.0.1", cfg, tc.handler, w.option())
			c.awaitRuns("it", 1, anything)
			c.pass(15 * time.Second)
			runs := c.record.find(anything)
			c.completes(runs[len(runs)-1], jobtree.CompletionDocument{Outcome: tc.want, Error: tc.says})
			if f := w.of(jobtype.EventFinished); len(f) != 1 || f[0].Outcome.String() != string(tc.want) || (f[0].Err != nil) != (tc.says != "") {
				t.Errorf("finished: %+v", f)
			}
		})
	}
}

// A make-up is told as one, also where the commit that ends one execution begins it: it
// tells of the first until then.
func TestTreeTellsHowAMakeUpEnds(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		release, again := make(chan struct{}), make(chan struct{})
		c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			wait := release
			if sc.Source == job.SourceMisfire {
				wait = again
			}
			select {
			case <-wait:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		first := c.awaitRuns("it", 1, anything)[0]
		c.await("a tick that came meanwhile", func(s *jobtree.State) bool { return s.Item(0).Misfire })
		close(release)
		made := c.awaitRuns("made up", 1, func(e execution) bool { return e.Source == job.SourceMisfire })[0]
		c.until("the first has ended", func() bool { return c.completion(0).Token == first.Token })
		if got := c.completion(0); got.Outcome != jobtree.OutcomeOK || got.TaskID != first.TaskID || c.state().Item(0).Running == nil {
			t.Errorf("the tree says %+v\n%s", got, c.dump())
		}
		c.configure(func(cfg *job.Config) { cfg.Cron = rarely }) // nothing comes after it
		close(again)
		c.completes(made, jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK})
		c.check()
	})
}

// After a crash nobody knows how the execution ended, and the tree has what was before, until
// the item was run again elsewhere.
func TestTreeTellsHowAFailoverEnds(t *testing.T) {
	inVirtualTimeCutShort(t, func(t *testing.T, c *cutShort) {
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.JobParameter == "at once" {
				return nil
			}
			return c.work(ctx, sc)
		}
		crashes := c.join("10.0.0.1", c.config(), work)
		c.timeout = lasting
		c.join("10.0.0.2", c.config(), work)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		result, err := crashes.Trigger(t.Context(), job.TriggerRequest{Items: []int{0}, Parameter: "at once"})
		c.must(err)
		before := c.awaitRuns("item 0", 1, anything)[0]
		c.completes(before, jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK, Request: result.ID})
		result = c.trigger(crashes, 0)
		cut := c.awaitRuns("item 0 again", 2, anything)[1]
		crashes.crash()
		again := c.awaitRuns("item 0 elsewhere", 1, reruns)[0]
		if got := c.completion(0); got.Token != before.Token {
			t.Errorf("while it is run again the tree says %+v", got)
		}
		close(c.release)
		c.completes(again, jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK, Request: result.ID, Original: cut.TaskID})
		c.check()
	})
}

// An execution that a shutdown cuts short is told as cut, and with failover what becomes of
// it elsewhere takes its place. One that succeeds all the same is told so, and one that was
// never begun, or whose handler does not return, is not told of.
func TestTreeTellsWhatAShutdownCuts(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "", 3
		hang := make(chan struct{})
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.SourceFailover {
				return nil
			}
			<-ctx.Done()
			switch sc.Item {
			case 0:
				return context.Cause(ctx)
			case 1:
				return nil
			}
			<-hang
			return nil
		})
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		result := c.trigger(m)
		runs := c.awaitRuns("all", 3, anything)
		if err := m.stop(); err == nil {
			t.Error("nothing is said of the handler that does not return")
		}
		close(hang)
		c.awaitRuns("the handler that did not return", 1, func(e execution) bool { return e.Item == 2 && !e.end.IsZero() })
		c.await("it has left", func(s *jobtree.State) bool { return len(s.Sessions) == 0 })
		for _, e := range runs {
			switch e.Item {
			case 0:
				c.completes(e, jobtree.CompletionDocument{Outcome: jobtree.OutcomeCut, Error: job.ErrShutdown.Error(), Request: result.ID})
			case 1:
				c.completes(e, jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK, Request: result.ID})
			case 2:
				if got := c.completion(2); got != (jobtree.CompletionDocument{}) {
					t.Errorf("of the handler that did not return the tree says %+v", got)
				}
			}
		}
		c.join("10.0.0.2", cfg, nil)
		again := c.awaitRuns("those that were cut short, again", 2, reruns)
		for _, e := range again {
			cut := runs[slices.IndexFunc(runs, func(r execution) bool { return r.Item == e.Item })]
			c.completes(e, jobtree.CompletionDocument{Outcome: jobtree.OutcomeOK, Request: result.ID, Original: cut.TaskID})
		}
		c.settled()
		if got := c.completion(1); got.Outcome != jobtree.OutcomeOK || got.Source != job.SourceManual.String() {
			t.Errorf("of the one that had succeeded the tree says %+v", got)
		}
		c.check()
	})
}

// Nothing is told of executions without records, and what was told before stays.
func TestTreeTellsNothingWithoutRecords(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.MonitorExecution, cfg.Failover = job.Off, false
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitRuns("some", 9, anything)
		c.trigger(m)
		c.awaitRuns("triggered", 3, func(e execution) bool { return e.Source == job.SourceManual })
		for item := range 3 {
			if got := c.completion(item); got != (jobtree.CompletionDocument{}) {
				t.Errorf("item %d: the tree says %+v", item, got)
			}
		}
		c.configure(func(cfg *job.Config) { cfg.MonitorExecution = job.On })
		c.until("how one with records has ended", func() bool { return c.completion(0).Token != 0 })
	})
}

// What an external writer writes there is nobody's business: the next end replaces it.
func TestTreeTellsInPlaceOfAStranger(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron = ""
		m := c.join("10.0.0.1", cfg, nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.commit(coord.Put(c.job.Completion(0), []byte(": not YAML [")), coord.Put(c.job.Completion(0)+"/x", nil))
		c.trigger(m, 0)
		e := c.awaitRuns("item 0", 1, anything)[0]
		c.await("it is replaced", func(s *jobtree.State) bool {
			d, err := s.Item(0).Completed.Document()
			return err == nil && d.Token == e.Token
		})
		m.awaitSound()
		c.check()
	})
}
