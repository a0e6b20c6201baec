package oteljob_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// bySource returns the only span of an execution with a source.
func (r *rig) bySource(s job.Source) tracetest.SpanStub {
	r.t.Helper()
	var found []tracetest.SpanStub
	for _, span := range r.named("run settle") {
		if of(span, "elasticjob.source") == s.String() {
			found = append(found, span)
		}
	}
	if len(found) != 1 {
		r.t.Fatalf("%d executions are %v, want 1: %v", len(found), s, r.exporter.GetSpans())
	}
	return found[0]
}

// requireLink checks that one span links to another, in the same trace or not.
func requireLink(t *testing.T, from, to tracetest.SpanStub, what string) {
	t.Helper()
	if len(from.Links) != 1 {
		t.Fatalf("%d links, want 1: %v", len(from.Links), from.Links)
	}
	link := from.Links[0]
	if link.SpanContext.TraceID() != to.SpanContext.TraceID() || link.SpanContext.SpanID() != to.SpanContext.SpanID() || textIn(link.Attributes, "elasticjob.link") != what {
		t.Errorf("link %v %v to %v, want %q to %v", link.Attributes, link.SpanContext.TraceID(), link.SpanContext.SpanID(), what, to.SpanContext)
	}
}

var settleOne = job.Config{Name: "settle", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1, Failover: true}

// A run that makes up for a tick links to the one that was under way when the tick came.
func TestMakeUpLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := jobtest.NewCluster(t)
		var calls atomic.Int32
		c.Process("10.0.0.1", r.options()...).Schedule(settleOne, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			if calls.Add(1) == 1 {
				time.Sleep(6 * time.Minute)
			}
			return nil
		}))
		c.Advance(11*time.Minute + 10*time.Second)
		requireLink(t, r.bySource(job.SourceMisfire), r.bySource(job.SourceNormal), "ran when the tick came")
	})
}
