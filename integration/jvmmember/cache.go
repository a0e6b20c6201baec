package jvmmember

import (
	"context"
	"slices"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

// cache is the local copy of the job's nodes, as CuratorCache has it. It is empty before it is
// opened and after it was closed: then all reads go to the store.
type cache struct {
	mu    sync.Mutex
	view  coord.View
	first coord.Snapshot // what was there when it was opened
}

func (c *cache) open(ctx context.Context, registry coord.Registry, job string) error {
	view, err := registry.View(ctx, job)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view, c.first = view, view.Snapshot()
	return nil
}

func (c *cache) close() {
	c.mu.Lock()
	view := c.view
	c.view = nil
	c.mu.Unlock()
	if view != nil {
		view.Close()
	}
}

func (c *cache) get(path string) (coord.Node, bool) {
	c.mu.Lock()
	view := c.view
	c.mu.Unlock()
	if view == nil {
		return coord.Node{}, false
	}
	return view.Snapshot().Get(path)
}

// kind is what has happened to a node.
type kind int

const (
	added kind = iota + 1
	updated
	deleted
)

// event is a change of one node, as a listener is told of it.
type event struct {
	kind  kind
	path  string
	value string // what a deleted node had
}

// changes tells what has changed between two snapshots: first what is gone, then the rest in the
// order in which it was written.
func changes(now, before coord.Snapshot) []event {
	var gone []event
	var written []coord.Node
	for n, there := range now.Diff(before) {
		old, had := before.Get(n.Path)
		if !there || had && old.Created != n.Created {
			gone = append(gone, event{deleted, n.Path, string(old.Value)})
		}
		if there {
			written = append(written, n)
		}
	}
	slices.SortStableFunc(written, func(a, b coord.Node) int { return int(a.Modified - b.Modified) })
	for _, n := range written {
		e := event{added, n.Path, string(n.Value)}
		if old, had := before.Get(n.Path); had && old.Created == n.Created {
			e.kind = updated
		}
		gone = append(gone, e)
	}
	return gone
}

// queue is where events wait for the listeners, however many there are.
type queue struct {
	mu     sync.Mutex
	events []event
	filled chan struct{} // has room for one signal
}

func (q *queue) add(events []event) {
	q.mu.Lock()
	q.events = append(q.events, events...)
	q.mu.Unlock()
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

// next waits for the next event; ok is false if ctx has ended.
func (q *queue) next(ctx context.Context) (e event, ok bool) {
	for ctx.Err() == nil {
		q.mu.Lock()
		if len(q.events) > 0 {
			e, q.events = q.events[0], q.events[1:]
			q.mu.Unlock()
			return e, true
		}
		q.mu.Unlock()
		select {
		case <-q.filled:
		case <-ctx.Done():
		}
	}
	return event{}, false
}
