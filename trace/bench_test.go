//go:build unix

package trace_test

import (
	"context"
	"errors"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
)

// nowhere is a sink that keeps nothing.
type nowhere struct{ events, lines int }

func (n *nowhere) Write(_ context.Context, b trace.Batch) error {
	n.events += len(b.Events)
	n.lines += len(b.Lines)
	return nil
}

// BenchmarkEvents is how long it takes until a sink has the three events of an execution.
func BenchmarkEvents(b *testing.B) {
	s := &nowhere{}
	r := benchRecorder(b, s, trace.Options{})
	o := r.Observer()
	n := 0
	for b.Loop() {
		tellExecution(o, "settle", n)
		n++
	}
	if err := r.Close(b.Context()); err != nil {
		b.Error(err)
	}
	if lost := r.Stats().Overflowed; lost.Events > 0 {
		b.Logf("%d events were dropped", lost.Events)
	}
	b.ReportMetric(float64(s.events)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkLine is how long a handler takes for a line.
func BenchmarkLine(b *testing.B) {
	for name, log := range map[string]func(*slog.Logger){
		"plain":      func(l *slog.Logger) { l.Info("it goes on") },
		"attributes": func(l *slog.Logger) { l.Info("it goes on", "rows", 17, "city", "Beijing") },
	} {
		b.Run(name, func(b *testing.B) {
			r := benchRecorder(b, &nowhere{}, trace.Options{Lines: trace.Lines{Max: 1 << 40, MaxBytes: 1 << 40, PerSecond: 1 << 40}})
			l := runLogger(r, execution)
			b.ReportAllocs()
			for b.Loop() {
				log(l)
			}
			if err := r.Close(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
}

// BenchmarkRun is the processor's time that an execution takes if 1,000 are triggered at once, in a
// scheduler on a store in memory, with a recorder and without. The difference is all that the
// recorder costs, on the path of the run and off it. Other work on the machine counts little.
func BenchmarkRun(b *testing.B) {
	const items = 1000
	for _, name := range []string{"without", "with", "with a line"} {
		b.Run(name, func(b *testing.B) {
			reg, err := memory.NewStore(memory.Options{}).Dial(b.Context(), memory.Config{Namespace: "bench"})
			if err != nil {
				b.Fatal(err)
			}
			r := benchRecorder(b, &nowhere{}, trace.Options{})
			var options []job.Option
			if name != "without" {
				options = append(options, r.Option())
			}
			h := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
				if name == "with a line" {
					job.Logger(ctx).Info("it goes on")
				}
				return nil
			})
			s, err := job.Schedule(b.Context(), reg, job.Config{Name: "settle", ShardingTotalCount: items, Threads: items}, h, options...)
			if err != nil {
				b.Fatal(err)
			}
			before := processorTime(b)
			for b.Loop() {
				asked, err := s.Trigger(b.Context(), job.TriggerRequest{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := asked.Wait(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N*items), "cpu-µs/execution")
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := errors.Join(s.Shutdown(ctx), r.Close(ctx), reg.Close(ctx)); err != nil {
				b.Error(err)
			}
			if s := r.Stats(); s.Missed > 0 || s.Overflowed != (trace.Count{}) {
				b.Logf("%+v", s)
			}
		})
	}
}

// processorTime is how long this process has worked.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchRecorder(b *testing.B, s trace.Sink, o trace.Options) *trace.Recorder {
	b.Helper()
	r, err := trace.New(s, o)
	if err != nil {
		b.Fatal(err)
	}
	return r
}
