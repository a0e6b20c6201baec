package simulation

import (
	"container/heap"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// group is a number of processes that run the same jobs. One goroutine does all that is done
// to them, with random numbers of its own, so a seed means the same for the group whatever
// happens to others.
type group struct {
	sim    *simulation
	shape  shape
	index  int
	name   string
	random *rand.Rand
	jobs   []*jobModel

	slots    []*host // nil where a process is missing now; those beyond shape.hosts are extra
	retired  map[int]bool
	lives    int
	due      events
	leavers  []*host // that may not be gone yet
	operator chan func(context.Context)
	asked    []asked

	mu    sync.Mutex
	notes []note  // what was done
	hosts []*host // that may be alive
}

// jobModel is a job, and what the simulation knows of it.
type jobModel struct {
	group    *group
	config   job.Config
	tree     jobtree.Job
	work     work
	number   uint64 // unique
	position int    // in its group
	history  *history

	// When an operator suspended what is promised: failover was off, or an item or a server
	// was disabled.
	failoverOff, disabled trouble
	tampered              trouble // somebody wrote to its tree
	changed               trouble // the number of its items was another one
	steering              *steering
	mu                    sync.Mutex
	shrunk                map[int]time.Time // until when an item was beyond the total
}

type note struct {
	at   time.Time
	text string
}

func newGroup(s *simulation, sh shape, index int) *group {
	g := &group{
		sim: s, shape: sh, index: index, name: fmt.Sprintf("%s%02d", sh.name, index),
		slots: make([]*host, sh.hosts), retired: map[int]bool{}, operator: make(chan func(context.Context), 1000),
	}
	stream := uint64(len(s.groups))
	g.random = rand.New(rand.NewPCG(s.seed, stream))
	for i, js := range sh.jobs(index) {
		c := js.config
		c.Name = fmt.Sprintf("%s%c", g.name, 'a'+i)
		c.ErrorHandler = job.ErrorHandlerIgnore
		if c.Cron != "" && c.TimeZone == "" {
			c.TimeZone = "UTC"
		}
		j := &jobModel{
			group:  g,
			config: c, tree: jobtree.Job(c.Name), work: js.work, number: stream<<8 | uint64(i), position: i,
			history: &history{job: c.Name, sim: s, ticks: map[int64]struct{}{}}, shrunk: map[int]time.Time{},
		}
		j.steering = newSteering()
		j.history.tampered, j.history.steering = &j.tampered, j.steering
		if !c.Failover {
			j.failoverOff.begin()
		}
		g.jobs = append(g.jobs, j)
	}
	return g
}

// storm does things to the group until a time.
func (g *group) storm(until time.Time) {
	if g.lives == 0 {
		for slot := range g.slots {
			g.after(g.upTo(time.Minute).Truncate(10*time.Second), func() { g.boot(slot) })
		}
	}
	next := g.nextFault(time.Now())
	for {
		at := next
		if len(g.due) > 0 && g.due[0].at.Before(next) {
			at = g.due[0].at
		}
		if !at.Before(until) {
			break
		}
		pass(time.Until(at))
		if at == next {
			g.fault()
			next = g.nextFault(at)
			continue
		}
		heap.Pop(&g.due).(event).do()
	}
	pass(time.Until(until))
	g.note("calm")
	for len(g.due) > 0 { // what was to be undone later is undone now
		heap.Pop(&g.due).(event).do()
	}
}

func (g *group) nextFault(after time.Time) time.Time {
	return after.Add(time.Duration(g.random.ExpFloat64() * float64(g.shape.pause)))
}

// after does something later, or when calm comes if that is earlier.
func (g *group) after(d time.Duration, do func()) {
	heap.Push(&g.due, event{time.Now().Add(d), len(g.due), do})
}

// upTo is a random time.
func (g *group) upTo(d time.Duration) time.Duration { return g.between(0, d) }

func (g *group) between(least, most time.Duration) time.Duration {
	return least + time.Duration(g.random.Int64N(int64(most-least)))
}

// boot starts a process where one is missing.
func (g *group) boot(slot int) {
	if g.slots[slot] == nil && !g.retired[slot] {
		g.start(slot, nil)
	}
}

// start puts a new process into a slot.
func (g *group) start(slot int, follows *host) {
	g.lives++
	life := g.lives
	h := &host{
		group: g, name: fmt.Sprintf("%s-%d.%d", g.name, slot, life), follows: follows,
		ip:         fmt.Sprintf("10.%d.%d.%d", g.index, slot, life),
		weight:     1 + slot%3,
		knows:      slot%2 == 0,
		early:      time.Duration(slot%3) * time.Second,
		done:       make(chan struct{}),
		ended:      make(chan struct{}),
		schedulers: make([]*job.Scheduler, len(g.jobs)),
	}
	if g.random.IntN(2) == 0 || follows != nil { // the same machine, or another one
		h.ip = fmt.Sprintf("10.%d.%d.0", g.index, slot)
	}
	if g.random.IntN(50) == 0 {
		h.offset.Store(int64(g.between(-5*time.Second, 5*time.Second)))
	}
	h.end = sync.OnceFunc(func() { close(h.ended) })
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	g.slots[slot] = h
	g.mu.Lock()
	g.hosts = append(g.hosts, h)
	g.mu.Unlock()
	g.sim.counts.hosts.Add(1)
	g.note("start %s at %s", h, h.ip)
	g.sim.working.Go(h.run)
}

// drop takes a process out of its slot. The caller lets it leave or die.
func (g *group) drop(slot int) {
	if h := g.slots[slot]; h != nil {
		g.leavers = append(g.leavers, h)
		g.slots[slot] = nil
	}
}

// pick is a random process, or nil.
func (g *group) pick() (slot int, h *host) {
	var up []int
	for slot, h := range g.slots {
		if h != nil {
			up = append(up, slot)
		}
	}
	if len(up) == 0 {
		return 0, nil
	}
	slot = up[g.random.IntN(len(up))]
	return slot, g.slots[slot]
}

// pickLink is a random process and its link, which is nil if there is none.
func (g *group) pickLink() (slot int, h *host, link *memory.Link) {
	slot, h = g.pick()
	if h != nil {
		link = h.link()
	}
	return slot, h, link
}

func (g *group) pickJob() *jobModel { return g.jobs[g.random.IntN(len(g.jobs))] }

func (g *group) note(format string, args ...any) {
	n := note{time.Now(), fmt.Sprintf(format, args...)}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.notes = append(g.notes, n)
}

// noted returns what was done in a time.
func (g *group) noted(from, to time.Time) []note {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []note
	for _, n := range g.notes {
		if !n.at.Before(from) && !n.at.After(to) {
			list = append(list, n)
		}
	}
	return list
}

// violated reports a violation that is not about a single item.
func (g *group) violated(format string, args ...any) {
	g.sim.violated(g.jobs[0].config.Name, -1, nil, fmt.Sprintf(format, args...))
}

// event is something that is to be done later.
type event struct {
	at    time.Time
	order int
	do    func()
}

// events is a heap of them.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at.Before(e[j].at) || e[i].at.Equal(e[j].at) && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
