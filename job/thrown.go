package job

import (
	"context"
	"fmt"
	"sync"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"go.uber.org/zap"
)

// ExecutionError is a failed execution, as the error handler THROW gives it to the program.
type ExecutionError struct {
	ShardingContext ShardingContext
	Err             error // what the last attempt returned
}

// Error names the job and the item, and says what went wrong.
func (e *ExecutionError) Error() string {
	return fmt.Sprintf("job %s: item %d: %v", short(e.ShardingContext.JobName), e.ShardingContext.Item, e.Err)
}

// Unwrap returns Err.
func (e *ExecutionError) Unwrap() error { return e.Err }

// maxThrown bounds the errors that wait to be received.
const maxThrown = 100

// Errors returns the channel to which the error handler THROW sends failed executions; see
// Config.ErrorHandler. It is closed when the scheduler has stopped. 100 errors wait in it: a
// program that is farther behind misses the newest ones, and the log says how many.
//
// In ElasticJob THROW throws the error in the thread of the job, where nobody can catch it,
// and ends the trigger half-way (B-52). Here a failed item is that, and nothing more.
func (s *Scheduler) Errors() <-chan *ExecutionError { return s.c.options.thrown.errors }

// thrown is the error handler THROW.
type thrown struct {
	log    *zap.Logger
	errors chan *ExecutionError

	mu       sync.Mutex
	isClosed bool
	missed   health.RateLimit
}

func newThrown(log *zap.Logger) *thrown {
	return &thrown{log: log, errors: make(chan *ExecutionError, maxThrown)}
}

// HandleError sends an error to the program, if it can take one.
func (t *thrown) HandleError(_ context.Context, sc ShardingContext, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed { // the scheduler did not wait for this handler any longer
		return
	}
	select {
	case t.errors <- &ExecutionError{sc, err}:
		return
	default:
	}
	if n := t.missed.Add(1); n > 0 {
		t.log.Warn("failed executions are not given to the program, because it does not receive from Scheduler.Errors", zap.Int("executions", n))
	}
}

func (t *thrown) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isClosed = true
	close(t.errors)
}
