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
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// TriggerRequest is what to run now.
type TriggerRequest struct {
	// Items to run; none means all.
	Items []int
	// Instances whose items to run, by their ids; none means all. If Items are named too, an
	// item runs if it is one of them and belongs to one of these instances.
	Instances []string
	// Parameter replaces Config.JobParameter in these executions, if it is not empty.
	Parameter string
}

// TriggerResult says what was asked of whom.
type TriggerResult struct {
	// ID names the request in the logs of the instances that take it.
	ID string
	// Instances are the ids of those that were asked, ascending.
	Instances []string
}

// Trigger asks the instances of the job to run items now, beside the schedule. Each item
// runs on its owner. An item that is running then runs again when it ends. An item waits
// only once: a further trigger joins the one that waits, and its parameter replaces the
// other. Disabled items and servers run nothing. If an item is just being given to another
// instance, Trigger waits until it has an owner.
//
// Trigger returns when the registry has the request, not when the items have run. If an
// instance has taken the request and ends before an item could begin, the trigger of that
// item is lost.
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
		if errors.Is(err, coord.ErrConflict) && rest.For(ctx, pause/2+rand.N(pause/2)) {
			pause = min(2*pause, lastPause)
			continue // an instance came, went or took its trigger; what is written already joins
		}
		if err != nil {
			return TriggerResult{}, fmt.Errorf("job %s: trigger: %w", c.job, err)
		}
		return TriggerResult{ID: taskID, Instances: asked}, nil
	}
}

// order is a request together with the tree in which it is to be written.
type order struct {
	TriggerRequest
	id    string
	job   jobtree.Job
	state *jobtree.State
	label string       // that an instance needs to be given items; "" if none
	items map[int]bool // TriggerRequest.Items
}

// newOrder checks a request.
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

// wants reports whether the request asks for an item.
func (o *order) wants(item int) bool { return len(o.Items) == 0 || o.items[item] }

// asks reports whether the request is for an instance.
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

// waitsForOwners reports whether an item of the request will soon get another owner: it has
// none, or its owner has gone, and there is an instance that may have it.
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

// addressees returns the items that each instance is asked for.
func (o *order) addressees() map[string][]int {
	items := map[string][]int{}
	for i := range o.state.Items {
		item := &o.state.Items[i]
		if item.Owner == nil || item.Disabled || !o.wants(i) {
			continue
		}
		id := item.Owner.ID
		if _, isThere := o.state.Instances[id]; !isThere && item.Running != nil {
			id = item.Running.ID // the runner takes the request, and passes it on when the item has an owner
		}
		if in, isThere := o.state.Instances[id]; isThere && o.state.ServerEnabled(in.IP) && o.asks(id) {
			items[id] = append(items[id], i)
		}
	}
	return items
}

// send writes a trigger for each instance that is asked, and returns their ids.
func (o *order) send(ctx context.Context, reg coord.Registry) (asked []string, err error) {
	var groups [][]coord.Op
	for id, items := range o.addressees() {
		// The items are named: if one moves meanwhile, the trigger is passed on to its new owner.
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
