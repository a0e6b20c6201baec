package access

import "sync"

// changes wakes whoever waits until something has changed.
type changes struct {
	mu   sync.Mutex
	next chan struct{} // closed with the next one
}

func newChanges() *changes { return &changes{next: make(chan struct{})} }

func (c *changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next
}

func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.next)
	c.next = make(chan struct{})
}
