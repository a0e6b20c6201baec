package job_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// fleet is some nodes that run the same jobs.
type fleet struct {
	*testing.T
	cluster   *cluster
	store     store
	namespace string
	view      coord.View
	admin     coord.Registry
	nodes     map[string]*job.Node // by address
	regs      map[string]*counting
	record    *record
}

func newFleet(t *testing.T, s store) *fleet {
	t.Helper()
	c := newCluster(t, s, "settle")
	f := &fleet{T: t, cluster: c, store: s, namespace: c.namespace, admin: c.admin, nodes: map[string]*job.Node{}, regs: map[string]*counting{}, record: c.record}
	view, err := c.admin.View(t.Context(), "", coord.AllLevels)
	c.must(err)
	t.Cleanup(view.Close)
	f.view = view
	return f
}

// add starts a node without jobs.
func (f *fleet) add(ip string, c job.NodeConfig) *job.Node {
	f.Helper()
	dialed, _ := f.store.dial(f.T, f.namespace, f.cluster.timeout)
	reg := &counting{Registry: dialed}
	c.Options = append([]job.Option{job.WithIP(ip)}, c.Options...)
	n, err := job.NewNode(reg, c)
	if err != nil {
		f.Fatal(err)
	}
	f.nodes[ip], f.regs[ip] = n, reg
	f.Cleanup(func() { f.stop(ip); closeRegistry(f.T, dialed) })
	return n
}

func (f *fleet) stop(ip string) {
	if err := f.nodes[ip].Shutdown(context.Background()); err != nil {
		f.Errorf("%s: %v", ip, err)
	}
}

// schedule starts a job on a node.
func (f *fleet) schedule(ip, name string, total int, changes ...func(*job.Config)) *job.Scheduler {
	f.Helper()
	cfg := job.Config{Name: name, Cron: rarely, ShardingTotalCount: total, Failover: true}
	for _, change := range changes {
		change(&cfg)
	}
	s, err := f.nodes[ip].Schedule(f.Context(), cfg, f.record.handler(nil))
	if err != nil {
		f.Fatalf("%s on %s: %v", name, ip, err)
	}
	return s
}

// owners returns how many items each address has; "" counts those without an owner.
func (f *fleet) owners(jobs map[string]int) map[string]int {
	count := map[string]int{}
	for name, total := range jobs {
		for ip, items := range owners(jobtree.Read(f.view.Snapshot(), jobtree.Job(name)), total) {
			count[ip] += len(items)
		}
	}
	return count
}

// await waits until the items of jobs are assigned as the test wants it.
func (f *fleet) await(what string, jobs map[string]int, ok func(map[string]int) bool) map[string]int {
	f.Helper()
	timeout := time.NewTimer(f.cluster.patience())
	defer timeout.Stop()
	for {
		changed := f.view.Changed()
		if err := f.view.Sync(f.Context()); err != nil {
			f.Fatal(err)
		}
		got := f.owners(jobs)
		if ok(got) {
			return got
		}
		select {
		case <-changed:
		case <-timeout.C:
			f.Fatalf("not seen in %v: %s; they are assigned as %v", f.cluster.patience(), what, got)
		}
	}
}

// sign returns what the node at an address shows of itself, and how many nodes show something.
func (f *fleet) sign(ip string) (d jobtree.NodeDocument, all int) {
	for n := range f.view.Snapshot().All(jobtree.Nodes) {
		got, err := jobtree.DecodeNode(n.Value)
		if n.Owner == 0 {
			continue // the parent
		}
		if all++; err != nil {
			f.Error(err)
		}
		if got.Address == ip {
			d = got
		}
	}
	return d, all
}

func (f *fleet) awaitSign(ip string, want jobtree.NodeDocument) {
	f.Helper()
	f.await(fmt.Sprintf("%s shows %+v", ip, want), nil, func(map[string]int) bool {
		got, _ := f.sign(ip)
		return reflect.DeepEqual(got, want)
	})
}

func leastLoaded(c *job.Config) { c.Strategy = "LEAST_LOADED" }

// Jobs of one item go to the node that has the least of all jobs. When another node joins, it
// gets some of those that one node has far too many of, and most of the jobs that come later.
func TestLeastLoadedOverJobs(t *testing.T) {
	onTheSimulator(t, func(t *testing.T, s store) {
		f := newFleet(t, s)
		const many = 30
		jobs := map[string]int{}
		f.add("10.0.0.1", job.NodeConfig{})
		for i := range many {
			name := fmt.Sprintf("single%d", i)
			jobs[name] = 1
			f.schedule("10.0.0.1", name, 1, leastLoaded)
		}
		f.await("all at one", jobs, func(got map[string]int) bool { return got["10.0.0.1"] == many })
		f.awaitSign("10.0.0.1", jobtree.NodeDocument{Items: many, Address: "10.0.0.1"})
		f.add("10.0.0.2", job.NodeConfig{})
		for name := range jobs {
			f.schedule("10.0.0.2", name, 1, leastLoaded)
		}
		f.await("some at the other", jobs, func(got map[string]int) bool { return got["10.0.0.2"] >= 3 })
		f.await("the other shows how many", nil, func(map[string]int) bool {
			shown, _ := f.sign("10.0.0.2")
			return shown.Items > 0 && shown.Items == f.owners(jobs)["10.0.0.2"]
		})
		if had := f.owners(jobs)["10.0.0.2"]; had > 20 {
			t.Errorf("%d of %d went to the other", had, many)
		}
		later := map[string]int{"later": 12}
		for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
			f.schedule(ip, "later", 12, leastLoaded)
		}
		f.await("some of them at the other", later, func(got map[string]int) bool {
			return got["10.0.0.2"] >= 3 && got[""] == 0
		})
	})
}

// A node shows itself as long as it has jobs, and what it shows is rewritten seldom.
func TestNodeShowsItself(t *testing.T) {
	onTheSimulator(t, func(t *testing.T, s store) {
		f := newFleet(t, s)
		n := f.add("10.0.0.1", job.NodeConfig{})
		began := time.Now()
		for i := range 5 {
			f.schedule("10.0.0.1", fmt.Sprintf("job%d", i), 1)
		}
		f.awaitSign("10.0.0.1", jobtree.NodeDocument{Items: 5, Address: "10.0.0.1"})
		commits, _ := f.regs["10.0.0.1"].take()
		writes := 0
		for _, ops := range commits {
			if strings.HasPrefix(ops[0].Path, jobtree.Nodes) {
				writes++
			}
		}
		if most := 2 + int(time.Since(began)/(5*time.Second)); writes > most {
			t.Errorf("%d writes in %v", writes, time.Since(began))
		}
		if _, all := f.sign("10.0.0.1"); all != 1 {
			t.Errorf("%d nodes show themselves", all)
		}
		for _, j := range n.Jobs() {
			if err := j.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f.await("nothing is shown", nil, func(map[string]int) bool { _, all := f.sign("10.0.0.1"); return all == 0 })
		f.schedule("10.0.0.1", "again", 3)
		f.awaitSign("10.0.0.1", jobtree.NodeDocument{Items: 3, Address: "10.0.0.1"})
	})
}

// What cannot be read of other nodes counts as nothing, and never keeps items from being assigned.
func TestUnreadableLoads(t *testing.T) {
	onTheSimulator(t, func(t *testing.T, s store) {
		f := newFleet(t, s)
		for name, value := range map[string]string{"a": "items: many", "b": "\x00", "c": "", "d": "items: 5\noffers: [x]\n"} {
			if _, err := f.admin.Commit(t.Context(), coord.Put(jobtree.Node(name), []byte(value))); err != nil {
				t.Fatal(err)
			}
		}
		f.add("10.0.0.1", job.NodeConfig{})
		j := f.schedule("10.0.0.1", "a", 2, leastLoaded)
		f.await("assigned", map[string]int{"a": 2}, func(got map[string]int) bool { return got["10.0.0.1"] == 2 })
		if fault := j.Status().Fault(); fault != nil {
			t.Error(fault)
		}
	})
}
