package browser

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// record is what went wrong in a tab. Chromium tells it in between.
type record struct {
	host    string // whom pages may ask
	dialogs sync.WaitGroup

	mu       sync.Mutex
	faults   []string
	expected []string
	allowed  []string
	requests map[network.RequestID]string // method and address
	received map[network.RequestID]int64  // bytes of the answer
}

func newRecord(host string) *record {
	return &record{host: host, requests: map[network.RequestID]string{}, received: map[network.RequestID]int64{}}
}

// Expect announces something that the record is to have: a part of its text, such as "GET /api/v1/me: 401".
// All faults that have it are right then, and the test fails if none comes until its end.
func (tab *Tab) Expect(part string) {
	tab.record.mu.Lock()
	defer tab.record.mu.Unlock()
	tab.record.expected = append(tab.record.expected, part)
}

// Allow announces something that the record may have, as Expect does, and it is right, too, if it does not come:
// what others do meanwhile may be the reason for it.
func (tab *Tab) Allow(part string) {
	tab.record.mu.Lock()
	defer tab.record.mu.Unlock()
	tab.record.allowed = append(tab.record.allowed, part)
}

// heard is called with each event of the tab, in their order. It must not wait.
func (tab *Tab) heard(event any) {
	r := tab.record
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning || e.Type == runtime.ConsoleAPICalledTypeAssert {
			r.add("console.%s: %s", e.Type, written(e.Args))
		}
	case *runtime.EventExceptionThrown:
		d := e.ExceptionDetails
		r.add("uncaught: %v, in %s:%d", &chromedp.ExceptionError{ExceptionDetails: d}, d.URL, d.LineNumber+1)
	case *log.EventEntryAdded:
		isBad := e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning
		if isBad && e.Entry.Source != log.EntrySourceNetwork { // events of the network tell more
			r.add("%s: %s", e.Entry.Source, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		r.asked(e)
	case *network.EventWebSocketCreated:
		r.foreign("WebSocket", e.URL)
	case *network.EventDataReceived:
		r.received[e.RequestID] += e.EncodedDataLength
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			r.add("%s: %d", r.requests[e.RequestID], e.Response.Status)
		}
	case *network.EventLoadingFailed:
		request, isOurs := r.requests[e.RequestID]
		isLeft := e.Canceled || e.ErrorText == "net::ERR_ABORTED"             // with its page
		if isOurs && !isLeft && e.BlockedReason != network.BlockedReasonCsp { // the log has that
			r.add("%s: %s", request, e.ErrorText)
		}
	case *inspector.EventTargetCrashed:
		r.add("the page has crashed")
	case *page.EventJavascriptDialogOpening:
		r.add("dialog %s: %s", e.Type, e.Message)
		r.dialogs.Go(tab.accept) // the page stands still until then
	}
}

// accept says yes to a dialog of the browser.
func (tab *Tab) accept() {
	ctx, cancel := context.WithTimeout(tab.ctx, tab.patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}); err != nil {
		tab.record.mu.Lock()
		defer tab.record.mu.Unlock()
		tab.record.add("a dialog stays: %v", err)
	}
}

// asked remembers a request.
func (r *record) asked(e *network.EventRequestWillBeSent) {
	if r.foreign(e.Request.Method, e.Request.URL) {
		return
	}
	to, err := url.Parse(e.Request.URL)
	if err != nil {
		r.add("%s %s: %v", e.Request.Method, e.Request.URL, err)
		return
	}
	r.requests[e.RequestID] = e.Request.Method + " " + to.RequestURI()
}

// foreign records a request to another host.
func (r *record) foreign(method, address string) bool {
	to, err := url.Parse(address)
	if err != nil || !slices.Contains([]string{"http", "https", "ws", "wss"}, to.Scheme) || to.Host == r.host {
		return false
	}
	r.add("another host: %s %s", method, address)
	return true
}

func (r *record) add(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// written is what a page has written to the console.
func written(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		switch {
		case a.Description != "":
			words = append(words, a.Description)
		case len(a.Value) > 0:
			words = append(words, strings.Trim(string(a.Value), `"`))
		default:
			words = append(words, string(a.Type))
		}
	}
	return strings.Join(words, " ")
}

// left are the faults that nobody expected, and missing what was expected and has not come.
func (r *record) left() (faults, missing []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	missing = slices.DeleteFunc(slices.Clone(r.expected), func(part string) bool {
		return slices.ContainsFunc(r.faults, func(f string) bool { return strings.Contains(f, part) })
	})
	faults = slices.DeleteFunc(slices.Clone(r.faults), func(f string) bool {
		return slices.ContainsFunc(slices.Concat(r.expected, r.allowed), func(part string) bool { return strings.Contains(f, part) })
	})
	return faults, missing
}

// settle ends the record: the test fails if it has what it should not, or lacks what it should have.
func (tab *Tab) settle() {
	faults, missing := tab.record.left()
	if len(missing) > 0 && !tab.t.Failed() {
		tab.until("expect "+strings.Join(missing, ", "), func(context.Context) (string, error) {
			if _, missing = tab.record.left(); len(missing) > 0 {
				return "it has not come", nil
			}
			return "", nil
		})
	}
	report(tab.t, faults)
}

func report(t testing.TB, faults []string) {
	for _, fault := range faults {
		t.Errorf("in the tab: %s", fault)
	}
}
