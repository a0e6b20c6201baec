package browsertest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// All tests share a browser and a world, which the first of them starts.
var (
	chromium = browser.New()
	town     = world.New()
)

func TestMain(m *testing.M) {
	world.Work()
	code := m.Run()
	chromium.Close()
	if err := errors.Join(town.Close(), doomed.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// visit opens a tab for a page of the console. Nobody is logged in.
func visit(t *testing.T, path string) *browser.Tab {
	t.Helper()
	browser.Require(t)
	tab := chromium.Tab(t, town.Start(t))
	tab.Expect("GET " + path + ": 401") // the log-in, in place of the page
	tab.Open(path)
	return tab
}

// enter opens a tab for a page of the console, for a user of the world.
func enter(t *testing.T, user, path string) *browser.Tab {
	t.Helper()
	browser.Require(t)
	return enterAt(t, town.Start(t), user, path)
}

// enterAt opens a tab for a page of a console, with a session of its own: only the tests of the log-in log in by hand, which
// takes as long as a page.
func enterAt(t testing.TB, url, user, path string) *browser.Tab {
	t.Helper()
	tab := chromium.Tab(t, url)
	tab.SetCookies(world.LogIn(t, url, user))
	tab.Open(path)
	return tab
}

// logIn logs a user in by the page, and returns when it shows that he is.
func logIn(tab *browser.Tab, user string) {
	tab.Fill("Name", user)
	tab.Fill("Password", world.Password)
	tab.Click("button", "Log in")
	tab.WaitFor("document.querySelector('#logout') && document.readyState === 'complete'")
}

// refuses presses a button while the console cannot be reached, and waits until the page says why nothing was done: beside the
// button, in sight, and announced.
func refuses(t *testing.T, tab *browser.Tab, button string) {
	t.Helper()
	cut(tab)
	tab.Click("button", button)
	tab.WaitFor(`(() => {
		const button = document.activeElement;
		const alert = button.closest("section, form")?.querySelector(".refusal [role=alert]");
		const box = alert?.getBoundingClientRect();
		return alert?.innerText.includes("The console cannot be reached.") && box.top >= 0 && box.bottom <= innerHeight && Math.abs(box.top - button.getBoundingClientRect().top) < 250;
	})()`)
	audit(t, tab, "what is refused")
	heal(tab)
}

// cut lets no request of the page reach the console, heal all again; what the page asks for again and again it asks for at once.
func cut(tab *browser.Tab) {
	tab.WaitFor("window.reach = fetch, window.fetch = () => Promise.reject(new TypeError())")
	tab.ComeBack()
}

func heal(tab *browser.Tab) {
	tab.WaitFor("window.fetch = window.reach")
	tab.ComeBack()
	tab.WaitFor("!" + inGrey) // the note that the page is old goes, and what is below it moves up
}

// at fails a test whose tab is at another path.
func at(t *testing.T, tab *browser.Tab, want string) {
	t.Helper()
	var address string
	tab.Eval("location.href", &address)
	if is, err := url.Parse(address); err != nil || is.RequestURI() != want {
		t.Errorf("the tab is at %s, want %s", address, want)
	}
}

// audit fails a test whose page keeps people out.
func audit(t *testing.T, tab *browser.Tab, what string) {
	t.Helper()
	if found := browser.Audit(tab); len(found) > 0 {
		t.Errorf("%s:\n  %s", what, strings.Join(found, "\n  "))
	}
}
