package browser

import (
	"slices"
	"strings"
	"testing"
)

const goodPage = `<meta name=viewport content="width=device-width"><style>
	button, input, select, a { min-height: 24px; min-width: 24px } .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; color: #fff }
	table { display: block; overflow-x: auto } td { min-width: 300px } :disabled { color: #aaa }
	@media (prefers-color-scheme: dark) { :root { color-scheme: dark } }
</style>
<nav><a href="#a" style="display:inline-block">Jobs</a></nav>
<main><h1>Jobs</h1><h2>Filter</h2>
<label>Name <input id=n value=x></label> <label>From <input type=datetime-local></label> <label>Day <input type=date></label> <label style="display:inline-block;line-height:24px"><input type=checkbox style="min-height:0"> All</label>
<fieldset><legend>Kind</legend><label><input type=radio name=k> Quick radio</label><label><input type=radio name=k> Slow radio</label></fieldset>
<button aria-label="Close"><svg width=20 height=20 aria-hidden=true></svg></button> <button disabled>Kill</button>
<h3>All</h3><p><a href="#alone">alone in its line</a></p><p>See <a href="#b">the manual</a> for more.</p><h2>Last</h2>
<table tabindex=0 aria-label=Jobs><tr><td>one<td>two</table><span class=hidden>for readers</span>
<p style="background:rgb(0 0 0 / .8);color:oklch(90% 0.05 100)">dark</p>
</main>`

func TestAuditOfAGoodPage(t *testing.T) {
	t.Parallel()
	tab := chromium.Tab(t, site(t, goodPage))
	for _, isDark := range []bool{false, true} {
		tab.Emulate(1024, 700, isDark, "en-US")
		tab.Open("/")
		if found := Audit(tab); len(found) > 0 {
			t.Errorf("dark %t: %s", isDark, strings.Join(found, "\n"))
		}
	}
}

func TestAuditFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	const head = `<h1>One</h1>`
	for name, x := range map[string]struct{ page, want string }{
		"name":      {head + `<button class=x style="width:30px;height:30px"></button>`, `button without a name: <button class="x"`},
		"picture":   {head + `<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" width=30 height=30>`, `image without a name`},
		"field":     {head + `<input style="height:30px">`, "textbox without a name"},
		"level":     {head + `<h3>Three</h3>`, `heading "Three" of level 3 follows one of level 1`},
		"no head":   {`<h2>Two</h2>`, "there are 0 headings of level 1, want 1"},
		"two heads": {head + head, "there are 2 headings of level 1, want 1"},
		"tabindex":  {head + `<button style="padding:9px">one</button><button style="padding:9px" tabindex=1>two</button>`, `<button> "two" has the tabindex 1`},
		"order": {head + `<style>button { padding: 9px }</style><button id=a>one</button><button id=b>two</button><button id=c>three</button><script>
			const next = {a: c, c: b, b: document.createElement('b')}
			onkeydown = e => { const to = next[e.target.id]; if (to) { e.preventDefault(); to.focus() } }</script>`, `Tab goes back from <button#c> "three" to <button#b> "two"`},
		"trap": {head + `<button style="padding:9px" onkeydown="event.preventDefault()">one</button><button style="padding:9px">two</button>`,
			`Tab does not come to <button> "two"`},
		"contrast":   {head + `<p style="color:#999">pale</p>`, `contrast of "pale" is 2.85, want 4.5`},
		"opacity":    {head + `<div style="opacity:.5"><p style="color:#333">pale</p></div>`, `contrast of "pale" is`},
		"background": {head + `<div style="background:#333"><p style="color:#000">dark</p></div>`, `contrast of "dark" is 1.66`},
		"value":      {head + `<input aria-label=Name value=pale style="height:30px;color:#aaa">`, `contrast of "pale" is`},
		"on picture": {head + `<p style="background-image:linear-gradient(red,blue)">over</p>`, `contrast of "over" cannot be told`},
		"wide":       {head + `<div style="width:500px" id=w>wide</div>`, `at 360 pixels: it scrolls sideways: 508 pixels, for <div#w> "wide"`},
		"small": {head + `<button style="width:20px;height:30px;padding:0" title=S></button><button style="padding:9px">Large</button>`,
			`<button> "S" is 20 x 30 pixels, want 24 x 24, or as much room to <button> "Large"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := chromium.Tab(t, site(t, "<meta name=viewport content='width=device-width'>"+x.page))
			tab.Open("/")
			found := Audit(tab)
			if !slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, x.want) }) {
				t.Errorf("found %q, want %s", found, x.want)
			}
			if slices.ContainsFunc(found, func(f string) bool { return !strings.Contains(f, strings.TrimPrefix(x.want, "at 360 pixels: ")) }) {
				t.Errorf("found more: %q", found)
			}
		})
	}
}

// A live page may take away what has the focus, and add what Tab comes to.
func TestAuditOfALivePage(t *testing.T) {
	t.Parallel()
	tab := chromium.Tab(t, site(t, `<meta name=viewport content="width=device-width"><h1>One</h1><style>button { padding: 9px }</style>
		<button id=a>one</button><button id=b>two</button><div id=rows></div><button>last</button><script>
		b.onfocus = () => { setTimeout(() => b.remove()); for (let i = 0; i < 15; i++) rows.append(Object.assign(document.createElement('button'), {innerText: i + 10})) }</script>`))
	tab.Open("/")
	if found := Audit(tab); len(found) != 0 {
		t.Errorf("found %q", found)
	}
}

// A phone has no key Tab, and is as narrow as it is.
func TestAuditOnAPhone(t *testing.T) {
	t.Parallel()
	tab := chromium.Tab(t, site(t, `<meta name=viewport content="width=device-width"><h1>One</h1><div style="width:500px" id=w>wide</div>
		<button style="padding:9px" onkeydown="event.preventDefault()">one</button><button style="padding:9px">two</button>`))
	tab.Emulate(360, 640, false, "en-US")
	tab.Open("/")
	if found := Audit(tab); len(found) != 1 || !strings.Contains(found[0], `it scrolls sideways: 508 pixels, for <div#w> "wide"`) {
		t.Errorf("found %q", found)
	}
}

// Of an open dialog, only that counts: the rest cannot be got at.
func TestAuditOfADialog(t *testing.T) {
	t.Parallel()
	tab := chromium.Tab(t, site(t, `<meta name=viewport content="width=device-width"><h1>Page</h1><button>tiny</button><p style="color:#aaa">pale</p>
		<dialog aria-labelledby=head id=d><h2 id=head>Sure?</h2><button style="padding:9px">Yes</button></dialog><script>d.showModal()</script>`))
	tab.Open("/")
	if found := Audit(tab); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	var open bool
	if tab.Eval("d.open", &open); !open {
		t.Error("the dialog was closed")
	}
}
