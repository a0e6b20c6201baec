package job_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// runLines keeps the lines of executions.
type runLines struct {
	diary
	level slog.Level
}

func (l *runLines) option() job.Option {
	return job.WithScope(func(ctx context.Context, e job.Event) (context.Context, func(job.Event)) {
		return job.LogTo(ctx, slog.NewTextHandler(l, &slog.HandlerOptions{Level: l.level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})), nil
	})
}

// writesTo is a scope whose executions write to a handler.
func writesTo(h slog.Handler) job.Option {
	return job.WithScope(func(ctx context.Context, _ job.Event) (context.Context, func(job.Event)) {
		return job.LogTo(ctx, h), nil
	})
}

func (l *runLines) Write(line []byte) (int, error) {
	l.note("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}

// logsLines is a handler that writes lines.
func logsLines(ctx context.Context, _ job.ShardingContext) error {
	log := job.Logger(ctx)
	log.Debug("one")
	log.With("a", 1).WithGroup("g").Info("two", "b", 2)
	job.Logger(ctx).Warn("three")
	return nil
}

// Lines go where scopes say, each by its own level, whether or not the scheduler logs.
func TestLogTo(t *testing.T) {
	for name, isSilent := range map[string]bool{"beside the log": false, "without a log": true} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			logged, logs := newLogbook()
			if isSilent {
				logs = job.WithLogger(nil)
			}
			cfg := c.config()
			cfg.Cron, cfg.ShardingTotalCount = "", 1
			all, some := &runLines{level: slog.LevelDebug}, &runLines{level: slog.LevelWarn}
			none := writesTo(nil)
			m := c.join("10.0.0.1", cfg, logsLines, logs, all.option(), none, some.option())
			c.ownedBy("10.0.0.1", 1, 1)
			c.trigger(m)
			c.pass(5 * time.Second)
			lines := []string{"level=DEBUG msg=one", "level=INFO msg=two a=1 g.b=2", "level=WARN msg=three"}
			if got := all.all(); !slices.Equal(got, lines) {
				t.Errorf("%q, want %q", got, lines)
			}
			if got, want := some.all(), lines[2:]; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			two := logged.says("two")
			if isSilent && len(two) > 0 {
				t.Errorf("the log says %v", two)
			}
			run := c.record.find(anything)[0]
			if !isSilent && (len(two) != 1 || two[0]["task"] != run.TaskID || fmt.Sprint(two[0]["a"]) != "1") {
				t.Errorf("the log says %v", two)
			}
		})
	}
}

// harmful is a slog handler that panics in one of its methods.
type harmful struct {
	slog.Handler
	in string
}

func (h harmful) does(what string) {
	if h.in == what {
		panic(what)
	}
}

func (h harmful) Enabled(context.Context, slog.Level) bool { h.does("Enabled"); return true }

func (h harmful) Handle(context.Context, slog.Record) error { h.does("Handle"); return nil }

func (h harmful) WithAttrs([]slog.Attr) slog.Handler { h.does("WithAttrs"); return h }

func (h harmful) WithGroup(string) slog.Handler { h.does("WithGroup"); return h }

func TestLogToWhatPanics(t *testing.T) {
	for _, in := range []string{"Enabled", "Handle", "WithAttrs", "WithGroup"} {
		runInVirtualTime(t, in, func(t *testing.T, c *cluster, _ *memory.Store) {
			logged, logs := newLogbook()
			cfg := c.config()
			cfg.ShardingTotalCount = 1
			lines := &runLines{}
			c.join("10.0.0.1", cfg, logsLines, logs, writesTo(harmful{in: in}), lines.option())
			c.pass(10*time.Second + 500*time.Millisecond)
			runs := c.record.find(func(e execution) bool { return e.err == nil && !e.end.IsZero() })
			if got := lines.all(); len(runs) < 9 || len(got) != 2*len(runs) {
				t.Errorf("%d executions: %q", len(runs), got)
			}
			if n, m := len(logged.says("a log handler panicked")), len(logged.says("three")); n != 1 || m != len(runs) {
				t.Errorf("the log says %q", logged.messages())
			}
		})
	}
}
