package job

import (
	"errors"
)

// WithScope adds a scope. It may be given several times; the first one is the outermost.
func WithScope(s Scope) Option {
	return func(o *options) error {
		if s == nil {
			return errors.New("job: scope is nil")
		}
		o.scopes = append(o.scopes, s)
		return nil
	}
}
