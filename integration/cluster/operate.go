package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// Add adds a job to the cluster. Workers that run join it now, later ones when they start.
func (c *Cluster) Add(j Job) error {
	c.configured(j, 0)
	c.mu.Lock()
	c.jobs = append(c.jobs, j)
	c.mu.Unlock()
	for _, w := range c.Workers() {
		if err := w.Join(j); err != nil {
			return err
		}
	}
	return nil
}

// configured writes down that a job has new rules.
func (c *Cluster) configured(j Job, call int64) {
	e := history.Now(history.Configure)
	e.Job, e.Rules, e.Call = j.Name, j.rules(), call
	e.Rules.Out = c.out(j)
	c.add(e)
}

// Reconfigure changes the configuration of a job in the registry, as an operator would.
func (c *Cluster) Reconfigure(ctx context.Context, j Job) error {
	path := jobtree.Job(j.Name).Config()
	call := history.Mono()
	err := c.operate(ctx, func() ([]coord.Op, error) {
		before, err := c.reg.Get(ctx, path)
		if err != nil {
			return nil, err
		}
		document, err := j.config().Encode(before.Value)
		if err != nil {
			return nil, err
		}
		return []coord.Op{coord.SetAt(path, document, before.Version)}, nil
	})
	if err != nil {
		return fmt.Errorf("cluster: configure %s: %w", j.Name, err)
	}
	c.put(j)
	c.configured(j, call)
	return nil
}

// put replaces a job of the same name.
func (c *Cluster) put(j Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.jobs {
		if c.jobs[i].Name == j.Name {
			c.jobs[i] = j
		}
	}
}

// drop forgets a job.
func (c *Cluster) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = slices.DeleteFunc(c.jobs, func(j Job) bool { return j.Name == name })
}

// Remove removes a whole job from the registry, as an operator would.
func (c *Cluster) Remove(ctx context.Context, name string) error {
	call := history.Mono()
	err := c.operate(ctx, func() ([]coord.Op, error) {
		return []coord.Op{coord.DeleteTree(name)}, nil
	})
	if err != nil {
		return fmt.Errorf("cluster: remove %s: %w", name, err)
	}
	e := history.Now(history.Remove)
	e.Job, e.Call = name, call
	c.add(e)
	c.drop(name)
	return nil
}

// SwitchServer disables the server at an address, or enables it again.
func (c *Cluster) SwitchServer(ctx context.Context, name, address string, enabled bool) error {
	value := jobtree.Disabled
	if enabled {
		value = jobtree.Enabled
	}
	return c.switched(ctx, name, address, -1, enabled, coord.Put(jobtree.Job(name).Server(address), []byte(value)))
}

// SwitchItem disables an item, or enables it again.
func (c *Cluster) SwitchItem(ctx context.Context, name string, item int, enabled bool) error {
	op := coord.Put(jobtree.Job(name).ItemDisabled(item), nil)
	if enabled {
		op = coord.Delete(jobtree.Job(name).ItemDisabled(item))
	}
	return c.switched(ctx, name, "", item, enabled, op)
}

func (c *Cluster) switched(ctx context.Context, name, address string, item int, enabled bool, op coord.Op) error {
	kind := history.Disable
	if enabled {
		kind = history.Enable
	}
	call := history.Mono()
	if err := c.operate(ctx, func() ([]coord.Op, error) { return []coord.Op{op}, nil }); err != nil {
		return fmt.Errorf("cluster: %s %s: %w", kind, name+" "+address+strconv.Itoa(item), err)
	}
	e := history.Now(kind)
	e.Job, e.Item, e.Address, e.Call = name, item, address, call
	c.add(e)
	return nil
}

// operate commits what an operator wants.
func (c *Cluster) operate(ctx context.Context, ops func() ([]coord.Op, error)) error {
	return persist(ctx, func() error {
		wanted, err := ops()
		if err != nil {
			return err
		}
		_, err = c.reg.Commit(ctx, wanted...)
		var conflict *coord.ConflictError
		if errors.As(err, &conflict) && conflict.Reason == coord.ErrNoNode {
			return nil // an earlier attempt, whose answer was lost, has done it
		}
		return err
	})
}

// persist does something again after a conflict or a lost answer, and while the store is away.
func persist(ctx context.Context, do func() error) error {
	for {
		err := do()
		again := errors.Is(err, coord.ErrConflict) || errors.Is(err, coord.ErrUnknownOutcome) || errors.Is(err, coord.ErrUnavailable)
		if !again || !sleep.For(ctx, patience) {
			return err
		}
	}
}

// Trouble does something to the store, and returns the function that undoes it. Call that
// function after an error too.
func (c *Cluster) Trouble(name string, begin, end func() error) (heal func() error, err error) {
	e := history.Now(history.Fault)
	e.Name = name
	c.add(e)
	if err = begin(); err != nil {
		err = fmt.Errorf("cluster: %s: %w", name, err)
	}
	return func() error {
		if err := end(); err != nil {
			return fmt.Errorf("cluster: end of %s: %w", name, err)
		}
		e := history.Now(history.Heal)
		e.Name = name
		c.add(e)
		return nil
	}, err
}
