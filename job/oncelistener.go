package job

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
)

// cloneTick returns a tick that its receiver may change.
func cloneTick(t Tick) Tick {
	t.Items = slices.Clone(t.Items)
	return t
}

// cloneResult returns a result that its receiver may change.
func cloneResult(r TickResult) TickResult {
	r.Tick, r.Outcomes = cloneTick(r.Tick), maps.Clone(r.Outcomes)
	return r
}

// WithOnceListener gives a listener of whole ticks a name, for Config.Listeners; see
// [WithListener] for names. It needs Config.MonitorExecution. Times that are 0 have their
// defaults.
func WithOnceListener(name string, l OnceListener, times OnceTimes) Option {
	return func(o *options) error {
		if isNil(l) {
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
		return o.addListener(&exec.Listener{Name: name, Once: l, Times: times})
	}
}

// onceTimes returns how long Started of all listeners may take together, and how long a tick
// may take.
func onceTimes(once []*exec.Listener) (start, tick time.Duration) {
	for _, l := range once {
		start += l.Times.Call
		if tick == 0 || l.Times.Tick < tick {
			tick = l.Times.Tick
		}
	}
	return start, tick
}
