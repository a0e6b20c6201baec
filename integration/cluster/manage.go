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
	o.configured(e, j)
	if err != nil {
		return err
	}
	return o.cluster.get(j)
}

// configured writes down that a job has new rules. Nothing has to run under those that it may have.
func (o *Operator) configured(e history.Event, j Job) {
	e.Rules = j.rules()
	if e.Err != "" {
		e.Rules.Every = 0
	}
	o.add(e)
}

// Ensure creates a job, or gives it its configuration if it is there. Answers may have been lost
// before: the cluster need not know what the registry has.
func (o *Operator) Ensure(ctx context.Context, j Job) error {
	err := o.Create(ctx, j)
	if errors.Is(err, ops.ErrJobExists) {
		if err = o.Update(ctx, j); err == nil {
			err = o.cluster.get(j)
		}
	}
	return err
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
	o.configured(e, j)
	if err == nil {
		o.cluster.put(j)
	}
	return err
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
