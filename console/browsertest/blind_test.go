package browsertest

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// A page whose console does not reach its store says since when what it shows is old, shows it in grey, and counts nothing
// down; until the store is back.
func TestBlindPage(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	url, link := world.Away(t)
	for name, page := range map[string]struct{ path, next string }{
		"the jobs": {jobsPath, "document.querySelector('.jobs tbody tr')?.innerText ?? ''"},
		"a job":    {jobsPath + "/" + world.Soon, "document.querySelector('.job-figures')?.innerText ?? ''"},
	} {
		tab := chromium.Tab(t, url)
		tab.Expect("GET " + page.path + ": 401")
		tab.Allow("503") // what else a page asks for meanwhile
		tab.Open(page.path)
		logIn(tab, world.Viewer)
		tab.See("Live")
		const inGrey = "document.documentElement.classList.contains('blind')"
		countsDown := "/in \\d+ s/.test(" + page.next + ")"
		tab.WaitFor(countsDown + " && !" + inGrey)

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

		link.Heal()
		tab.See("Live")
		tab.NotSee("Old since ")
		tab.WaitFor(countsDown + " && !" + inGrey)
	}
}
