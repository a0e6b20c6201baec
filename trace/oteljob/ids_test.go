package oteljob

import (
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
)

func traceOfTick(namespace, name string, tick time.Time) trace.TraceID {
	return keyOf(job.Event{
		JobName:   name,
		Execution: job.Execution{Source: job.SourceNormal, ScheduledTime: tick},
	}).trace(namespace)
}

func TestTraceIDs(t *testing.T) {
	tick := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	same := traceOfTick("shop", "settle", tick)
	if got := TraceOfTick("shop", "settle", tick.Add(999*time.Microsecond)); got != same {
		t.Errorf("others are told that it is the trace %s: %s", got, same)
	}
	trigger := job.Event{JobName: "settle", Execution: job.Execution{Source: job.SourceManual, ScheduledTime: tick, RequestID: "7"}}
	if got, want := TraceOfTrigger("shop", "settle", "7"), keyOf(trigger).trace("shop"); got != want || got == same {
		t.Errorf("others are told that a trigger has the trace %s: %s", got, want)
	}
	if got := traceOfTick("shop", "settle", tick.In(time.FixedZone("east", 8*3600)).Add(999*time.Microsecond)); got != same {
		t.Error("one tick has two traces:", same, got)
	}
	for what, other := range map[string]trace.TraceID{
		"namespace": traceOfTick("shops", "ettle", tick),
		"job":       traceOfTick("shop", "settle2", tick),
		"tick":      traceOfTick("shop", "settle", tick.Add(time.Second)),
		"request":   tickKey{job: "settle", request: "1772366400000"}.trace("shop"),
	} {
		if other == same || !other.IsValid() {
			t.Errorf("another %s: trace %s, want a valid one that is not %s", what, other, same)
		}
	}
}

// Who samples a tenth of the traces gets a tenth of the ticks.
func TestIDsAreSpreadEvenly(t *testing.T) {
	sampler, sampled := sdktrace.TraceIDRatioBased(0.1), 0
	const ticks = 100_000
	for i := range ticks {
		id := traceOfTick("shop", "settle", time.Unix(int64(i), 0))
		if sampler.ShouldSample(sdktrace.SamplingParameters{ParentContext: t.Context(), TraceID: id}).Decision == sdktrace.RecordAndSample {
			sampled++
		}
	}
	if sampled < ticks/10-500 || sampled > ticks/10+500 {
		t.Errorf("%d of %d ticks are sampled, want a tenth", sampled, ticks)
	}
}

func TestIDsGrantAWishOnce(t *testing.T) {
	want := spanOf("0197-task")
	ctx := wishFor(t.Context(), want)
	first, second := IDs{}.NewSpanID(ctx, trace.TraceID{1}), IDs{}.NewSpanID(ctx, trace.TraceID{1})
	if first != want || second == want || !second.IsValid() {
		t.Errorf("%s and %s, want %s and another one", first, second, want)
	}
	id, span := IDs{}.NewIDs(t.Context())
	if again, _ := (IDs{}).NewIDs(t.Context()); !id.IsValid() || !span.IsValid() || id == again {
		t.Errorf("trace %s and %s, span %s: want valid ids, and another one each time", id, again, span)
	}
}
