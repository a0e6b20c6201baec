package job

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
)

// WithScope adds a scope. It may be given several times; the first one is the outermost.
func WithScope(s Scope) Option {
	return func(o *setup.Options) error {
		if s == nil {
			return errors.New("job: scope is nil")
		}
		o.Scopes = append(o.Scopes, s)
		return nil
	}
}
