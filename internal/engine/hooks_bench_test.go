package engine

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// lastingSession is a session that does not end.
type lastingSession struct{ coord.Session }

func (lastingSession) Deadline() time.Time { return time.Now().Add(time.Hour) }

// BenchmarkHooks measures what observers, scopes and log handlers that do nothing add to the path of
// an execution: from the claim to the end of the handler, which writes a line if there is a log handler.
func BenchmarkHooks(b *testing.B) {
	nothing := func(Event) {}
	observer := func(o *Options) { o.Observers = append(o.Observers, nothing) }
	scope := func(o *Options) {
		o.Scopes = append(o.Scopes, func(ctx context.Context, _ Event) (context.Context, func(Event)) { return ctx, nothing })
	}
	logs := func(o *Options) {
		o.LogHandlers = append(o.LogHandlers, func(context.Context, Event) slog.Handler { return slog.DiscardHandler })
	}
	quiet := HandlerFunc(func(context.Context, ShardingContext) error { return nil })
	writes := HandlerFunc(func(ctx context.Context, _ ShardingContext) error { exec.Logger(ctx).Info("line"); return nil })
	for _, bench := range []struct {
		name    string
		handler Handler
		options []func(*Options)
	}{
		{"none", quiet, nil},
		{"observer", quiet, []func(*Options){observer}},
		{"scope", quiet, []func(*Options){scope}},
		{"log handler", quiet, []func(*Options){logs}},
		{"all", quiet, []func(*Options){observer, scope, logs}},
		{"a line", writes, nil},
		{"a line, log handler", writes, []func(*Options){logs}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			o := DefaultOptions()
			o.IP = "10.0.0.1"
			for _, set := range bench.options {
				set(o)
			}
			if err := o.PairLoggers(); err != nil {
				b.Fatal(err)
			}
			s, err := o.settle(Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1}, bench.handler)
			if err != nil {
				b.Fatal(err)
			}
			c := newController(nil, nil, s, o, 0)
			c.session = lastingSession{}
			ctx := exec.WithOwner(b.Context(), c)
			for b.Loop() {
				r := &run{Run: decide.Run{Claim: decide.Claim{Source: decide.Normal, Tick: time.Unix(0, 0)}, Token: 1, Instance: "10.0.0.1@-@1"}}
				c.reporter.Tell(c.runEvent(jobtype.EventClaimed, r))
				started := c.startedEvent(r)
				e := c.executionOf(r, started)
				e.Errors = s.errors
				c.reporter.Tell(started)
				outcome, err := e.Run(ctx)
				c.reportFinished(r, ending{outcome: outcome, err: err, attempts: 1}, &e.Scopes)
			}
			c.reporter.Close()
		})
	}
}
