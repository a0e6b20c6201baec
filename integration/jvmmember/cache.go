package jvmmember

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// cache is the local copy of the job's nodes, as CuratorCache has it. It is empty before it is
// opened and after it was closed: then all reads go to the store.
type cache struct {
	mu    sync.Mutex
	view  coord.View
	first coord.Snapshot // what was there when it was opened
	// shown is what a cache that lags has of the view; nil if it does not lag.
	shown map[string]string
}

func (c *cache) open(ctx context.Context, registry coord.Registry, job string, lags bool) error {
	view, err := registry.View(ctx, job, coord.AllLevels)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view, c.first = view, view.Snapshot()
	if lags {
		c.shown = map[string]string{}
		for n := range c.first.All(job) {
			c.shown[n.Path] = string(n.Value)
		}
	}
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

func (c *cache) get(path string) (value string, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.view == nil:
		return "", false
	case c.shown != nil:
		value, there = c.shown[path]
		return value, there
	}
	n, there := c.view.Snapshot().Get(path)
	return string(n.Value), there
}

// show lets a cache that lags show a change.
func (c *cache) show(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.shown == nil:
	case e.kind == deleted:
		delete(c.shown, e.path)
	default:
		c.shown[e.path] = e.value
	}
}

// follow puts what changes in the cache into the queue. What is there at the start counts as
// added. Changes come to the cache, and to the listeners, in their order, each of them after its lag.
func (m *Member) follow(q *queue) {
	m.cache.mu.Lock()
	view, before := m.cache.view, m.cache.first
	m.cache.mu.Unlock()
	if view == nil {
		return
	}
	q.add(changes(before, coord.Snapshot{})...)
	var late []lateEvent
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		changed := view.Changed()
		now := view.Snapshot()
		if err := view.Err(); err != nil {
			if m.listening.Err() == nil {
				m.fail(err)
			}
			return
		}
		at := time.Now()
		for _, e := range changes(now, before) {
			shows := at.Add(m.lag())
			if n := len(late); n > 0 && late[n-1].shows.After(shows) {
				shows = late[n-1].shows
			}
			late = append(late, lateEvent{e, shows})
		}
		before = now
		for len(late) > 0 && !late[0].shows.After(at) {
			m.cache.show(late[0].event)
			q.add(late[0].event)
			late = late[1:]
		}
		if len(late) > 0 {
			alarm.Reset(late[0].shows.Sub(at))
		}
		select {
		case <-changed:
		case <-alarm.C:
		case <-m.listening.Done():
			return
		}
	}
}

// lateEvent is a change that the cache shows from a time on.
type lateEvent struct {
	event
	shows time.Time
}

// lag is how long it takes until the cache shows the next change.
func (m *Member) lag() time.Duration {
	if m.config.Lag == nil {
		return 0
	}
	return m.config.Lag()
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

func (q *queue) add(events ...event) {
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
