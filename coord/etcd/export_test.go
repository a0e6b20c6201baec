package etcd

import "time"

// SetClockLook sets how often it is looked whether the clocks agree. It is called before
// the first Clock.
func (r *Registry) SetClockLook(d time.Duration) { r.clockLook = d }
