package browsertest

import (
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
