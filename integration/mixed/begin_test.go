package mixed

import "time"

// starting starts members, the first of which leads.
func starting(names ...string) func(*cluster) {
	return func(c *cluster) {
		c.t.Helper()
		c.several(names...)
	}
}

// afterGo lets a Go instance lead for two ticks and leave, before it starts the others: so the tree
// has all that a Go leader writes.
func afterGo(names ...string) func(*cluster) {
	return func(c *cluster) {
		c.t.Helper()
		g := c.start(golang, "g0")
		c.ticks(2, time.Second)
		g.leave()
		c.several(names...)
	}
}

// member returns a process by its name.
func (c *cluster) member(name string) *process {
	c.t.Helper()
	for _, p := range c.alive() {
		if p.name == name {
			return p
		}
	}
	c.t.Fatalf("there is no process %s", name)
	return nil
}
