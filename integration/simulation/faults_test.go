package simulation

import (
	"errors"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// faults are what may happen to a group, with their relative frequencies.
var faults = []struct {
	name   string
	weight int
	happen func(*group)
}{
	{"kill", 10, (*group).killOne},
	{"kill the leader", 5, (*group).killLeader},
	{"kill all", 1, (*group).killAll},
	{"cut off", 12, (*group).cutOff},
	{"slow link", 6, (*group).slowLink},
	{"late views", 8, (*group).lateViews},
	{"outcome unknown", 12, (*group).unknownOutcomes},
	{"session removed", 4, (*group).expire},
	{"views end", 2, (*group).endViews},
	{"leave", 8, (*group).leaveOne},
	{"join", 5, (*group).joinMore},
	{"rolling restart", 2, (*group).restartAll},
	{"instance removed", 3, (*group).removeInstance},
	{"items changed", 4, (*group).changeTotal},
	{"schedule changed", 4, (*group).changeCron},
	{"misfire toggled", 3, (*group).toggleMisfire},
	{"failover toggled", 3, (*group).toggleFailover},
	{"server disabled", 5, (*group).disableServer},
	{"item disabled", 5, (*group).disableItem},
	{"triggered", 12, (*group).trigger},
	{"clock jumps", 3, (*group).jumpClock},
	{"views lack something", 2, (*group).faultViews},
	{"handlers hang", 3, (*group).hang},
	{"nobody may write", 2, (*group).revoke},
	{"configuration refused", 3, (*group).refuseConfig},
	{"tampered with", 5, (*group).tamper},
	{"execution killed", 12, (*group).killRun},
	{"paused", 5, (*group).pauseJob},
	{"requested", 15, (*group).request},
	{"pinned", 5, (*group).pinItem},
	{"resharded", 3, (*group).reshard},
	{"answers lost", 5, (*group).loseAnswers},
}

// fault does one of them.
func (g *group) fault() {
	total := 0
	for _, f := range faults {
		total += f.weight
	}
	n := g.random.IntN(total)
	for _, f := range faults {
		if n -= f.weight; n < 0 {
			g.sim.counts.fault(f.name)
			f.happen(g)
			return
		}
	}
}

// killOne lets a process crash. It never comes back, and another one takes its place later.
func (g *group) killOne() {
	slot, h := g.pick()
	if h == nil {
		return
	}
	g.kill(slot)
	g.after(g.upTo(10*time.Minute), func() { g.boot(slot) })
}

func (g *group) kill(slot int) {
	h := g.slots[slot]
	g.note("kill %s", h)
	h.kill()
	g.drop(slot)
}

func (g *group) killLeader() {
	j, wait := g.pickJob(), g.upTo(10*time.Minute)
	for slot, h := range g.slots {
		if h == nil {
			continue
		}
		if s := h.scheduler(j); s != nil && s.Status().Leader {
			g.note("it leads %s:", j.config.Name)
			g.kill(slot)
			g.after(wait, func() { g.boot(slot) })
			return
		}
	}
}

func (g *group) killAll() {
	wait := g.upTo(10 * time.Minute)
	for slot, h := range g.slots {
		if h != nil {
			g.kill(slot)
			g.after(wait, func() { g.boot(slot) })
		}
	}
}

// onLink breaks the link of a process for a while.
func (g *group) onLink(what string, d time.Duration, how func(*memory.Link)) {
	_, h, link := g.pickLink()
	if link == nil {
		return
	}
	g.note("%s: %s for %v", h, what, d.Round(time.Millisecond))
	h.trouble.begin()
	how(link)
	g.after(d, func() {
		g.note("%s: link heals", h)
		link.Heal()
		h.trouble.end()
	})
}

// cutOff is a partition, shorter than the session or longer.
func (g *group) cutOff() {
	how := []struct {
		name string
		how  func(*memory.Link)
	}{
		{"cut off", (*memory.Link).Cut},
		{"black hole", (*memory.Link).BlackHole},
		{"answers dropped", (*memory.Link).DropAnswers},
	}[g.random.IntN(3)]
	d := g.between(100*time.Millisecond, g.shape.session/2)
	if g.random.IntN(2) == 0 {
		d = g.between(g.shape.session, 10*time.Minute)
	}
	g.onLink(how.name, d, how.how)
}

func (g *group) slowLink() {
	delay := g.between(5*time.Millisecond, 2*time.Second)
	if g.random.IntN(5) == 0 {
		delay = g.between(time.Second, g.shape.session)
	}
	g.onLink("slow by "+delay.Round(time.Millisecond).String(), g.between(10*time.Second, 5*time.Minute), func(l *memory.Link) { l.Delay(delay) })
}

func (g *group) lateViews() {
	lag := g.between(50*time.Millisecond, 5*time.Second)
	if g.random.IntN(4) == 0 {
		lag = g.between(5*time.Second, 2*time.Minute)
	}
	g.onLink("views late by "+lag.Round(time.Millisecond).String(), g.between(10*time.Second, 10*time.Minute), func(l *memory.Link) { l.Lag(lag) })
}

// unknownOutcomes makes the answers to commits get lost. Some of the commits are done, some
// are not, and some are done late.
func (g *group) unknownOutcomes() {
	_, h := g.pick()
	if h == nil {
		return
	}
	f := memory.Fault{Method: memory.Commit, Registry: h.name, Times: 1 + g.random.IntN(6), Skip: g.random.IntN(3)}
	what := "happened"
	switch g.random.IntN(3) {
	case 0:
		f.After = coord.ErrUnknownOutcome
	case 1:
		f.Before, what = coord.ErrUnknownOutcome, "did not happen"
	case 2:
		f.Before, what = coord.ErrUnknownOutcome, "happen late"
		f.Late = g.between(time.Millisecond, g.shape.session/2)
	}
	g.note("%s: the outcome of %d commits is unknown; they %s (%v)", h, f.Times, what, f.Late.Round(time.Millisecond))
	h.trouble.begin()
	injection := g.sim.store.Inject(f)
	g.after(g.between(time.Minute, 15*time.Minute), func() {
		injection.Remove()
		h.trouble.end()
	})
}

// expire removes the session of a live process at the store.
func (g *group) expire() {
	_, h := g.pick()
	if h == nil {
		return
	}
	j := g.jobs[0]
	s := h.scheduler(j)
	if s == nil {
		return
	}
	node, ok := g.sim.store.Snapshot(namespace).Get(j.tree.Session(s.Status().InstanceID))
	if !ok {
		return
	}
	g.note("%s: its session is removed", h)
	h.trouble.begin()
	g.sim.store.Expire(node.Owner)
	h.expired.Store(g.sim.store.Revision())
	g.after(2*g.shape.session, h.trouble.end)
}

var errView = errors.New("a view that does not heal")

// endViews ends the views of a process. It cannot go on without them, so it ends and is
// started again.
func (g *group) endViews() {
	slot, h, link := g.pickLink()
	if link == nil {
		return
	}
	g.note("%s: its views end", h)
	h.trouble.begin()
	h.blind.Store(true)
	link.EndViews(errView)
	g.after(g.between(time.Minute, 5*time.Minute), func() { g.restart(slot, h) })
}

// restart replaces a process by another on the same machine, once it is gone.
func (g *group) restart(slot int, h *host) {
	if g.slots[slot] != h {
		return // another process has taken its slot meanwhile
	}
	drain := g.upTo(time.Minute)
	g.note("%s: restart, %v to drain", h, drain.Round(time.Millisecond))
	h.leave(drain)
	g.drop(slot)
	g.start(slot, h)
}

// restartAll restarts one process after the other, ten at most.
func (g *group) restartAll() {
	for slot, h := range g.slots[:min(len(g.slots), 10)] {
		if h != nil {
			g.after(time.Duration(slot)*20*time.Second, func() { g.restart(slot, h) })
		}
	}
}

// leaveOne is a graceful stop.
func (g *group) leaveOne() {
	slot, h := g.pick()
	if h == nil {
		return
	}
	drain := g.upTo(5 * time.Minute)
	g.note("%s: leaves, %v to drain", h, drain.Round(time.Millisecond))
	h.leave(drain)
	g.drop(slot)
	g.after(g.upTo(10*time.Minute), func() { g.boot(slot) })
}

// joinMore adds a process for a while.
func (g *group) joinMore() {
	slot := len(g.slots)
	g.slots = append(g.slots, nil)
	g.boot(slot)
	g.after(g.between(5*time.Minute, 30*time.Minute), func() {
		g.retired[slot] = true
		if h := g.slots[slot]; h != nil {
			g.note("%s: leaves again", h)
			h.leave(time.Minute)
			g.drop(slot)
		}
	})
}

// gone forgets the processes that are gone, and returns those that should be gone and are not.
func (g *group) gone() []*host {
	g.leavers = slices.DeleteFunc(g.leavers, func(h *host) bool {
		select {
		case <-h.done:
			return true
		default:
			return false
		}
	})
	return g.leavers
}
