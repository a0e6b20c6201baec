package away

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// Each page says when what it shows may be old, and that it is not any more, whatever has broken: also the console's own
// restart, the end of a session, and rights that are taken. How long that took is logged: 15 s at most, on a machine with
// nothing else to do.
func TestPagesTellTheTruthOnEtcd(t *testing.T) {
	t.Parallel()
	pagesTellTheTruth(t, "etcd")
}

func TestPagesTellTheTruthOnZooKeeper(t *testing.T) {
	t.Parallel()
	pagesTellTheTruth(t, "zookeeper")
}

func pagesTellTheTruth(t *testing.T, store string) {
	t.Helper()
	browser.Require(t)
	const shop = "/namespaces/" + world.Namespace
	const soon = shop + "/jobs/" + world.Soon
	ofStore := []string{
		shop, shop + "/jobs", shop + "/instances", shop + "/servers", shop + "/calendars", shop + "/audit", soon, soon + "/settings", soon + "/changes",
	}
	all := append([]string{"/"}, ofStore...) // the home page is live while it tells that a namespace does not answer
	remote := world.Away(t, store)
	tabs := map[string]*browser.Tab{}
	for _, path := range all {
		tab := chromium.Tab(t, remote.URL)
		tab.SetCookies(world.LogIn(t, remote.URL, world.Viewer))
		tab.Open(path)
		for _, fault := range []string{": 401", ": 403", ": 502", ": 503", ": 504", "net::ERR_"} {
			tab.Allow(fault)
		}
		tab.See("Live")
		tabs[path] = tab
	}
	// tell waits until pages show a text.
	tell := func(after string, paths []string, text string) {
		t.Helper()
		begun := time.Now()
		took := make([]string, 0, len(paths))
		for _, path := range paths {
			tabs[path].See(text)
			took = append(took, path+" "+time.Since(begun).Round(time.Second/10).String())
		}
		t.Logf("%s: %q: %s", after, text, strings.Join(took, ", "))
	}
	const isOld = "What has happened since then is not known."
	// back looks at all pages again.
	back := func(after string) {
		t.Helper()
		for _, path := range all {
			tabs[path].ComeBack()
		}
		tell(after, all, "Live")
	}

	remote.Store.Cut()
	tell("the store is cut off", ofStore, isOld)
	tell("the store is cut off", []string{"/"}, "does not answer")
	remote.Store.Heal()
	back("the store is back")

	remote.Store.BlackHole()
	tell("the store is silent", ofStore, isOld)
	remote.Store.Heal()
	back("the store is back")

	remote.Front.Cut()
	tell("the console is cut off", all, isOld)
	remote.Front.Heal()
	back("the console is back")

	remote.Front.BlackHole()
	tell("the console is silent", all, isOld)
	remote.Front.Heal()
	back("the console is back")

	remote.Restart()
	tell("the console is new", all, "Live")

	for _, s := range remote.Access.Sessions(world.Viewer) {
		if err := remote.Access.EndSession(access.Actor{Name: "test"}, s.Key); err != nil {
			t.Fatal(err)
		}
	}
	tell("the sessions have ended", all, "Password")
	for _, path := range all {
		tabs[path].Fill("Password", world.Password)
		tabs[path].Press("Enter")
	}
	tell("somebody has logged in again", all, "Live")

	if err := remote.Access.SetUser(t.Context(), access.Actor{Name: "test"}, world.Viewer, access.Rights{}); err != nil {
		t.Fatal(err)
	}
	tell("rights are taken", ofStore, "You may not do this.")
}
