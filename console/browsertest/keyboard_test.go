package browsertest

import (
	"strconv"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// Who has no mouse opens a menu of actions, leaves it, and goes on.
func TestMenuByKeys(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Admin, "/connections")
	tab.WaitFor("document.querySelector('details.actions > summary')")
	tab.WaitFor("document.querySelector('details.actions > summary').focus() ?? document.activeElement.tagName === 'SUMMARY'")
	tab.Press("Enter")
	tab.WaitFor("document.querySelector('details.actions').open")
	tab.Press("Tab")
	tab.WaitFor("document.activeElement.closest('details.actions .list')")
	tab.Press("Escape")
	tab.WaitFor("!document.querySelector('details.actions').open && document.activeElement.tagName === 'SUMMARY'")
	tab.Press("Tab")
	tab.WaitFor("document.activeElement !== document.querySelector('details.actions > summary')")
}

// Who has no mouse, or is in a hurry, finds jobs, pages and the actions of the page by Ctrl-K, the search of the page by a slash, and all
// keys by a question mark.
func TestPalette(t *testing.T) {
	t.Parallel()
	const jobs = "/namespaces/" + world.Namespace + "/jobs"
	const isIn = `document.activeElement.getAttribute("role") === "combobox"`
	const marked = `document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.innerText`
	tab := enter(t, world.Admin, jobs)
	tab.See(world.Quick)
	tab.Press("/")
	tab.WaitFor("document.activeElement.id === 'search'")
	tab.Press("?") // it is a letter of the search
	tab.WaitFor("document.activeElement.value.endsWith('?') && !document.querySelector('dialog')")
	tab.WaitFor("document.activeElement.blur() ?? true")
	tab.Press("?")
	tab.See("Go from row to row")
	audit(t, tab, "the keys")
	tab.Press("Escape")
	tab.WaitFor("!document.querySelector('dialog')")
	for _, step := range []struct{ text, finds, arrives string }{
		{world.Quick, world.Quick + "\nJob in " + world.Namespace, jobs + "/" + world.Quick},
		{"servers", "Servers\nPage", "/namespaces/" + world.Namespace + "/servers"},
	} {
		tab.Press("Control+k")
		tab.WaitFor(isIn)
		audit(t, tab, "the palette")
		tab.Fill("Jobs, pages, actions", step.text)
		tab.WaitFor(marked + " === " + quoted(step.finds))
		tab.Press("Enter")
		tab.WaitFor("location.pathname.endsWith(" + quoted(step.arrives) + ") && document.readyState === 'complete'")
	}
	tab.Open(jobs + "/" + world.Quick)
	tab.See("Trigger")
	tab.Click("button", "Search Ctrl K")
	tab.WaitFor(isIn)
	tab.Fill("Jobs, pages, actions", "remove")
	tab.WaitFor(marked + " === 'Remove the job\\nAction'")
	tab.Press("ArrowDown")
	tab.Press("ArrowUp")
	tab.Press("Enter")
	tab.See("Remove " + world.Quick + "?")
	tab.Press("Escape")
	tab.Press("Control+k")
	tab.WaitFor(isIn)
	tab.Press("Escape")
	tab.WaitFor("!document.querySelector('dialog')")
}

// quoted is a text in an expression.
func quoted(text string) string { return strconv.Quote(text) }
