package job_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// page is what a logger writes to.
type page struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *page) Sync() error { return nil }

// says returns the lines with a message.
func (p *page) says(t *testing.T, message string) []map[string]any {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines []map[string]any
	for line := range bytes.Lines(p.out.Bytes()) {
		var fields map[string]any
		if err := json.Unmarshal(line, &fields); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if fields["msg"] == message {
			lines = append(lines, fields)
		}
	}
	return lines
}

// toSlog and toZap are loggers of both libraries that write lines of JSON alike.
func (p *page) toSlog() *slog.Logger { return slog.New(slog.NewJSONHandler(p, nil)) }

func (p *page) toZap() *zap.Logger {
	return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		MessageKey: "msg", LevelKey: "level", EncodeLevel: zapcore.CapitalLevelEncoder, EncodeTime: zapcore.RFC3339NanoTimeEncoder,
	}), p, zapcore.InfoLevel))
}

// Lines of a handler and of the scheduler come to the same logger, of either library. Those
// of a handler have what names its execution.
func TestLoggerOfAHandler(t *testing.T) {
	for name, to := range map[string]func(*page) job.Option{
		"slog": func(p *page) job.Option { return job.WithSlog(p.toSlog()) },
		"zap":  func(p *page) job.Option { return job.WithLogger(p.toZap()) },
	} {
		runInVirtualTime(t, name, func(t *testing.T, c *cluster, _ *memory.Store) {
			var p page
			cfg := c.config()
			cfg.Cron, cfg.TimeZone = "0/30 * * * * ?", "UTC"
			silent := job.WithLogger(nil) // which the test harness gives
			m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				job.Logger(ctx).Info("settled", "amount", 7)
				job.Logger(ctx).Debug("not at this level")
				return nil
			}, silent, to(&p))
			c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
			runs := c.awaitRuns("a tick", 3, anything)
			c.settled()
			if joined := p.says(t, "joined"); len(joined) != 1 || joined[0]["job"] != "settle" || joined[0]["instance"] != m.Status().InstanceID {
				t.Errorf("of the scheduler there is %v", joined)
			}
			lines := map[float64]map[string]any{}
			for _, line := range p.says(t, "settled") {
				lines[line["item"].(float64)] = line
			}
			if len(lines) != 3 || len(p.says(t, "not at this level")) > 0 {
				t.Fatalf("of the handlers there is %v", lines)
			}
			for _, e := range runs {
				got := maps.Clone(lines[float64(e.Item)])
				delete(got, "time")
				want := map[string]any{
					"level": "INFO", "msg": "settled", "amount": 7.0,
					"job": "settle", "item": float64(e.Item), "tick": e.ScheduledTime.Format(time.RFC3339), "task": e.TaskID, "token": float64(e.Token),
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// Without a logger, and with a context that is no handler's, there is one that is silent.
func TestLoggerThatIsSilent(t *testing.T) {
	if log := job.Logger(t.Context()); log == nil || log.Enabled(t.Context(), slog.LevelError) {
		t.Error("it is not silent outside of a handler")
	}
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		c.join("10.0.0.1", c.config(), func(ctx context.Context, _ job.ShardingContext) error {
			log := job.Logger(ctx)
			log.Error("nobody sees it")
			if log.Enabled(ctx, slog.LevelError) {
				t.Error("it is not silent without a logger")
			}
			return nil
		}, job.WithLogger(nil))
		c.awaitRuns("a tick", 3, anything)
	})
}

// One of the two loggers is allowed.
func TestTwoLoggersAreRefused(t *testing.T) {
	for name, options := range map[string][]job.Option{
		"zap first":  {job.WithLogger(zap.NewNop()), job.WithSlog(slog.New(slog.DiscardHandler))},
		"slog first": {job.WithSlog(slog.New(slog.DiscardHandler)), job.WithLogger(zap.NewNop())},
	} {
		_, err := job.Schedule(t.Context(), registry(t), job.Config{Name: "settle", ShardingTotalCount: 1}, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), options...)
		if err == nil || err.Error() != "job: WithLogger and WithSlog: one of them is allowed" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A handler is given the job's properties, and those of a later configuration from then on.
// One that runs keeps what it was given.
func TestPropertiesOfAHandler(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount = "", 1
		cfg.Props = map[string]string{"region": "east", "limit": "10"}
		cfg.Misfire = job.Off
		release := make(chan struct{}, 1)
		m := c.join("10.0.0.1", cfg, func(ctx context.Context, sc job.ShardingContext) error {
			select {
			case <-release:
			case <-ctx.Done():
			}
			if got, ok := sc.Properties.Get("region"); !ok || got != map[string]string{"": "east", "later": "west"}[sc.JobParameter] {
				t.Errorf("%q: the region is %q", sc.JobParameter, got)
			}
			return nil
		})
		c.awaitOwners(map[string][]int{"10.0.0.1": {0}})
		run := func(parameter string, n int) execution {
			t.Helper()
			if _, err := m.Trigger(t.Context(), job.TriggerRequest{Parameter: parameter}); err != nil {
				t.Fatal(err)
			}
			return c.awaitRuns("it", n, anything)[n-1]
		}
		first := run("", 1)
		if diff := cmp.Diff(cfg.Props, maps.Collect(first.Properties.All())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		c.configure(func(cfg *job.Config) { cfg.Props = map[string]string{"region": "west"} })
		at := c.configured()
		c.until("the configuration is followed", func() bool { return c.says(m).Accepted == at })
		release <- struct{}{}
		c.awaitRuns("the first has ended", 1, func(e execution) bool { return !e.end.IsZero() })
		later := run("later", 2)
		release <- struct{}{}
		if diff := cmp.Diff(map[string]string{"region": "west"}, maps.Collect(later.Properties.All())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		c.awaitRuns("both have ended", 2, func(e execution) bool { return !e.end.IsZero() })
		c.check()
	})
}
