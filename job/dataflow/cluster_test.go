package dataflow_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait, in virtual time.
const patience = time.Hour

// cluster is a job on a simulated store, in virtual time.
type cluster struct {
	tester
	store    *memory.Store
	admin    *memory.Registry
	finished chan job.Event // of all instances
}

// tester is a test: that of package testing, or of rapid.
type tester interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// inCluster runs a test in a bubble.
func inCluster(t *testing.T, test func(c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newCluster(t)) })
}

func newCluster(t tester) *cluster {
	c := &cluster{tester: t, store: memory.NewStore(memory.Options{}), finished: make(chan job.Event, 10_000)}
	t.Cleanup(c.store.Close)
	c.admin = c.dial()
	return c
}

func (c *cluster) dial() *memory.Registry {
	c.Helper()
	reg, err := c.store.Dial(c.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		reg.Link().Heal()
		if err := reg.Close(context.Background()); err != nil {
			c.Error(err)
		}
	})
	return reg
}

// config fires every second, and streams.
func config(items int) job.Config {
	return job.Config{
		Name: "flow", Cron: "* * * * * ?", ShardingTotalCount: items, Failover: true, Threads: items,
		Props: map[string]string{"streaming.process": "true"},
	}
}

type member struct {
	*job.Scheduler
	reg *memory.Registry
}

// join starts an instance. It ends with the test.
func (c *cluster) join(cfg job.Config, h job.Handler, opts ...job.Option) member {
	c.Helper()
	reg := c.dial()
	opts = append(opts, job.WithObserver(func(e job.Event) {
		if e.Kind == jobtype.EventFinished {
			c.finished <- e
		}
	}))
	s, err := job.Schedule(c.Context(), reg, cfg, h, opts...)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Shutdown(ctx) // the test is over
	})
	return member{s, reg}
}

// once runs a one-off job, and returns how each of the triggers ended.
func (c *cluster) once(cfg job.Config, h job.Handler, triggers int) []job.Event {
	c.Helper()
	cfg.Cron = ""
	m := c.join(cfg, h)
	var ended []job.Event
	for range triggers {
		ended = append(ended, c.trigger(m))
	}
	return ended
}

func (c *cluster) trigger(m member) job.Event {
	c.Helper()
	if _, err := m.Trigger(c.Context(), job.TriggerRequest{}); err != nil {
		c.Fatal(err)
	}
	return await(c, "the end of an execution", c.finished)
}

// await waits for an event.
func await[T any](c *cluster, what string, events <-chan T) T {
	c.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case e := <-events:
		return e
	case <-timeout.C:
		c.Fatalf("not seen: %s", what)
		panic("unreachable")
	}
}

// configure changes the configuration as an operator does.
func (c *cluster) configure(change func(*job.Config)) {
	c.Helper()
	node, err := c.admin.Get(c.Context(), "flow/config")
	if err != nil {
		c.Fatal(err)
	}
	cfg, err := jobtype.DecodeConfig(node.Value)
	if err != nil {
		c.Fatal(err)
	}
	change(&cfg)
	document, err := cfg.Encode(node.Value)
	if err != nil {
		c.Fatal(err)
	}
	c.commit(coord.SetAt("flow/config", document, node.Version))
}

func (c *cluster) commit(ops ...coord.Op) {
	c.Helper()
	if _, err := c.admin.Commit(c.Context(), ops...); err != nil {
		c.Fatal(err)
	}
}

// source has numbered rows. Each item has all of them.
type source struct {
	rows int           // 0: without end
	pace time.Duration // what a batch takes

	mu      sync.Mutex
	sizes   []int         // that fetches were asked for
	done    map[int][]int // the rows that were processed, by item
	batches chan batch    // those that were processed; nobody has to read it
}

type batch struct {
	item  int
	by    string
	token int64
	first int
	rows  int
}

func newSource(rows int) *source {
	return &source{rows: rows, done: map[int][]int{}, batches: make(chan batch, 10_000)}
}

func (s *source) flow() *dataflow.Flow { return dataflow.WithCursor(s.fetch, s.process) }

func (s *source) fetch(ctx context.Context, sc job.ShardingContext, after, size int) ([]int, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = append(s.sizes, size)
	var rows []int
	for row := after + 1; len(rows) < size && (s.rows == 0 || row <= s.rows); row++ {
		rows = append(rows, row)
	}
	return rows, after + len(rows), ctx.Err()
}

func (s *source) process(ctx context.Context, sc job.ShardingContext, rows []int) error {
	if s.pace > 0 {
		pace := time.NewTimer(s.pace)
		defer pace.Stop()
		select {
		case <-pace.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	s.done[sc.Item] = append(s.done[sc.Item], rows...)
	s.mu.Unlock()
	s.batches <- batch{sc.Item, sc.InstanceID, sc.Token, rows[0], len(rows)}
	return nil
}

// check checks that an item's rows came in order with none left out, and that at most so many
// came again.
func (s *source) check(t tester, item, again int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	last, twice := 0, 0
	for _, row := range s.done[item] {
		switch {
		case row > last+1:
			t.Fatalf("item %d: after row %d comes %d", item, last, row)
		case row <= last:
			twice++
		default:
			last = row
		}
	}
	if twice > again {
		t.Errorf("item %d: %d rows came again, at most %d may", item, twice, again)
	}
	if s.rows > 0 && last != s.rows {
		t.Errorf("item %d: %d of %d rows", item, last, s.rows)
	}
}
