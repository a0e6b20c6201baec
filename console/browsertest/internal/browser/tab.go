package browser

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Tab is a tab of a test, in a browser context of its own. A step that cannot be done fails the test. It is
// for the goroutine of the test.
type Tab struct {
	t      testing.TB
	ctx    context.Context
	base   *url.URL
	record *record
	look   look
	// patience bounds every step.
	patience time.Duration
}

// Tab opens a tab for pages below base: http://127.0.0.1:1234. It ends with the test, which fails then if the
// tab's record has something that was not expected. See Require for what happens without a Chromium.
func (b *Browser) Tab(t testing.TB, base string) *Tab {
	t.Helper()
	Require(t)
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	tab := &Tab{t: t, base: at, record: newRecord(at.Host), look: usual, patience: time.Minute}
	var end context.CancelFunc
	tab.ctx, end = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.heard))
	t.Cleanup(func() {
		end()
		tab.record.dialogs.Wait()
	})
	t.Cleanup(tab.settle) // before that, and it may fail
	if err := chromedp.Do(tab.ctx); err != nil {
		t.Fatalf("a new tab: %v", err)
	}
	tab.show(tab.look)
	return tab
}

// Open opens a page, and returns when it is loaded with all that stands in its HTML. What its scripts fetch
// comes later: wait for it by See or WaitFor.
func (tab *Tab) Open(path string) {
	tab.t.Helper()
	to, err := tab.base.Parse(path)
	if err != nil {
		tab.t.Fatal(err)
	}
	tab.do("open "+path, chromedp.Navigate(to.String()))
}

// do takes a step that ends by itself.
func (tab *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, tab.patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.fail(what, err.Error())
	}
}

// fail ends the test with what was on the page.
func (tab *Tab) fail(what, why string) {
	tab.t.Helper()
	tab.t.Fatalf("%s: %s\n%s", what, why, tab.describe())
}
