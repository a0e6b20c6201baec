package job

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// WithListener gives a listener a name, for Config.Listeners. The name has up to 255 bytes. All
// instances of a job have to know all names: one that does not know a name refuses the
// configuration. Of two listeners with the same name the last one counts, of either kind: see
// [WithOnceListener].
func WithListener(name string, l Listener) Option {
	return func(o *setup.Options) error {
		if setup.IsNil(l) {
			return fmt.Errorf("job: listener %s is nil", quote(name))
		}
		return addListener(o, &exec.Listener{Name: name, Each: l})
	}
}

// maxListenerTime bounds the time-outs of listeners.
const maxListenerTime = 24 * time.Hour

// WithListenerTimeout sets how long a call of a [Listener] may take, before its context ends.
// Default 10 s; at most 24 h.
func WithListenerTimeout(d time.Duration) Option {
	return func(o *setup.Options) error {
		if d <= 0 || d > maxListenerTime {
			return fmt.Errorf("job: listener time-out %v: more than 0 and up to %v is allowed", d, maxListenerTime)
		}
		o.ListenerTime = d
		return nil
	}
}

func addListener(o *setup.Options, l *exec.Listener) error {
	if err := jobconf.CheckText(l.Name, jobconf.MaxText); err != nil {
		return fmt.Errorf("job: listener %s: name: %w", quote(l.Name), err)
	}
	put(&o.Listeners, l.Name, l)
	return nil
}
