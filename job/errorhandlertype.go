package job

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/engine"
)

// WithErrorHandlerType gives a type of error handlers a name, for Config.ErrorHandler; see
// [WithErrorHandler] for what a name may be. Of two with the same name the last one counts.
func WithErrorHandlerType(name string, t ErrorHandlerType) Option {
	return func(o *engine.Options) error {
		if err := checkErrorHandlerName(name); err != nil {
			return err
		}
		if engine.IsNil(t) {
			return fmt.Errorf("job: error handler type %s is nil", quote(name))
		}
		put(&o.ErrorHandlers, name, t)
		return nil
	}
}
