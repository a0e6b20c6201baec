package prom

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
)

const (
	// sampleEvery is the shortest time between two samples of the lag.
	sampleEvery = time.Second
	// sampleTime bounds how long a sample waits for its commit. If the view shows the older state
	// by then, the lag is at least that long. If it does not show the node at all, somebody has
	// removed it, perhaps before the view could show it, and nothing is known.
	sampleTime = 10 * time.Second
)

// lag measures how long views need to show commits of the same process.
type lag struct {
	seconds prometheus.Observer
	next    atomic.Pointer[clocks.Moment] // when the next sample may be taken; nil is at once

	mu    sync.Mutex
	views map[string]*view // those that are open, by their roots; of several with one root the first
}

// sample is a commit that a view is to show.
type sample struct {
	path     string // of a node that it wrote, and that is likely to stay
	revision int64
	at       clocks.Moment
}

// view is a view in which samples are looked for.
type view struct {
	coord.View
	lag    *lag
	root   string
	sample atomic.Pointer[sample]
}

func (l *lag) follow(v coord.View, root string) coord.View {
	followed := &view{View: v, lag: l, root: root}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.views[root] == nil {
		l.views[root] = followed
	}
	return followed
}

// committed takes a sample, if it is time for one.
func (l *lag) committed(revision int64, ops []coord.Op) {
	now := clocks.Now()
	if next := l.next.Load(); revision == 0 || next != nil && now.Before(*next) {
		return
	}
	for _, op := range ops {
		if op.Kind != coord.OpSet && op.Kind != coord.OpSetAt && op.Kind != coord.OpPut {
			continue // what is created may soon be removed
		}
		if v := l.covering(op.Path); v != nil {
			next := now.Add(sampleEvery)
			l.next.Store(&next)
			v.sample.CompareAndSwap(nil, &sample{op.Path, revision, now})
			return
		}
	}
}

// covering returns a view that shows a node; nil if there is none.
func (l *lag) covering(path string) *view {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if v := l.views[path]; v != nil || path == "" {
			return v
		}
		path = coord.Parent(path)
	}
}

// Snapshot looks for the sample, too.
func (v *view) Snapshot() coord.Snapshot {
	s := v.View.Snapshot()
	wanted := v.sample.Load()
	if wanted == nil {
		return s
	}
	took := clocks.Since(wanted.at)
	n, isThere := s.Get(wanted.path)
	isShown := isThere && n.Modified >= wanted.revision
	if (isShown || took > sampleTime) && v.sample.CompareAndSwap(wanted, nil) && isThere {
		v.lag.seconds.Observe(took.Seconds())
	}
	return s
}

func (v *view) Close() {
	v.View.Close()
	v.lag.mu.Lock()
	defer v.lag.mu.Unlock()
	if v.lag.views[v.root] == v {
		delete(v.lag.views, v.root)
	}
}
