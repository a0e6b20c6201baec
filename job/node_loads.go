package job

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/strategy"
)

const (
	// loadsTime is how long loads that were read are good for more deals.
	loadsTime = 2 * time.Second
	// loadsPatience bounds the reading of loads. Without them the items are dealt as well.
	loadsPatience = 2 * time.Second
	// firstWeighing and lastWeighing bound the time until a strategy that wants loads is asked
	// again. It doubles each time that nothing moves. In the first one all processes have said
	// what they have after the last deal.
	firstWeighing = 2 * showEvery
	lastWeighing  = 10 * time.Minute
)

// loads are what processes say of how many items they have. The leaders of a node share them,
// because many of them deal at the same moment. What they have dealt meanwhile is added.
type loads struct {
	reading sync.Mutex // only one reads at a time

	mu    sync.Mutex
	read  clocks.Moment
	items map[string]int // by the id of the process
	deals map[string]dealtLoad
}

// dealtLoad is what a job has dealt of late.
type dealtLoad struct {
	at   clocks.Moment
	more map[string]int // items, by the id of the process
}

// refresh reads what processes say, if that is too old. Processes of which nothing can be read
// have no items.
func (l *loads) refresh(ctx context.Context, reg coord.Registry) {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.mu.Lock()
	isFresh := clocks.Since(l.read) < loadsTime
	l.mu.Unlock()
	if isFresh {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, loadsPatience)
	defer cancel()
	begun := clocks.Now()
	nodes, err := reg.List(ctx, jobtree.Nodes)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read = begun // even if it fails: not each deal has to wait for that
	if err != nil {
		return // what was read before is better than nothing
	}
	l.items = make(map[string]int, len(nodes))
	for _, n := range nodes {
		if d, err := jobtree.DecodeNode(n.Value); err == nil {
			l.items[strings.TrimPrefix(n.Path, jobtree.Nodes+"/")] = d.Items
		}
	}
	for job, d := range l.deals {
		if !l.isAdded(d) {
			delete(l.deals, job)
		}
	}
}

// isAdded reports whether what was dealt is not yet in what was read: a process says it within
// showEvery.
func (l *loads) isAdded(d dealtLoad) bool { return d.at.After(l.read.Add(-showEvery)) }

// of returns how many items of other jobs than this one a process has. own is how many of this
// one it has.
func (l *loads) of(id, job string, own int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.items[id] - own
	for other, d := range l.deals {
		if other != job && l.isAdded(d) {
			n += d.more[id]
		}
	}
	return max(n, 0)
}

// dealt notes what a job has dealt.
func (l *loads) dealt(job string, more map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deals == nil {
		l.deals = map[string]dealtLoad{}
	}
	l.deals[job] = dealtLoad{clocks.Now(), more}
}

// weigher returns a function that fills in the loads of the instances in a question; nil if
// the strategy does not want them. It may run while the controller goes on.
func (c *controller) weigher(w *decide.World) func([]strategy.Instance) {
	if !strategy.WantsLoads(c.settings.strategy) {
		return nil
	}
	own := map[string]int{}
	for i := range w.Items {
		if owner := w.Items[i].Owner; owner != nil {
			own[owner.ID]++
		}
	}
	process := make(map[string]string, len(w.Instances))
	for id := range w.Instances {
		process[id] = w.Session(id).NodeID
	}
	ctx, reg, loads, job := c.session.Context(), c.reg, c.loads, string(c.job)
	self, here := c.self.ID, c.itemCount.others()
	return func(instances []strategy.Instance) {
		loads.refresh(ctx, reg)
		for k, in := range instances {
			switch id := process[in.ID]; {
			case in.ID == self:
				instances[k].Load = here
			case id != "":
				instances[k].Load = loads.of(id, job, own[in.ID])
			}
		}
	}
}

// weighsAgain reports whether a strategy that wants loads is to be asked again, although nothing
// of the job has changed.
func (c *controller) weighsAgain(now clocks.Moment) bool {
	d := &c.dealt
	if !strategy.WantsLoads(c.settings.strategy) {
		return false
	}
	if left := d.weighAt.Sub(now); left > 0 {
		c.wakeIn(left)
		return false
	}
	return true
}

// weighLater notes when to ask again. moved is whether items were dealt now.
func (c *controller) weighLater(now clocks.Moment, moved bool) {
	d := &c.dealt
	if !strategy.WantsLoads(c.settings.strategy) {
		return
	}
	d.weighPause = min(2*d.weighPause, lastWeighing)
	if moved || d.weighPause == 0 {
		d.weighPause = firstWeighing
	}
	d.weighAt = now.Add(d.weighPause)
	c.wakeIn(d.weighPause)
}

// noteDeal notes which processes get other items by an answer, for other jobs that deal now.
func (c *controller) noteDeal(w *decide.World, owners []string) {
	more := map[string]int{}
	for i, to := range owners {
		if item := w.Item(i); !item.Owner.Is(to) {
			more[w.Session(to).NodeID]++
			if item.Owner != nil {
				more[w.Session(item.Owner.ID).NodeID]--
			}
		}
	}
	if len(more) > 0 {
		c.loads.dealt(string(c.job), more)
	}
}
