package setup

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// listenersFor returns the listeners of a configuration, of both kinds, in their order.
func (o *Options) listenersFor(c jobtype.Config) (each, once []*exec.Listener, faults []*jobtype.FieldError) {
	for _, name := range c.Listeners {
		l := o.Listeners[name]
		switch {
		case l == nil:
			faults = append(faults, &jobtype.FieldError{Field: jobconf.KeyListeners, Value: brief.Quote(name), Err: o.unknownListener()})
		case l.Each != nil:
			each = append(each, l)
		case c.MonitorExecution == jobtype.Off:
			faults = append(faults, &jobtype.FieldError{Field: jobconf.KeyListeners, Value: brief.Quote(name), Err: fmt.Errorf("it is told of whole ticks, and needs %s, whose records tell when a tick is through", jobconf.KeyMonitorExecution)})
		default:
			once = append(once, l)
		}
	}
	return each, once, faults
}

func (o *Options) unknownListener() error {
	if len(o.Listeners) == 0 {
		return errors.New("not known here; WithListener and WithOnceListener make names known")
	}
	return fmt.Errorf("not known here, %s are; WithListener and WithOnceListener make names known", strings.Join(slices.Sorted(maps.Keys(o.Listeners)), ", "))
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
