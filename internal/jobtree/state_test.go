package jobtree_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// jvmTree is the tree of a job with two instances of ElasticJob 3.0.5. One was killed while
// it ran item 1, and the other one is running that again.
func jvmTree() map[string]string {
	const survivor, dead = "192.0.2.2@-@14058", "192.0.2.2@-@13981"
	return map[string]string{
		"demoJob":                             "Drv$J",
		"demoJob/config":                      "cron: 28 14/1 * * * ?\njobName: demoJob\nshardingTotalCount: 3\n",
		"demoJob/instances":                   "",
		"demoJob/instances/192.0.2.2@-@14058": "jobInstanceId: 192.0.2.2@-@14058\nserverIp: 192.0.2.2\n",
		"demoJob/leader":                      "",
		"demoJob/leader/election":             "",
		"demoJob/leader/election/instance":    survivor,
		"demoJob/leader/election/latch":       "",
		"demoJob/leader/failover":             "",
		"demoJob/leader/failover/items":       "",
		"demoJob/leader/failover/latch":       "",
		"demoJob/leader/sharding":             "",
		"demoJob/leader/sharding/necessary":   "",
		"demoJob/servers":                     "",
		"demoJob/servers/192.0.2.2":           "ENABLED",
		"demoJob/sharding":                    "",
		"demoJob/sharding/0":                  "",
		"demoJob/sharding/0/instance":         survivor,
		"demoJob/sharding/1":                  "",
		"demoJob/sharding/1/failover":         survivor,
		"demoJob/sharding/1/failovering":      survivor,
		"demoJob/sharding/1/instance":         dead,
		"demoJob/sharding/1/running":          survivor,
		"demoJob/sharding/2":                  "",
		"demoJob/sharding/2/instance":         survivor,
	}
}

func TestReadsATreeOfJVMMembers(t *testing.T) {
	const survivor, dead = "192.0.2.2@-@14058", "192.0.2.2@-@13981"
	s := jobtree.Read(tree(jvmTree()), "demoJob")
	if !s.Exists || s.Implementation != "Drv$J" || s.Config == nil || s.Config.Path != "demoJob/config" {
		t.Errorf("job: %+v", s)
	}
	if !s.Leader.Is(survivor) || !s.Necessary || s.Processing || s.FailoverItems != nil || s.Triggers != nil {
		t.Errorf("leader: %+v", s)
	}
	if got := slices.Collect(maps.Keys(s.Instances)); !cmp.Equal(got, []string{survivor}) {
		t.Errorf("instances: %q", got)
	}
	if len(s.Items) != 3 {
		t.Fatalf("%d items", len(s.Items))
	}
	for i, item := range s.Items {
		if !item.Exists || item.Misfire || item.Disabled || item.Fired != nil {
			t.Errorf("item %d: %+v", i, item)
		}
	}
	if item := s.Item(0); !item.Owner.Is(survivor) || item.Running != nil || item.Failover != nil || item.Failovering != nil {
		t.Errorf("item 0: %+v", item)
	}
	if item := s.Item(1); !item.Owner.Is(dead) || !item.Running.Is(survivor) || !item.Failover.Is(survivor) || !item.Failovering.Is(survivor) {
		t.Errorf("item 1: %+v", item)
	}
}

func TestNothing(t *testing.T) {
	for name, snapshot := range map[string]coord.Snapshot{
		"empty":       {},
		"another job": tree(map[string]string{"settle2/config": "x", "settl": "x", "set/settle/config": "x"}),
	} {
		s := jobtree.Read(snapshot, "settle")
		if s.Exists || s.Config != nil || s.Leader.Is("") || s.Item(0).Exists || s.Item(-1).Exists || s.Item(1<<40).Exists || !s.ServerEnabled("192.0.2.1") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The conditions of a commit need the version and the numbers of the node that was read.
func TestMarksKeepTheirNodes(t *testing.T) {
	const job = jobtree.Job("settle")
	nodes := coord.NewTree()
	put := func(path, value string, n int64) coord.Node {
		node := coord.Node{Path: path, Value: []byte(value), Version: n, Created: 10 + n, Modified: 20 + n, Owner: coord.SessionID(n)}
		nodes.Put(node)
		return node
	}
	config := put(job.Config(), "x", 1)
	leader := put(job.LeaderInstance(), id, 2)
	server := put(job.Server("192.0.2.2"), "ENABLED", 3)
	instance := put(job.Instance(id), "", 4)
	trigger := put(job.Trigger(id), "", 5)
	session := put(job.Session(id), "", 6)
	waiting := put(job.FailoverItem(7), "", 7)
	owner := put(job.ItemInstance(0), id, 8)
	running := put(job.Running(0), "another", 9)
	fired := put(job.Fired(0), "", 10)
	failover := put(job.Failover(0), id, 11)
	failovering := put(job.Failovering(0), id, 12)
	completed := put(job.Completion(0), "out: OK", 13)

	s := jobtree.Read(nodes.Snapshot(), job)
	item := s.Item(0)
	for _, tc := range []struct{ got, want coord.Node }{
		{*s.Config, config},
		{s.Leader.Node, leader},
		{s.Servers["192.0.2.2"].Node, server},
		{s.Instances[id].Node, instance},
		{s.Triggers[id].Node, trigger},
		{s.Sessions[id].Node, session},
		{s.FailoverItems[0].Node, waiting},
		{item.Owner.Node, owner},
		{item.Running.Node, running},
		{item.Fired.Node, fired},
		{item.Failover.Node, failover},
		{item.Failovering.Node, failovering},
		{item.Completed.Node, completed},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.want.Path, diff)
		}
	}
	if !item.Running.Is("another") || item.Running.Is(id) {
		t.Errorf("running: %+v", item.Running)
	}
}

// Nodes of external writers are not mistaken for nodes of the job.
func TestForeignNodes(t *testing.T) {
	s := jobtree.Read(tree(map[string]string{
		"settle/sharding/01/instance":          id,
		"settle/sharding/x":                    "",
		"settle/sharding/100000/instance":      id,
		"settle/sharding/1/instance/below":     "x",
		"settle/sharding/2/unheard":            "x",
		"settle/leader/failover/items/x":       "",
		"settle/leader/failover/items/03":      "",
		"settle/leader/failover/latch/a-latch": "",
		"settle/leader/election/instance/x":    "",
		"settle/instances/" + id + "/below":    "",
		"settle/servers/192.0.2.1/below":       "DISABLED",
		"settle/trigger/" + id + "/below":      "",
		"settle/guarantee/started/1":           "",
		"settle/configuration":                 "",
		"settle/config/below":                  "",
		"settle/systemTime/current":            "",
	}), "settle")
	if s.Config != nil || s.Leader != nil || s.FailoverItems != nil || s.Instances != nil || s.Servers != nil || s.Triggers != nil {
		t.Errorf("got %+v", s)
	}
	if len(s.Items) != 3 || s.Items[0].Exists || !s.Items[1].Exists || s.Items[1].Owner != nil || !s.Items[2].Exists {
		t.Errorf("items: %+v", s.Items)
	}
}

// A snapshot has items in the order of their names: 0, 1, 10, 11, 2.
func TestOrderOfItems(t *testing.T) {
	const job = jobtree.Job("settle")
	nodes := map[string]string{}
	for i := range 1234 {
		nodes[job.ItemInstance(i)] = fmt.Sprintf("10.0.0.%d@-@1", i%7)
		if i%3 == 0 {
			nodes[job.FailoverItem(i)] = ""
		}
		if i%5 == 0 {
			nodes[job.Misfire(i)] = ""
			nodes[job.ItemDisabled(i)] = ""
		}
	}
	s := jobtree.Read(tree(nodes), job)
	if len(s.Items) != 1234 {
		t.Fatalf("%d items", len(s.Items))
	}
	for i, item := range s.Items {
		if !item.Owner.Is(fmt.Sprintf("10.0.0.%d@-@1", i%7)) || item.Owner.Path != job.ItemInstance(i) {
			t.Fatalf("item %d: %+v", i, item.Owner)
		}
		if item.Misfire != (i%5 == 0) || item.Disabled != item.Misfire {
			t.Fatalf("item %d: %+v", i, item)
		}
	}
	for i, waiting := range s.FailoverItems {
		if waiting.Item != 3*i {
			t.Fatalf("failover item %d is %d", i, waiting.Item)
		}
	}
}

// A state that has followed the tree is what Read returns, even if a store that was restored uses versions and
// revisions again, and it says what has changed.
func TestFollowIsRead(t *testing.T) {
	const job = jobtree.Job("settle")
	paths := []string{job.Root(), job.Config(), job.Schedule(), job.LeaderInstance(), job.FailoverItem(1), job.FailoverItem(2), job.FailoverItem(10), job.FailoverItems(), job.FailoverItem(2) + "/debris"}
	for _, id := range []string{"10.0.0.1@-@1-a", "10.0.0.2@-@1-b"} {
		paths = append(paths, job.Instance(id), job.Session(id), job.Server(jobtree.InstanceIP(id)), job.Trigger(id), job.Faults(id))
	}
	for i := range 3 {
		paths = append(paths, job.ItemInstance(i), job.Running(i), job.Failover(i), job.Failovering(i), job.Fired(i), job.Completion(i), job.Misfire(i))
	}
	early, late := time.Date(2026, 11, 20, 23, 14, 28, 0, time.UTC), time.Date(2026, 11, 20, 23, 14, 29, 0, time.UTC)
	for _, tick := range []time.Time{early, late} {
		paths = append(paths, job.Guarantee(tick), job.GuaranteeOpen(tick), job.GuaranteeItem(tick, 0), job.GuaranteeItem(tick, 1), job.GuaranteeItem(tick, 1)+"/debris", job.Guarantee(tick)+"/unknown")
	}
	paths = append(paths, job.Guarantees(), job.Guarantees()+"/started/1")
	paths = append(paths, job.Cursor(0), job.Cursor(1), job.Sharding(), job.Item(1), job.ItemDisabled(0), job.Running(0)+"/debris", job.Item(2)+"/unknown")
	paths = append(paths, job.Kill(0), job.Kill(1), job.Kill(1)+"/debris", job.Pin(0), job.Pin(2), job.Requests(), string(job)+"/requestsX")
	for _, id := range []string{"1-a", "2-b"} {
		paths = append(paths, job.Request(id), job.Progress(id, 0), job.Progress(id, 1), job.Progress(id, 1)+"/debris", job.Request(id)+"/x")
	}
	values := []string{"token: 7\n", "label: gpu\n", "items: 0-1\n", "items: 0-1\nstartBy: 2026-11-20T23:14:28Z\ncompleteBy: 2026-11-20T23:14:28Z\n", "items: 1\nended: 2026-11-20T23:14:28Z\n", "runner: 10.0.0.1@-@1-a\n", "done: 1\nout: OK\n",
		"", "10.0.0.1@-@1-a", "10.0.0.2@-@1-b", "2026-11-20T23:14:28.000Z", "serverIp: 10.0.0.3\n", "cron: x\nsince: 2026-11-20T23:14:28Z\n", "protocol: 1\n", "["}
	rapid.Check(t, func(t *rapid.T) {
		nodes := coord.NewTree()
		followed, shown := jobtree.Read(coord.Snapshot{}, job), coord.Snapshot{}
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			for range rapid.IntRange(1, 4).Draw(t, "nodes") {
				n := coord.Node{
					Path:     rapid.SampledFrom(paths).Draw(t, "path"),
					Value:    []byte(rapid.SampledFrom(values).Draw(t, "value")),
					Version:  rapid.Int64Range(0, 2).Draw(t, "version"),
					Created:  rapid.Int64Range(1, 3).Draw(t, "created"),
					Modified: rapid.Int64Range(1, 3).Draw(t, "modified"),
				}
				if rapid.Bool().Draw(t, "remove") {
					nodes.Delete(n.Path)
				} else {
					nodes.Put(n)
				}
			}
			snapshot := nodes.Snapshot()
			read, before := jobtree.Read(snapshot, job), jobtree.Read(shown, job)
			changes := followed.Follow(snapshot, shown, job)
			shown = snapshot
			if !reflect.DeepEqual(read, followed) {
				if diff := cmp.Diff(read, followed, cmp.Comparer(sameError), cmp.Transformer("request", ofRequest), cmpopts.EquateEmpty()); diff != "" {
					t.Fatal(diff)
				}
			}
			if changes.Others {
				continue
			}
			items := changes.Items
			for i := range read.Items {
				if owner := read.Items[i].Owner; !changes.Owners && !cmp.Equal(owner, before.Item(i).Owner) {
					t.Fatalf("item %d has another owner, and no owner was said to have changed", i)
				}
				if !slices.Contains(items, i) && !cmp.Equal(read.Items[i], before.Item(i), cmp.Comparer(sameError), cmp.Transformer("request", ofRequest)) {
					t.Fatalf("item %d has changed, and %v were said to", i, items)
				}
			}
			read.Items, before.Items = nil, nil
			if diff := cmp.Diff(read, before, cmp.Comparer(sameError), cmp.Transformer("request", ofRequest), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("only items %v were said to have changed: %s", items, diff)
			}
		}
	})
}

// ofRequest is all that a request tells.
func ofRequest(r *jobtree.Request) any {
	if r == nil {
		return nil
	}
	progress := map[int]*jobtree.Progress{}
	for _, i := range r.Items {
		progress[i] = r.Progress(i)
	}
	return []any{r.Node, r.ID, r.RequestDocument, fmt.Sprint(r.Err), progress}
}

func sameError(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// A state is read after every change of the tree. The items run on 10 instances.
func BenchmarkRead(b *testing.B) {
	const job = jobtree.Job("settle")
	for _, items := range []int{3, 1_000, 10_000} {
		nodes := map[string]string{job.Root(): "settle", job.LeaderInstance(): "10.0.0.1@-@1-c0ffee"}
		for i := range 10 {
			ip := fmt.Sprintf("10.0.0.%d", i)
			id := jobtree.InstanceID(ip, 1, "c0ffee")
			document := jobtree.EncodeInstance(id, ip, nil)
			nodes[job.Instance(id)] = string(document)
			nodes[job.Server(ip)] = jobtree.Enabled
		}
		for i := range items {
			id := jobtree.InstanceID(fmt.Sprintf("10.0.0.%d", i*10/items), 1, "c0ffee")
			nodes[job.ItemInstance(i)] = id
			nodes[job.Running(i)] = id
			nodes[job.Fired(i)] = "2026-11-20T23:14:28.000Z"
			nodes[job.Completion(i)] = "tick: 2026-11-20T23:14:26.000Z\ntoken: 12345\nout: OK\nend: 2026-11-20T23:14:27.512Z\n"
		}
		snapshot := tree(nodes)
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				jobtree.Read(snapshot, job)
			}
		})
		b.Run(fmt.Sprintf("items=%d/follow", items), func(b *testing.B) {
			now := coord.NewTree()
			for n := range snapshot.All("") {
				now.Put(n)
			}
			shown := now.Snapshot()
			state := jobtree.Read(shown, job)
			b.ReportAllocs()
			for b.Loop() {
				n, _ := now.Get(job.Fired(items / 2))
				n.Modified++
				now.Put(n)
				snapshot := now.Snapshot()
				state.Follow(snapshot, shown, job)
				shown = snapshot
			}
		})
	}
}
