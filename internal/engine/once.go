package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// onceCalls are the calls of once-listeners that this instance makes. The tree says which: so
// after any loss of an answer, and after any end of an instance, it is known what is left.
type onceCalls struct {
	// By what they are: makeCalls adds and removes, forgetCalls clears.
	calls map[callKey]*onceCall
	// The last tick of which it was said that the listeners are not told: fire.
	untoldTick time.Time
}

// callKey is what a call is.
type callKey struct {
	tick  int64 // in milliseconds
	isEnd bool  // Completed, and not Started
}

// onceCall is a call that was begun.
type onceCall struct {
	cancel context.CancelCauseFunc
	errors *exec.ErrorHandlers
	done   chan struct{} // closed when it has returned, or was left behind
	told   bool          // the tree knows
}

func (o *onceCall) isDone() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
}

// beginTicks has once-listeners told of the ticks for which items are due, before any of them
// is claimed. It reports whether the claims have to wait: until the view shows the members.
func (c *controller) beginTicks(w *decide.World, due []decide.Due) (waits bool, err error) {
	if !c.settings.rules.Once {
		return false, nil
	}
	for _, some := range w.ByTick(due) {
		if waits, err = c.beginTick(w, some[0].Tick); waits || err != nil {
			return waits, err
		}
	}
	return false, nil
}

func (c *controller) beginTick(w *decide.World, tick time.Time) (waits bool, err error) {
	change, tooMany, err := w.BeginTick(c.work, tick)
	if tooMany && !c.untoldTick.Equal(tick) {
		c.untoldTick = tick
		c.reportTick(tick, &ListenerError{Listener: c.onceNames(), Call: "Started", Instance: c.self.ID, Err: ErrTooManyTicks})
	}
	if change == nil {
		return false, err
	}
	c.commit(*change)
	return true, nil
}

// onceNames returns the names of the once-listeners in force.
func (c *controller) onceNames() string {
	var names []string
	for _, l := range c.settings.once {
		names = append(names, l.Name)
	}
	return strings.Join(names, ",")
}

// tendTicks makes the calls of once-listeners that are for this instance to make. As the coordinator
// it also looks after the ticks of which they are told.
func (c *controller) tendTicks(w *decide.World) error {
	c.makeCalls(w)
	if len(w.Guarantees) == 0 {
		return nil
	}
	if !c.isLeaving() {
		c.commitAll(w.TendTicks())
	}
	if next := w.NextDeadline(); !next.IsZero() {
		c.wakeIn(max(next.Sub(w.Now.Add(-w.Clock.Ahead)), firstPause))
	}
	return nil
}

// makeCalls begins the calls that the tree wants of this instance, and tells the tree of those
// that have been made.
func (c *controller) makeCalls(w *decide.World) {
	due := w.Calls()
	wanted := make(map[callKey]bool, len(due))
	for _, call := range due {
		key := callKey{call.Tick.UnixMilli(), call.IsEnd}
		wanted[key] = true
		switch made := c.calls[key]; {
		case made == nil:
			if c.mayCall(w) {
				if c.calls == nil {
					c.calls = map[callKey]*onceCall{}
				}
				c.calls[key] = c.seams.call(w, call)
			}
		case made.isDone() && !made.told:
			made.told = c.commit(w.EndCall(call))
		}
	}
	for key, made := range c.calls {
		if !wanted[key] && made.isDone() {
			delete(c.calls, key)
			if len(c.retired) > 0 {
				c.flushRetired()
			}
		}
	}
}

// mayCall reports whether this instance may begin a call: it is in the tree, and has not tried
// to leave in one commit, whose answer may be lost. Otherwise others make the call.
func (c *controller) mayCall(w *decide.World) bool {
	return c.stopping.Err() == nil && !c.triedAtOnce && w.Session(c.self.ID).Owner == c.self.Session
}

// makeCall calls Started or Completed of all once-listeners, in a goroutine that awaitHandlers
// waits for.
func (c *controller) makeCall(w *decide.World, call decide.Call) *onceCall {
	s := c.settings
	tick := Tick{
		JobName: s.Name, InstanceID: c.self.ID, ScheduledTime: call.Tick.In(s.zone), Items: call.Items, Again: call.Again,
	}
	ctx, cancel := context.WithCancelCause(exec.WithOwner(c.session.Context(), c))
	report := c.tickReporter(ctx, call.Tick)
	made := &onceCall{cancel: cancel, errors: s.errors, done: make(chan struct{})}
	to := exec.Caller{Working: &c.working, Report: report}
	result := TickResult{Tick: tick}
	if call.IsEnd {
		result = c.resultOf(w, call, tick)
	}
	c.working.Go(func() {
		defer c.poke()
		defer close(made.done)
		defer cancel(nil)
		if !call.IsEnd {
			for _, l := range s.once {
				to.Call(ctx, l, "Started", l.Times.Call, func(ctx context.Context) error { return l.Once.Started(ctx, cloneTick(tick)) })
			}
			return
		}
		for _, l := range slices.Backward(s.once) {
			to.Call(ctx, l, "Completed", l.Times.Call, func(ctx context.Context) error { return l.Once.Completed(ctx, cloneResult(result)) })
		}
	})
	return made
}

// resultOf returns how a tick has ended.
func (c *controller) resultOf(w *decide.World, call decide.Call, tick Tick) TickResult {
	ended, missing := w.Outcomes(call.Guarantee)
	result := TickResult{Tick: tick, Outcomes: make(map[int]Outcome, len(ended))}
	for i, outcome := range ended {
		result.Outcomes[i] = jobtype.OutcomeOf(string(outcome))
	}
	if len(missing) > 0 {
		result.Err = &MissingError{Instances: missing, After: call.CompleteBy.Sub(call.Begun)}
	}
	return result
}

// tickReporter returns what tells the error handlers in force of an error about a whole tick.
// What it returns may be called in any goroutine, but not in that of the controller.
func (c *controller) tickReporter(ctx context.Context, tick time.Time) func(*ListenerError) {
	s := c.settings
	sc := ShardingContext{
		JobName: s.Name, InstanceID: c.self.ID, Properties: s.properties, Item: WholeTick, JobParameter: s.JobParameter,
		Total: s.ShardingTotalCount, ScheduledTime: tick.In(s.zone), Source: SourceNormal, Attempt: 1,
	}
	ctx = exec.WithContext(context.WithoutCancel(ctx), sc, c.options.Slog)
	return func(err *ListenerError) {
		if err.Instance == "" {
			err.Instance = sc.InstanceID
		}
		s.errors.HandleError(ctx, sc, err)
	}
}

// reportTick tells the error handlers of an error about a whole tick.
func (c *controller) reportTick(tick time.Time, err *ListenerError) {
	report := c.tickReporter(c.session.Context(), tick)
	c.working.Go(func() { report(err) })
}

// reportLate tells that the caller of Started does not say that it has ended.
func (c *controller) reportLate(g *jobtree.Guarantee) {
	c.reportTick(g.Tick, &ListenerError{Listener: c.onceNames(), Call: "Started", Instance: g.Starter, Err: fmt.Errorf("%w: the instance does not say so either", ErrListenerTimeout)})
}

// calling is how many calls of once-listeners are under way, or the tree does not know that they
// have been made.
func (c *controller) calling() int {
	n := 0
	for _, made := range c.calls {
		if !made.told {
			n++
		}
	}
	return n
}

// cancelCalls ends the contexts of the calls.
func (c *controller) cancelCalls(cause error) {
	for _, made := range c.calls {
		made.cancel(cause)
	}
}

// forgetCalls drops the calls of an identity that is given up: others make them once more.
func (c *controller) forgetCalls() {
	if len(c.calls) > 0 {
		c.log.Warn("calls of once-listeners are left to others", zap.Int("calls", len(c.calls)))
	}
	c.cancelCalls(ErrItemLost)
	c.calls = nil
}

// endedCalls returns the changes that tell the tree of calls that have been made.
func (c *controller) endedCalls(w *decide.World) []decide.Change {
	var changes []decide.Change
	for _, call := range w.Calls() {
		if made := c.calls[callKey{call.Tick.UnixMilli(), call.IsEnd}]; made != nil && made.isDone() && !made.told {
			changes = append(changes, w.EndCall(call))
		}
	}
	return changes
}

// heldUntil returns until when a run waits for Started of its tick; zero if it does not.
func (c *controller) heldUntil(r *run, now time.Time) time.Time {
	if !r.Recorded || len(c.state.Guarantees) == 0 {
		return time.Time{}
	}
	until := decide.HeldUntil(c.state, &r.Run)
	if until.IsZero() {
		return until
	}
	if until = until.Add(clockAt(c.reg.Clock(), now).Ahead); !now.Before(until) {
		return time.Time{}
	}
	return until
}

// cloneTick returns a tick that its receiver may change.
func cloneTick(t Tick) Tick {
	t.Items = slices.Clone(t.Items)
	return t
}

// cloneResult returns a result that its receiver may change.
func cloneResult(r TickResult) TickResult {
	r.Tick, r.Outcomes = cloneTick(r.Tick), maps.Clone(r.Outcomes)
	return r
}

// onceTimes returns how long Started of all listeners may take together, and how long a tick
// may take.
func onceTimes(once []*exec.Listener) (start, tick time.Duration) {
	for _, l := range once {
		start += l.Times.Call
		if tick == 0 || l.Times.Tick < tick {
			tick = l.Times.Tick
		}
	}
	return start, tick
}
