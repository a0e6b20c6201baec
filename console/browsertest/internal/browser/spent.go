package browser

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// Spent is what Chromium has done for the pages of a tab.
type Spent struct {
	Script, Layout, Style time.Duration
	// Task is how long the tab was busy, with those and all else.
	Task time.Duration
	// Heap is how many bytes its scripts hold.
	Heap int64
}

// Spent tells what pages have cost since it was first asked.
func (tab *Tab) Spent() Spent {
	tab.t.Helper()
	var s Spent
	tab.do("measure", func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		if _, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{}); err != nil {
			return none, err
		}
		got, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			return none, err
		}
		seconds := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
		for _, m := range got.Metrics {
			switch m.Name {
			case "ScriptDuration":
				s.Script = seconds(m.Value)
			case "LayoutDuration":
				s.Layout = seconds(m.Value)
			case "RecalcStyleDuration":
				s.Style = seconds(m.Value)
			case "TaskDuration":
				s.Task = seconds(m.Value)
			case "JSHeapUsedSize":
				s.Heap = int64(m.Value)
			}
		}
		return none, nil
	})
	return s
}

// Received is how many bytes of answers have come over the network, as they were encoded there, to requests whose method and
// address have a part.
func (tab *Tab) Received(part string) (sum int64) {
	tab.record.mu.Lock()
	defer tab.record.mu.Unlock()
	for id, request := range tab.record.requests {
		if strings.Contains(request, part) {
			sum += tab.record.received[id]
		}
	}
	return sum
}
