package browsertest

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
	"github.com/elasticjob-go/elasticjob/console/docsite"
	"github.com/elasticjob-go/elasticjob/console/internal/page"
)

// The documentation's site works from a folder, without a server: everybody can use its pages, in a wide window and on a
// phone, in light and dark; links lead on, and the search finds.
func TestDocsFromAFolder(t *testing.T) {
	t.Parallel()
	browser.Require(t)
	dir := t.TempDir()
	files, err := page.Docs()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tab := chromium.Tab(t, (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir) + "/"}).String())
	site, err := docsite.Project()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"reference/faults.html", "reference/configuration.html"}
	for i, p := range site.Pages { // the first one of each folder
		if i == 0 || path.Dir(p.Name) != path.Dir(site.Pages[i-1].Name) {
			names = append(names, p.Address())
		}
	}
	for _, name := range names {
		for _, width := range []int{1280, 360} {
			tab.Emulate(width, 800, width == 360, "en-US")
			tab.Open(name)
			tab.WaitFor("document.querySelector('h1').innerText && document.querySelector('#docs-menu').open === " + map[bool]string{true: "true", false: "false"}[width > 896])
			audit(t, tab, name)
		}
	}

	tab.Emulate(1280, 800, false, "en-US")
	tab.Open("decisions/engine.html")
	tab.Fill("Search", "session")
	tab.WaitFor("document.querySelectorAll('#docs-results li').length > 1")
	audit(t, tab, "results")
	tab.Fill("Search", "five fields of cron")
	tab.WaitFor("document.querySelector('#docs-results a').innerText === 'Five fields of cron'")
	tab.Press("Enter")
	tab.WaitFor("location.pathname.endsWith('/decisions/five-field-cron.html') && document.querySelector('h1').innerText === 'Five fields of cron'")
	tab.Fill("Search", "zzzz")
	tab.See("No page has these words.")
	tab.Click("link", "ElasticJob")
	tab.WaitFor("location.pathname.endsWith('/index.html') && document.readyState === 'complete'")
}

// The console serves the same pages, also to who is not logged in, with what he has chosen in it; and it links what it shows
// to them.
func TestDocsInTheConsole(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Admin, "/about")
	tab.Choose("Theme", "Dark")
	tab.Click("link", "Documentation")
	tab.WaitFor("location.pathname === '/docs/' && document.documentElement.dataset.theme === 'dark' && document.querySelector('#docs-search')")
	audit(t, tab, "/docs/")
	tab.Fill("Search", "five fields of cron")
	tab.WaitFor("document.querySelector('#docs-results a').innerText === 'Five fields of cron'")
	tab.Press("Enter")
	tab.WaitFor("location.pathname === '/docs/decisions/five-field-cron.html'")

	for path, selector := range map[string]string{
		"/namespaces/" + world.Namespace:                                        "a[href*='docs/reference/findings#']",
		"/namespaces/" + world.Namespace + "/jobs/" + world.Quick + "/settings": "a[href*='docs/reference/configuration#props'], a[href$='docs/reference/configuration#cron']",
	} {
		tab.Allow("/items?limit=1000: 404") // as TestEveryPage
		tab.Open(path)
		var to string
		tab.WaitFor("document.querySelector(\"" + selector + "\")")
		tab.Eval("document.querySelector(\""+selector+"\").href", &to)
		tab.Open(to)
		tab.WaitFor("document.querySelector(':target')")
	}
}
