package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// traceTime bounds how much longer an operation takes because of its trace.
const traceTime = 5 * time.Second

// WithTrace has each change kept by a sink, too: by a *sqltrace.Tracer, which keeps more of them
// than the audit, and for longer. Each is one event of jobtype.EventOperated, which has the ID of the
// change; so it does not matter if it is kept twice. A dry run has none. The sinks of package trace
// take no notice of it.
//
// A change is traced after its first commit: it is made then, whatever becomes of the trace. If the sink
// fails, or does not answer within five seconds, failed is called, and the operation succeeds all the
// same. The audit has the change in any case, and [Ops.TraceAudit] can trace it later. failed is called
// by the caller of the operation; nil is [slog.Default], which gets an error with the change's ID.
func WithTrace(sink trace.Sink, failed func(Change, error)) Option {
	if failed == nil {
		failed = func(c Change, err error) {
			slog.Error("a change is not in the history", "change", c.ID, "action", string(c.Action), "job", c.Job, "error", err)
		}
	}
	t := &tracer{sink: sink, failed: failed, turn: make(chan struct{}, 1)}
	return func(o *Ops) { *o = *o.OnChange(t.keep) }
}

// tracer gives changes to a sink, one after the other.
type tracer struct {
	sink   trace.Sink
	failed func(Change, error)
	turn   chan struct{} // has one while the sink is called

	mu   sync.Mutex
	last string // the ID of the last change: of several commits it is the same
}

func (t *tracer) keep(c Change) {
	e := c.event()
	if c.ID == "" || !t.isNew(e.ID) {
		return
	}
	// The change is made: that its caller has no time left, or goes away, does not matter.
	ctx, cancel := context.WithTimeout(context.Background(), traceTime)
	defer cancel()
	if err := t.write(ctx, e); err != nil {
		t.failed(c, fmt.Errorf("change %s is not traced: %w", c.ID, err))
	}
}

func (t *tracer) isNew(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	isNew := id != t.last
	t.last = id
	return isNew
}

func (t *tracer) write(ctx context.Context, e trace.Event) error {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("the sink is busy: %w", ctx.Err())
	}
	defer func() { <-t.turn }()
	return t.sink.Write(ctx, trace.Batch{Events: []trace.Event{e}})
}

func (c Change) event() trace.Event {
	if len(c.Jobs) > 0 { // the entry has several
		c.ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(c.ID+c.Job)).String()
	}
	return trace.Event{
		ID: c.ID, Time: c.At, Kind: jobtype.EventOperated, Job: c.Job, By: c.By, From: c.From, What: string(c.Action),
		Detail: c.Detail, Why: c.Why,
		Before: brief.Cut(c.Before, trace.MaxDocument-len("…")), After: brief.Cut(c.After, trace.MaxDocument-len("…")),
	}
}

// tracedAtOnce is how many changes are traced at a time. Each has up to 32 KiB.
const tracedAtOnce = 100

// TraceAudit gives a sink all changes that the audit has, the oldest first: those too that [WithTrace]
// could not trace, because the sink was away or the program ended. A sink that has some of them keeps
// each once. It may be called at any time, and again.
//
// Errors: those of a read, and of the sink; the entries that cannot be read, when all others are traced.
func (o *Ops) TraceAudit(ctx context.Context, sink trace.Sink) error {
	changes, err := o.Audit(ctx, AuditQuery{})
	if err != nil {
		return err
	}
	slices.Reverse(changes)
	var unread []error
	for some := range slices.Chunk(changes, tracedAtOnce) {
		var b trace.Batch
		for _, c := range some {
			if c.Err != nil {
				unread = append(unread, fmt.Errorf("change %s: %w", c.ID, c.Err))
				continue
			}
			jobs := c.Jobs
			if len(jobs) == 0 {
				jobs = []string{c.Job}
			}
			for _, c.Job = range jobs {
				b.Events = append(b.Events, c.event())
			}
		}
		if err := sink.Write(ctx, b); err != nil {
			return fmt.Errorf("trace the audit: %w", err)
		}
	}
	return errors.Join(unread...)
}
