package browser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed a11y.js
var auditScript string

// narrow is the width of a small phone, in CSS pixels.
const narrow = 360

// Audit lists what on the page keeps people out who hear it, use the keyboard, see badly, or have a phone:
//
//   - a control, picture or dialog without a name
//   - headings that skip a level, or not one of level 1
//   - Tab goes back in the document, or does not come to a control, or a tabindex above 0
//   - a contrast of less than 4.5:1, of a text that is not disabled
//   - a page that scrolls sideways in a window of 360 pixels
//   - something to press that is smaller than 24 pixels, here or there, without as much room around it; not a link within a
//     sentence
//
// It moves the focus. Of an open modal dialog it looks at that alone. In a window of a phone it does without Tab, which
// phones do not have.
func Audit(tab *Tab) []string {
	tab.t.Helper()
	a := audit{tab: tab}
	isPhone := tab.look.width <= narrow
	a.tree()
	if !isPhone {
		a.focus()
	}
	a.ask("", "contrasts")
	a.ask("", "targets")
	if isPhone {
		a.wide()
	} else {
		a.phone()
	}
	return a.found
}

type audit struct {
	tab   *Tab
	found []string
}

func (a *audit) add(format string, args ...any) {
	a.found = append(a.found, fmt.Sprintf(format, args...))
}

// call calls a function of a11y.js.
func (a *audit) call(into any, function string) {
	a.tab.t.Helper()
	ctx, cancel := context.WithTimeout(a.tab.ctx, a.tab.patience)
	defer cancel()
	if err := a.tab.call(ctx, into, "("+auditScript+"\n)("+pageScript+"\n)", function); err != nil {
		a.tab.fail("audit: "+function, err.Error())
	}
}

// ask adds what a function of a11y.js has found.
func (a *audit) ask(where, function string) {
	a.tab.t.Helper()
	var found []string
	a.call(&found, function)
	for _, f := range found {
		a.add("%s%s", where, f)
	}
}

// tree looks at what Chromium tells screen readers.
func (a *audit) tree() {
	a.tab.t.Helper()
	ctx, cancel := context.WithTimeout(a.tab.ctx, a.tab.patience)
	defer cancel()
	tree, err := chromedp.Run(ctx, func(ctx context.Context, _ *chromedp.Target) (accessibility.GetFullAXTreeResult, error) {
		return chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	})
	if err != nil {
		a.tab.fail("audit: the accessibility tree", err.Error())
	}
	var isModal bool
	a.call(&isModal, "isModal")
	level, first := 0, 0
	for _, node := range inOrder(tree.Nodes) {
		role, name := textOf(node.Role), textOf(node.Name)
		if slices.Contains(named, role) && strings.TrimSpace(name) == "" {
			a.add("%s without a name: %s", role, a.element(ctx, node))
		}
		if role != "heading" {
			continue
		}
		next := levelOf(node)
		if level > 0 && next > level+1 {
			a.add("heading %q of level %d follows one of level %d", name, next, level)
		}
		if level = next; next == 1 {
			first++
		}
	}
	if first != 1 && !isModal {
		a.add("there are %d headings of level 1, want 1", first)
	}
}

// named are roles, as Chromium calls them, of what needs a name.
var named = []string{
	"button", "link", "textbox", "searchbox", "combobox", "listbox", "checkbox", "radio", "switch", "slider", "spinbutton",
	"tab", "menuitem", "menuitemradio", "menuitemcheckbox", "option", "treeitem", "image", "dialog", "alertdialog", "progressbar", "meter",
	"Date", "DateTime", "InputTime", "ColorWell", "Iframe",
}

// inOrder are the nodes that are not ignored, as the document has them.
func inOrder(nodes []*accessibility.Node) (ordered []*accessibility.Node) {
	byID := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range nodes {
		byID[n.NodeID] = n
	}
	var visit func(*accessibility.Node)
	visit = func(n *accessibility.Node) {
		if n == nil {
			return
		}
		if !n.Ignored {
			ordered = append(ordered, n)
		}
		for _, child := range n.ChildIDs {
			visit(byID[child])
		}
	}
	if len(nodes) > 0 {
		visit(nodes[0])
	}
	return ordered
}

// textOf is a value that is a text; empty if there is none.
func textOf(v *accessibility.Value) (text string) {
	if v == nil || json.Unmarshal(v.Value, &text) != nil {
		return ""
	}
	return text
}

// levelOf is the level of a heading; 0 if it has none.
func levelOf(node *accessibility.Node) (level int) {
	for _, p := range node.Properties {
		if p.Name == accessibility.PropertyNameLevel && p.Value != nil && json.Unmarshal(p.Value.Value, &level) != nil {
			return 0
		}
	}
	return level
}

// element is the tag of a node, for people who look for it.
func (a *audit) element(ctx context.Context, node *accessibility.Node) string {
	found, err := chromedp.Run(ctx, func(ctx context.Context, _ *chromedp.Target) (dom.DescribeNodeResult, error) {
		return chromedp.Call(ctx, dom.DescribeNode, dom.DescribeNodeParams{BackendNodeID: node.BackendDOMNodeID})
	})
	if err != nil {
		return "an element that has gone" // meanwhile
	}
	return tag(found.Node)
}

func tag(n *cdp.Node) string {
	var b strings.Builder
	b.WriteString("<" + strings.ToLower(n.NodeName))
	for i := 0; i+1 < len(n.Attributes); i += 2 {
		fmt.Fprintf(&b, " %s=%q", n.Attributes[i], n.Attributes[i+1])
	}
	return shorten(b.String() + ">")
}

// focus presses Tab until it has been everywhere, some times before it asks: the page notes where that went.
func (a *audit) focus() {
	a.tab.t.Helper()
	const presses = 8
	var most int
	a.call(&most, "begin")
	for isThrough := false; !isThrough && most > 0; most -= presses {
		a.tab.do("press Tab", chromedp.KeyEvent(strings.Repeat(kb.Tab, presses)))
		a.tab.Eval("window[Symbol.for('elasticjob.browsertest.audit')].isThrough()", &isThrough)
	}
	a.ask("", "end")
}

// phone looks at the page in a narrow window.
func (a *audit) phone() {
	a.tab.t.Helper()
	before := a.tab.look
	on := before
	on.width = narrow
	a.tab.show(on)
	a.tab.WaitFor(fmt.Sprintf("innerWidth === %d", narrow))
	a.wide()
	a.ask(fmt.Sprintf("at %d pixels: ", narrow), "targets")
	a.tab.show(before)
	a.tab.WaitFor(fmt.Sprintf("innerWidth === %d", before.width))
}

// wide looks at what is wider than a narrow window. The page has a second to get used to it.
func (a *audit) wide() {
	a.tab.t.Helper()
	var wide []string
	for end := time.Now().Add(time.Second); ; {
		if a.call(&wide, "wide"); len(wide) == 0 || time.Now().After(end) {
			break
		}
	}
	for _, w := range wide {
		a.add("at %d pixels: %s", narrow, w)
	}
}
