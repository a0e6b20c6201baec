package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Point moves the mouse to a place of the window, in CSS pixels from its corner.
func (tab *Tab) Point(x, y float64) {
	tab.t.Helper()
	tab.mouse(fmt.Sprintf("point at %.0f, %.0f", x, y), input.DispatchMouseEventParams{Type: chromedp.MouseMoved, X: x, Y: y})
}

// Drag presses the mouse at a place, moves it to another one, and lets go.
func (tab *Tab) Drag(x, y, toX, toY float64) {
	tab.t.Helper()
	left := input.DispatchMouseEventParams{Type: chromedp.MousePressed, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}
	half, to, up := left, left, left
	half.Type, half.X, half.Y = chromedp.MouseMoved, (x+toX)/2, (y+toY)/2
	to.Type, to.X, to.Y = chromedp.MouseMoved, toX, toY
	up.Type, up.X, up.Y, up.Buttons = chromedp.MouseReleased, toX, toY, 0
	tab.mouse(fmt.Sprintf("drag from %.0f, %.0f to %.0f, %.0f", x, y, toX, toY), left, half, to, up)
}

// Zoom turns the wheel at a place while Control is held, up by as many pixels.
func (tab *Tab) Zoom(x, y, up float64) {
	tab.t.Helper()
	// Chromium wants both of the deltas, and what is zero is not sent.
	tab.mouse(fmt.Sprintf("zoom at %.0f, %.0f", x, y), input.DispatchMouseEventParams{Type: chromedp.MouseWheel, X: x, Y: y, DeltaX: 1e-9, DeltaY: -up, Modifiers: int64(kb.ModifierCtrl)})
}

func (tab *Tab) mouse(what string, events ...input.DispatchMouseEventParams) {
	tab.t.Helper()
	tab.do(what, func(ctx context.Context, _ *chromedp.Target) (none chromedp.Void, err error) {
		for _, event := range events {
			if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, event); err != nil {
				return none, err
			}
		}
		return none, nil
	})
}
