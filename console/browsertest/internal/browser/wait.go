package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// pause is the time between two looks at the page.
const pause = 15 * time.Millisecond

//go:embed page.js
var pageScript string

// WaitFor waits until a JavaScript expression is true, or a promise of true.
func (tab *Tab) WaitFor(expression string) {
	tab.t.Helper()
	tab.until("wait for "+expression, func(ctx context.Context) (string, error) {
		var isTrue bool
		if err := tab.evaluate(ctx, "!!(await ("+expression+"))", &isTrue); err != nil {
			return "", err
		}
		if !isTrue {
			return "it is not true", nil
		}
		return "", nil
	})
}

// Eval stores the value of a JavaScript expression, or of the promise that it is, into what into points to.
func (tab *Tab) Eval(expression string, into any) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, tab.patience)
	defer cancel()
	if err := tab.evaluate(ctx, expression, into); err != nil {
		tab.fail("evaluate "+expression, err.Error())
	}
}

// See waits until the page shows a text.
func (tab *Tab) See(text string) {
	tab.t.Helper()
	tab.until("see "+text, tab.shows(text, true, "the page does not show it"))
}

// NotSee waits until the page does not show a text. A page that is not there yet shows none: See first what
// has to be there.
func (tab *Tab) NotSee(text string) {
	tab.t.Helper()
	tab.until("not see "+text, tab.shows(text, false, "the page shows it"))
}

// shows looks whether the page shows a text. Where lines break does not matter.
func (tab *Tab) shows(text string, want bool, why string) func(context.Context) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	return func(ctx context.Context) (string, error) {
		var shown string
		if err := tab.ask(ctx, &shown, "shown"); err != nil || strings.Contains(shown, text) == want {
			return "", err
		}
		return why, nil
	}
}

// Text returns the text that the first element of a CSS selector shows. It waits until there is one.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	var text *string
	tab.until("text of "+selector, func(ctx context.Context) (string, error) {
		if err := tab.ask(ctx, &text, "textOf", selector); err != nil || text != nil {
			return "", err
		}
		return "there is no such element", nil
	})
	return *text
}

// until looks at the page until nothing is missing. Errors may pass: a page that is left ends what was asked
// of it.
func (tab *Tab) until(what string, missing func(context.Context) (string, error)) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, tab.patience)
	defer cancel()
	why := "the page does not answer"
	for {
		found, err := missing(ctx)
		switch {
		case err == nil && found == "":
			return
		case err == nil:
			why = found
		case ctx.Err() == nil: // else it says only that time is over
			why = err.Error()
		}
		if !sleep.For(ctx, pause) {
			tab.fail(what, why)
		}
	}
}

// ask calls a function of page.js.
func (tab *Tab) ask(ctx context.Context, into any, function string, args ...any) error {
	return tab.call(ctx, into, pageScript, function, args...)
}

// call calls a function of the object that a script makes.
func (tab *Tab) call(ctx context.Context, into any, script, function string, args ...any) error {
	list, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		return err
	}
	return tab.evaluate(ctx, fmt.Sprintf("(%s).%s(...%s)", script, function, list), into)
}

// evaluate evaluates an expression, in which await is allowed. What has no JSON is null.
func (tab *Tab) evaluate(ctx context.Context, expression string, into any) error {
	wrapped := "(async () => JSON.stringify(await (" + expression + "\n)) ?? 'null')()"
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](wrapped, chromedp.EvalAwaitPromise))
	if err != nil {
		if exception, ok := errors.AsType[*chromedp.ExceptionError](err); ok && exception.Exception != nil && exception.Exception.Description != "" {
			return errors.New(exception.Exception.Description)
		}
		return err
	}
	return json.Unmarshal([]byte(text), into)
}
