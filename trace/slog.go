package trace

import (
	"context"
	"log/slog"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/slogzap"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Slog returns a sink that writes one line for each execution, at its end: for those without a
// database. It is the sink of one recorder. Handlers' lines are not written again, so give the
// recorder Options.Lines.Off.
//
// The lines, all with job and instance:
//
//	execution finished        item, task, tick, source, token, outcome, took, waited, attempts; if
//	                          they are there: request, original (the task that it repeats), error.
//	                          INFO if its outcome is OK, else WARN
//	ticks are skipped         item, tick (the last one), ticks, reason. WARN
//	executions were cut short from, items (how many), failover (whether they are run again). WARN
//	fault, fault is over      kind, error. WARN, INFO
//	events were missed        events, error. WARN
//
// took and waited are times; waited is that for a thread, and is left out if its start was missed.
func Slog(l *slog.Logger) Sink { return &logSink{log: l, waited: map[string]time.Duration{}} }

// Zap is [Slog] for programs that log with zap.
func Zap(l *zap.Logger) Sink { return Slog(slogzap.Slog(l)) }

// logSink writes lines. Its recorder calls it, one batch after the other.
type logSink struct {
	log  *slog.Logger
	last string // the ID of the last event: a batch may come again
	// For how long executions that have not ended have waited, by task id.
	waited map[string]time.Duration
}

// maxWaited bounds the executions that are remembered, because the ends of some are missed.
const maxWaited = 10_000

// Write implements [Sink]. If a line cannot be written, it is not tried again.
func (s *logSink) Write(ctx context.Context, b Batch) error {
	for i := range b.Events {
		e := &b.Events[i]
		if e.ID <= s.last {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		s.last = e.ID
		s.write(ctx, e)
	}
	return nil
}

func (s *logSink) write(ctx context.Context, e *Event) {
	switch e.Kind {
	case jobtype.EventStarted:
		if len(s.waited) >= maxWaited {
			clear(s.waited)
		}
		s.waited[e.Execution.TaskID] = e.Waited
	case jobtype.EventFinished:
		s.finished(ctx, e)
	case jobtype.EventSkipped:
		s.say(ctx, slog.LevelWarn, "ticks are skipped", e, slog.Int("item", e.Execution.Item), slog.Time("tick", e.Execution.ScheduledTime), slog.Int("ticks", e.Ticks), slog.String("reason", e.What))
	case jobtype.EventRecovered:
		s.say(ctx, slog.LevelWarn, "executions were cut short", e, slog.String("from", e.From), slog.Int("items", len(e.Items)), slog.Bool("failover", e.What != ""))
	case jobtype.EventFault:
		level, text := slog.LevelWarn, "fault"
		if e.Over {
			level, text = slog.LevelInfo, "fault is over"
		}
		s.say(ctx, level, text, e, slog.String("kind", e.What), slog.String("error", e.Error))
	case jobtype.EventMissed:
		s.say(ctx, slog.LevelWarn, "events were missed", e, slog.Int("events", e.Ticks), slog.String("error", e.Error))
	}
}

func (s *logSink) finished(ctx context.Context, e *Event) {
	x := e.Execution
	attributes := []slog.Attr{
		slog.Int("item", x.Item), slog.String("task", x.TaskID), slog.Time("tick", x.ScheduledTime), slog.String("source", x.Source.String()), slog.Int64("token", x.Token),
		slog.String("outcome", e.Outcome.String()), slog.Duration("took", e.Took), slog.Int("attempts", e.Attempt),
	}
	if waited, ok := s.waited[x.TaskID]; ok {
		attributes = append(attributes, slog.Duration("waited", waited))
		delete(s.waited, x.TaskID)
	}
	if x.RequestID != "" {
		attributes = append(attributes, slog.String("request", x.RequestID))
	}
	if x.OriginalTaskID != "" {
		attributes = append(attributes, slog.String("original", x.OriginalTaskID))
	}
	if e.Error != "" {
		attributes = append(attributes, slog.String("error", e.Error))
	}
	level := slog.LevelInfo
	if e.Outcome != job.OutcomeOK {
		level = slog.LevelWarn
	}
	s.say(ctx, level, "execution finished", e, attributes...)
}

// say writes a line, with the time of its event.
func (s *logSink) say(ctx context.Context, level slog.Level, text string, e *Event, attributes ...slog.Attr) {
	h := s.log.Handler()
	if !h.Enabled(ctx, level) {
		return
	}
	record := slog.NewRecord(e.Time, level, text, 0)
	record.AddAttrs(slog.String("job", e.Job), slog.String("instance", e.Instance))
	record.AddAttrs(attributes...)
	_ = h.Handle(ctx, record) // as slog.Logger does: a line that cannot be written is lost
}
