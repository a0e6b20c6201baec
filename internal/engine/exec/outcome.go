package exec

import (
	"context"
	"errors"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ErrGoexit is the error of a handler that called runtime.Goexit.
var ErrGoexit = errors.New("job: handler called runtime.Goexit")

// OutcomeOf returns how an execution with the context ctx has ended.
func OutcomeOf(ctx context.Context, err error) jobtype.Outcome {
	switch _, isPanic := err.(*jobtype.PanicError); { // errors.As would call methods of err, which may panic
	case err == nil:
		return jobtype.OutcomeOK
	case errors.Is(context.Cause(ctx), jobtype.ErrTimeout):
		return jobtype.OutcomeTimeout
	case errors.Is(context.Cause(ctx), jobtype.ErrKilled):
		return jobtype.OutcomeKilled
	case ctx.Err() != nil:
		return jobtype.OutcomeCut
	case isPanic:
		return jobtype.OutcomePanic
	}
	return jobtype.OutcomeFailed
}
