package job

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// run is one execution of one item in this process, from its claim until its record is
// removed. The controller owns it. The goroutine that calls the handler writes only the
// ending, under the controller's lock, and gives the run back (controller.returns).
type run struct {
	decide.Run
	group   *group // the runs that were claimed in the same commit
	phase   phase
	syncs   int     // backoffs.syncs when the run was claimed; once it is done, when it was done
	total   int     // what the handler is told of how many items there are
	missed  int     // how many ticks the run leaves behind: missedBy
	claimed instant // when the claim was committed
	begun   instant // when the handler was called
	// When it was seen last that the run waited for Started of its tick; zero if it never has.
	released clocks.Moment

	cancel context.CancelCauseFunc // ends the handler's context; set once it is executing
	ending ending                  // set once the handler has returned
	wishes wishes                  // between the controller and the handler
	errors *errorHandlers          // set once it is executing
	killed bool                    // an operator has ended it
}

// phase is where a run stands.
//
//	queued ──a thread is free──► executing ──handler returns──► done ──record removed──► (gone)
//	   └──taken back (released, shutdown)──────────────────► done
type phase int

const (
	queued phase = iota + 1
	executing
	done
)

// group counts the runs of one claim that are not done. If the last one is done soon, one
// commit removes all their records (controller.finish).
type group struct{ open int }

// execution is what a goroutine needs to call a handler, copied out of the controller.
type execution struct {
	handler Handler
	session coord.Session
	log     *zap.Logger
	inside  inside // for the handler
	errors  *errorHandlers
	retries func(attempt int, err error, backoff time.Duration) // tells of an attempt that has failed
	scopes  scopes
	sc      ShardingContext
	timeout time.Duration
	retry   Retry

	listeners    []*namedListener // of each execution
	listenerTime time.Duration    // of one call
	working      *sync.WaitGroup  // for the goroutines of the calls
}

// open calls the handler within its scopes.
func (e *execution) open(ctx context.Context) (Outcome, error) {
	ctx = e.scopes.enter(ctx)
	if e.inside.lines != nil {
		e.inside.lines.ctx = ctx
	}
	return e.do(ctx)
}

// do calls the handler between its listeners.
func (e *execution) do(ctx context.Context) (outcome Outcome, err error) {
	e.before(ctx)
	err = errGoexit // if the handler does not return
	defer func() { e.after(ctx, outcome, err) }()
	return e.work(ctx)
}

// work calls the handler, with its retries, and tells the error handlers how that ended. A run
// that was cut short or killed is not reported: the item has not failed.
func (e *execution) work(ctx context.Context) (Outcome, error) {
	if e.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.timeout, ErrTimeout)
		defer cancel()
	}
	err := e.attempts(ctx)
	outcome := outcomeOf(ctx, err)
	if outcome == OutcomeFailed && yields(err) && e.inside.live != nil && e.inside.live.wasTold() {
		outcome = OutcomeCut
	}
	if outcome != OutcomeCut && outcome != OutcomeKilled {
		e.report(ctx, err)
	}
	return outcome, err
}

// attempts calls the handler until it succeeds, has no attempt left, or its context ends.
func (e *execution) attempts(ctx context.Context) error {
	backoff := e.retry.InitialBackoff
	for {
		if err := e.awaitSession(ctx); err != nil {
			return err
		}
		err := e.once(ctx)
		if err == nil || ctx.Err() != nil || e.sc.Attempt > e.retry.Attempts || !mayRetry(err) || yields(err) {
			return err
		}
		e.retries(e.sc.Attempt, err, backoff)
		if !rest.For(ctx, backoff) {
			return err
		}
		backoff = min(2*backoff, e.retry.MaxBackoff)
		e.sc.Attempt++
	}
}

// awaitSession returns an error if the handler must not be called, because ctx has ended.
//
// After a pause of the process ctx may go on for a moment although the session is over, and
// others may have begun the item meanwhile. Either ctx ends soon, or a renewal that came in
// time is read and puts the deadline off. The session tells nobody of the latter, so this looks
// again and again.
func (e *execution) awaitSession(ctx context.Context) error {
	for isOverdue(e.session) && ctx.Err() == nil {
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

// isOverdue reports whether a session ought to have ended. After a pause of the process its
// timer may not have run yet.
func isOverdue(s coord.Session) bool { return clocks.IsOver(s.Deadline()) }

// once calls the handler. A panic of the handler becomes its error.
func (e *execution) once(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return e.handler.Execute(e.within(ctx), e.sc)
}

// report tells the error handlers how the execution ended.
func (e *execution) report(ctx context.Context, err error) {
	ctx = e.within(context.WithoutCancel(ctx))
	if err == nil {
		e.errors.HandleSuccess(ctx, e.sc)
		return
	}
	e.errors.HandleError(ctx, e.sc, err)
}

// newTaskID returns an id that is unique and sorts by time.
func newTaskID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("job: task id: %w", err)
	}
	return id.String(), nil
}
