package browser

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// site serves a page, and what a test adds.
func site(t *testing.T, body string, more ...string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline' http://127.0.0.2:*; img-src data:; connect-src *")
		fmt.Fprintf(w, "<!doctype html><html lang=en><title>Test</title><link rel=icon href='data:,'>%s", body)
	})
	mux.HandleFunc("GET /cookie", func(w http.ResponseWriter, r *http.Request) {
		_, err := r.Cookie("seen")
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes"})
		fmt.Fprintf(w, "<!doctype html><link rel=icon href='data:,'>%s, seen: %t", r.Header.Get("Accept-Language"), err == nil)
	})
	for i := 0; i+1 < len(more); i += 2 {
		mux.HandleFunc("GET "+more[i], func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, more[i+1]) })
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

const form = `<h1>Jobs</h1>
<label>Name <input id=name></label>
<label for=why>Reason</label><textarea id=why>before</textarea>
<input type=search aria-label="Filter jobs">
<label>From <input type=date id=from></label>
<label>Sort <select id=sort><option value=n>Name</option><option value=s>Status</option></select></label>
<label><input type=checkbox id=all> All of them</label>
<span id=head>Danger</span> <button aria-labelledby="head kill" id=kill>Kill</button>
<button title="Close" onclick="document.querySelector('#out').textContent='closed'"><svg width=20 height=20 aria-hidden=true></svg></button>
<button hidden>Later</button> <p id=out>nothing</p>
<script>
setTimeout(() => document.querySelector('[hidden]').hidden = false, 300)
kill.onclick = () => setTimeout(() => out.textContent = [name.value, document.querySelector('#name').value, why.value, from.value, sort.value, all.checked].join('|'), 200)
document.addEventListener('keydown', e => { if (e.key === 'k' && e.ctrlKey) out.textContent = 'palette' })
</script>`

func TestAPersonFillsAForm(t *testing.T) {
	t.Parallel()
	tab := chromium.Tab(t, site(t, form))
	tab.Open("/")
	tab.Fill("Name", "日志 anna")
	tab.Fill("Reason", "")
	tab.Fill("Reason", "after")
	tab.Fill("From", "2026-12-31")
	tab.Choose("Sort", "Status")
	tab.Click("checkbox", "All of them")
	tab.Click("button", "Danger Kill")
	tab.See("日志 anna|after|2026-12-31|s|true")
	tab.NotSee("nothing")
	tab.Click("button", "Close")
	if got := tab.Text("#out"); got != "closed" {
		t.Errorf("got %s", got)
	}
	tab.Click("button", "Later") // it comes later
	tab.Press("Control+k")
	tab.See("palette")
	tab.Fill("Filter jobs", "x")
	tab.Press("Backspace")
	tab.WaitFor("document.activeElement.value === ''")
}

func TestTabsHaveCookiesOfTheirOwn(t *testing.T) {
	t.Parallel()
	url := site(t, "")
	first := chromium.Tab(t, url)
	first.Open("/cookie")
	first.See("seen: false")
	first.Open("/cookie")
	first.See("seen: true")
	second := chromium.Tab(t, url)
	second.Open("/cookie")
	second.See("seen: false")
}

// A tab is where one of another test was, and finds nothing of it.
func TestTabLeavesNothing(t *testing.T) {
	t.Parallel()
	Require(t)
	b := New()
	t.Cleanup(b.Close)
	url := site(t, "")
	for _, name := range []string{"the first", "the next"} {
		t.Run(name, func(t *testing.T) {
			tab := b.Tab(t, url)
			tab.Open("/cookie")
			tab.See("seen: false")
			tab.WaitFor("!localStorage.left && !sessionStorage.left && !document.querySelector('body:hover')")
			tab.Point(20, 20)
			tab.WaitFor("document.querySelector('body:hover')")
			tab.Eval("addEventListener('pagehide', () => localStorage.left = sessionStorage.left = 'something')", new(any))
		})
		if len(b.free) != 1 {
			t.Fatalf("there are %d places, want 1", len(b.free))
		}
	}
}

func TestEmulate(t *testing.T) {
	t.Parallel()
	tab := chromium.Tab(t, site(t, "<style>@media (prefers-color-scheme: dark) { body { background: #000 } }</style><p>text"))
	tab.Emulate(360, 640, true, "zh-CN")
	tab.Open("/")
	var got []any
	tab.Eval("[innerWidth, innerHeight, getComputedStyle(document.body).backgroundColor, navigator.language]", &got)
	if want := []any{360., 640., "rgb(0, 0, 0)", "zh-CN"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	file := filepath.Join(t.TempDir(), "page.png")
	tab.Screenshot(file)
	picture, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if c, err := png.DecodeConfig(picture); err != nil || c.Width != 360 || c.Height != 640 {
		t.Errorf("the picture is %d x %d, %v", c.Width, c.Height, err)
	}
	tab.Open("/cookie")
	tab.See("zh-CN")
}

// What cannot be done fails with what was on the page.
func TestStepsThatFail(t *testing.T) {
	t.Parallel()
	page := `<h1>Jobs</h1> <button>Run</button> <button>Run</button> <button disabled>Kill</button> <button id=below>Below</button>
		<select aria-label=Sort><option>Name</option></select> <button hidden>Hidden</button>
		<div style="position:fixed;inset:0;top:100px"></div><style>#below { position: fixed; top: 200px }</style>`
	const seen = "Jobs Run Run Kill"
	for name, x := range map[string]struct {
		do   func(*Tab)
		want []string
	}{
		"none":      {func(tab *Tab) { tab.Click("button", "Stop") }, []string{`click button "Stop": there is none`, seen, `heading "Jobs"`, `button "Kill" (disabled)`, `titled "Test"`}},
		"two":       {func(tab *Tab) { tab.Click("button", "Run") }, []string{"there are 2 of that name"}},
		"disabled":  {func(tab *Tab) { tab.Click("button", "Kill") }, []string{"it is disabled"}},
		"hidden":    {func(tab *Tab) { tab.Click("button", "Hidden") }, []string{"there is none"}},
		"covered":   {func(tab *Tab) { tab.Click("button", "Below") }, []string{"<div> lies over it"}},
		"other":     {func(tab *Tab) { tab.Click("link", "Run") }, []string{"there is none"}},
		"option":    {func(tab *Tab) { tab.Choose("Sort", "Status") }, []string{"it has 0 such options of: Name"}},
		"text":      {func(tab *Tab) { tab.See("Stopped") }, []string{"see Stopped: the page does not show it", seen}},
		"no text":   {func(tab *Tab) { tab.NotSee("Jobs") }, []string{"the page shows it"}},
		"selector":  {func(tab *Tab) { tab.Text("#none") }, []string{"there is no such element"}},
		"condition": {func(tab *Tab) { tab.WaitFor("1 > 2") }, []string{"it is not true"}},
		"exception": {func(tab *Tab) { tab.Eval("nothing.there", new(any)) }, []string{"nothing is not defined"}},
		"key":       {func(tab *Tab) { tab.Press("Control+Nothing") }, []string{"no such key"}},
		"field":     {func(tab *Tab) { tab.Fill("Run", "x") }, []string{"there is none"}},
		"expected":  {func(tab *Tab) { tab.Expect("GET /x: 404") }, []string{"expect GET /x: 404: it has not come"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := site(t, page)
			told := attempt(t, func(t testing.TB) {
				tab := chromium.Tab(t, url)
				tab.Open("/")
				tab.patience = 2 * time.Second // in which a busy browser answers once
				x.do(tab)
			})
			for _, want := range x.want {
				if !strings.Contains(told, want) {
					t.Errorf("it does not say %q: %s", want, told)
				}
			}
		})
	}
}

// Whatever is wrong in a tab fails its test, unless that expects it.
func TestRecord(t *testing.T) {
	t.Parallel()
	const script = `<p>here<script>%s; document.title = 'done'</script>`
	for name, x := range map[string]struct{ does, want string }{
		"an error in the console": {"console.error('broken', {a: 1})", "console.error: broken"},
		"a warning":               {"console.warn('old')", "console.warning: old"},
		"an exception":            {"setTimeout(() => { throw new Error('thrown') })", "uncaught: "},
		"a promise":               {"Promise.reject(new Error('refused'))", "refused"},
		"a missing answer":        {"fetch('/nowhere?x=1')", "GET /nowhere?x=1: 404"},
		"another host":            {"fetch('http://127.0.0.2:9/x').catch(() => {})", "another host: GET http://127.0.0.2:9/x"},
		"a name":                  {"fetch('https://example.com/').catch(() => {})", "another host: GET https://example.com/"},
		"a WebSocket":             {"new WebSocket('ws://127.0.0.2:9/').onerror = () => {}", "another host: WebSocket ws://127.0.0.2:9/"},
		"the policy":              {"document.body.append(Object.assign(new Image(), {src: '/a.png'}))", "Content Security Policy"},
		"a dialog":                {"setTimeout(() => { alert('sure?'); document.body.append('went on') })", "dialog alert: sure?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := site(t, fmt.Sprintf(script, x.does))
			visit := func(t testing.TB, expect ...string) {
				tab := chromium.Tab(t, url)
				for _, e := range expect {
					tab.Expect(e)
				}
				tab.Open("/")
				tab.WaitFor("document.title === 'done'")
				tab.until("have a fault", func(context.Context) (string, error) {
					if faults, _ := tab.record.left(); len(faults)+len(expect) == 0 {
						return "there is none", nil
					}
					return "", nil
				})
			}
			if told := attempt(t, func(t testing.TB) { visit(t) }); !strings.Contains(told, x.want) {
				t.Errorf("got %q, want %s", told, x.want)
			}
			if told := attempt(t, func(t testing.TB) { visit(t, x.want) }); told != "" {
				t.Errorf("it was expected: %s", told)
			}
		})
	}
}

// What may be wrong in a tab need not be.
func TestAllow(t *testing.T) {
	t.Parallel()
	url := site(t, `<p>here<script>console.error('broken')</script>`)
	if told := attempt(t, func(t testing.TB) {
		tab := chromium.Tab(t, url)
		tab.Allow("console.error: broken")
		tab.Allow("what does not come")
		tab.Open("/")
		tab.See("here")
	}); told != "" {
		t.Errorf("got %s", told)
	}
}

func TestNothingWrongIsNotRecorded(t *testing.T) {
	t.Parallel()
	url := site(t, `<p>here<script>console.log('fine'); console.info('too'); fetch('/ok'); fetch('/ok').then(() => location = '/next')</script>`,
		"/ok", "fine", "/next", "<!doctype html><link rel=icon href='data:,'>next page")
	if told := attempt(t, func(t testing.TB) {
		tab := chromium.Tab(t, url)
		tab.Open("/")
		tab.See("next page")
	}); told != "" {
		t.Errorf("got %s", told)
	}
}

// taker is a test that may fail: it keeps what it is told.
type taker struct {
	testing.TB
	told     strings.Builder
	cleanups []func()
}

func (t *taker) Helper()                      {}
func (t *taker) Cleanup(end func())           { t.cleanups = append(t.cleanups, end) }
func (t *taker) Failed() bool                 { return t.told.Len() > 0 }
func (t *taker) Fatal(args ...any)            { t.Fatalf("%s", fmt.Sprint(args...)) }
func (t *taker) Errorf(f string, args ...any) { fmt.Fprintf(&t.told, f+"\n", args...) }
func (t *taker) Fatalf(f string, args ...any) {
	t.Errorf(f, args...)
	runtime.Goexit()
}

// attempt runs what may fail, and returns what that has said.
func attempt(t *testing.T, run func(testing.TB)) string {
	t.Helper()
	Require(t)
	inner := &taker{TB: t}
	step := func(do func()) {
		done := make(chan struct{})
		go func() { // Fatalf ends it
			defer close(done)
			do()
		}()
		<-done
	}
	step(func() { run(inner) })
	for _, end := range slices.Backward(inner.cleanups) {
		step(end)
	}
	return inner.told.String()
}

// Chromium ends, and its profile goes, with Close.
func TestCloseLeavesNothing(t *testing.T) {
	Require(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	b := New()
	if err := b.start(); err != nil {
		t.Fatal(err)
	}
	process := chromedp.FromContext(b.ctx).Browser.Process()
	b.Close()
	if err := process.Signal(syscall.Signal(0)); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("the process: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
