package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Pending is a trigger that waits for its item to be idle. An item has one at most. (In
// ElasticJob a trigger that comes while the job runs is dropped silently, B-25.)
type Pending struct{ Parameter, Request string }

// Obey takes the trigger that is addressed to this instance. The node is removed only at the
// version that was read, so a request that joins meanwhile is not lost. (In ElasticJob a
// second trigger may delete the first before it is seen, B-26.)
func (w *World) Obey() (*Change, jobtree.Trigger) {
	trigger, ok := w.Triggers[w.Self.ID]
	if !ok {
		return nil, trigger
	}
	path := w.Job.Trigger(w.Self.ID)
	return &Change{Step: "obey", Urgency: coord.Sooner, Ops: []coord.Op{
		w.ifMine(), coord.AtVersion(path, trigger.Version), coord.DeleteTree(path),
	}}, trigger
}

// Requested lists the items of a request to an instance: the items that it names, whoever
// owns them now, or all items that the instance owns if it names none.
func (w *World) Requested(id string, r jobtree.Request) []int {
	if len(r.Items) > 0 {
		return r.Items
	}
	var items []int
	for i := range w.items() {
		if w.Items[i].Owner.Is(id) {
			items = append(items, i)
		}
	}
	return items
}

// PassOn asks the owner of items to run them, because this instance was asked and does not
// own them. It returns nil if the owner is about to change: it is not there, or may not have
// items.
func (w *World) PassOn(owner string, items []int, p Pending) (*Change, error) {
	in, ok := w.Instances[owner]
	if !ok || !w.isEligible(in) {
		return nil, nil
	}
	ops, err := Ask(w.State, w.Job, owner, jobtree.Request{ID: p.Request, Items: items, Parameter: p.Parameter})
	if err != nil {
		return nil, err
	}
	return &Change{Step: "pass on", Urgency: coord.Sooner, Ops: append(ops, w.ifMine())}, nil
}

// BeginTriggered claims the items that were triggered and are idle, free at most.
func (w *World) BeginTriggered(k *Work, pending map[int]Pending, free int) []Change {
	if len(pending) == 0 || !w.IsActive() || !w.Rules.Monitor {
		return nil
	}
	c := w.claims("begin triggered")
	for i := range w.items() {
		if free <= 0 {
			break
		}
		p, ok := pending[i]
		item := &w.Items[i]
		if !ok || !w.owns(item) || item.Disabled || !isIdle(k, i, item) {
			continue
		}
		claim := Claim{Item: i, Source: Manual, Tick: w.Now, Last: lastFired(item, time.Time{}), Parameter: p.Parameter, Request: p.Request}
		c.own(item, claim)
		free--
	}
	return c.list
}

// Ask returns the operations that write a request into trigger/{id}. If a request waits
// there, the two are joined.
func Ask(s *jobtree.State, job jobtree.Job, id string, r jobtree.Request) ([]coord.Op, error) {
	waiting, joins := s.Triggers[id]
	if joins && waiting.Err == nil {
		r = waiting.Request.Join(r)
	}
	value, err := jobtree.EncodeRequest(r)
	if err != nil {
		return nil, err
	}
	write := coord.Create(job.Trigger(id), value)
	if joins {
		write = coord.SetAt(job.Trigger(id), value, waiting.Version)
	}
	return []coord.Op{coord.Exists(job.Instance(id)), write}, nil
}
