package job

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// WithListener gives a listener a name, for Config.Listeners. The name has up to 255 bytes. All
// instances of a job have to know all names: one that does not know a name refuses the
// configuration. Of two listeners with the same name the last one counts, of either kind: see
// [WithOnceListener].
func WithListener(name string, l Listener) Option {
	return func(o *options) error {
		if isNil(l) {
			return fmt.Errorf("job: listener %s is nil", quote(name))
		}
		return o.addListener(&exec.Listener{Name: name, Each: l})
	}
}

// maxListenerTime bounds the time-outs of listeners.
const maxListenerTime = 24 * time.Hour

// WithListenerTimeout sets how long a call of a [Listener] may take, before its context ends.
// Default 10 s; at most 24 h.
func WithListenerTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 || d > maxListenerTime {
			return fmt.Errorf("job: listener time-out %v: more than 0 and up to %v is allowed", d, maxListenerTime)
		}
		o.listenerTime = d
		return nil
	}
}

func (o *options) addListener(l *exec.Listener) error {
	if err := jobconf.CheckText(l.Name, jobconf.MaxText); err != nil {
		return fmt.Errorf("job: listener %s: name: %w", quote(l.Name), err)
	}
	put(&o.listeners, l.Name, l)
	return nil
}

// listenersFor returns the listeners of a configuration, of both kinds, in their order.
func (o *options) listenersFor(c Config) (each, once []*exec.Listener, faults []*FieldError) {
	for _, name := range c.Listeners {
		l := o.listeners[name]
		switch {
		case l == nil:
			faults = append(faults, &FieldError{Field: jobconf.KeyListeners, Value: quote(name), Err: o.unknownListener()})
		case l.Each != nil:
			each = append(each, l)
		case c.MonitorExecution == Off:
			faults = append(faults, &FieldError{Field: jobconf.KeyListeners, Value: quote(name), Err: fmt.Errorf("it is told of whole ticks, and needs %s, whose records tell when a tick is through", jobconf.KeyMonitorExecution)})
		default:
			once = append(once, l)
		}
	}
	return each, once, faults
}

func (o *options) unknownListener() error {
	if len(o.listeners) == 0 {
		return errors.New("not known here; WithListener and WithOnceListener make names known")
	}
	return fmt.Errorf("not known here, %s are; WithListener and WithOnceListener make names known", strings.Join(slices.Sorted(maps.Keys(o.listeners)), ", "))
}
