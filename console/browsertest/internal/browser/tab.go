package browser

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Tab is a tab of a test, with cookies and storage of its own. A step that cannot be done fails the test. It is
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
	in, err := b.take()
	if err != nil {
		t.Fatalf("a new tab: %v", err)
	}
	tab.ctx = in.ctx
	in.tab.Store(tab)
	t.Cleanup(func() { b.giveBack(in) })
	t.Cleanup(tab.settle) // before that, and it may fail
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

// SetCookies gives the tab cookies of the site, as an answer of it has them.
func (tab *Tab) SetCookies(cookies []*http.Cookie) {
	tab.t.Helper()
	tab.do("set cookies", func(ctx context.Context, _ *chromedp.Target) (none chromedp.Void, err error) {
		for _, c := range cookies {
			if _, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{URL: tab.base.String(), Name: c.Name, Value: c.Value, Path: c.Path, HTTPOnly: &c.HttpOnly}); err != nil {
				return none, err
			}
		}
		return none, nil
	})
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
