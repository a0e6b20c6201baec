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
	"github.com/elasticjob-go/elasticjob/internal/rest"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Execution is one call of a handler, with its retries and what is around it. It has all that its goroutine needs, and
// nothing that the scheduler changes meanwhile, but for Signals.
type Execution struct {
	Handler jobtype.Handler
	Session coord.Session
	Log     *zap.Logger
	Slog    *slog.Logger // for the handler
	Lines   *Lines       // nil if there is no log handler
	Signals *Signals
	Cursor  *Cursor // nil if the run has no record
	Errors  *ErrorHandlers
	Scopes  Scopes
	Retries func(attempt int, err error, backoff time.Duration) // tells of an attempt that has failed
	Context jobtype.ShardingContext
	Timeout time.Duration
	Retry   jobtype.Retry

	Listeners    []*Listener     // of each execution
	ListenerTime time.Duration   // of one call
	Working      *sync.WaitGroup // for the goroutines of the calls
}

// Run calls the handler within its scopes, and returns how that has ended.
func (e *Execution) Run(ctx context.Context) (jobtype.Outcome, error) {
	ctx = e.Scopes.enter(ctx)
	if e.Lines != nil {
		e.Lines.ctx = ctx
	}
	return e.do(ctx)
}

// do calls the handler between its listeners.
func (e *Execution) do(ctx context.Context) (outcome jobtype.Outcome, err error) {
	e.before(ctx)
	err = ErrGoexit // if the handler does not return
	defer func() { e.after(ctx, outcome, err) }()
	return e.work(ctx)
}

// work calls the handler, with its retries, and tells the error handlers how that ended. A run
// that was cut short or killed is not reported: the item has not failed.
func (e *Execution) work(ctx context.Context) (jobtype.Outcome, error) {
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.Timeout, jobtype.ErrTimeout)
		defer cancel()
	}
	err := e.attempts(ctx)
	outcome := OutcomeOf(ctx, err)
	if outcome == jobtype.OutcomeFailed && yields(err) && e.Signals != nil && e.Signals.wasTold() {
		outcome = jobtype.OutcomeCut
	}
	if outcome != jobtype.OutcomeCut && outcome != jobtype.OutcomeKilled {
		e.report(ctx, err)
	}
	return outcome, err
}

// attempts calls the handler until it succeeds, has no attempt left, or its context ends.
func (e *Execution) attempts(ctx context.Context) error {
	backoff := e.Retry.InitialBackoff
	for {
		if err := e.awaitSession(ctx); err != nil {
			return err
		}
		err := e.once(ctx)
		if err == nil || ctx.Err() != nil || e.Context.Attempt > e.Retry.Attempts || jobtype.IsFinal(err) || yields(err) {
			return err
		}
		e.Retries(e.Context.Attempt, err, backoff)
		if !rest.For(ctx, backoff) {
			return err
		}
		backoff = min(2*backoff, e.Retry.MaxBackoff)
		e.Context.Attempt++
	}
}

// awaitSession returns an error if the handler must not be called, because ctx has ended.
//
// After a pause of the process ctx may go on for a moment although the session is over, and
// others may have begun the item meanwhile. Either ctx ends soon, or a renewal that came in
// time is read and puts the deadline off. The session tells nobody of the latter, so this looks
// again and again.
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

// once calls the handler. A panic of the handler becomes its error.
func (e *Execution) once(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &jobtype.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return e.Handler.Execute(e.within(ctx), e.Context)
}

// report tells the error handlers how the execution ended.
func (e *Execution) report(ctx context.Context, err error) {
	ctx = e.within(context.WithoutCancel(ctx))
	if err == nil {
		e.Errors.HandleSuccess(ctx, e.Context)
		return
	}
	e.Errors.HandleError(ctx, e.Context, err)
}
