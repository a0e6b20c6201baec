package once

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// start calls Started or Completed of all once-listeners in a goroutine of its own.
func (c *Caller) start(ctx context.Context, w *decide.World, s *setup.Settings, call decide.Call) *Call {
	tick := jobtype.Tick{
		JobName: s.Name, InstanceID: w.Self.ID, ScheduledTime: call.Tick.In(s.Zone), Items: call.Items, Again: call.Again,
	}
	ctx, cancel := context.WithCancelCause(ctx)
	made := NewCall(cancel)
	made.errors = s.Errors
	to := exec.Caller{Working: c.config.Working, Report: c.reporter(ctx, w.Self.ID, s, call.Tick)}
	result := jobtype.TickResult{Tick: tick}
	if call.IsEnd {
		result = resultOf(w, call, tick)
	}
	c.config.Working.Go(func() {
		defer c.config.Wake()
		defer made.End()
		defer cancel(nil)
		if !call.IsEnd {
			for _, l := range s.OnceListeners {
				to.Call(ctx, l, "Started", l.Times.Call, func(ctx context.Context) error { return l.Once.Started(ctx, cloneTick(tick)) })
			}
			return
		}
		for _, l := range slices.Backward(s.OnceListeners) {
			to.Call(ctx, l, "Completed", l.Times.Call, func(ctx context.Context) error { return l.Once.Completed(ctx, cloneResult(result)) })
		}
	})
	return made
}

// resultOf returns how a tick has ended.
func resultOf(w *decide.World, call decide.Call, tick jobtype.Tick) jobtype.TickResult {
	ended, missing := w.Outcomes(call.Guarantee)
	result := jobtype.TickResult{Tick: tick, Outcomes: make(map[int]jobtype.Outcome, len(ended))}
	for i, outcome := range ended {
		result.Outcomes[i] = jobtype.OutcomeOf(string(outcome))
	}
	if len(missing) > 0 {
		result.Err = &jobtype.MissingError{Instances: missing, After: call.CompleteBy.Sub(call.Begun)}
	}
	return result
}

// reporter returns what tells the error handlers of an error about a whole tick. What it
// returns may be called in any goroutine, but not in that of the loop.
func (c *Caller) reporter(ctx context.Context, instance string, s *setup.Settings, tick time.Time) func(*jobtype.ListenerError) {
	sc := jobtype.ShardingContext{
		JobName: s.Name, InstanceID: instance, Properties: s.Properties, Item: jobtype.WholeTick, JobParameter: s.JobParameter,
		Total: s.ShardingTotalCount, ScheduledTime: tick.In(s.Zone), Source: jobtype.SourceNormal, Attempt: 1,
	}
	ctx = exec.WithContext(context.WithoutCancel(ctx), sc, c.config.Slog)
	return func(err *jobtype.ListenerError) {
		if err.Instance == "" {
			err.Instance = instance
		}
		s.Errors.HandleError(ctx, sc, err)
	}
}

// ReportStarted tells the error handlers of this instance, self, that Started of a tick was not
// called, or that its caller, the instance by, does not say that it has ended.
func (c *Caller) ReportStarted(ctx context.Context, self string, s *setup.Settings, tick time.Time, by string, err error) {
	var names []string
	for _, l := range s.OnceListeners {
		names = append(names, l.Name)
	}
	report := c.reporter(ctx, self, s, tick)
	c.config.Working.Go(func() {
		report(&jobtype.ListenerError{Listener: strings.Join(names, ","), Call: "Started", Instance: by, Err: err})
	})
}

// cloneTick returns a tick that its receiver may change.
func cloneTick(t jobtype.Tick) jobtype.Tick {
	t.Items = slices.Clone(t.Items)
	return t
}

// cloneResult returns a result that its receiver may change.
func cloneResult(r jobtype.TickResult) jobtype.TickResult {
	r.Tick, r.Outcomes = cloneTick(r.Tick), maps.Clone(r.Outcomes)
	return r
}
