package job

import "time"

// WithLinger makes records of runs wait longer for the others of their claim, where a
// test counts the commits of handlers that a busy machine lets return one by one.
func WithLinger(d time.Duration) Option {
	return func(o *options) error {
		o.linger = d
		return nil
	}
}
