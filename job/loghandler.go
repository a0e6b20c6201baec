package job

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/engine"
)

// WithLogHandler adds a place to which the lines of executions go, beside the scheduler's log.
// It may be given several times.
func WithLogHandler(h LogHandler) Option {
	return func(o *engine.Options) error {
		if h == nil {
			return errors.New("job: log handler is nil")
		}
		o.LogHandlers = append(o.LogHandlers, h)
		return nil
	}
}
