package browsertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// Every page begins with nothing wrong in its tab, and everybody can use it, in a wide window and on a phone. One without a stream
// says since when it has lost the console.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	const shop = "/namespaces/" + world.Namespace
	polled := []string{
		"/", "/failed", "/account", "/connections", "/users", shop + "/history", shop + "/history?tab=charts&job=" + world.Quick, shop + "/instances",
		shop + "/servers", shop + "/calendars", shop + "/audit", shop + "/jobs/" + world.Quick + "/changes",
	}
	for _, path := range []string{
		"/", "/failed", "/account", "/about", "/connections", "/users",
		shop, shop + "/jobs", shop + "/timeline", shop + "/create", shop + "/history", shop + "/history?tab=charts&job=" + world.Quick, shop + "/history?tab=events&kinds=joined,operated", shop + "/instances", shop + "/servers", shop + "/calendars", shop + "/audit",
		shop + "/jobs/" + world.Quick, shop + "/jobs/" + world.Quick + "/settings", shop + "/jobs/" + world.Quick + "/changes",
		shop + "/jobs/" + world.Failing, shop + "/jobs/" + world.Orphan,
		"/namespaces/" + world.Empty, "/namespaces/" + world.Empty + "/jobs", "/namespaces/" + world.Empty + "/timeline",
	} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			t.Parallel()
			tab := enter(t, world.Admin, path)
			// The overview asks for namespaces and items of jobs that other tests remove.
			tab.Allow("/jobs?limit=1: 404")
			tab.Allow("/items?limit=1000: 404")
			for _, width := range []int{1280, 360} {
				if width == 360 {
					tab.Emulate(width, 800, true, "en-US")
					tab.Open(path)
				}
				tab.WaitFor("document.querySelector('#page') && !document.querySelector('#page').ariaBusy")
				tab.NotSee("Loading …")
				audit(t, tab, path)
			}
			if !slices.Contains(polled, path) {
				return
			}
			tab.See("Live")
			cut(tab)
			tab.See("No connection since ")
			tab.See("What has happened since then is not known.")
			audit(t, tab, path+" while it is blind")
			heal(tab)
			tab.See("Live")
			tab.NotSee("What has happened since then is not known.")
		})
	}
}
