package oteljob

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
)

// TraceOfTick returns the id of the trace of a tick of a job, which has all that ran for it in all
// processes, whoever asks: so a page of the history may link to it. namespace is Options.Namespace. It
// does not say whether the sampler has taken it.
func TraceOfTick(namespace, job string, tick time.Time) trace.TraceID {
	return traceOf(namespace, job, "tick", strconv.FormatInt(tick.UnixMilli(), 10)) // as precise as the tree
}

// TraceOfTrigger is TraceOfTick for what ran for a trigger: for a request, and for no tick. Its source
// is [job.SourceManual], or after a failover [job.SourceFailover], with a time that is no whole second.
func TraceOfTrigger(namespace, job, requestID string) trace.TraceID {
	return traceOf(namespace, job, "request", requestID)
}

// traceOf hashes what names a trace. Samplers expect that ids are spread evenly.
func traceOf(names ...string) (id trace.TraceID) {
	sum := sha256.Sum256([]byte("elasticjob trace\x00" + strings.Join(names, "\x00")))
	copy(id[:], sum[:])
	return id
}

// spanOf returns the id of the span of an execution, if [IDs] makes the ids.
func spanOf(taskID string) (id trace.SpanID) {
	sum := sha256.Sum256([]byte("elasticjob span\x00" + taskID))
	copy(id[:], sum[:])
	return id
}

// IDs makes the ids of spans: that of an execution's span follows from its task id, so that an
// execution in another process can link to it; all others are random. It is for the SDK:
//
//	sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(oteljob.IDs{}), …)
//
// Without it there are no links to other executions; their task ids stand in attributes all the
// same.
type IDs struct{}

// NewIDs returns the ids of a span that begins a trace.
func (IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	var id trace.TraceID
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id, IDs{}.NewSpanID(ctx, id)
}

// NewSpanID returns the id of another span of a trace.
func (IDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if w, ok := ctx.Value(wishKey{}).(*wish); ok && !w.granted.Swap(true) {
		return w.id
	}
	var id trace.SpanID
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}

// wishKey is the key under which a context holds the id that a span is to get.
type wishKey struct{}

// wish is granted once: the context goes on to the handler, whose spans have other ids.
type wish struct {
	id      trace.SpanID
	granted atomic.Bool
}

func wishFor(ctx context.Context, id trace.SpanID) context.Context {
	return context.WithValue(ctx, wishKey{}, &wish{id: id})
}
