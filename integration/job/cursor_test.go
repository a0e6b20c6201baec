package job_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// counter returns a handler that counts with the cursor of its item: each execution goes on
// where the last one was.
func counter(t testing.TB, each int, counted chan<- int) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		position, err := job.Cursor(ctx)
		if err != nil {
			return err
		}
		n := 0
		if position != "" {
			if n, err = strconv.Atoi(position); err != nil {
				t.Errorf("the cursor is %q", position)
			}
		}
		for range each {
			n++
			if err := job.MoveCursor(ctx, strconv.Itoa(n)); err != nil {
				return err
			}
		}
		select {
		case counted <- n:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// The cursor stays between executions, also on another instance, and goes with its item.
func TestCursor(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		counted := make(chan int)
		first := c.join("10.0.0.1", cfg, counter(t, 3, counted))
		for _, want := range []int{3, 6} {
			if got := <-counted; got != want {
				t.Fatalf("counted to %d, want %d", got, want)
			}
		}
		left := make(chan struct{})
		go func() { first.leave(); close(left) }()
		var last int
		for isLeft := false; !isLeft; {
			select {
			case last = <-counted: // one more may have begun
			case <-left:
				isLeft = true
			}
		}
		c.join("10.0.0.2", cfg, counter(t, 2, counted))
		if got := <-counted; got != max(last, 6)+2 {
			t.Errorf("the other instance counted to %d, want %d", got, max(last, 6)+2)
		}
		n, err := c.admin.Get(t.Context(), c.job.Cursor(0))
		c.must(err)
		if d, err := jobtree.DecodeCursor(n.Value); err != nil || d.Token == 0 || d.Moved.IsZero() {
			t.Errorf("the node has %+v, %v", d, err)
		}
	})
}

// An item that is removed takes its cursor with it. A job that gets as many items again begins
// anew.
func TestCursorGoesWithItsItem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 2
		c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error { return job.MoveCursor(ctx, "7") })
		has := func(item int) bool {
			_, err := c.admin.Get(t.Context(), c.job.Cursor(item))
			if err != nil && !errors.Is(err, coord.ErrNoNode) {
				t.Fatal(err)
			}
			return err == nil
		}
		c.until("both cursors", func() bool { return has(0) && has(1) })
		c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 1 })
		c.await("one item", func(s *jobtree.State) bool { return !s.Item(1).Exists })
		if has(1) || !has(0) {
			t.Errorf("item 0 has a cursor: %v, item 1: %v", has(0), has(1))
		}
	})
}

// An execution that has lost its item, and does not know it, cannot move the cursor.
func TestCursorOfALostItem(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		claimed := make(chan struct{})
		moved := make(chan error, 1)
		first := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source != job.SourceNormal {
				return nil
			}
			if err := job.MoveCursor(ctx, "before"); err != nil {
				return err
			}
			close(claimed)
			<-ctx.Done()
			// Its registry is in order again, and a new session has begun.
			c.awaitRuns("the item elsewhere", 1, func(e execution) bool { return e.ip == "10.0.0.2" && e.Token > sc.Token })
			moved <- job.MoveCursor(context.WithoutCancel(ctx), "too late")
			return nil
		})
		<-claimed
		position := make(chan string, 1)
		c.join("10.0.0.2", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			at, err := job.Cursor(ctx)
			position <- at
			<-ctx.Done()
			return err
		})
		first.link.Cut()
		c.awaitRuns("the item elsewhere", 1, on("10.0.0.2"))
		first.link.Heal()
		if err := <-moved; !errors.Is(err, job.ErrItemLost) || !strings.Contains(err.Error(), "cursor of item 0") {
			t.Errorf("moved by an execution that has lost its item: %v", err)
		}
		if at := <-position; at != "before" {
			t.Errorf("the other instance went on at %q", at)
		}
	})
}

// While the store is away a move waits. If the answer was lost, it is found out whether the
// cursor was moved, and it is not moved twice.
func TestCursorWhileTheStoreIsAway(t *testing.T) {
	for name, tc := range map[string]struct{ away, back func(*member) }{
		"cut off":          {func(m *member) { m.link.Cut() }, func(m *member) { m.link.Heal() }},
		"answers are lost": {func(m *member) { m.link.(*memory.Link).DropAnswers() }, func(m *member) { m.link.Heal() }},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			c.timeout = time.Minute
			cfg := c.config()
			cfg.ShardingTotalCount = 1
			begun, isAway, moved := make(chan struct{}), make(chan struct{}), make(chan error)
			m := c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
				if err := job.MoveCursor(ctx, "1"); err != nil {
					return err
				}
				begun <- struct{}{}
				<-isAway
				moved <- job.MoveCursor(ctx, "2")
				at, err := job.Cursor(ctx)
				if at != "2" {
					t.Errorf("the cursor is %q", at)
				}
				<-ctx.Done()
				return err
			})
			<-begun
			tc.away(m)
			close(isAway)
			c.pass(5 * time.Second)
			tc.back(m)
			c.ok(<-moved)
			n, err := c.admin.Get(t.Context(), c.job.Cursor(0))
			c.must(err)
			if n.Version != 1 && n.Version != 2 { // the second write, whatever the first number is
				t.Errorf("version %d", n.Version)
			}
		})
	}
}

// What cannot be a cursor, and who cannot have one.
func TestCursorsThatAreRefused(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		done := make(chan struct{})
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			defer func() { done <- struct{}{} }()
			for position, says := range map[string]string{
				strings.Repeat("x", job.MaxCursor+1): "cursor of item 0: 16385 bytes, at most 16384 are allowed",
				"\xff":                               "cursor of item 0: only UTF-8 is allowed",
			} {
				if err := job.MoveCursor(ctx, position); err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%.10q: %v", position, err)
				}
			}
			long := strings.Repeat("\x01", job.MaxCursor)
			c.ok(job.MoveCursor(ctx, long))
			if at, err := job.Cursor(ctx); err != nil || at != long {
				t.Errorf("read %d bytes, %v", len(at), err)
			}
			return nil
		})
		<-done
		m.leave()
		c.commit(coord.Put(c.job.Cursor(0), []byte("position: [1]")))
		c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			defer func() { done <- struct{}{} }()
			if _, err := job.Cursor(ctx); err == nil || !strings.Contains(err.Error(), "settle/cursor/0: cursor: position") {
				t.Errorf("what is no cursor is read: %v", err)
			}
			return nil
		})
		<-done
	})
	runInVirtualTime(t, "without claims", func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.MonitorExecution, cfg.Failover = job.Off, false
		done := make(chan error)
		c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			select {
			case done <- job.MoveCursor(ctx, "1"):
			case <-ctx.Done():
			}
			return nil
		})
		if err := <-done; !errors.Is(err, job.ErrNoCursor) {
			t.Errorf("got %v", err)
		}
	})
}

// An execution may learn by its cursor that it has lost its item. Then its context ends, and it
// was cut short: that is no failure.
func TestCursorShowsThatTheItemIsLost(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		begun, isLost := make(chan struct{}), make(chan struct{})
		ends := make(chan job.Event, 10)
		begins := sync.OnceFunc(func() { close(begun) })
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			begins()
			<-isLost
			return job.MoveCursor(ctx, "1")
		}, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventFinished {
				ends <- e
			}
		}))
		<-begun
		m.link.(*memory.Link).Lag(time.Minute) // its view shows nothing of what comes
		n, err := c.admin.Get(t.Context(), c.job.Fired(0))
		c.must(err)
		c.commit(coord.SetAt(n.Path, n.Value, n.Version))
		close(isLost)
		if e := <-ends; e.Outcome != job.OutcomeCut || !errors.Is(e.Err, job.ErrItemLost) {
			t.Errorf("it ended with %v, %v", e.Outcome, e.Err)
		}
	})
}

// A move whose answer was lost may be carried out later. It does not put the cursor back.
func TestCursorIsNotPutBack(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, s *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount = 1
		done := make(chan error)
		c.join("10.0.0.1", cfg, func(ctx context.Context, _ job.ShardingContext) error {
			var errs []error
			for _, to := range []string{"1", "2", "3"} {
				errs = append(errs, job.MoveCursor(ctx, to))
			}
			if err := elapse(ctx, 20*time.Second); err != nil {
				errs = append(errs, err)
			}
			at, err := job.Cursor(ctx)
			if at != "3" {
				errs = append(errs, errors.New("the cursor is at "+at))
			}
			select {
			case done <- errors.Join(append(errs, err)...):
			case <-ctx.Done():
			}
			return nil
		})
		s.Inject(memory.Fault{Method: memory.Commit, Path: c.job.Cursor(0), Before: coord.ErrUnknownOutcome, Late: 10 * time.Second, Times: 1})
		for range 2 { // the first may have begun before
			c.ok(<-done)
		}
	})
}
