package mixed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

const namespace = "mixed"

// tree is the job in the store.
const tree = jobtree.Job(jobName)

// link is the connection of a process to the store.
type link interface{ Cut() }

// store is what a cluster runs on.
type store interface {
	// dial opens a registry for a process. random says how slow its connection is; nil if it is as
	// fast as it can be.
	dial(name string, session time.Duration, random *rand.Rand) (coord.Registry, link, error)
	// isSimulated reports whether time is virtual.
	isSimulated() bool
	end()
}

// cluster is a job, and the processes that run it.
type cluster struct {
	t       testing.TB
	store   store
	setting setting
	seed    uint64
	random  *rand.Rand
	ledger  *ledger
	admin   coord.Registry
	view    coord.View

	watching sync.WaitGroup
	stop     context.CancelFunc // of watching
	ending   sync.WaitGroup     // for what dead processes have left in this one

	mu        sync.Mutex
	schedule  *cronexpr.Schedule
	total     int
	processes []*process
	byID      map[string]*process // by the ids of their instances
	notes     []string
}

// newCluster returns a cluster without members. Whoever makes it calls end.
func newCluster(t testing.TB, st store, s setting, seed uint64) *cluster {
	t.Helper()
	s = s.withDefaults()
	c := &cluster{
		t: t, store: st, setting: s, seed: seed, random: rand.New(rand.NewPCG(seed, 0)),
		ledger: newLedger(), total: s.total, byID: map[string]*process{},
	}
	c.follow(s.cron)
	var err error
	if c.admin, _, err = st.dial("operator", s.session, nil); err != nil {
		t.Fatal(err)
	}
	if c.view, err = c.admin.View(t.Context(), tree.Root(), coord.AllLevels); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	c.watching.Go(func() { c.watch(ctx) })
	return c
}

// end stops all processes, and waits for what they have left.
func (c *cluster) end() {
	c.stop()
	c.watching.Wait()
	var leaving sync.WaitGroup
	for _, p := range c.alive() {
		leaving.Go(p.end)
	}
	leaving.Wait()
	c.ending.Wait()
	c.view.Close()
	if err := c.admin.Close(context.Background()); err != nil {
		c.t.Error(err)
	}
	c.store.end()
}

// follow makes a cron expression the one by which ticks are counted from now on.
func (c *cluster) follow(cron string) {
	loc, err := time.LoadLocation("UTC")
	if err != nil {
		c.t.Fatal(err)
	}
	schedule, err := cronexpr.Parse(cron, loc)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.schedule = schedule
}

// watch notes each tick in the ledger. It looks at the tree right before the tick, because members
// change it right after it.
func (c *cluster) watch(ctx context.Context) {
	before := time.Millisecond
	if !c.store.isSimulated() {
		before = 50 * time.Millisecond
	}
	for {
		tick := c.next()
		for time.Until(tick) > before && c.next().Equal(tick) { // the schedule may change meanwhile
			if !sleep.For(ctx, min(time.Until(tick)-before, time.Second)) {
				return
			}
		}
		if time.Until(tick) > before {
			continue
		}
		c.ledger.comes(due{tick: tick, total: c.items(), orphaned: c.orphaned(), owners: c.owners()})
		if !sleep.For(ctx, time.Until(tick)) && ctx.Err() != nil {
			return
		}
	}
}

func (c *cluster) items() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// orphaned returns the items whose owner is dead although the tree has it; all if nobody is there.
func (c *cluster) orphaned() map[int]bool {
	orphaned := map[int]bool{}
	if len(c.alive()) == 0 {
		for i := range c.items() {
			orphaned[i] = true
		}
	}
	s := c.state()
	for i, item := range s.Items {
		if item.Owner == nil {
			continue
		}
		_, isShown := s.Instances[item.Owner.ID]
		if p := c.processOf(item.Owner.ID); p != nil && isShown && c.ledger.isDead(p.name) {
			orphaned[i] = true
		}
	}
	return orphaned
}

// state returns the job's tree as it is now.
func (c *cluster) state() *jobtree.State { return jobtree.Read(c.view.Snapshot(), tree) }

// processOf returns the process of an instance, or nil.
func (c *cluster) processOf(id string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[id]
}

// hasID notes the id of a process's instance.
func (c *cluster) hasID(p *process, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byID[id] = p
}

// alive returns the processes that have neither left nor died, in the order of their start.
func (c *cluster) alive() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.processes), func(p *process) bool { return p.isGone() })
}

// leader returns the process that leads, or nil.
func (c *cluster) leader() *process {
	if leader := c.state().Leader; leader != nil {
		return c.processOf(leader.ID)
	}
	return nil
}

// await waits until ok returns true, and ends the test if that takes longer than the limit.
func (c *cluster) await(what string, limit time.Duration, ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(limit); !ok(); {
		changed := c.view.Changed()
		if ok() {
			return
		}
		if time.Now().After(end) {
			c.t.Fatalf("seed %d: %s: not within %v\n%s", c.seed, what, limit, c.story())
		}
		timer := time.NewTimer(50 * time.Millisecond)
		select {
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// wait lets time go on.
func (c *cluster) wait(d time.Duration) { sleep.For(context.Background(), d) }

// ahead returns the n-th tick from now.
func (c *cluster) ahead(n int) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	for range n {
		at = c.schedule.Next(at)
	}
	return at
}

// next returns the next tick.
func (c *cluster) next() time.Time { return c.ahead(1) }

// ticks lets time go on until the n-th tick from now, and for so long after it, or before it.
func (c *cluster) ticks(n int, after time.Duration) { c.wait(time.Until(c.ahead(n).Add(after))) }

// note keeps what was done, for the story.
func (c *cluster) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, time.Now().Format(clock)+" "+fmt.Sprintf(format, args...))
}

// story returns what was done.
func (c *cluster) story() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.notes, "\n")
}

// left returns the nodes that say that something of the job runs, waits or is assigned, and when they
// were written last.
func (c *cluster) left() map[string]int64 {
	left := map[string]int64{}
	s := c.state()
	for _, item := range s.Items {
		for _, m := range []*jobtree.Mark{item.Running, item.Failover, item.Failovering} {
			if m != nil {
				left[m.Path] = m.Modified
			}
		}
	}
	for n := range c.view.Snapshot().All(tree.Root()) {
		if n.Path == tree.Necessary() || n.Path == tree.Processing() || strings.HasPrefix(n.Path, tree.FailoverItems()+"/") {
			left[n.Path] = n.Modified
		}
	}
	return left
}
