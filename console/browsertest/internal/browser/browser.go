package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/chromedp/chromedp"
)

// Browser is a Chromium without a window. The first tab starts it. It is safe for use by several goroutines.
type Browser struct {
	start func() error
	ctx   context.Context
	stop  []context.CancelFunc

	// blank has an empty page. Chromium begins a new process for about:blank, and for what comes after it.
	blank *httptest.Server

	mu   sync.Mutex
	free []*place
}

// startTime bounds how long Chromium takes to start, on a machine that other tests keep busy.
const startTime = 2 * time.Minute

// New returns a browser that has not been started yet. Close it.
func New() *Browser {
	b := &Browser{}
	b.start = sync.OnceValue(b.run)
	return b
}

// run starts Chromium with a profile that is removed at its end.
func (b *Browser) run() error {
	path, err := installed()
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		// Nothing but this host is ever asked, whatever a page, or Chromium itself, wants.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.Env("TZ=UTC"), // pages name their zone
	)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(allocator)
	b.stop = []context.CancelFunc{endBrowser, end}
	// The browser lives as long as the context of its first step: a bound must not be that context's own.
	late := time.AfterFunc(startTime, endBrowser)
	defer late.Stop()
	if err := chromedp.Do(ctx); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	b.ctx = ctx
	b.blank = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><link rel=icon href='data:,'>")
	}))
	return nil
}

// Close ends Chromium, and waits until it has ended and its profile is removed. Tests must have ended.
func (b *Browser) Close() {
	for _, stop := range b.stop {
		stop()
	}
	if b.blank != nil {
		b.blank.Close()
	}
}
