//go:build linux

package script_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// What a program writes is logged line by line, and kept.
func TestOutput(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, tc := range []struct {
		name, text     string
		stdout, stderr []string
		output         string
	}{
		{name: "lines", text: `echo one; echo two; echo bad >&2; printf end`, stdout: []string{"one", "two", "end"}, stderr: []string{"bad"}},
		{name: "empty lines", text: `echo; echo one; echo`, stdout: []string{"one"}, output: "\none\n\n"},
		{name: "carriage returns", text: `printf '10%%\r20%%\r30%%\r\nnext\r\n'`, stdout: []string{"30%", "next"}, output: "10%\r20%\r30%\r\nnext\r\n"},
		{name: "no UTF-8", text: `printf 'a\377b\n'`, stdout: []string{"a\uFFFDb"}, output: "a?b\n"},
		{name: "a long line", text: `printf '` + long + `\n'`, stdout: []string{long[:4096], long[4096:8192], long[8192:]}, output: long + "\n"},
		{name: "nothing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runProps(t, sh(tc.text))
			if r.Err != nil || !slices.Equal(r.logged("stdout"), tc.stdout) || !slices.Equal(r.logged("stderr"), tc.stderr) {
				t.Errorf("logged %q and %q (%v)", r.logged("stdout"), r.logged("stderr"), r.Err)
			}
			if tc.output != "" && string(r.Output) != tc.output {
				t.Errorf("kept %q, want %q", r.Output, tc.output)
			}
			for _, l := range r.lines {
				if l.Stream == "stdout" && l.Level != "INFO" || l.Stream == "stderr" && l.Level != "WARN" {
					t.Errorf("the line %+v", l)
				}
			}
		})
	}
}

// Of a flood the end is kept, in whole characters.
func TestFlood(t *testing.T) {
	for _, tc := range []struct{ name, text string }{
		{"lines", `yes é | head -c 3000000; echo; echo end`},
		{"one line", `yes é | head -c 3000000 | tr -d '\n'; echo; echo end`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runJobWith(t, sh(tc.text), slog.DiscardHandler)
			if n := len(r.Output); r.Err != nil || n > job.MaxOutput || n < job.MaxOutput-3 || !bytes.HasSuffix(r.Output, []byte("end\n")) || !utf8.Valid(r.Output) || bytes.Contains(r.Output, []byte("?")) {
				t.Errorf("kept %d bytes, …%q (%v)", n, r.Output[max(0, n-20):], r.Err)
			}
		})
	}
}

func runJobWith(t *testing.T, props map[string]string, log slog.Handler) job.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	e, err := underScheduler(ctx, newType(t, script.Options{}), job.Config{Name: "script", ShardingTotalCount: 1, Props: props}, log)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A program that closes its output and goes on is waited for.
func TestClosedOutput(t *testing.T) {
	held := newHeld(t)
	r := runProps(t, sh(`exec 9>$HOLD; echo one; exec >&- 2>&-; sleep 0.1; exit 7`, "script.env.HOLD", held.path))
	held.mustBeGone(t)
	if r.Err == nil || !strings.HasSuffix(r.Err.Error(), "exit code 7") || string(r.Output) != "one\n" {
		t.Errorf("got %v, %q", r.Err, r.Output)
	}
}

// logFunc is a log that calls a function for each line of a program, and counts the lines.
type logFunc struct {
	call            func(text string)
	logged, dropped *atomic.Int64
}

func newLogFunc(call func(text string)) logFunc {
	return logFunc{call, new(atomic.Int64), new(atomic.Int64)}
}

func (l logFunc) Enabled(context.Context, slog.Level) bool { return true }
func (l logFunc) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logFunc) WithGroup(string) slog.Handler            { return l }
func (l logFunc) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "stream":
			l.logged.Add(1)
			l.call(r.Message)
		case "lines":
			l.dropped.Add(a.Value.Int64())
		}
		return true
	})
	return nil
}

// A log that takes nothing does not hold a program up for ever: it misses lines.
func TestABlockedLog(t *testing.T) {
	held := newHeld(t)
	awaited := false
	log := newLogFunc(func(string) {
		if !awaited {
			awaited = true
			held.await(t, "ready") // which comes after far more than all buffers take
		}
	})
	const lines = 500_000
	r := runJobWith(t, sh(`exec 9>$HOLD; yes line | head -n 500000; echo ready >&9`, "script.env.HOLD", held.path), log)
	if r.Err != nil || log.dropped.Load() == 0 || log.logged.Load()+log.dropped.Load() != lines {
		t.Errorf("%d lines logged and %d dropped of %d (%v)", log.logged.Load(), log.dropped.Load(), lines, r.Err)
	}
}

// A program that has ended does not wait long for a log that is slow.
func TestASlowLog(t *testing.T) {
	log := newLogFunc(func(string) { <-time.After(10 * time.Millisecond) })
	const lines = 10_000
	r := runJobWith(t, sh(`yes line | head -n 10000`), log)
	if r.Err != nil || log.dropped.Load() == 0 || log.logged.Load()+log.dropped.Load() != lines {
		t.Errorf("%d lines logged and %d dropped of %d (%v)", log.logged.Load(), log.dropped.Load(), lines, r.Err)
	}
}

// A log that panics fails the execution, and ends the program.
func TestALogThatPanics(t *testing.T) {
	held := newHeld(t)
	log := newLogFunc(func(string) { panic("boom") })
	r := runJobWith(t, sh(`exec 9>$HOLD; echo one; sleep 1000`, "script.env.HOLD", held.path), log)
	held.mustBeGone(t)
	if r.Outcome != job.OutcomePanic {
		t.Errorf("got %v, %v", r.Outcome, r.Err)
	}
}
