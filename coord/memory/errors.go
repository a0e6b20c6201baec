package memory

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
)

// fail adds the call and its path to an error.
func fail(c call, err error) error {
	if err == nil {
		return nil
	}
	if c.path == "" {
		return fmt.Errorf("memory: %s: %w", c.method, err)
	}
	return fmt.Errorf("memory: %s %s: %w", c.method, c.path, err)
}

var errTimeout = errors.New("no answer within the request time-out")

// unanswered is the error of a request that got no answer. A write may have been done.
func unanswered(c call, cause error) error {
	switch {
	case c.method.writes() && cause == nil:
		return coord.ErrUnknownOutcome
	case c.method.writes():
		return fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, cause)
	case cause == nil:
		return coord.ErrUnavailable
	case errors.Is(cause, errTimeout):
		return fmt.Errorf("%w: %w", coord.ErrUnavailable, cause)
	}
	return cause
}
