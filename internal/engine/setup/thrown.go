package setup

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/engine/health"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxThrown bounds the errors that wait to be received.
const maxThrown = 100

// thrown is the error handler THROW. Most jobs have another one, and nobody who receives: the channel is made when it is
// needed.
type thrown struct {
	log *zap.Logger

	mu       sync.Mutex
	errors   chan *jobtype.ExecutionError
	isClosed bool
	missed   health.RateLimit
}

func newThrown(log *zap.Logger) *thrown { return &thrown{log: log} }

// Errors returns the channel by which the program gets errors.
func (t *thrown) Errors() <-chan *jobtype.ExecutionError {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.channel()
}

// channel returns the channel; the caller has the lock.
func (t *thrown) channel() chan *jobtype.ExecutionError {
	if t.errors == nil {
		t.errors = make(chan *jobtype.ExecutionError, maxThrown)
		if t.isClosed {
			close(t.errors)
		}
	}
	return t.errors
}

// HandleError sends an error to the program, if it can take one.
func (t *thrown) HandleError(_ context.Context, sc jobtype.ShardingContext, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed { // the scheduler did not wait for this handler any longer
		return
	}
	select {
	case t.channel() <- &jobtype.ExecutionError{ShardingContext: sc, Err: err}:
		return
	default:
	}
	if n := t.missed.Add(1); n > 0 {
		t.log.Warn("failed executions are not given to the program, because it does not receive from Scheduler.Thrown", zap.Int("executions", n))
	}
}

func (t *thrown) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isClosed = true
	if t.errors != nil {
		close(t.errors)
	}
}
