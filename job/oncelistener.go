package job

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
)

// WithOnceListener gives a listener of whole ticks a name, for Config.Listeners; see
// [WithListener] for names. It needs Config.MonitorExecution. Times that are 0 have their
// defaults.
func WithOnceListener(name string, l OnceListener, times OnceTimes) Option {
	return func(o *setup.Options) error {
		if setup.IsNil(l) {
			return fmt.Errorf("job: listener %s is nil", quote(name))
		}
		if times.Call == 0 {
			times.Call = time.Minute
		}
		if times.Tick == 0 {
			times.Tick = time.Hour
		}
		for what, d := range map[string]time.Duration{"call": times.Call, "tick": times.Tick} {
			if d < 0 || d > maxListenerTime {
				return fmt.Errorf("job: listener %s: time of a %s %v: more than 0 and up to %v is allowed", quote(name), what, d, maxListenerTime)
			}
		}
		return addListener(o, &exec.Listener{Name: name, Once: l, Times: times})
	}
}
