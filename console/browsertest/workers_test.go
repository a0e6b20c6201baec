package browsertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// doomed is a world whose workers end, so that the tests that need workers which stay do not wait for these.
var doomed = world.New()

func TestWorkersThatEnd(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	t.Run("a process is drained", drain)
	t.Run("a server is drained", drainServer)
	t.Run("items of a job", jobLive)
	t.Run("lanes of a timeline", lanesChange)
}

// A process leaves all its jobs at once. Others have its items then; only what it runs ends first.
func drain(t *testing.T) {
	const worker = 2
	tab := enterAt(t, doomed.Start(t), world.Admin, instancesPage)
	process := instancesOf(t, doomed, world.Once)[worker].Process
	name := shortName(process)
	tab.See(name)
	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Shut down in all jobs")
	tab.See(fmt.Sprintf("%d jobs to change", jobsOn(t, world.Address(worker))))
	tab.Click("button", "Shut down")
	tab.See("leave all its jobs done.")
	doomed.Kill(t, worker) // it comes back as a new one
	eventually(t, "no item is on the server", func(ctx context.Context) (bool, error) {
		all, err := doomed.Ops(t).Instances(ctx)
		return !slices.ContainsFunc(all, func(i ops.InstanceInfo) bool {
			return i.Server == world.Address(worker) && !i.Leaving
		}), err
	})
	tab.WaitFor("!document.querySelector('tbody [title=\"" + process + "\"]')")
}

// A server is drained: it is kept from all jobs, its page says when nothing runs there any more, and it is let in again.
func drainServer(t *testing.T) {
	server := world.Address(1)
	tab := enterAt(t, doomed.Start(t), world.Admin, serversPage)
	isNow := func(what string, is func(ops.ServerInfo) bool) {
		t.Helper()
		eventually(t, what, func(ctx context.Context) (bool, error) {
			all, err := doomed.Ops(t).Servers(ctx)
			return slices.ContainsFunc(all, func(s ops.ServerInfo) bool { return s.Server == server && is(s) }), err
		})
	}
	tab.See("3 servers")
	t.Cleanup(func() {
		if _, err := doomed.Ops(t).Server(server).Enable(context.Background()); err != nil {
			t.Error(err)
		}
	})
	tab.Click("button", "Actions: "+server)
	tab.Click("button", "Drain")
	tab.See(fmt.Sprintf("%d jobs to change", jobsOn(t, server)))
	tab.Fill("Why", "it is moved")
	tab.Click("button", "Drain")
	tab.WaitFor("location.search === '?server=" + server + "'")
	isNow("it is disabled in all jobs", func(s ops.ServerInfo) bool { return s.DisabledJobs == s.Jobs })
	killOn(t, server, doomed.Ops(t).Job(world.Long)) // which goes on for a minute there, else
	isNow("it runs nothing", func(s ops.ServerInfo) bool { return s.DisabledJobs == s.Jobs && s.Running+s.Items == 0 })
	tab.See("the machine may be switched off")
	audit(t, tab, "a drained server")
	cut(tab)
	tab.See("do not switch the machine off yet")
	audit(t, tab, "a drained server while the page is blind")
	heal(tab)
	tab.See("the machine may be switched off")
	tab.Open(serversPage)
	tab.Click("button", "Disabled 1")
	tab.See("1 server Show all")
	tab.Click("button", "Actions: "+server)
	tab.Click("button", "Enable")
	isNow("it is enabled in all jobs", func(s ops.ServerInfo) bool { return s.DisabledJobs == 0 })
	tab.See("Nothing is like that.")
	tab.Click("button", "Show all")
	tab.WaitFor(rowOf(server) + ".innerText.includes('Enabled')")
}

// killOn kills what a server runs of a job.
func killOn(t *testing.T, server string, j *ops.Job) {
	t.Helper()
	all, err := j.Items(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range all {
		if item.Run == nil || item.Server != server {
			continue
		}
		if _, err := j.Kill(t.Context(), ops.KillRequest{Items: []int{item.Item}}); err != nil && !errors.Is(err, ops.ErrNotRunning) { // it has ended
			t.Fatal(err)
		}
	}
}

// A worker dies: its items are late, and then have other owners, on the page without a reload.
func jobLive(t *testing.T) {
	const name = "op-live"
	doomed.Job(t, world.Count, job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 3})
	tab, j := enterAt(t, doomed.Start(t), world.Viewer, jobsPath+"/"+name), doomed.Ops(t).Job(name)
	tab.See("Live")
	tab.WaitFor("window.isSame = true")
	d, err := j.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	item := slices.IndexFunc(d.Items, func(i ops.ItemInfo) bool { return i.Server == world.Address(1) })
	tab.WaitFor(itemRow(item) + ".includes('" + world.Address(1) + "')")
	doomed.Kill(t, 1)
	tab.WaitFor("/overdue|Instance lost/.test(" + itemRow(item) + ")") // it is lost if it ran at that moment
	tab.WaitFor("!" + itemRow(item) + ".includes('" + world.Address(1) + "') && window.isSame")
	tab.WaitFor("!/overdue|Instance lost/.test(" + itemRow(item) + ")")
}

// The lane of a worker that is killed changes owner before everybody's eyes.
func lanesChange(t *testing.T) {
	const name = "timeline-failover"
	tab := enterAt(t, doomed.Start(t), world.Viewer, "/about")
	doomed.Job(t, world.Rebuild, job.Config{Name: name, Cron: "0/10 * * * * ?", ShardingTotalCount: 3, Failover: true})
	tab.Open(shopPages + "/jobs/" + name + "?span=120")
	lost := executions(tab, name, "&outcomes=RUNNING", 3)[0]
	tab.WaitFor(onIt("isDrawn(%d, %d)", lost.Item, lost.Begun.UnixMilli()))
	tab.WaitFor("window.isTheSame = true")
	short := func(instance string) string {
		address, process, _ := strings.Cut(instance, "@-@")
		process, _, _ = strings.Cut(process, "-")
		return address + " · " + process
	}
	tab.WaitFor(fmt.Sprintf("document.querySelector('.timeline-legend').innerText.includes(%q)", strings.SplitN(lost.Instance, "@", 2)[0]))
	for worker := range world.Workers {
		if strings.HasPrefix(lost.Instance, world.Address(worker)+"@") {
			doomed.Kill(t, worker)
		}
	}
	again := executions(tab, name, fmt.Sprintf("&source=FAILOVER&items=%d", lost.Item), 1)[0]
	if again.Instance == lost.Instance || !again.Tick.Equal(lost.Tick) {
		t.Fatalf("%+v is no failover of %+v", again, lost)
	}
	tab.WaitFor(onIt("(point(%d, Date.now() - 200), document.querySelector('.timeline-tip').textContent.includes(%q))", lost.Item, short(again.Instance)))
	tab.See("Failover")
	tab.WaitFor(onIt("(point(%d, %d), document.querySelector('.timeline-tip').textContent.includes('Lost'))", lost.Item, lost.Begun.UnixMilli()+50))
	tab.WaitFor("window.isTheSame")
}

// jobsOn is how many jobs know a server.
func jobsOn(t *testing.T, address string) int {
	t.Helper()
	all, err := doomed.Ops(t).JobsOn(t.Context(), address)
	if err != nil || len(all) == 0 {
		t.Fatalf("the jobs of %s: %v (%v)", address, all, err)
	}
	return len(all)
}
