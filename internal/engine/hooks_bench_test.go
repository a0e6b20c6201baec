package engine

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// lastingSession is a session that does not end.
type lastingSession struct{ coord.Session }

func (lastingSession) Deadline() time.Time { return time.Now().Add(time.Hour) }

// BenchmarkHooks measures what observers, scopes and log handlers that do nothing add to the path of
// an execution: from the claim to the end of the handler, which writes a line if there is a log handler.
func BenchmarkHooks(b *testing.B) {
	nothing := func(jobtype.Event) {}
	observer := func(o *setup.Options) { o.Observers = append(o.Observers, nothing) }
	scope := func(o *setup.Options) {
		o.Scopes = append(o.Scopes, func(ctx context.Context, _ jobtype.Event) (context.Context, func(jobtype.Event)) { return ctx, nothing })
	}
	logs := func(o *setup.Options) {
		o.Scopes = append(o.Scopes, func(ctx context.Context, _ jobtype.Event) (context.Context, func(jobtype.Event)) {
			return exec.LogTo(ctx, slog.DiscardHandler), nil
		})
	}
	quiet := jobtype.HandlerFunc(func(context.Context, jobtype.ShardingContext) error { return nil })
	writes := jobtype.HandlerFunc(func(ctx context.Context, _ jobtype.ShardingContext) error { exec.Logger(ctx).Info("line"); return nil })
	for _, bench := range []struct {
		name    string
		handler jobtype.Handler
		options []func(*setup.Options)
	}{
		{"none", quiet, nil},
		{"observer", quiet, []func(*setup.Options){observer}},
		{"scope", quiet, []func(*setup.Options){scope}},
		{"log handler", quiet, []func(*setup.Options){logs}},
		{"all", quiet, []func(*setup.Options){observer, scope, logs}},
		{"a line", writes, nil},
		{"a line, log handler", writes, []func(*setup.Options){logs}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			o := setup.DefaultOptions()
			o.IP = "10.0.0.1"
			for _, set := range bench.options {
				set(o)
			}
			if err := o.PairLoggers(); err != nil {
				b.Fatal(err)
			}
			s, err := o.Prepare(jobtype.Config{Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1}, bench.handler)
			if err != nil {
				b.Fatal(err)
			}
			c := newController(nil, nil, s, o, s.Config)
			c.session = lastingSession{}
			ctx := exec.WithOwner(b.Context(), c)
			for b.Loop() {
				r := &run{Run: decide.Run{Claim: decide.Claim{Source: decide.Normal, Tick: time.Unix(0, 0)}, Token: 1, Instance: "10.0.0.1@-@1"}}
				c.reporter.Claimed(&r.Run)
				e := c.executionOf(r)
				e.Errors = s.Errors
				e.Start(ctx, func(exec.Ending) {})
				c.working.Wait()
			}
			c.reporter.Close()
		})
	}
}
