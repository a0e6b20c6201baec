package browsertest

import (
	"context"
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
func instancesOf(t *testing.T, w *world.World, name string) []ops.InstanceInfo {
	t.Helper()
	all, err := w.Ops(t).Job(name).Instances(t.Context())
	if err != nil || len(all) != world.Workers {
		t.Fatalf("%s has the instances %+v (%v)", name, all, err)
	}
	return all
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
	one := instancesOf(t, town, name)[1]
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
	gone := instancesOf(t, town, name)[0]
	tab.See("3 instances of 1 job")
	tab.Click("button", "Actions: "+name+" "+shortName(gone.ID))
	tab.Click("button", "Shut down")
	tab.See("This would change:")
	tab.See(gone.ID)
	if len(instancesOf(t, town, name)) != 3 {
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
	tab.See(shortName(instancesOf(t, town, name)[0].ID))
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
