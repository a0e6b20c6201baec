package request

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Trigger asks the instances of the job to run items now.
//
// Errors: those of [Job.Make]; jobtype.ErrNoItem; jobtype.ErrNobodyRunsIt.
func (j Job) Trigger(ctx context.Context, r jobtype.TriggerRequest) (*jobtype.Requested, error) {
	if len(r.Parameter) > jobtype.MaxTriggerParameter {
		return nil, fmt.Errorf("parameter: %d bytes, at most %d are allowed", len(r.Parameter), jobtype.MaxTriggerParameter)
	}
	asked := fmt.Appendf(nil, "trigger %v %q %q", slices.Sorted(slices.Values(r.Items)), slices.Sorted(slices.Values(r.Instances)), r.Parameter)
	return j.Make(ctx, r.Key, asked, func(s *jobtree.State) (jobtree.RequestDocument, error) {
		t, err := newTrigger(s, r)
		if err != nil {
			return jobtree.RequestDocument{}, err
		}
		return t.document()
	})
}

// trigger is a trigger together with the tree in which it is to be written.
type trigger struct {
	jobtype.TriggerRequest
	state *jobtree.State
	label string // that an instance needs to be given items; "" if none
	total int
	items map[int]bool // TriggerRequest.Items
	// broadcast is whether items without an owner are as they should be.
	broadcast bool
}

// newTrigger checks a trigger.
func newTrigger(s *jobtree.State, r jobtype.TriggerRequest) (*trigger, error) {
	t := &trigger{TriggerRequest: r, state: s, total: len(s.Items), items: map[int]bool{}}
	if s.Config != nil {
		if config, err := jobtype.DecodeConfig(s.Config.Value); err == nil {
			t.label, t.total, t.broadcast = config.Label, config.ShardingTotalCount, config.Broadcast
		}
	}
	for _, item := range r.Items {
		if item < 0 || item >= t.total {
			return nil, fmt.Errorf("%w: item %d: 0 to %d are allowed", jobtype.ErrNoItem, item, t.total-1)
		}
		t.items[item] = true
	}
	if !t.mayHaveItems() {
		return nil, t.whyNobodyMay()
	}
	return t, nil
}

func (t *trigger) document() (jobtree.RequestDocument, error) {
	if t.awaitsOwners() {
		return jobtree.RequestDocument{}, errAwaitsOwners
	}
	d := jobtree.RequestDocument{Items: t.list(), Parameter: t.Parameter, Source: jobtype.SourceManual.String(), By: t.By}
	if len(d.Items) == 0 {
		return d, t.whyNobody()
	}
	return d, nil
}

// mayHaveItems reports whether some Go member may be given items.
func (t *trigger) mayHaveItems() bool {
	for id, in := range t.state.Instances {
		if t.state.Sessions[id] != nil && t.state.ServerEnabled(in.IP) && (t.label == "" || slices.Contains(in.Labels, t.label)) {
			return true
		}
	}
	return false
}

// whyNobodyMay says why no Go member may be given items.
func (t *trigger) whyNobodyMay() error {
	isGo, isEnabled := false, false
	for id, in := range t.state.Instances {
		if t.state.Sessions[id] != nil {
			isGo, isEnabled = true, isEnabled || t.state.ServerEnabled(in.IP)
		}
	}
	switch {
	case isEnabled:
		return fmt.Errorf("%w: none has the label %s", jobtype.ErrNobodyRunsIt, brief.Quote(t.label))
	case isGo:
		return fmt.Errorf("%w: the job is disabled on all servers that have one: elasticjob enable JOB", jobtype.ErrNobodyRunsIt)
	}
	if n := len(t.state.Instances); n > 0 {
		return fmt.Errorf("%w: there are only JVM members (%d), and a Go member has to be there for a trigger: start one, or use ElasticJob's own tools", jobtype.ErrNobodyRunsIt, n)
	}
	return jobtype.ErrNobodyRunsIt
}

// awaitsOwners reports whether it matters who owns an item that will soon get another owner:
// it has none, or its owner has gone.
func (t *trigger) awaitsOwners() bool {
	if len(t.Instances) == 0 || t.broadcast {
		return false
	}
	for i := range t.total {
		if len(t.Items) > 0 && !t.items[i] {
			continue
		}
		item := t.state.Item(i)
		if item.Running != nil {
			continue
		}
		if item.Owner == nil {
			return true
		}
		if _, isThere := t.state.Instances[item.Owner.ID]; !isThere {
			return true
		}
	}
	return false
}

// whyNobody says why there are no items to run.
func (t *trigger) whyNobody() error {
	for _, id := range t.Instances {
		if _, isThere := t.state.Instances[id]; !isThere {
			return fmt.Errorf("%w: instance %s is not there", jobtype.ErrNobodyRunsIt, brief.Quote(id))
		}
	}
	if len(t.Instances) > 0 {
		return fmt.Errorf("%w: instance %s has none of the items", jobtype.ErrNobodyRunsIt, brief.Quote(t.Instances[0]))
	}
	return jobtype.ErrNobodyRunsIt
}

// list returns the items to run.
func (t *trigger) list() []int {
	var list []int
	for i := range t.total {
		if len(t.Items) == 0 && t.broadcast && ownerOf(t.state, i) == "" {
			continue
		}
		if (len(t.Items) == 0 || t.items[i]) && (len(t.Instances) == 0 || slices.Contains(t.Instances, ownerOf(t.state, i))) {
			list = append(list, i)
		}
	}
	return list
}

// ownerOf returns the id of an item's owner; "" if it has none.
func ownerOf(s *jobtree.State, i int) string {
	if owner := s.Item(i).Owner; owner != nil {
		return owner.ID
	}
	return ""
}

// ownersOf returns the owners of items, ascending.
func ownersOf(s *jobtree.State, items []int) (ids []string) {
	for _, i := range items {
		if id := ownerOf(s, i); id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
