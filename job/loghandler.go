package job

import (
	"errors"
)

// WithLogHandler adds a place to which the lines of executions go, beside the scheduler's log.
// It may be given several times.
func WithLogHandler(h LogHandler) Option {
	return func(o *options) error {
		if h == nil {
			return errors.New("job: log handler is nil")
		}
		o.logHandlers = append(o.logHandlers, h)
		return nil
	}
}
