package browser

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// answer is what page.js says of a control: where it is, or why it cannot be used.
type answer struct {
	X, Y      float64
	Kind, Why string
}

// Click clicks the middle of the one control that has this role (button, link, checkbox, tab, …) and this
// accessible name. It waits until there is one that is enabled, stands still, and has nothing over it. If the page moves it
// away at that very moment, and nothing is under the mouse, it tries again, as people do.
func (tab *Tab) Click(role, name string) {
	tab.t.Helper()
	what := fmt.Sprintf("click %s %q", role, name)
	for range 3 {
		tab.press(what, role, name)
		var pressed string
		tab.until(what, func(ctx context.Context) (string, error) { return "", tab.ask(ctx, &pressed, "pressed") })
		switch pressed {
		case "it":
			return
		case "nothing":
		default:
			tab.fail(what, "the page moved, and this was pressed: "+pressed)
		}
	}
	tab.fail(what, "the page moves it away whenever it is pressed")
}

// ComeBack tells the page that somebody looks at it again: it does not wait until it is time to ask once more.
func (tab *Tab) ComeBack() {
	tab.t.Helper()
	tab.WaitFor(`document.dispatchEvent(new Event("visibilitychange"))`)
}

// press presses the mouse where a control is.
func (tab *Tab) press(what, role, name string) {
	tab.t.Helper()
	var at, before answer
	tab.until(what, func(ctx context.Context) (string, error) {
		before, at = at, answer{}
		if err := tab.ask(ctx, &at, "locate", []string{role}, name); err != nil || at.Why != "" {
			return at.Why, err
		}
		if at != before {
			return "it moves", nil
		}
		return "", nil
	})
	tab.do(what, chromedp.MouseClickXY(at.X, at.Y))
}

// fields are roles of what one writes into, pickers are types of <input> that are filled by a picker.
var (
	fields  = []string{"textbox", "searchbox", "combobox", "spinbutton", "slider"}
	pickers = []string{"date", "time", "datetime-local", "month", "week", "color", "range"}
)

// Fill replaces what stands in the field of this label. Of a field with a picker, a date say, text is the
// value as HTML writes it: 2026-12-31.
func (tab *Tab) Fill(label, text string) {
	tab.t.Helper()
	what := fmt.Sprintf("fill %q", label)
	var field answer
	tab.until(what, func(ctx context.Context) (string, error) {
		field = answer{}
		err := tab.ask(ctx, &field, "focus", fields, label)
		if err == nil && field.Why == "" && slices.Contains(pickers, field.Kind) {
			err = tab.ask(ctx, &field, "pick", text)
		}
		return field.Why, err
	})
	switch {
	case slices.Contains(pickers, field.Kind):
	case text == "":
		tab.Press("Delete")
	default:
		tab.do(what, func(ctx context.Context, _ *chromedp.Target) (none chromedp.Void, err error) {
			_, err = chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
			return none, err
		})
	}
}

// Choose chooses an option, by its text, of the <select> of this label.
func (tab *Tab) Choose(label, option string) {
	tab.t.Helper()
	tab.until(fmt.Sprintf("choose %q of %q", option, label), func(ctx context.Context) (string, error) {
		var list answer
		err := tab.ask(ctx, &list, "choose", label, option)
		return list.Why, err
	})
}

// Screenshot writes what the window shows into a file, as PNG.
func (tab *Tab) Screenshot(file string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, tab.patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, picture, 0o600)
	}
	if err != nil {
		tab.fail("screenshot", err.Error())
	}
}
