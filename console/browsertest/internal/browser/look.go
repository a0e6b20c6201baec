package browser

import (
	"context"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// look is how a tab looks to its page.
type look struct {
	width, height int
	isDark        bool
	language      string
}

// usual is that of a new tab.
var usual = look{1280, 800, false, "en-US"}

// Emulate gives the page a window of this size, in CSS pixels, and a person who likes it dark or bright, and
// reads this language: en-US, zh-CN. What of this the page asks for at its start needs Open after it. A new
// tab is 1280 x 800, bright, and en-US.
func (tab *Tab) Emulate(width, height int, dark bool, language string) {
	tab.t.Helper()
	tab.look = look{width, height, dark, language}
	tab.show(tab.look)
}

func (tab *Tab) show(l look) {
	tab.t.Helper()
	scheme := "light"
	if l.isDark {
		scheme = "dark"
	}
	var agent string
	tab.Eval("navigator.userAgent", &agent)
	tab.do("emulate", func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		for _, step := range []func() error{
			func() error {
				_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
					Width: int64(l.width), Height: int64(l.height), DeviceScaleFactor: 1,
				})
				return err
			},
			func() error {
				_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})
				return err
			},
			func() error {
				_, err := chromedp.Call(ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: l.language})
				return err
			},
		} {
			if err := step(); err != nil {
				return none, err
			}
		}
		return none, nil
	})
}

// Throttle bounds what the tab gets over the network, in bytes a second.
func (tab *Tab) Throttle(bytes float64) {
	tab.t.Helper()
	tab.do("throttle", func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: bytes, UploadThroughput: bytes}},
		})
		return none, err
	})
}
