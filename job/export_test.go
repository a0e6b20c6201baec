package job

import "time"

// WithLinger makes runs that have ended wait longer for the other runs of their claim. It is
// for tests that count commits: on a busy machine handlers may return one by one.
func WithLinger(d time.Duration) Option {
	return func(o *options) error {
		o.linger = d
		return nil
	}
}
