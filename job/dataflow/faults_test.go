package dataflow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
)

// An event befalls a batch.
type event struct {
	fetch, process error // that is returned
	panics         bool
	move           memory.Fault // befalls the commit that moves the cursor
	ends           bool         // the session ends behind the instance's back, after the rows were processed
	disable        bool
	leave, change  bool // the instance is shut down; streaming is switched off
}

var events = map[string]event{
	"nothing":                     {},
	"fetch fails":                 {fetch: errBroken},
	"process fails":               {process: errBroken},
	"process panics":              {panics: true},
	"store away":                  {move: memory.Fault{Before: coord.ErrUnavailable, Times: 3}},
	"moved, without an answer":    {move: memory.Fault{After: coord.ErrUnknownOutcome, Times: 1}},
	"not moved, without answer":   {move: memory.Fault{Before: coord.ErrUnknownOutcome, Times: 2}},
	"store away, session ends":    {ends: true, move: memory.Fault{Before: coord.ErrUnavailable, Times: 1}},
	"session ends":                {ends: true},
	"disabled":                    {disable: true},
	"shutdown":                    {leave: true},
	"streaming is switched off":   {change: true},
	"off and a process that ends": {change: true, leave: true},
}

// planned is a Flow that a plan befalls, and what it has processed.
type planned struct {
	c     *cluster
	total int

	mu      sync.Mutex
	plan    []event        // the first one is for the next batch
	now     event          // of the batch under way
	last    batch          // that was processed
	dead    map[int64]bool // tokens of executions whose session has ended
	through chan struct{}  // everything was processed, and a fetch has returned nothing
	asked   chan string    // instances that are to leave
}

func (p *planned) fetch(ctx context.Context, sc job.ShardingContext, after, size int) ([]int, int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = event{}
	if len(p.plan) > 0 {
		p.now, p.plan = p.plan[0], p.plan[1:]
	}
	if p.now.fetch != nil {
		return nil, 0, p.now.fetch
	}
	var rows []int
	for row := after + 1; row <= p.total && len(rows) < size; row++ {
		rows = append(rows, row)
	}
	if len(rows) == 0 && len(p.plan) == 0 {
		select {
		case p.through <- struct{}{}:
		default:
		}
	}
	return rows, after + len(rows), ctx.Err()
}

func (p *planned) process(ctx context.Context, sc job.ShardingContext, rows []int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.now
	if e.panics {
		panic(errBroken)
	}
	if e.process != nil {
		return e.process
	}
	if sc.Token < p.last.token {
		return errBroken // as a table does that has a fence
	}
	next := p.last.first + p.last.rows
	switch {
	case rows[0] == next:
	case rows[0] == p.last.first && sc.Token > p.last.token && p.dead[p.last.token]:
	default:
		p.c.Errorf("after %+v comes a batch with row %d first, with token %d", p.last, rows[0], sc.Token)
	}
	p.last = batch{first: rows[0], rows: len(rows), token: sc.Token}
	return p.befall(e, sc)
}

// befall lets the rest of an event happen, after the rows of its batch were processed.
func (p *planned) befall(e event, sc job.ShardingContext) error {
	if e.move.Times > 0 {
		e.move.Method, e.move.Path = memory.Commit, "flow/cursor/0"
		p.c.store.Inject(e.move)
	}
	if e.disable {
		p.c.commit(coord.Put("flow/sharding/0/disabled", nil))
	}
	if e.change {
		p.c.configure(func(cfg *job.Config) { cfg.Props["streaming.process"] = "false" })
	}
	if e.leave {
		p.asked <- sc.InstanceID
	}
	if e.ends {
		node, err := p.c.admin.Get(p.c.Context(), "flow/instances/"+sc.InstanceID)
		if err != nil {
			return err
		}
		p.dead[sc.Token] = true
		p.c.store.Expire(node.Owner)
	}
	return nil
}

// Whatever befalls batches, no row is left out, and a batch comes again only if its session has
// ended before its cursor was moved.
func TestNoRowIsLeftOut(t *testing.T) {
	names := slices.Sorted(maps.Keys(events))
	rapid.Check(t, func(rt *rapid.T) {
		story := rapid.SliceOfN(rapid.SampledFrom(names), 1, 12).Draw(rt, "story")
		batches := rapid.IntRange(1, 12).Draw(rt, "batches")
		instances := rapid.IntRange(1, 3).Draw(rt, "instances")
		var broken collector
		synctest.Test(t, func(t *testing.T) {
			broken.T = t
			p := &planned{
				c: newCluster(&broken), total: 10 * batches,
				last: batch{first: 1}, dead: map[int64]bool{}, through: make(chan struct{}, 1), asked: make(chan string, len(story)),
			}
			for _, name := range story {
				p.plan = append(p.plan, events[name])
			}
			p.run(instances)
		})
		if broken.text != "" {
			rt.Fatal(broken.text)
		}
	})
}

// collector keeps errors, so that rapid looks for a shorter story.
type collector struct {
	*testing.T
	mu   sync.Mutex
	text string
}

func (c *collector) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text += fmt.Sprintf(format, args...) + "\n"
}

func (c *collector) Error(args ...any) { c.Errorf("%s", fmt.Sprint(args...)) }

func (p *planned) run(instances int) {
	c := p.c
	cfg := config(1)
	cfg.Props["dataflow.page.size"] = "10"
	flow := dataflow.WithCursor(p.fetch, p.process)
	var members []member
	for range instances {
		members = append(members, c.join(cfg, flow))
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case <-timeout.C:
			c.Errorf("it does not come to its end: %+v", p.last)
			return
		case id := <-p.asked:
			i := slices.IndexFunc(members, func(m member) bool { return m.Status().InstanceID == id })
			if i < 0 {
				continue // its session has ended, too
			}
			if err := members[i].Shutdown(context.Background()); err != nil && !errors.Is(err, coord.ErrSessionLost) {
				c.Errorf("shutdown: %v", err)
			}
			members[i] = c.join(cfg, flow)
		case <-c.finished:
			p.goOn()
		case <-p.through:
			p.mu.Lock()
			defer p.mu.Unlock()
			if done := p.last.first + p.last.rows - 1; done != p.total {
				c.Errorf("%d of %d rows", done, p.total)
			}
			return
		}
	}
}

// goOn takes back what an operator has done to stop the flow.
func (p *planned) goOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.c.admin.Get(p.c.Context(), "flow/sharding/0/disabled"); err == nil {
		p.c.commit(coord.Delete("flow/sharding/0/disabled"))
	}
	p.c.configure(func(cfg *job.Config) { cfg.Props["streaming.process"] = "true" })
}
