package job

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// run is one execution of one item in this process, from its claim until its record is
// removed. The controller owns it. The goroutine that executes it writes the ending, under
// the controller's lock, and hands it back (returns).
type run struct {
	decide.Run
	group   *group // the claim that it was begun with
	phase   phase
	syncs   int       // how often the view had caught up when the run was claimed, or done
	claimed time.Time // when it was
	begun   time.Time // when its handler was called

	taskID string
	cancel context.CancelCauseFunc // once it is executing
	ending ending                  // once it is done
}

// phase is where a run stands.
//
//	queued ──a slot is free──► executing ──handler returned──► done ──record removed──► (gone)
type phase int

const (
	queued phase = iota + 1
	executing
	done
)

// group is the runs of one claim that have not ended: when the last one does, all
// their records are removed in one commit.
type group struct{ open int }

// execution is what a goroutine needs to execute a run, copied out of the controller.
type execution struct {
	handler Handler
	log     *zap.Logger
	slog    *slog.Logger // for the handler
	errors  ErrorHandler
	retries func(attempt int, err error, backoff time.Duration)
	sc      ShardingContext
	timeout time.Duration
	retry   Retry
}

// do executes the handler with its retries and tells the error handler of a failure.
// A run that is cut short is not a failure of the item: it is not reported.
func (e *execution) do(ctx context.Context) (Outcome, error) {
	if e.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.timeout, ErrTimeout)
		defer cancel()
	}
	err := e.attempts(ctx)
	outcome := outcomeOf(ctx, err)
	if outcome != OutcomeOK && outcome != OutcomeCut {
		e.report(ctx, err)
	}
	return outcome, err
}

func (e *execution) attempts(ctx context.Context) error {
	backoff := e.retry.InitialBackoff
	for {
		err := e.once(ctx)
		if err == nil || ctx.Err() != nil || e.sc.Attempt > e.retry.Attempts {
			return err
		}
		e.retries(e.sc.Attempt, err, backoff)
		wait := time.NewTimer(backoff)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err
		}
		backoff = min(2*backoff, e.retry.MaxBackoff)
		e.sc.Attempt++
	}
}

// once calls the handler; what it panics with becomes its error.
func (e *execution) once(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return e.handler.Execute(context.WithValue(ctx, logKey{}, logging{e.slog, e.sc}), e.sc)
}

// report calls the error handler, whose own panic must not take the process down.
func (e *execution) report(ctx context.Context, err error) {
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("error handler panicked", append(e.sc.fields(), zap.Any("panic", v), zap.Error(err))...)
		}
	}()
	e.errors.HandleError(context.WithoutCancel(ctx), e.sc, err)
}

// newTaskID returns an id that is unique and sorts by time.
func newTaskID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("job: task id: %w", err)
	}
	return id.String(), nil
}
