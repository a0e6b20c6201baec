package cluster

import (
	"context"
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Create creates a job that is Typed. Runners serve it; other workers are told to join it.
func (o *Operator) Create(ctx context.Context, j Job) error {
	e, err := o.insist(ctx, history.Configure, j.Name, func() error {
		return o.ops.Create(ctx, ops.CreateRequest{Config: j.config(), Implementation: worker.Kind})
	}, func(err error, lost bool) bool { return lost && errors.Is(err, ops.ErrJobExists) })
	e.Rules = j.rules()
	o.add(e)
	if err != nil {
		return err
	}
	return o.cluster.get(j)
}

// Ensure creates a job, unless it is there. It may be, although the cluster does not know it: if the
// answer was lost when it was created, or removed.
func (o *Operator) Ensure(ctx context.Context, j Job) error {
	err := o.Create(ctx, j)
	if !errors.Is(err, ops.ErrJobExists) || o.cluster.has(j.Name) {
		return allowed(err)
	}
	return errors.Join(o.Update(ctx, j), o.cluster.get(j))
}

// get adds a job that is in the registry.
func (c *Cluster) get(j Job) (err error) {
	c.drop(j.Name)
	c.mu.Lock()
	c.jobs = append(c.jobs, j)
	c.mu.Unlock()
	for _, w := range c.Workers() {
		err = errors.Join(err, w.Join(j))
	}
	return err
}

// has reports whether the cluster knows a job.
func (c *Cluster) has(name string) bool {
	return slices.ContainsFunc(c.current(), func(j Job) bool { return j.Name == name })
}

// Update changes the configuration of a job.
func (o *Operator) Update(ctx context.Context, j Job) error {
	e, err := o.insist(ctx, history.Configure, j.Name, func() error {
		at := o.ops.Job(j.Name)
		before, err := at.Settings(ctx)
		if err != nil {
			return err
		}
		return at.Update(ctx, ops.UpdateRequest{Config: j.config(), Version: before.Version})
	}, func(error, bool) bool { return false })
	e.Rules = j.rules()
	o.add(e)
	if err != nil {
		return err
	}
	c := o.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.jobs {
		if c.jobs[i].Name == j.Name {
			c.jobs[i] = j
		}
	}
	return nil
}

// Remove removes a job, which stays removed until it is created again.
func (o *Operator) Remove(ctx context.Context, name string) error {
	e, err := o.insist(ctx, history.Remove, name, func() error {
		return o.ops.Job(name).Remove(ctx, ops.RemoveRequest{Why: "test"})
	}, func(err error, lost bool) bool { return lost && errors.Is(err, ops.ErrNoJob) })
	o.add(e)
	if err != nil {
		return err
	}
	o.cluster.drop(name)
	return nil
}

// drop forgets a job.
func (c *Cluster) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = slices.DeleteFunc(c.jobs, func(j Job) bool { return j.Name == name })
}

// AwaitGone waits until a job is removed, and nothing is left of it.
func (c *Cluster) AwaitGone(ctx context.Context, name string) error {
	err := c.AwaitTree(ctx, "nothing to be left of "+name, func(tree coord.Snapshot) bool {
		for range tree.All(name) {
			return false
		}
		return tree.Exists(jobtree.Job(name).Removal())
	})
	if err == nil {
		c.drop(name)
	}
	return err
}
