package browsertest

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/console/client"
	"github.com/elasticjob-go/elasticjob/job"
)

const inGrey = "document.documentElement.classList.contains('blind')"

// A page whose console does not reach its store says since when what it shows is old, shows it in grey, and counts nothing
// down; until the store is back.
func TestBlindPage(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	remote := world.Away(t, "etcd")
	url, link := remote.URL, remote.Store
	const servers = "/namespaces/" + world.Namespace + "/servers" // which have no stream
	polled := enterAt(t, url, world.Viewer, servers)
	polled.Expect("503")
	for name, page := range map[string]struct{ path, next string }{
		"the jobs": {jobsPath, "document.querySelector('.jobs tbody tr')?.innerText ?? ''"},
		"a job":    {jobsPath + "/" + world.Soon, "document.querySelector('.job-figures')?.innerText ?? ''"},
	} {
		tab := enterAt(t, url, world.Viewer, page.path)
		tab.Allow("503") // what else a page asks for meanwhile
		tab.See("Live")
		countsDown := "/in \\d+ s/.test(" + page.next + ")"
		tab.WaitFor(countsDown + " && !" + inGrey)

		polled.See("Live")
		link.Cut()
		tab.See("Old since ")
		tab.See("What has happened since then is not known.")
		tab.WaitFor(inGrey + " && getComputedStyle(document.querySelector('main .block')).color === getComputedStyle(document.querySelector('.soft')).color")
		var before, after string
		tab.Eval(page.next, &before)
		tab.Eval("window.blindFor = performance.now(), ''", &after)
		tab.WaitFor("performance.now() - window.blindFor > 2500")
		tab.Eval(page.next, &after)
		if before != after {
			t.Errorf("%s: %q has become %q", name, before, after)
		}
		tab.WaitFor("!" + countsDown)
		audit(t, tab, name)
		polled.See("Old since ")
		polled.See("The store of the namespace does not answer.")
		polled.WaitFor(inGrey)

		link.Heal()
		polled.ComeBack()
		tab.See("Live")
		tab.NotSee("Old since ")
		tab.WaitFor(countsDown + " && !" + inGrey)
	}
}

// Who may only look from now on is offered nothing else any more.
func TestRightsBecomeLess(t *testing.T) {
	t.Parallel()
	const user, name = "less-lea", "less-rights"
	town.Job(t, world.Mail, job.Config{Name: name, Cron: "0 0 3 1 1 ?", ShardingTotalCount: 1})
	addUser(t, user, access.Grant{Role: access.Operator, Namespaces: []string{"*"}, Jobs: []string{"*"}})
	tab := enter(t, user, "/namespaces/"+world.Namespace+"/jobs/"+name)
	tab.See("Trigger")
	if _, _, err := asUser(t, world.Admin).SetUser(t.Context(), user, client.UserRights{Grants: []access.Grant{{Role: access.Viewer, Namespaces: []string{"*"}, Jobs: []string{"*"}}}}, client.Any); err != nil {
		t.Fatal(err)
	}
	tab.NotSee("Trigger")
	tab.See("Live")
}

// Who has lost the right to see a page does not go on looking at what it was.
func TestRightIsTaken(t *testing.T) {
	t.Parallel()
	const user, page = "taken-tina", "/namespaces/" + world.Namespace + "/servers"
	addUser(t, user, access.Grant{Role: access.Viewer, Namespaces: []string{"*"}, Jobs: []string{"*"}})
	tab := enter(t, user, page)
	tab.See("Live")
	tab.Allow(": 403")
	if _, _, err := asUser(t, world.Admin).SetUser(t.Context(), user, client.UserRights{Grants: []access.Grant{}}, client.Any); err != nil {
		t.Fatal(err)
	}
	tab.ComeBack()
	tab.See("You may not do this.")
	tab.NotSee("Live")
}
