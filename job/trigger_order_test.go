package job

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/modelstore"
)

// orderTree is the tree of a job with the instances A and B, of which A owns the items 0 and
// 2 and B the item 1.
type orderTree struct {
	*testing.T
	store *modelstore.Store
}

func newOrderTree(t *testing.T) *orderTree {
	tree := &orderTree{t, modelstore.New()}
	for session, id := range []string{"A", "B"} {
		document, err := jobtree.EncodeInstance(id, "host-"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		tree.commit(coord.SessionID(session+1), coord.CreateEphemeral("trigger/instances/"+id, document))
	}
	for item, owner := range []string{"A", "B", "A"} {
		tree.put(fmt.Sprintf("sharding/%d/instance", item), owner)
	}
	return tree
}

func (o *orderTree) commit(session coord.SessionID, ops ...coord.Op) {
	o.Helper()
	if _, err := o.store.Commit(session, ops...); err != nil {
		o.Fatal(err)
	}
}

func (o *orderTree) put(path, value string) *orderTree {
	o.Helper()
	o.commit(0, coord.Put("trigger/"+path, []byte(value)))
	return o
}

func (o *orderTree) remove(paths ...string) *orderTree {
	o.Helper()
	for _, path := range paths {
		o.commit(0, coord.DeleteTree("trigger/"+path))
	}
	return o
}

func (o *orderTree) order(items []int) *order {
	o.Helper()
	got, err := newOrder(jobtree.Read(o.store.Snapshot(), "trigger"), "trigger", "new", TriggerRequest{Items: items})
	if err != nil {
		o.Fatal(err)
	}
	return got
}

func TestOrderWaitsForOwners(t *testing.T) {
	for _, c := range []struct {
		name  string
		tree  func(*orderTree)
		items []int
		want  bool
	}{
		{"all have owners", nil, nil, false},
		{"nothing was dealt yet", func(o *orderTree) { o.remove("sharding") }, nil, true},
		{"an owner has gone", func(o *orderTree) { o.remove("instances/B") }, nil, true},
		{"of an item that is not asked for", func(o *orderTree) { o.remove("instances/B") }, []int{0, 2}, false},
		{"and the item runs", func(o *orderTree) { o.remove("instances/B").put("sharding/1/running", "B") }, nil, false},
		{"an item has none", func(o *orderTree) { o.remove("sharding/1/instance").put("sharding/1/fired", "") }, []int{1}, true},
		{"nobody could have it", func(o *orderTree) { o.remove("instances/A", "instances/B") }, nil, false},
		{"nobody may have it", func(o *orderTree) { o.remove("instances/B").put("servers/host-A", "DISABLED") }, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := newOrderTree(t)
			if c.tree != nil {
				c.tree(tree)
			}
			if got := tree.order(c.items).waitsForOwners(); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestAddressees(t *testing.T) {
	for _, c := range []struct {
		name  string
		tree  func(*orderTree)
		items []int
		want  map[string][]int
	}{
		{"everybody", nil, nil, map[string][]int{"A": {0, 2}, "B": {1}}},
		{"one item", nil, []int{1}, map[string][]int{"B": {1}}},
		{"items that are not there", nil, []int{9}, nil},
		{"a disabled item", func(o *orderTree) { o.put("sharding/2/disabled", "") }, nil, map[string][]int{"A": {0}, "B": {1}}},
		{"a disabled server", func(o *orderTree) { o.put("servers/host-B", "DISABLED") }, nil, map[string][]int{"A": {0, 2}}},
		{"nobody", func(o *orderTree) { o.remove("instances/A", "instances/B") }, nil, nil},
		{"one that runs by failover, of an owner that has gone", func(o *orderTree) {
			o.remove("instances/B").put("sharding/1/running", "A")
		}, []int{1}, map[string][]int{"A": {1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := newOrderTree(t)
			if c.tree != nil {
				c.tree(tree)
			}
			if diff := cmp.Diff(c.want, tree.order(c.items).addressees(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
