package browsertest

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

const isBegun = "document.querySelector('#page:not([aria-busy])')"

// Addresses can be written by hand, and what they name need not be there: that is no defect of a page.
func TestNonsenseInAddresses(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Admin, "/about")
	for path, shown := range map[string]string{
		"/jobs?sort=constructor&status=constructor&failing=%3Cb%3E": "No job is like that.",
		"/history?span=constructor&from=yesterday":                  "Export as CSV",
		"/history?tab=charts&span=constructor":                      "Charts",
		"/calendars/nonsense?new=1&month=2026-99":                   "No job names this calendar.",
	} {
		tab.Allow("/calendars/nonsense: 404") // it is new
		tab.Open("/namespaces/" + world.Namespace + path)
		tab.WaitFor(isBegun)
		tab.See(shown)
		tab.NotSee("The page has a defect.")
	}
}

// Who goes to another namespace and comes back is in the first one again, and can go to the other one once more.
func TestNamespaceAfterTheWayBack(t *testing.T) {
	t.Parallel()
	const calendars = "/namespaces/" + world.Namespace + "/calendars"
	tab := enter(t, world.Admin, calendars)
	for range 2 {
		tab.Choose("Namespace", world.Empty)
		tab.WaitFor("location.pathname === '/namespaces/" + world.Empty + "' && " + isBegun)
		var none any
		tab.Eval("void setTimeout(() => history.back())", &none) // after the answer, which would go with the page
		tab.WaitFor("location.pathname === '" + calendars + "' && document.readyState === 'complete' && " + isBegun)
		tab.WaitFor("document.querySelector('#namespace').value.endsWith('/" + world.Namespace + "')")
	}
}
