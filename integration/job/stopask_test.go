package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// stopped is why an execution has stopped between two pieces of its work.
type stopped struct {
	item   int
	ip     string
	reason error
}

// endless returns a handler that works until it is asked to stop.
func endless(ip string, stops chan<- stopped) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		for {
			if reason := job.StopAsked(ctx); reason != nil {
				stops <- stopped{sc.Item, ip, reason}
				return reason
			}
			if err := elapse(ctx, 10*time.Millisecond); err != nil {
				stops <- stopped{sc.Item, ip, context.Cause(ctx)}
				return err
			}
		}
	}
}

// A handler that asks is told to stop when its item is to run elsewhere, when an operator has
// disabled the item or the server, and when its instance is to leave. Others go on.
func TestStopAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*cluster, *member)
		items  []int // 0 to 3, those that stop
		reason error
	}{
		"another instance joins": {func(c *cluster, _ *member) { c.join("10.0.0.2", c.state2(), nil) }, []int{2, 3}, job.ErrItemMoves},
		"an item is disabled":    {func(c *cluster, _ *member) { c.commit(coord.Put(c.job.ItemDisabled(1), nil)) }, []int{1}, job.ErrDisabled},
		"the server is disabled": {func(c *cluster, _ *member) {
			c.commit(coord.Put(c.job.Server("10.0.0.1"), []byte(jobtree.Disabled)))
		}, []int{0, 1, 2, 3}, job.ErrDisabled},
		"fewer items":              {func(c *cluster, _ *member) { c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 3 }) }, []int{3}, job.ErrItemMoves},
		"an operator removes it":   {func(c *cluster, m *member) { c.commit(coord.DeleteTree(c.job.Instance(m.Status().InstanceID))) }, []int{0, 1, 2, 3}, job.ErrShutdown},
		"the scheduler shuts down": {func(_ *cluster, m *member) { go m.leave() }, []int{0, 1, 2, 3}, job.ErrShutdown},
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			stops := make(chan stopped, 100)
			m := c.join("10.0.0.1", c.state2(), endless("10.0.0.1", stops))
			c.awaitRuns("all items", 4, anything)
			c.pass(5 * time.Second)
			if len(stops) > 0 {
				t.Fatalf("stopped without a reason: %v", <-stops)
			}
			tc.change(c, m)
			got := map[int]bool{}
			for range tc.items {
				s := <-stops
				if got[s.item] = true; !errors.Is(s.reason, tc.reason) {
					t.Errorf("item %d was asked to stop by %v, want %v", s.item, s.reason, tc.reason)
				}
			}
			c.pass(5 * time.Second)
			for _, i := range tc.items {
				if !got[i] {
					t.Errorf("item %d did not stop; %v did", i, got)
				}
			}
			for len(stops) > 0 {
				if s := <-stops; !got[s.item] {
					t.Errorf("item %d stopped, too: %v", s.item, s.reason)
				}
			}
		})
	}
}

// state2 is a configuration of four items that run for as long as they like.
func (c *cluster) state2() job.Config {
	cfg := c.config()
	cfg.ShardingTotalCount = 4
	return cfg
}

// A run that was taken over from an instance that has ended is asked to stop, too, when its item
// or another one is to go to a new instance.
func TestAFailoverRunIsAskedToStop(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.timeout = 2 * time.Second
		cfg := c.config()
		cfg.ShardingTotalCount = 2
		stops := make(chan stopped, 100)
		first := c.join("10.0.0.1", cfg, endless("10.0.0.1", stops))
		c.timeout = lasting
		c.join("10.0.0.2", cfg, endless("10.0.0.2", stops))
		c.awaitRuns("both items", 2, anything)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}, "10.0.0.2": {1}})
		first.crash()
		again := c.awaitRuns("item 0 again", 1, func(e execution) bool { return e.Source == job.SourceFailover })[0]
		c.join("10.0.0.3", cfg, endless("10.0.0.3", stops))
		c.awaitRuns("an item on the new instance", 1, func(e execution) bool { return e.ip == "10.0.0.3" && e.Token > again.Token })
	})
}

// Outside of an execution nobody is asked to stop, but by the end of the context.
func TestInsideWithoutAScheduler(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := job.StopAsked(ctx); err != nil {
		t.Errorf("asked to stop: %v", err)
	}
	job.SetOutput(ctx, []byte("nobody keeps it"))
	if n := job.PropertiesNow(ctx).Len(); n != 0 {
		t.Errorf("%d properties", n)
	}
	if _, err := job.Cursor(ctx); !errors.Is(err, job.ErrNoCursor) {
		t.Errorf("a cursor: %v", err)
	}
	if err := job.MoveCursor(ctx, "1"); !errors.Is(err, job.ErrNoCursor) {
		t.Errorf("a cursor: %v", err)
	}
	cancel(errFailed)
	if err := job.StopAsked(ctx); !errors.Is(err, errFailed) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// The properties in force are those of this moment, not of the start of the execution.
func TestPropertiesNow(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.ShardingTotalCount, cfg.Props = 1, map[string]string{"size": "1"}
		seen := make(chan string)
		c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			for last := ""; ; {
				size, _ := job.PropertiesNow(ctx).Get("size")
				before, _ := sc.Properties.Get("size") // 2 in the next execution, which may begin before the test ends
				if size != last {
					last = size
					select {
					case seen <- before + " then " + size:
					case <-ctx.Done():
					}
				}
				if size == "2" {
					return nil
				}
				if err := elapse(ctx, 10*time.Millisecond); err != nil {
					return err
				}
			}
		})
		if got := <-seen; got != "1 then 1" {
			t.Errorf("at first it is %s", got)
		}
		c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"size": "2"} })
		if got := <-seen; got != "1 then 2" {
			t.Errorf("after the change it is %s", got)
		}
	})
}

// A run that was taken over goes on by itself if nobody else is there, and one that is asked to
// stop at a shutdown is run again elsewhere at once, although no tick comes for long.
func TestWhatIsAskedToStopGoesOn(t *testing.T) {
	for name, ends := range map[string]func(*member){
		"a crash":    (*member).crash,
		"a shutdown": func(m *member) { go m.leave() },
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			cfg := c.config()
			cfg.Cron = "0 0 * * * ?" // virtual time begins at midnight
			cfg.ShardingTotalCount = 1
			rows := make(chan string, 1000)
			stream := func(ip string) job.HandlerFunc {
				return func(ctx context.Context, _ job.ShardingContext) error {
					for {
						position, err := job.Cursor(ctx)
						if err != nil || len(position) == 100 {
							return err
						}
						if err := elapse(ctx, time.Second); err != nil {
							return err
						}
						if err := job.MoveCursor(ctx, position+"x"); err != nil {
							return err
						}
						rows <- ip
						if reason := job.StopAsked(ctx); reason != nil {
							return reason
						}
					}
				}
			}
			first := c.join("10.0.0.1", cfg, stream("10.0.0.1"))
			c.pass(time.Hour - time.Since(time.Now().Truncate(time.Hour)) + 10*time.Second)
			c.join("10.0.0.2", cfg, stream("10.0.0.2"))
			if len(rows) < 5 {
				t.Fatalf("%d rows after ten seconds", len(rows))
			}
			ends(first)
			c.pass(5 * time.Minute)
			by := map[string]int{}
			for len(rows) > 0 {
				by[<-rows]++
			}
			if by["10.0.0.1"] > 20 || by["10.0.0.1"]+by["10.0.0.2"] < 100 {
				t.Errorf("rows by instance: %v", by)
			}
			for _, e := range c.record.find(func(e execution) bool { return e.ip == "10.0.0.2" && e.Source != job.SourceFailover }) {
				t.Errorf("it went on by %v", e.Source)
			}
		})
	}
}
