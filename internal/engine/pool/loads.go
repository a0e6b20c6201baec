package pool

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// loadsTime is how long loads that were read are good for more assignments.
	loadsTime = 2 * time.Second
	// loadsPatience bounds the reading of loads. Without them the items are assigned as well.
	loadsPatience = 2 * time.Second
)

// Loads are what processes announce of how many items they have. The leaders of a process share them,
// because many of them assign items at the same moment. What they have assigned meanwhile is added.
type Loads struct {
	reading sync.Mutex // only one reads at a time

	mu       sync.Mutex
	read     clocks.Moment
	items    map[string]int // by the id of the process
	assigned map[string]assigned
}

// assigned is what a job has assigned of late.
type assigned struct {
	at   clocks.Moment
	more map[string]int // items, by the id of the process
}

// Refresh reads what processes announce, if that is too old. Processes of which nothing can be read have no items.
func (l *Loads) Refresh(ctx context.Context, reg coord.Registry) {
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
	l.read = begun // even if it fails: not each assignment has to wait for that
	if err != nil {
		return // what was read before is better than nothing
	}
	l.items = make(map[string]int, len(nodes))
	for _, n := range nodes {
		if d, err := jobtree.DecodeNode(n.Value); err == nil {
			l.items[strings.TrimPrefix(n.Path, jobtree.Nodes+"/")] = d.Items
		}
	}
	for job, d := range l.assigned {
		if !l.isUnannounced(d) {
			delete(l.assigned, job)
		}
	}
}

// isUnannounced reports whether what was read does not have what a job has assigned: a process announces
// it within AnnounceEvery.
func (l *Loads) isUnannounced(d assigned) bool { return d.at.After(l.read.Add(-AnnounceEvery)) }

// Of returns how many items of other jobs than this one a process has. own is how many of this one it has.
func (l *Loads) Of(id, job string, own int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.items[id] - own
	for other, d := range l.assigned {
		if other != job && l.isUnannounced(d) {
			n += d.more[id]
		}
	}
	return max(n, 0)
}

// Assigned notes how many more items of a job processes have got.
func (l *Loads) Assigned(job string, more map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.assigned == nil {
		l.assigned = map[string]assigned{}
	}
	l.assigned[job] = assigned{clocks.Now(), more}
}
