package cluster

import (
	"context"
	"slices"

	"github.com/elasticjob-go/elasticjob/integration/history"
)

// Save keeps a copy of the store as it is, for PutBack. Nobody is answered meanwhile, which
// takes seconds on a busy disk.
func (c *Cluster) Save() error {
	heal, err := c.Trouble("saved", c.store.Save, func() error { return nil })
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.saved = slices.Clone(c.jobs)
	c.mu.Unlock()
	return heal()
}

// PutBack puts the store back to where it was at the last Save, while everybody goes on.
func (c *Cluster) PutBack(ctx context.Context) error {
	return c.restore(ctx, "put back", c.store.PutBack, func() { c.jobs = slices.Clone(c.saved) })
}

// Wipe puts an empty store in place of the one that is there, while everybody goes on.
// Workers whose schedulers stop, because their jobs are no more, join again.
func (c *Cluster) Wipe(ctx context.Context) error {
	if err := c.restore(ctx, "wiped", c.store.Wipe, func() {}); err != nil {
		return err
	}
	for _, w := range c.Workers() {
		for _, j := range c.current() {
			if err := w.Join(j); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) restore(ctx context.Context, name string, how func(context.Context) error, jobs func()) error {
	call := history.Mono()
	heal, err := c.Trouble(name, func() error { return how(ctx) }, func() error { return nil })
	if err != nil {
		return err
	}
	e := history.Now(history.Restore)
	e.Call = call
	c.add(e)
	c.mu.Lock()
	jobs()
	c.mu.Unlock()
	for _, j := range c.current() {
		c.configured(j, call)
	}
	return heal()
}

// current returns the jobs as they are configured now.
func (c *Cluster) current() []Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.jobs)
}

// Revoke takes the workers' permission to write below a job, and returns the function that
// gives it back. Call that function after an error too.
func (c *Cluster) Revoke(ctx context.Context, job string) (grant func(context.Context) error, err error) {
	path := c.namespace + "/" + job
	var late context.Context // of the call of grant
	heal, err := c.Trouble("revoked", func() error {
		return c.store.Revoke(ctx, path)
	}, func() error {
		return c.store.Grant(late, path)
	})
	return func(ctx context.Context) error { late = ctx; return heal() }, err
}
