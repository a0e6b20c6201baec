package job_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// brittle is a logger that panics while it is broken.
type brittle struct {
	zapcore.Core
	broken atomic.Bool
}

func newBrittle() (*brittle, job.Option) {
	b := &brittle{Core: zapcore.NewNopCore()}
	return b, job.WithLogger(zap.New(b))
}

func (b *brittle) Enabled(zapcore.Level) bool        { return true }
func (b *brittle) With([]zapcore.Field) zapcore.Core { return b }
func (b *brittle) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return ce.AddCore(e, b)
}

func (b *brittle) Write(zapcore.Entry, []zapcore.Field) error {
	if b.broken.Load() {
		panic("the logger is broken")
	}
	return nil
}

// A logger that panics ends the scheduler, but not the process. The scheduler leaves in order,
// so others get its items at once.
func TestLoggerThatPanics(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		b, logs := newBrittle()
		m := c.join("10.0.0.1", c.config(), nil, logs)
		c.join("10.0.0.2", c.config(), nil)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 2}, "10.0.0.2": {1}})
		b.broken.Store(true)
		c.configure(func(cfg *job.Config) { cfg.Description = "which is told" })
		begin := time.Now()
		m.awaitDone()
		var p *job.PanicError
		if err := m.Err(); !errors.As(err, &p) || p.Value != "the logger is broken" {
			t.Errorf("it stopped with %v", err)
		}
		c.awaitOwners(map[string][]int{"10.0.0.2": {0, 1, 2}})
		if took := time.Since(begin); took > time.Second {
			t.Errorf("that took %v", took)
		}
		c.await("nothing of it is left", func(s *jobtree.State) bool { return len(s.Sessions) == 1 })
	})
}

// A logger that panics within a run fails that run, and the run ends.
func TestLoggerThatPanicsInARun(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		b, logs := newBrittle()
		fails := errors.New("no")
		m := c.join("10.0.0.1", c.config(), func(context.Context, job.ShardingContext) error { return fails }, logs)
		c.awaitOwners(map[string][]int{"10.0.0.1": {0, 1, 2}})
		c.pass(time.Second) // so that it has logged its items
		b.broken.Store(true)
		var p *job.PanicError
		m.awaitStatus("the last error", func(s job.Status) bool { return errors.As(s.LastError, &p) })
		n := len(c.record.find(anything))
		c.awaitRuns("more", n+9, anything) // so each of them has ended, and the next tick runs
		c.check()
	})
}
