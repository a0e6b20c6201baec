package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// TriggerRequest is what to run now.
type TriggerRequest struct {
	// Items to run; none means all.
	Items []int
	// Parameter replaces Config.JobParameter in these executions, if it is not empty.
	Parameter string
}

// Trigger asks the instances of the job to run items now, beside the schedule. Every
// item runs on its owner; one that is running then runs again when it ends. Triggers
// that meet one that still waits join it: an item waits once, with the parameter that
// came last. Disabled items and servers run nothing. Items that are just being dealt
// are waited for.
//
// It returns the ids of the instances that were asked, when the registry has it, not
// when the items ran. Once an instance has taken it, a trigger that waits for its item
// ends with that instance.
//
// Errors: ErrNoInstance if no enabled instance owns any of the items; those of a commit.
func (s *Scheduler) Trigger(ctx context.Context, r TriggerRequest) ([]string, error) {
	c := s.c
	taskID, err := newTaskID()
	if err != nil {
		return nil, err
	}
	for pause := firstPause; ; {
		changed := c.view.Changed()
		if err := c.view.Sync(ctx); err != nil {
			return nil, fmt.Errorf("job %s: trigger: %w", c.job, err)
		}
		state := jobtree.Read(c.view.Snapshot(), c.job)
		label, total := "", MaxShardingTotalCount
		if state.Config != nil {
			if config, err := DecodeConfig(state.Config.Value); err == nil {
				label, total = config.Label, config.ShardingTotalCount
			}
		}
		for _, item := range r.Items {
			if item < 0 || item >= total {
				return nil, fmt.Errorf("job %s: trigger item %d: 0 to %d are allowed", c.job, item, total-1)
			}
		}
		if undealt(state, r.Items, label) {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return nil, fmt.Errorf("job %s: trigger: items wait for an owner: %w", c.job, context.Cause(ctx))
			}
		}
		asked, ops, err := askers(state, c.job, jobtree.Request{ID: taskID, Items: r.Items, Parameter: r.Parameter})
		if err != nil {
			return nil, err
		}
		if len(asked) == 0 {
			return nil, fmt.Errorf("job %s: trigger: %w", c.job, ErrNoInstance)
		}
		err = commitChunks(ctx, c.reg, ops)
		if errors.Is(err, coord.ErrConflict) && sleep(ctx, pause/2+rand.N(pause/2)) {
			pause = min(2*pause, lastPause)
			continue // an instance came, went or took its trigger; what was written joins
		}
		if err != nil {
			return nil, fmt.Errorf("job %s: trigger: %w", c.job, err)
		}
		return asked, nil
	}
}

// undealt reports whether an item of a request is about to get an owner: none is there
// yet, or it has just gone, and there are instances that may have it.
func undealt(s *jobtree.State, items []int, label string) bool {
	enabled := false
	for _, in := range s.Instances {
		enabled = enabled || s.ServerEnabled(in.IP) && (label == "" || slices.Contains(in.Labels, label))
	}
	if !enabled {
		return false
	}
	if len(s.Items) == 0 {
		return true
	}
	wanted := among(items)
	for i := range s.Items {
		item := &s.Items[i]
		if !wanted(i) || !item.Exists || item.Running != nil {
			continue
		}
		if item.Owner == nil {
			return true
		}
		if _, ok := s.Instances[item.Owner.ID]; !ok {
			return true
		}
	}
	return false
}

// among tells which items are among those that are named; none means all.
func among(items []int) func(int) bool {
	named := make(map[int]bool, len(items))
	for _, i := range items {
		named[i] = true
	}
	return func(i int) bool { return len(items) == 0 || named[i] }
}

// askers says which instances a request goes to, and what to write for each.
func askers(s *jobtree.State, job jobtree.Job, r jobtree.Request) (ids []string, ops [][]coord.Op, err error) {
	owns := map[string][]int{}
	wanted := among(r.Items)
	for i := range s.Items {
		item := &s.Items[i]
		if item.Owner == nil || item.Disabled || !wanted(i) {
			continue
		}
		owner := item.Owner.ID
		if _, alive := s.Instances[owner]; !alive && item.Running != nil {
			owner = item.Running.ID // it passes the request on when the item is dealt
		}
		owns[owner] = append(owns[owner], i)
	}
	for id, in := range s.Instances {
		if len(owns[id]) == 0 || !s.ServerEnabled(in.IP) {
			continue
		}
		request := r
		request.Items = owns[id] // named, so that one that moves meanwhile is passed on
		ask, err := ask(s, job, id, request)
		if err != nil {
			return nil, nil, err
		}
		ids = append(ids, id)
		ops = append(ops, ask)
	}
	slices.Sort(ids)
	return ids, ops, nil
}

// ask writes a request for an instance, or joins it to the one that waits there.
func ask(s *jobtree.State, job jobtree.Job, id string, r jobtree.Request) ([]coord.Op, error) {
	waiting, join := s.Triggers[id]
	if join && waiting.Err == nil {
		r = merge(waiting.Request, r)
	}
	value, err := jobtree.EncodeRequest(r)
	if err != nil {
		return nil, err
	}
	write := coord.Create(job.Trigger(id), value)
	if join {
		write = coord.SetAt(job.Trigger(id), value, waiting.Version)
	}
	return []coord.Op{coord.Exists(job.Instance(id)), write}, nil
}

// merge joins a request to one that waits.
func merge(waiting, r jobtree.Request) jobtree.Request {
	if len(waiting.Items) == 0 || len(r.Items) == 0 {
		r.Items = nil
	} else {
		r.Items = append(slices.Clone(waiting.Items), r.Items...)
		slices.Sort(r.Items)
		r.Items = slices.Compact(r.Items)
	}
	if r.Parameter == "" {
		r.Parameter = waiting.Parameter
	}
	return r
}

// commitChunks commits groups of ops that belong together, as many at a time as fit.
func commitChunks(ctx context.Context, reg coord.Registry, groups [][]coord.Op) error {
	var c chunk
	for _, ops := range groups {
		c.add(noItem, ops...)
	}
	for _, commit := range c.commits {
		if _, err := reg.Commit(ctx, commit.ops...); err != nil {
			return err
		}
	}
	return nil
}
