package alert_test

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
)

// heap returns how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// 10,000 failures in a minute are a handful of messages, and take little memory, even if no two
// errors are equal.
func TestTenThousandFailures(t *testing.T) {
	long := make([]byte, 10_000)
	for name, tc := range map[string]struct {
		text func(i int) string
		most int
	}{
		"one error":   {func(int) string { return "disk full" }, 2},
		"100 errors":  {func(i int) string { return fmt.Sprint("disk full on host ", i%100) }, 22},
		"all differ":  {func(i int) string { return fmt.Sprint("order ", i, " failed") }, 22},
		"long errors": {func(i int) string { return fmt.Sprint(i, string(long)) }, 22},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s sink
				h := newHandler(t, to(&s), nil, map[string]string{"alert.recovery": "true"})
				before, peak := heap(), int64(0)
				for i := range 10_000 {
					h.HandleError(t.Context(), execution(i%1000), errors.New(tc.text(i)))
					time.Sleep(time.Minute / 10_001)
					if i%1000 == 999 {
						peak = max(peak, heap()-before)
					}
				}
				if err := h.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				failures, messages := 0, s.take()
				for _, m := range messages {
					failures += m.Count
				}
				t.Logf("%d messages tell of %d failures; at most %d KiB", len(messages), failures, peak>>10)
				if len(messages) > tc.most || failures != 10_000 || peak > 1<<20 {
					t.Errorf("%d messages tell of %d failures; at most %d bytes", len(messages), failures, peak)
				}
			})
		})
	}
}

// What an error handler costs a job that never fails.
func BenchmarkIdle(b *testing.B) {
	log := slog.New(slog.DiscardHandler)
	of := alert.DingTalk(alert.Options{Lookup: lookup(map[string]string{"env:TOKEN": "t", "env:SECRET": "s"})})
	props := map[string]string{"dingtalk.webhook": "https://oapi.dingtalk.com/robot/send?access_token=${env:TOKEN}", "dingtalk.secret": "${env:SECRET}"}
	var handlers []job.ErrorHandler
	before := heap()
	for b.Loop() {
		h, err := of.ErrorHandler(job.Config{Name: "settle", Props: props}, log)
		if err != nil {
			b.Fatal(err)
		}
		handlers = append(handlers, h)
	}
	b.ReportMetric(float64(heap()-before)/float64(len(handlers)), "kept-B/op")
	runtime.KeepAlive(handlers)
}

func BenchmarkHandleError(b *testing.B) {
	for name, text := range map[string]func(i int) error{
		"equal":  func(int) error { return errDisk },
		"differ": func(i int) error { return differing(i) },
	} {
		for _, recovery := range []string{"false", "true"} {
			b.Run(name+" recovery="+recovery, func(b *testing.B) {
				var s sink
				h := newHandler(b, to(&s), nil, map[string]string{"alert.recovery": recovery})
				ctx, i := b.Context(), 0
				b.ReportAllocs()
				for b.Loop() {
					h.HandleError(ctx, execution(i%1000), text(i))
					i++
				}
				if err := h.Flush(ctx); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// differing is an error whose text is made when it is asked for.
type differing int

func (e differing) Error() string { return fmt.Sprint("order ", int(e), " failed") }

func BenchmarkHandleSuccess(b *testing.B) {
	var s sink
	h := newHandler(b, to(&s), nil, map[string]string{"alert.recovery": "true"})
	b.ReportAllocs()
	for b.Loop() {
		h.HandleSuccess(b.Context(), execution(0))
	}
}
