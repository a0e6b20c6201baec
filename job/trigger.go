package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TriggerRequest is what to run now.
type TriggerRequest struct {
	// Items to run; none means all.
	Items []int
	// Instances whose items to run, by their ids; none means all. With Items too, an item
	// runs if it is named and belongs to one of these.
	Instances []string
	// Parameter replaces Config.JobParameter in these executions, if it is not empty.
	Parameter string
}

// TriggerResult is what has become of a request.
type TriggerResult struct {
	// ID names the request in the logs of the instances that take it.
	ID string
	// Instances are the ids of those that were asked, ascending.
	Instances []string
}

// Trigger asks the instances of the job to run items now, beside the schedule. Every
// item runs on its owner; one that is running then runs again when it ends. Triggers
// that meet one that still waits join it: an item waits once, with the parameter that
// came last. Disabled items and servers run nothing. Items that are just being dealt
// are waited for.
//
// It returns when the registry has the request, not when the items ran. Once an instance
// has taken it, a trigger that waits for its item ends with that instance.
//
// Errors: ErrNoInstance if no enabled instance, of those that are named, owns any of the
// items; those of a commit.
func (s *Scheduler) Trigger(ctx context.Context, r TriggerRequest) (TriggerResult, error) {
	c := s.c
	taskID, err := newTaskID()
	if err != nil {
		return TriggerResult{}, err
	}
	for pause := firstPause; ; {
		changed := c.view.Changed()
		if err := c.view.Sync(ctx); err != nil {
			return TriggerResult{}, fmt.Errorf("job %s: trigger: %w", c.job, err)
		}
		o, err := newOrder(jobtree.Read(c.view.Snapshot(), c.job), c.job, taskID, r)
		if err != nil {
			return TriggerResult{}, err
		}
		if o.waitsForOwners() {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return TriggerResult{}, fmt.Errorf("job %s: trigger: items wait for an owner: %w", c.job, context.Cause(ctx))
			}
		}
		asked, err := o.send(ctx, c.reg)
		if errors.Is(err, coord.ErrConflict) && sleep(ctx, pause/2+rand.N(pause/2)) {
			pause = min(2*pause, lastPause)
			continue // an instance came, went or took its trigger; what was written joins
		}
		if err != nil {
			return TriggerResult{}, fmt.Errorf("job %s: trigger: %w", c.job, err)
		}
		return TriggerResult{ID: taskID, Instances: asked}, nil
	}
}

// order is a request as it meets the tree.
type order struct {
	TriggerRequest
	id    string
	job   jobtree.Job
	state *jobtree.State
	label string       // that instances need to have items
	items map[int]bool // those that are named
}

func newOrder(s *jobtree.State, job jobtree.Job, id string, r TriggerRequest) (*order, error) {
	o := &order{TriggerRequest: r, id: id, job: job, state: s, items: map[int]bool{}}
	total := MaxShardingTotalCount
	if s.Config != nil {
		if config, err := DecodeConfig(s.Config.Value); err == nil {
			o.label, total = config.Label, config.ShardingTotalCount
		}
	}
	for _, item := range r.Items {
		if item < 0 || item >= total {
			return nil, fmt.Errorf("job %s: trigger item %d: 0 to %d are allowed", job, item, total-1)
		}
		o.items[item] = true
	}
	return o, nil
}

func (o *order) wants(item int) bool { return len(o.Items) == 0 || o.items[item] }

func (o *order) asks(id string) bool {
	return len(o.Instances) == 0 || slices.Contains(o.Instances, id)
}

// mayHaveItems reports whether some instance may be given items.
func (o *order) mayHaveItems() bool {
	for _, in := range o.state.Instances {
		if o.state.ServerEnabled(in.IP) && (o.label == "" || slices.Contains(in.Labels, o.label)) {
			return true
		}
	}
	return false
}

// waitsForOwners reports whether an item of the request is about to get an owner: none is
// there yet, or it has just gone, and there are instances that may have it.
func (o *order) waitsForOwners() bool {
	if !o.mayHaveItems() {
		return false
	}
	for i := range o.state.Items {
		item := &o.state.Items[i]
		if !o.wants(i) || !item.Exists || item.Running != nil {
			continue
		}
		if item.Owner == nil {
			return true
		}
		if _, isThere := o.state.Instances[item.Owner.ID]; !isThere {
			return true
		}
	}
	return len(o.state.Items) == 0
}

// addressees says which instances are asked for which items.
func (o *order) addressees() map[string][]int {
	items := map[string][]int{}
	for i := range o.state.Items {
		item := &o.state.Items[i]
		if item.Owner == nil || item.Disabled || !o.wants(i) {
			continue
		}
		id := item.Owner.ID
		if _, isThere := o.state.Instances[id]; !isThere && item.Running != nil {
			id = item.Running.ID // it passes the request on when the item is dealt
		}
		if in, isThere := o.state.Instances[id]; isThere && o.state.ServerEnabled(in.IP) && o.asks(id) {
			items[id] = append(items[id], i)
		}
	}
	return items
}

// send writes the request for each instance that is asked, and returns their ids.
func (o *order) send(ctx context.Context, reg coord.Registry) (asked []string, err error) {
	var groups [][]coord.Op
	for id, items := range o.addressees() {
		// The items are named, so that one that moves meanwhile is passed on.
		ops, err := decide.Ask(o.state, o.job, id, jobtree.Request{ID: o.id, Items: items, Parameter: o.Parameter})
		if err != nil {
			return nil, err
		}
		asked = append(asked, id)
		groups = append(groups, ops)
	}
	if len(asked) == 0 {
		return nil, ErrNoInstance
	}
	for _, change := range decide.InChunks("trigger", groups) {
		if _, err := reg.Commit(ctx, change.Ops...); err != nil {
			return nil, err
		}
	}
	slices.Sort(asked)
	return asked, nil
}
