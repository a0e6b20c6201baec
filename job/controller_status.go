package job

import (
	"errors"
	"maps"
	"slices"

	"go.uber.org/zap"
)

// publish lets others see how this scheduler stands.
func (c *controller) publish(w *world) {
	s := Status{
		InstanceID: c.self.id,
		Registered: w.registered(),
		Enabled:    w.ServerEnabled(c.self.ip),
		Leader:     w.leads(),
		Leaving:    c.leaving != nil,
		Running:    slices.Sorted(maps.Keys(c.runs)),
	}
	for i := range c.state.Items {
		if c.state.Items[i].Owner.Is(c.self.id) {
			s.Items = append(s.Items, i)
		}
	}
	s.Fault = errors.Join(c.faults[:]...)
	c.mu.Lock()
	c.status = s
	c.mu.Unlock()
	if s.Registered {
		c.started()
	}
}

// fault is a kind of thing that keeps a job from running as it is configured.
type fault int

const (
	faultConfig   fault = iota // the configuration in the registry is refused
	faultClock                 // the clock is off
	faultStrategy              // a custom strategy gives answers that cannot be
	faultKinds
)

// fault reports a fault, or with nil that it is over: in the log when it begins or
// changes, and in Status as long as it lasts.
func (c *controller) fault(kind fault, err error) {
	before := c.faults[kind]
	c.faults[kind] = err
	if err != nil && (before == nil || before.Error() != err.Error()) {
		c.log.Error("job is at fault", zap.Error(err))
	}
}
