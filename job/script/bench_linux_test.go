package script_test

import (
	"context"
	"io"
	"log/slog"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// BenchmarkRun compares a script that does nothing with the same program without a
// supervisor, and with a handler that does nothing.
func BenchmarkRun(b *testing.B) {
	b.Run("handler", func(b *testing.B) {
		h := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		for b.Loop() {
			_ = h.Execute(b.Context(), job.ShardingContext{})
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	h := benchHandler(b, map[string]string{"script.command.line": "/bin/true"})
	b.Run("script", func(b *testing.B) {
		for b.Loop() {
			if err := h.Execute(b.Context(), job.ShardingContext{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("script/parallel", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if err := h.Execute(b.Context(), job.ShardingContext{}); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

func benchHandler(b *testing.B, props map[string]string) job.Handler {
	b.Helper()
	kind, err := script.New(script.Supervise(), script.Options{})
	if err != nil {
		b.Fatal(err)
	}
	h, err := kind.Handler(job.Config{Name: "script", Props: props})
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// BenchmarkOutput lets a program write a gigabyte of lines of 100 bytes. null has it written to
// the null device; bare reads and drops it; kept keeps the end; logged also logs each line, to a
// log that drops it. peak-MB is the most memory that the process had in use.
func BenchmarkOutput(b *testing.B) {
	const size = 1_000_000_000
	flood := []string{"/bin/sh", "-c", "yes " + longLine() + " | head -c " + strconv.Itoa(size)}
	for _, without := range []struct {
		name string
		to   io.Writer
	}{{"null", nil}, {"bare", struct{ io.Writer }{io.Discard}}} {
		b.Run(without.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				cmd := exec.Command(flood[0], flood[1:]...)
				cmd.Stdout = without.to
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, log := range []struct {
		name  string
		level slog.Level
	}{{"kept", slog.LevelError}, {"logged", slog.LevelInfo}} {
		b.Run(log.name, func(b *testing.B) {
			b.SetBytes(size)
			kind, err := script.New(script.Supervise(), script.Options{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				peak := watchMemory()
				e, err := underScheduler(b.Context(), kind, job.Config{Name: "script", ShardingTotalCount: 1, Props: sh(flood[2])}, slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: log.level}))
				if err != nil || e.Err != nil || len(e.Output) != job.MaxOutput {
					b.Fatal(err, e.Err, len(e.Output))
				}
				b.ReportMetric(peak(), "peak-MB")
			}
		})
	}
}

func longLine() string {
	line := make([]byte, 99)
	for i := range line {
		line[i] = 'a' + byte(i%26)
	}
	return string(line)
}

// watchMemory returns a function that returns the most memory in use since then, in MB.
func watchMemory() func() float64 {
	runtime.GC()
	stop, peak := make(chan struct{}), make(chan float64)
	go func() {
		most := uint64(0)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.Sys-m.HeapReleased)
			select {
			case <-stop:
				peak <- float64(most) / 1e6
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() float64 { close(stop); return <-peak }
}
