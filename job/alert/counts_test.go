package alert_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

// The counts are the sum of all handlers of the types that share them.
func TestCountsOfTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counts alert.Counts
		must := func(when string, waiting, sent, failed int) {
			t.Helper()
			synctest.Wait()
			if w, s, f := counts.Waiting(), counts.Sent(), counts.Failed(); w != waiting || s != sent || f != failed {
				t.Errorf("%s: %d wait, %d messages were sent and %d given up; want %d, %d and %d", when, w, s, f, waiting, sent, failed)
			}
		}
		good := &sink{answer: func(context.Context, int) error { time.Sleep(time.Second); return nil }}
		bad := &sink{answer: func(context.Context, int) error { time.Sleep(time.Second); return alert.Permanent(errBusy) }}
		g := newHandler(t, toWith(good, alert.Options{Counts: &counts}), nil, map[string]string{"alert.recovery": "true"})
		b := newHandler(t, toWith(bad, alert.Options{Counts: &counts}), nil, nil)
		must("at the beginning", 0, 0, 0)
		for range 3 {
			g.HandleError(t.Context(), execution(0), errDisk)
			b.HandleError(t.Context(), execution(0), errDisk)
			synctest.Wait()
		}
		must("while the first message is sent", 6, 0, 0)
		pass(2 * time.Second)
		must("then", 4, 1, 1)
		g.HandleSuccess(t.Context(), execution(0))
		must("after a success", 5, 1, 1)
		pass(2 * time.Minute)
		must("after two windows", 0, 3, 2)
		b.HandleError(t.Context(), execution(1), errDisk)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, h := range []handler{g, b} {
			_ = h.Flush(ended) // it gives up
		}
		b.HandleError(t.Context(), execution(2), errDisk)
		if w := counts.Waiting(); w != 0 {
			t.Errorf("after the end %d wait", w)
		}
	})
}
