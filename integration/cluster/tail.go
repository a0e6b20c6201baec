package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/elasticjob-go/elasticjob/integration/history"
)

// tail keeps the events that all processes have written so far, in the order of arrival.
type tail struct {
	mu      sync.Mutex
	events  []history.Event
	changed chan struct{} // closed and replaced with every event
}

func newTail() *tail { return &tail{changed: make(chan struct{})} }

func (t *tail) add(e history.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, e)
	close(t.changed)
	t.changed = make(chan struct{})
}

// from returns the events from a position on, and a channel that is closed when there are
// more.
func (t *tail) from(position int) ([]history.Event, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events[position:len(t.events):len(t.events)], t.changed
}

// Mark is a position in the history of a cluster.
type Mark int

// Mark is the position now.
func (c *Cluster) Mark() Mark {
	events, _ := c.tail.from(0)
	return Mark(len(events))
}

// Since returns the events after a mark, in the order in which they arrived.
func (c *Cluster) Since(mark Mark) []history.Event {
	events, _ := c.tail.from(int(mark))
	return events
}

// Await waits for an event after the mark, and returns it. what names it in the error.
func (c *Cluster) Await(ctx context.Context, mark Mark, what string, match func(history.Event) bool) (history.Event, error) {
	var found history.Event
	err := c.AwaitAll(ctx, mark, what, func(events []history.Event) bool {
		at := slices.IndexFunc(events, match)
		if at >= 0 {
			found = events[at]
		}
		return at >= 0
	})
	return found, err
}

// AwaitAll waits until the events after the mark are enough. It passes each of them once, those that have come since the
// last call: a scenario has thousands, and a look at all of them with each new one would take most of the time.
func (c *Cluster) AwaitAll(ctx context.Context, mark Mark, what string, enough func(more []history.Event) bool) error {
	for {
		more, changed := c.tail.from(int(mark))
		if enough(more) {
			return nil
		}
		mark += Mark(len(more))
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("cluster: wait for %s: %w", what, context.Cause(ctx))
		case <-c.failed:
			return fmt.Errorf("cluster: wait for %s: %w", what, c.failure())
		}
	}
}
