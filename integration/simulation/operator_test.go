package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// operate does what an operator wants, one thing after the other, until the channel is
// closed.
func (g *group) operate() {
	for do := range g.operator {
		do(context.Background())
	}
}

// commit commits in an operator's name, and tries again while the store is away.
func (s *simulation) commit(ctx context.Context, decide func() ([]coord.Op, error)) {
	for {
		ops, err := decide()
		if err == nil && len(ops) > 0 {
			_, err = s.admin.Commit(ctx, ops...)
		}
		switch {
		case err == nil, errors.Is(err, coord.ErrNoNode), errors.Is(err, coord.ErrInvalidCommit): // done, or impossible in this tree
			return
		case errors.Is(err, coord.ErrConflict), errors.Is(err, coord.ErrUnavailable), errors.Is(err, coord.ErrUnknownOutcome):
			_ = elapse(ctx, time.Second)
		default:
			s.t.Errorf("operator: %v", err)
			return
		}
	}
}

// configure changes a job's configuration.
func (g *group) configure(j *jobModel, change func(*job.Config), then func()) {
	g.operator <- func(ctx context.Context) {
		g.sim.commit(ctx, func() ([]coord.Op, error) {
			node, err := g.sim.admin.Get(ctx, j.tree.Config())
			if err != nil {
				return nil, err
			}
			c, err := jobtype.DecodeConfig(node.Value)
			if err != nil {
				return nil, err
			}
			change(&c)
			document, err := c.Encode(node.Value)
			if err != nil {
				return nil, err
			}
			return []coord.Op{coord.SetAt(j.tree.Config(), document, node.Version)}, nil
		})
		then()
	}
}

// forAWhile is how long a change by an operator lasts.
func (g *group) forAWhile() time.Duration { return g.between(time.Second, 40*time.Minute) }

func (g *group) changeTotal() {
	j := g.pickJob()
	nominal := j.config.ShardingTotalCount
	total := 1 + g.random.IntN(nominal+nominal/4+1)
	j.changed.begin()
	g.configure(j, func(c *job.Config) { c.ShardingTotalCount = total }, func() { g.note("%s: %d items", j.config.Name, total) })
	g.after(g.forAWhile(), func() {
		g.configure(j, func(c *job.Config) {
			for i := min(c.ShardingTotalCount, total); i < nominal+nominal/4+1; i++ {
				j.shrink(i)
			}
			c.ShardingTotalCount = nominal
		}, func() {
			g.note("%s: %d items again", j.config.Name, nominal)
			j.changed.end()
		})
	})
}

// shrink notes that an item was beyond the total until now.
func (j *jobModel) shrink(item int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shrunk[item] = time.Now()
}

func (j *jobModel) shrunkSince(item int, at time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	until, ok := j.shrunk[item]
	return ok && !until.Before(at)
}

func (g *group) changeCron() {
	j := g.pickJob()
	interval := []int{10, 12, 15, 20, 30}[g.random.IntN(5)]
	cron := every(interval, g.random.IntN(interval))
	if j.config.Cron == "" {
		return
	}
	g.configure(j, func(c *job.Config) { c.Cron = cron }, func() { g.note("%s: %s", j.config.Name, cron) })
	g.after(g.forAWhile(), func() {
		g.configure(j, func(c *job.Config) { c.Cron = j.config.Cron }, func() { g.note("%s: %s again", j.config.Name, j.config.Cron) })
	})
}

func (g *group) toggleMisfire() {
	j := g.pickJob()
	usual := j.config.Misfire != job.Off
	g.configure(j, func(c *job.Config) { c.Misfire = jobtype.ToggleOf(!usual) }, func() { g.note("%s: misfire %v", j.config.Name, !usual) })
	g.after(g.forAWhile(), func() {
		g.configure(j, func(c *job.Config) { c.Misfire = jobtype.ToggleOf(usual) }, func() { g.note("%s: misfire %v again", j.config.Name, usual) })
	})
}

func (g *group) toggleFailover() {
	j := g.pickJob()
	usual := j.config.Failover
	j.failoverOff.begin() // runs that began before failover is on again need not be repeated
	g.configure(j, func(c *job.Config) { c.Failover = !usual }, func() { g.note("%s: failover %v", j.config.Name, !usual) })
	g.after(g.forAWhile(), func() {
		g.configure(j, func(c *job.Config) { c.Failover = usual }, func() {
			g.note("%s: failover %v again", j.config.Name, usual)
			j.failoverOff.end()
		})
	})
}

func (g *group) disableServer() {
	_, h := g.pick()
	j := g.pickJob()
	if h == nil {
		return
	}
	j.disabled.begin()
	say := func(state string) {
		g.operator <- func(ctx context.Context) {
			g.sim.commit(ctx, func() ([]coord.Op, error) {
				return []coord.Op{coord.Set(j.tree.Server(h.ip), []byte(state))}, nil
			})
			g.note("%s: server %s %s", j.config.Name, h.ip, state)
			if state == jobtree.Enabled {
				j.disabled.end()
			}
		}
	}
	say(jobtree.Disabled)
	g.after(g.forAWhile(), func() { say(jobtree.Enabled) })
}

func (g *group) disableItem() {
	j := g.pickJob()
	item := g.random.IntN(j.config.ShardingTotalCount)
	j.disabled.begin()
	say := func(what string, op coord.Op, then func()) {
		g.operator <- func(ctx context.Context) {
			g.sim.commit(ctx, func() ([]coord.Op, error) { return []coord.Op{op}, nil })
			g.note("%s: item %d %s", j.config.Name, item, what)
			then()
		}
	}
	say("disabled", coord.Put(j.tree.ItemDisabled(item), nil), func() {})
	g.after(g.forAWhile(), func() { say("enabled", coord.DeleteTree(j.tree.ItemDisabled(item)), j.disabled.end) })
}

// removeInstance removes the node of an instance, which is how an operator stops it. The
// process ends, and is started again.
func (g *group) removeInstance() {
	slot, h := g.pick()
	j := g.pickJob()
	if h == nil {
		return
	}
	s := h.scheduler(j)
	if s == nil {
		return
	}
	id := s.Status().InstanceID
	g.operator <- func(ctx context.Context) {
		g.sim.commit(ctx, func() ([]coord.Op, error) { return []coord.Op{coord.Delete(j.tree.Instance(id))}, nil })
		g.note("%s: instance %s of %s removed", h, id, j.config.Name)
	}
	g.after(g.between(time.Minute, 5*time.Minute), func() { g.restart(slot, h) })
}

// asked is what was triggered in the calm. It must have run at the end of it.
type asked struct {
	job   *jobModel
	items []int
	at    time.Time
}

// trigger asks for runs of some items, or of all, now.
func (g *group) trigger() {
	_, h := g.pick()
	j := g.pickJob()
	items := g.someItems(j)
	if h == nil {
		return
	}
	s := h.scheduler(j)
	if s == nil {
		return
	}
	g.sim.working.Go(func() {
		ctx, cancel := context.WithTimeout(h.ctx, time.Minute)
		defer cancel()
		_, err := s.Trigger(ctx, job.TriggerRequest{Items: items})
		g.note("%s: items %v of %s triggered: %v", h, items, j.config.Name, err)
	})
}

// ask triggers in the calm, where nothing can go wrong.
func (g *group) ask() {
	g.asked = nil
	slot, h := g.pick()
	j := g.pickJob()
	items := g.someItems(j)
	s := h.scheduler(j)
	if s == nil {
		g.violated("%s in slot %d has not started", h, slot)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	at := time.Now()
	_, err := s.Trigger(ctx, job.TriggerRequest{Items: items})
	if errors.Is(err, job.ErrNobodyRunsIt) && j.history.busy(items) || errors.Is(err, context.DeadlineExceeded) && j.config.StaticSharding {
		return // the items may still belong to a process that is gone
	}
	if err != nil {
		g.violated("%s: items %v of %s triggered in calm: %v", h, items, j.config.Name, err)
		return
	}
	if len(items) == 0 {
		for i := range j.config.ShardingTotalCount {
			items = append(items, i)
		}
	}
	g.asked = append(g.asked, asked{j, items, at})
}

func (g *group) someItems(j *jobModel) []int {
	var items []int
	for range g.random.IntN(5) {
		items = append(items, g.random.IntN(j.config.ShardingTotalCount))
	}
	return items
}
