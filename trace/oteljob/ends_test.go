package oteljob_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// Whatever happens to processes, sessions and handlers: each execution has one span, which ends,
// below the span of a tick of its trace, which has begun before it and ends after it.
func TestEverySpanEnds(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, rng := newRig(t), rand.New(rand.NewPCG(seed, 0))
				var executions atomic.Int32
				counts := job.WithScope(func(ctx context.Context, _ job.Event) (context.Context, func(job.Event)) {
					executions.Add(1)
					return ctx, nil
				})
				c := jobtest.NewCluster(t)
				config := job.Config{
					Name: "settle", Cron: "0/20 * * * * ?", ShardingTotalCount: 6, Failover: true,
					Threads: 1 + rng.IntN(3), Timeout: 40 * time.Second, Retry: job.Retry{Attempts: 1, InitialBackoff: time.Second},
				}
				handler := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
					switch rand.IntN(5) { // many at once, so this is not replayed to the letter
					case 0:
						panic("a bug")
					case 1:
						return errors.New("no money")
					case 2:
						time.Sleep(3 * time.Second) // deaf
						return nil
					}
					return sleeps(time.Duration(rand.IntN(60))*time.Second)(ctx, sc)
				})
				start := func(n int) *jobtest.Process {
					in := c.Process(fmt.Sprintf("10.0.0.%d", n), append(r.options(), counts)...)
					in.Schedule(config, handler)
					return in
				}
				live := []*jobtest.Process{start(1), start(2), start(3)}
				for n := range 12 {
					c.Advance(time.Duration(5+rng.IntN(30)) * time.Second)
					switch at := rng.IntN(len(live)); rng.IntN(4) {
					case 0:
						live[at].Die()
						live[at] = start(4 + n)
					case 1:
						_ = live[at].Shutdown(time.Duration(rng.IntN(5)) * time.Second) // it may say that handlers still run
						live[at] = start(4 + n)
					case 2:
						live[at].LoseSession()
					case 3:
						live[at].CutOff(time.Duration(rng.IntN(20)) * time.Second)
					}
				}
				c.Advance(30 * time.Second)
				for _, in := range live {
					_ = in.Shutdown(time.Minute) // the same
				}
				c.Advance(2 * time.Minute)
				requireWhole(t, r, int(executions.Load()))
			})
		})
	}
}

func requireWhole(t *testing.T, r *rig, executions int) {
	t.Helper()
	ticks, runs := map[trace.SpanID]tracetest.SpanStub{}, r.named("run settle")
	for _, s := range r.named("tick settle") {
		ticks[s.SpanContext.SpanID()] = s
	}
	if len(runs) != executions || executions < 20 {
		t.Errorf("%d spans for %d executions, want as many, and at least 20", len(runs), executions)
	}
	count := map[trace.SpanID]int{}
	for _, s := range runs {
		tick, ok := ticks[s.Parent.SpanID()]
		if !ok || tick.SpanContext.TraceID() != s.SpanContext.TraceID() {
			t.Fatalf("the execution %s has no tick", of(s, "elasticjob.task.id"))
		}
		if s.StartTime.Before(tick.StartTime) || s.EndTime.After(tick.EndTime) {
			t.Errorf("an execution from %v to %v in a tick from %v to %v", s.StartTime, s.EndTime, tick.StartTime, tick.EndTime)
		}
		count[s.Parent.SpanID()]++
	}
	for id, s := range ticks {
		if of(s, "elasticjob.executions") != fmt.Sprint(count[id]) {
			t.Errorf("a tick says %s executions, and has %d", of(s, "elasticjob.executions"), count[id])
		}
	}
}
