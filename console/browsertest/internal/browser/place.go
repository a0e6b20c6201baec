package browser

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
)

// place is where tabs of tests are, one after another: a page of Chromium in a browser context of its own. A process for each
// tab, and scripts that it gets and compiles for the first time, would take longer than most tests.
type place struct {
	ctx context.Context
	end context.CancelFunc
	tab atomic.Pointer[Tab]
}

// take returns a place in which nobody is.
func (b *Browser) take() (*place, error) {
	b.mu.Lock()
	if last := len(b.free) - 1; last >= 0 {
		p := b.free[last]
		b.free = b.free[:last]
		b.mu.Unlock()
		return p, nil
	}
	b.mu.Unlock()
	p := &place{}
	p.ctx, p.end = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(func(event any) {
		if tab := p.tab.Load(); tab != nil {
			tab.heard(event)
		}
	}))
	if err := chromedp.Do(p.ctx); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// giveBack ends the tab in a place. The place is for the next one, unless its test has failed, or it cannot be emptied.
func (b *Browser) giveBack(p *place) {
	tab := p.tab.Load()
	ctx, cancel := context.WithTimeout(p.ctx, tab.patience)
	defer cancel()
	isGood := !tab.t.Failed() && p.empty(ctx, tab, b.blank.URL) == nil
	if !isGood {
		p.end()
	}
	tab.record.dialogs.Wait()
	if !isGood {
		return
	}
	p.tab.Store(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, p)
}

// empty leaves nothing of a tab but what Chromium has got for its pages and may keep.
func (p *place) empty(ctx context.Context, tab *Tab, blank string) error {
	return chromedp.Do(ctx, chromedp.Navigate(blank), func(ctx context.Context, _ *chromedp.Target) (none chromedp.Void, err error) {
		_, cookies := chromedp.Call(ctx, network.ClearBrowserCookies, cdp.Empty{})
		_, stored := chromedp.Call(ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: tab.base.Scheme + "://" + tab.base.Host, StorageTypes: "local_storage"})
		_, throttle := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{})
		_, past := chromedp.Call(ctx, page.ResetNavigationHistory, cdp.Empty{})
		_, figures := chromedp.Call(ctx, performance.Disable, cdp.Empty{})
		_, mouse := chromedp.Call(ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: chromedp.MouseMoved, X: -1, Y: -1})
		return none, errors.Join(cookies, stored, throttle, past, figures, mouse)
	})
}
