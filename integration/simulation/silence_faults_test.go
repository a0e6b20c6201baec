package simulation

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// newOne is a strategy that every other process knows.
const newOne = "NEW_ONE"

// jumpClock makes the clock of a process wrong for some time.
func (g *group) jumpClock() {
	_, h := g.pick()
	if h == nil {
		return
	}
	const year = 365 * 24 * time.Hour
	jump := []time.Duration{year, -year, time.Minute, -time.Minute, 6 * time.Second}[g.random.IntN(5)]
	usual := h.offset.Load()
	if far := time.Duration(usual).Abs(); far > 5*time.Second {
		return // its clock is wrong already
	}
	g.note("%s: its clock jumps by %v", h, jump)
	h.trouble.begin()
	h.offset.Store(int64(jump))
	g.after(g.between(time.Second, 10*time.Minute), func() {
		g.note("%s: its clock is as before", h)
		h.offset.Store(usual)
		h.trouble.end()
	})
}

// hang keeps the handlers of a process from returning, whatever their contexts say.
func (g *group) hang() {
	_, h := g.pick()
	if h == nil {
		return
	}
	g.note("%s: its handlers hang", h)
	h.trouble.begin()
	h.dawdled.Store(true)
	open := make(chan struct{})
	h.gate.Store(&open)
	g.after(g.upTo(30*time.Minute), func() {
		g.note("%s: its handlers hang no more", h)
		h.gate.Store(nil)
		close(open)
		h.trouble.end()
	})
}

// faultViews makes the views of a process report a fault.
func (g *group) faultViews() {
	_, h, link := g.pickLink()
	if link == nil {
		return
	}
	g.note("%s: its views lack something", h)
	h.trouble.begin()
	link.FaultViews(coord.ErrDenied)
	g.after(g.upTo(10*time.Minute), func() {
		g.note("%s: its views are whole", h)
		link.FaultViews(nil)
		h.trouble.end()
	})
}

// revoke takes the permission to write from all processes of the group.
func (g *group) revoke() {
	var refusals []*memory.Injection
	var hosts []*host
	for _, h := range g.slots {
		if h == nil {
			continue
		}
		hosts = append(hosts, h)
		h.trouble.begin()
		refusals = append(refusals, g.sim.store.Inject(memory.Fault{Method: memory.Commit, Registry: h.name, Before: coord.ErrDenied}))
	}
	g.note("nobody may write")
	g.after(g.upTo(20*time.Minute), func() {
		g.note("everybody may write")
		for i, h := range hosts {
			refusals[i].Remove()
			h.trouble.end()
		}
	})
}

// refuseConfig writes a configuration that every other process refuses.
func (g *group) refuseConfig() {
	j := g.pickJob()
	usual := j.config.Strategy
	g.configure(j, func(c *job.Config) { c.Strategy = newOne }, func() { g.note("%s: a strategy that not all know", j.config.Name) })
	g.after(g.forAWhile(), func() {
		g.configure(j, func(c *job.Config) { c.Strategy = usual }, func() { g.note("%s: the usual strategy again", j.config.Name) })
	})
}

// tamper makes a change of a job's tree that no rule allows.
func (g *group) tamper() {
	j := g.pickJob()
	item := g.random.IntN(j.config.ShardingTotalCount)
	ghost := fmt.Sprintf("10.9.9.9@-@%d-gone", item)
	someone := ghost
	if _, h := g.pick(); h != nil {
		if s := h.scheduler(j); s != nil {
			someone = s.Status().InstanceID
		}
	}
	t := j.tree
	instance := []byte("jobInstanceId: " + ghost + "\nserverIp: 10.9.9.9\n")
	kinds := []struct {
		what   string
		commit [][]coord.Op
		undo   []string
	}{
		{"a child below running", [][]coord.Op{{coord.Put(t.Running(item)+"/x", nil)}}, []string{t.Running(item) + "/x"}},
		{"a child below a waiting item", [][]coord.Op{{coord.Put(t.FailoverItem(item)+"/x", nil)}}, []string{t.FailoverItem(item) + "/x"}},
		{"an instance and a session of nobody", [][]coord.Op{{coord.Put(t.Instance(ghost), instance), coord.Put(t.Session(ghost), nil)}}, []string{t.Instance(ghost), t.Session(ghost)}},
		{"a leader that is nobody", [][]coord.Op{{coord.DeleteTree(t.LeaderInstance())}, {coord.Put(t.LeaderInstance(), []byte(ghost))}}, nil},
		{"a session removed", [][]coord.Op{{coord.DeleteTree(t.Session(someone))}}, nil},
		{"running removed", [][]coord.Op{{coord.DeleteTree(t.Running(item))}}, nil},
		{"fired in the year 9999", [][]coord.Op{{coord.Put(t.Fired(item), jobtree.EncodeFired(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)))}}, nil},
		{"a trigger with bad items", [][]coord.Op{{coord.Put(t.Trigger(someone), []byte("items: ["+strings.Repeat("77777, ", 10_000)+"77777]"))}}, []string{t.Trigger(someone)}},
		{"a trigger with children", [][]coord.Op{{coord.Put(t.Trigger("parent")+"/child", nil)}}, []string{t.Trigger("parent")}},
	}
	k := kinds[g.random.IntN(len(kinds))]
	apply := func(what string, commits [][]coord.Op) {
		g.operator <- func(ctx context.Context) {
			for _, ops := range commits {
				g.sim.commit(ctx, func() ([]coord.Op, error) { return ops, nil })
			}
			g.note("%s, item %d: %s %s", j.config.Name, item, k.what, what)
			j.history.cut()
		}
	}
	j.tampered.begin()
	apply("is there", k.commit)
	g.after(g.forAWhile(), func() {
		var ops []coord.Op
		for _, path := range k.undo {
			ops = append(ops, coord.DeleteTree(path))
		}
		var commits [][]coord.Op
		if len(ops) > 0 {
			commits = append(commits, ops)
		}
		apply("is over", commits)
		j.tampered.end()
	})
}

// putBack puts the store back to where it was some minutes ago. Whatever operators have
// done since then is forgotten, so they do it again when calm comes.
func (s *simulation) putBack(saved memory.Saved) {
	for _, g := range s.groups {
		for _, j := range g.jobs {
			j.failoverOff.begin()
			j.disabled.begin()
			j.steering.suspended.begin()
			j.changed.begin()
		}
		for _, h := range g.alive() {
			if h.trouble.since(time.Now()) {
				h.expired.Store(s.store.Revision()) // it goes on, since it does not know of that
			}
		}
	}
	s.store.Restore(saved)
	for _, g := range s.groups {
		for _, j := range g.jobs {
			j.history.cut()
		}
	}
	s.restored++
}

// repair is what operators do after the store was put back.
func (s *simulation) repair() {
	if s.restored == 0 {
		return
	}
	times := s.restored
	s.restored = 0
	for _, g := range s.groups {
		for _, j := range g.jobs {
			g.configure(j, func(c *job.Config) {
				for i := min(c.ShardingTotalCount, j.config.ShardingTotalCount); i < 2*j.config.ShardingTotalCount; i++ {
					j.shrink(i)
				}
				*c = j.config
			}, func() {})
			g.operator <- func(ctx context.Context) {
				state := jobtree.Read(s.store.Snapshot(namespace), j.tree)
				var ops []coord.Op
				for ip := range state.Servers {
					ops = append(ops, coord.Put(j.tree.Server(ip), []byte(jobtree.Enabled)))
				}
				for i := range state.Items {
					if state.Items[i].Disabled {
						ops = append(ops, coord.DeleteTree(j.tree.ItemDisabled(i)))
					}
				}
				for i := range state.Pins {
					ops = append(ops, coord.DeleteTree(j.tree.Pin(i)))
				}
				s.commit(ctx, func() ([]coord.Op, error) { return ops, nil })
				g.resume(ctx, j)
				for range times {
					j.steering.suspended.end()
					j.changed.end()
					j.failoverOff.end()
					j.disabled.end()
				}
			}
		}
	}
}
