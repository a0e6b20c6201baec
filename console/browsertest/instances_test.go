package browsertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

const (
	instancesPage = "/namespaces/" + world.Namespace + "/instances"
	serversPage   = "/namespaces/" + world.Namespace + "/servers"
)

// shortName is what pages call an instance or a process: its address and the number of the process.
func shortName(id string) string {
	address, rest, _ := strings.Cut(id, "@-@")
	number, _, _ := strings.Cut(rest, "-")
	return address + " · " + number
}

// eventually waits until the registry has something.
func eventually(t *testing.T, what string, is func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		isSo, err := is(ctx)
		if err == nil && isSo {
			return
		}
		if !sleep.For(ctx, 20*time.Millisecond) {
			t.Fatalf("it never came that %s (%v)", what, err)
		}
	}
}

// instancesOf are the instances of a job that a test has made.
func instancesOf(t *testing.T, name string) []ops.InstanceInfo {
	t.Helper()
	all, err := town.Ops(t).Job(name).Instances(t.Context())
	if err != nil || len(all) != world.Workers {
		t.Fatalf("%s has the instances %+v (%v)", name, all, err)
	}
	return all
}

// jobsOn is how many jobs know a server.
func jobsOn(t *testing.T, address string) int {
	t.Helper()
	all, err := town.Ops(t).JobsOn(t.Context(), address)
	if err != nil || len(all) == 0 {
		t.Fatalf("the jobs of %s: %v (%v)", address, all, err)
	}
	return len(all)
}

// rowOf is the expression of the row of a table whose first cell begins with a text.
func rowOf(text string) string {
	return fmt.Sprintf("[...document.querySelectorAll('tbody tr')].find(r => r.cells[0].innerText.trim().startsWith(%q))", text)
}

// Instances are listed by process and by job, are found, and what each has is what the registry has.
func TestInstances(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	const name = "instances-listed"
	town.Job(t, world.Count, job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 7})
	tab := enter(t, world.Viewer, instancesPage)
	one := instancesOf(t, name)[1]
	tab.See("What it has")
	tab.Fill("Search", name+" "+one.Server)
	tab.See("1 instance in 1 process")
	tab.See(shortName(one.Process))
	tab.Click("button", "By job")
	tab.See("1 instance of 1 job")
	tab.WaitFor("location.search.includes('by=job')")
	eventually(t, "its items are those on the page", func(ctx context.Context) (bool, error) {
		all, err := town.Ops(t).Job(name).Instances(ctx)
		at := slices.IndexFunc(all, func(i ops.InstanceInfo) bool { return i.ID == one.ID })
		if err != nil || at < 0 || len(all[at].Items) == 0 {
			return false, err
		}
		var shown string
		tab.Eval(rowOf(shortName(one.ID))+"?.innerText ?? ''", &shown)
		return strings.Contains(shown, fmt.Sprintf("Items %d", all[at].Items[0])) && strings.Contains(shown, "rack-1"), nil
	})
	tab.NotSee("Actions")
	tab.Open(instancesPage + "?by=job&state=leader&search=" + name)
	tab.See("1 instance of 1 job")
	tab.See("Leader")
	tab.Click("button", "Show all")
	tab.See(world.Quick)
	tab.WaitFor("location.search === '?by=job'")
	tab.Click("button", "Show the instances of "+world.Quick)
	tab.WaitFor("document.querySelectorAll('tr.member').length === 3")
	tab.Click("link", world.Quick)
	tab.WaitFor("location.pathname.endsWith('/jobs/" + world.Quick + "')")
}

// An instance leaves its job when it is told to, and its row goes without a reload.
func TestInstanceShutDown(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	const name = "op-instances-leave"
	town.Job(t, world.Count, job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 3})
	tab := enter(t, world.Operator, instancesPage+"?by=job&search="+name)
	gone := instancesOf(t, name)[0]
	tab.See("3 instances of 1 job")
	tab.Click("button", "Actions: "+name+" "+shortName(gone.ID))
	tab.Click("button", "Shut down")
	tab.See("This would change:")
	tab.See(gone.ID)
	if len(instancesOf(t, name)) != 3 {
		t.Error("a preview has changed something")
	}
	tab.Fill("Why", "it gets a new disk")
	tab.Click("button", "Shut down")
	jobComes(t, town.Ops(t).Job(name), "the instance is gone, and others have its items", func(d *ops.JobDetail) bool {
		return len(d.Instances) == 2 && !slices.ContainsFunc(d.Items, func(i ops.ItemInfo) bool { return i.Instance == "" || i.Instance == gone.ID })
	})
	tab.See("2 instances of 1 job")
	tab.NotSee(shortName(gone.ID))
	entries := "fetch('/api/v1/namespaces/shop/audit?job=" + name + "').then(r => r.json()).then(a => a.rows.some(e => e.by === 'oscar' && e.why === 'it gets a new disk'))"
	tab.WaitFor(entries)
}

// A process leaves all its jobs at once. Others have its items then; only what it runs ends first.
func TestDrain(t *testing.T) {
	browser.Require(t)
	const worker = 2
	tab := enter(t, world.Admin, instancesPage)
	process := instancesOf(t, world.Once)[worker].Process
	name := shortName(process)
	tab.See(name)
	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Shut down in all jobs")
	tab.See(fmt.Sprintf("%d jobs to change", jobsOn(t, world.Address(worker))))
	tab.Click("button", "Shut down")
	tab.See("leave all its jobs done.")
	town.Kill(t, worker) // it comes back as a new one
	eventually(t, "no item is on the server", func(ctx context.Context) (bool, error) {
		all, err := town.Ops(t).Instances(ctx)
		return !slices.ContainsFunc(all, func(i ops.InstanceInfo) bool {
			return i.Server == world.Address(worker) && !i.Leaving
		}), err
	})
	tab.WaitFor("!document.querySelector('tbody [title=\"" + process + "\"]')")
}

// A server is drained: it is kept from all jobs, its page says when nothing runs there any more, and it is let in again.
func TestServers(t *testing.T) {
	browser.Require(t)
	server := world.Address(1)
	tab := enter(t, world.Admin, serversPage)
	isNow := func(what string, is func(ops.ServerInfo) bool) {
		t.Helper()
		eventually(t, what, func(ctx context.Context) (bool, error) {
			all, err := town.Ops(t).Servers(ctx)
			return slices.ContainsFunc(all, func(s ops.ServerInfo) bool { return s.Server == server && is(s) }), err
		})
	}
	tab.See("3 servers")
	t.Cleanup(func() {
		if _, err := town.Ops(t).Server(server).Enable(context.Background()); err != nil {
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
	killOn(t, server, town.Ops(t).Job(world.Long)) // which goes on for a minute there, else
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

// A server has a page, on which each job is told apart; who may operate some jobs changes these.
func TestServerOfAJob(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	const name = "op-server"
	server := world.Address(0)
	town.Job(t, world.Count, job.Config{Name: name, Cron: "0 0 3 * * ?", ShardingTotalCount: 3})
	tab := enter(t, world.Operator, serversPage)
	tab.Click("link", server)
	tab.WaitFor("location.search === '?server=" + server + "'")
	tab.See(name)
	tab.See(shortName(instancesOf(t, name)[0].ID))
	o := town.Ops(t).Job(name)
	isEnabled := func(d *ops.JobDetail) bool {
		return slices.ContainsFunc(d.Servers, func(s ops.JobServer) bool { return s.Server == server && s.Enabled })
	}
	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Disable")
	tab.See("Disable " + server + " for " + name + "?")
	tab.Click("button", "Disable")
	jobComes(t, o, "it is disabled", func(d *ops.JobDetail) bool { return !isEnabled(d) })
	tab.WaitFor(rowOf(name) + ".innerText.includes('Disabled')")
	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Enable")
	jobComes(t, o, "it is enabled", isEnabled)
	tab.WaitFor(rowOf(name) + ".innerText.includes('Enabled')")
	tab.Click("button", "Actions: "+name)
	tab.Click("button", "Remove")
	tab.Click("button", "Remove")
	jobComes(t, o, "it is forgotten", func(d *ops.JobDetail) bool { return len(d.Servers) == 2 && len(d.Instances) == 2 })
	tab.WaitFor("!" + rowOf(name))
	tab.WaitFor("!document.querySelector('summary[aria-label$=\"" + world.Quick + "\"]')")
}

// Everybody can use both pages, with all that they show.
func TestInstancesForEverybody(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Admin, instancesPage)
	for _, look := range []struct {
		width    int
		dark     bool
		language string
		sees     string
	}{{1280, true, "en-US", "What it has"}, {360, false, "zh-CN", "按进程"}} {
		tab.Emulate(look.width, 800, look.dark, look.language)
		tab.Open(instancesPage + "?search=" + world.Quick)
		tab.See(look.sees)
		tab.WaitFor("document.querySelectorAll('tr.member').length === 3")
		audit(t, tab, "instances, "+look.language)
		tab.Open(serversPage + "?server=" + world.Address(0))
		tab.See(world.Quick)
		audit(t, tab, "a server, "+look.language)
	}
}
