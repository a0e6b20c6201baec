package job

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/internal/engine"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// OfType returns the handler of a job whose work is done by a type: the one that [WithType]
// has given that name. The job's implementation has the same name, so [WithImplementation] is
// not needed; with another name it is refused.
func OfType(name string) Handler { return engine.OfType(name) }

// WithType gives a type a name, for [OfType]. The name has up to 255 bytes. A job that is done
// by a handler of its own cannot have it as the name of its implementation.
func WithType(name string, t Type) Option {
	return func(o *engine.Options) error {
		if err := jobconf.CheckText(name, jobconf.MaxText); err != nil {
			return fmt.Errorf("job: type %s: name: %w", quote(name), err)
		}
		if engine.IsNil(t) {
			return fmt.Errorf("job: type %s is nil", quote(name))
		}
		put(&o.Types, name, t)
		return nil
	}
}
