package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// listenersFor returns the listeners of a configuration, of both kinds, in their order.
func (o *Options) listenersFor(c Config) (each, once []*exec.Listener, faults []*FieldError) {
	for _, name := range c.Listeners {
		l := o.Listeners[name]
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

func (o *Options) unknownListener() error {
	if len(o.Listeners) == 0 {
		return errors.New("not known here; WithListener and WithOnceListener make names known")
	}
	return fmt.Errorf("not known here, %s are; WithListener and WithOnceListener make names known", strings.Join(slices.Sorted(maps.Keys(o.Listeners)), ", "))
}
