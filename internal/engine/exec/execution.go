package exec

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Execution is one call of a handler, with its retries and what is around it. It has all that its goroutine needs, and
// nothing that the scheduler changes meanwhile, but for Signals.
type Execution struct {
	Handler  jobtype.Handler
	Session  coord.Session
	Begun    clocks.Instant
	Now      func() clocks.Instant
	Log      *zap.Logger
	Slog     *slog.Logger // for the handler
	Signals  *Signals
	Cursor   *Cursor // nil if the run has no record
	Errors   *ErrorHandlers
	Scopes   Scopes
	Reporter *health.Reporter
	Context  jobtype.ShardingContext
	Timeout  time.Duration
	Retry    jobtype.Retry

	Listeners    []*Listener     // of each execution
	ListenerTime time.Duration   // of one call
	Working      *sync.WaitGroup // for the goroutines of the calls
}

// run calls the handler within its scopes, and returns how that has ended.
func (e *Execution) run(ctx context.Context) (jobtype.Outcome, error) {
	return e.callWithListeners(e.Scopes.enter(ctx))
}

// callWithListeners calls the handler between the listeners of executions.
func (e *Execution) callWithListeners(ctx context.Context) (outcome jobtype.Outcome, err error) {
	e.before(ctx)
	err = ErrGoexit // if the handler does not return
	defer func() { e.after(ctx, outcome, err) }()
	return e.callAndReport(ctx)
}

// callAndReport calls the handler, with its retries, and tells the error handlers how that ended. A run
// that was cut short or killed is not reported: the item has not failed.
func (e *Execution) callAndReport(ctx context.Context) (jobtype.Outcome, error) {
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.Timeout, jobtype.ErrTimeout)
		defer cancel()
	}
	err := e.watchedAttempts(ctx)
	outcome := OutcomeOf(ctx, err)
	if outcome == jobtype.OutcomeFailed && isStoppedOnRequest(err) && e.Signals != nil && e.Signals.wasToldToStop() {
		outcome = jobtype.OutcomeCut
	}
	if outcome != jobtype.OutcomeCut && outcome != jobtype.OutcomeKilled {
		e.report(ctx, err)
	}
	return outcome, err
}

// watchedAttempts calls the handler as attempts does. Meanwhile the scheduler learns that the time-out is over, so that
// it can say that a handler does not return.
func (e *Execution) watchedAttempts(ctx context.Context) error {
	if e.Signals == nil {
		return e.attempts(ctx)
	}
	defer e.Signals.handlerReturned()
	if e.Timeout > 0 {
		defer context.AfterFunc(ctx, func() {
			if cause := context.Cause(ctx); cause == jobtype.ErrTimeout {
				e.Signals.EndContext(cause, e.Now())
				e.Signals.Wake()
			}
		})()
	}
	return e.attempts(ctx)
}

// attempts calls the handler until it succeeds, has no attempt left, or its context ends.
func (e *Execution) attempts(ctx context.Context) error {
	backoff := e.Retry.InitialBackoff
	for {
		if err := e.awaitSession(ctx); err != nil {
			return err
		}
		err := e.callHandler(ctx)
		if err == nil || ctx.Err() != nil || e.Context.Attempt > e.Retry.Attempts || jobtype.IsFinal(err) || isStoppedOnRequest(err) {
			return err
		}
		e.tellRetried(err, backoff)
		if !sleep.For(ctx, backoff) {
			return err
		}
		backoff = min(2*backoff, e.Retry.MaxBackoff)
		e.Context.Attempt++
	}
}

// tellRetried tells scopes and observers of an attempt that has failed, and after which another one follows.
func (e *Execution) tellRetried(err error, backoff time.Duration) {
	event := e.event(jobtype.EventRetried)
	event.Attempt, event.Err, event.Backoff = e.Context.Attempt, err, backoff
	e.Scopes.Tell(event)
	e.Reporter.Tell(event)
}

// awaitSession returns an error if the handler must not be called, because ctx has ended.
//
// After a pause of the process ctx may go on for a moment although the session is over, and others may
// have begun the item meanwhile. Either ctx ends soon, or a renewal that came in time is read, which
// extends the deadline. The session does not signal that, so the deadline is polled.
func (e *Execution) awaitSession(ctx context.Context) error {
	for IsOverdue(e.Session) && ctx.Err() == nil {
		look := time.NewTimer(overduePause)
		select {
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
		}
	}
	return context.Cause(ctx)
}

// overduePause is the time between two looks at the deadline of a session that is overdue.
const overduePause = 10 * time.Millisecond

// IsOverdue reports whether a session ought to have ended. After a pause of the process its
// timer may not have run yet.
func IsOverdue(s coord.Session) bool { return clocks.IsOver(s.Deadline()) }

// callHandler calls the handler once. A panic of the handler becomes its error.
func (e *Execution) callHandler(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &jobtype.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return e.Handler.Execute(e.handlerContext(ctx), e.Context)
}

// report tells the error handlers how the execution ended.
func (e *Execution) report(ctx context.Context, err error) {
	ctx = e.handlerContext(context.WithoutCancel(ctx))
	if err == nil {
		e.Errors.HandleSuccess(ctx, e.Context)
		return
	}
	e.Errors.HandleError(ctx, e.Context, err)
}
