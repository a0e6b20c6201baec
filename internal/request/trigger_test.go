package request

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/modelstore"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// triggerTree is the tree of a job with the instances A and B, of which A owns the items 0 and
// 2 and B the item 1.
type triggerTree struct {
	*testing.T
	store *modelstore.Store
}

func newTriggerTree(t *testing.T) *triggerTree {
	tree := &triggerTree{t, modelstore.New()}
	for session, id := range []string{"A", "B"} {
		document := jobtree.EncodeInstance(id, "host-"+id, nil)
		tree.commit(coord.SessionID(session+1), coord.CreateEphemeral("trigger/instances/"+id, document), coord.CreateEphemeral("trigger/sessions/"+id, nil))
	}
	for item, owner := range []string{"A", "B", "A"} {
		tree.put(fmt.Sprintf("sharding/%d/instance", item), owner)
	}
	return tree
}

func (o *triggerTree) commit(session coord.SessionID, ops ...coord.Op) {
	o.Helper()
	if _, err := o.store.Commit(session, ops...); err != nil {
		o.Fatal(err)
	}
}

func (o *triggerTree) put(path, value string) *triggerTree {
	o.Helper()
	o.commit(0, coord.Put("trigger/"+path, []byte(value)))
	return o
}

func (o *triggerTree) remove(paths ...string) *triggerTree {
	o.Helper()
	for _, path := range paths {
		o.commit(0, coord.DeleteTree("trigger/"+path))
	}
	return o
}

func (o *triggerTree) trigger(r jobtype.TriggerRequest) (*trigger, error) {
	o.Helper()
	return newTrigger(jobtree.Read(o.store.Snapshot(), "trigger"), r)
}

func TestTriggerAwaitsOwners(t *testing.T) {
	of := func(items ...int) jobtype.TriggerRequest {
		return jobtype.TriggerRequest{Instances: []string{"A", "B"}, Items: items}
	}
	for _, c := range []struct {
		name string
		tree func(*triggerTree)
		r    jobtype.TriggerRequest
		want bool
	}{
		{"all have owners", nil, of(), false},
		{"an owner has gone", func(o *triggerTree) { o.remove("instances/B") }, of(), true},
		{"and it does not matter who it is", func(o *triggerTree) { o.remove("instances/B") }, jobtype.TriggerRequest{}, false},
		{"of an item that is not asked for", func(o *triggerTree) { o.remove("instances/B") }, of(0, 2), false},
		{"and the item runs", func(o *triggerTree) { o.remove("instances/B").put("sharding/1/running", "B") }, of(), false},
		{"an item has none", func(o *triggerTree) { o.remove("sharding/1/instance").put("sharding/1/fired", "") }, of(1), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := newTriggerTree(t)
			if c.tree != nil {
				c.tree(tree)
			}
			o, err := tree.trigger(c.r)
			if err != nil || o.awaitsOwners() != c.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTriggeredItems(t *testing.T) {
	for _, c := range []struct {
		name      string
		tree      func(*triggerTree)
		r         jobtype.TriggerRequest
		want      []int
		instances []string
		refused   error
	}{
		{"all", nil, jobtype.TriggerRequest{}, []int{0, 1, 2}, []string{"A", "B"}, nil},
		{"one item", nil, jobtype.TriggerRequest{Items: []int{1}}, []int{1}, []string{"B"}, nil},
		{"one item twice", nil, jobtype.TriggerRequest{Items: []int{1, 1}}, []int{1}, []string{"B"}, nil},
		{"one instance", nil, jobtype.TriggerRequest{Instances: []string{"A"}}, []int{0, 2}, []string{"A"}, nil},
		{"one item of one instance", nil, jobtype.TriggerRequest{Instances: []string{"A"}, Items: []int{1, 2}}, []int{2}, []string{"A"}, nil},
		{"an item without an owner", func(o *triggerTree) { o.remove("sharding/1/instance") }, jobtype.TriggerRequest{}, []int{0, 1, 2}, []string{"A"}, nil},
		{"nobody", func(o *triggerTree) { o.remove("instances/A", "instances/B") }, jobtype.TriggerRequest{}, nil, nil, jobtype.ErrNobodyRunsIt},
		{"nobody who may", func(o *triggerTree) { o.remove("instances/B").put("servers/host-A", "DISABLED") }, jobtype.TriggerRequest{}, nil, nil, jobtype.ErrNobodyRunsIt},
		{"JVM members only", func(o *triggerTree) { o.remove("sessions/A", "sessions/B") }, jobtype.TriggerRequest{}, nil, nil, jobtype.ErrNobodyRunsIt},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := newTriggerTree(t)
			if c.tree != nil {
				c.tree(tree)
			}
			o, err := tree.trigger(c.r)
			if !errors.Is(err, c.refused) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			got := o.list()
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.instances, ownersOf(o.state, got), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("instances (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := newTriggerTree(t).trigger(jobtype.TriggerRequest{Items: []int{3}}); err == nil {
		t.Error("item 3 was accepted")
	}
}
