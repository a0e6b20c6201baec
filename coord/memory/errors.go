package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
)

// fail says which call went wrong on which path.
func fail(c call, err error) error {
	if err == nil {
		return nil
	}
	if c.path == "" {
		return fmt.Errorf("memory: %s: %w", c.method, err)
	}
	return fmt.Errorf("memory: %s %s: %w", c.method, c.path, err)
}

// unanswered is the error of a request without an answer: a write may have happened.
func unanswered(c call, cause error) error {
	if c.method.writes() {
		if cause == nil {
			return coord.ErrUnknownOutcome
		}
		return fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, cause)
	}
	if cause == nil {
		return coord.ErrUnavailable
	}
	return cause
}

var errTimeout = errors.New("no answer within the request time-out")

// ended returns why a context is over, or nil.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
