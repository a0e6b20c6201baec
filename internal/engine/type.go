package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// streams reports whether executions of a handler may go on over their next ticks.
func streams(h Handler) bool {
	s, ok := h.(Streamer)
	return ok && s.Streams()
}

// OfType is the handler of a job whose work is done by a type of that name.
type OfType string

// Execute is never called: a start puts the type's handler in its place.
func (t OfType) Execute(context.Context, ShardingContext) error {
	return fmt.Errorf("job: a handler of type %s needs a scheduler", quote(string(t)))
}

// workOf sets what does the work of a job, and the name of its implementation.
func (o *Options) workOf(c Config, h Handler) error {
	if name, ok := h.(OfType); ok {
		return o.workOfType(string(name))
	}
	if o.Implementation == "" {
		o.Implementation = c.Name
	}
	if _, isType := o.Types[o.Implementation]; isType {
		return fmt.Errorf("job %s: its implementation has the name of the type %s; start the job with OfType, or give it another name by WithImplementation", short(c.Name), quote(o.Implementation))
	}
	if t, ok := h.(Type); ok {
		o.work = t
		return nil
	}
	o.work = TypeFunc(func(Config) (Handler, error) { return h, nil })
	return nil
}

func (o *Options) workOfType(name string) error {
	t, ok := o.Types[name]
	switch {
	case !ok && len(o.Types) == 0:
		return fmt.Errorf("job: type %s is not known here: WithType gives a type its name; packages script and httpjob have types", quote(name))
	case !ok:
		return fmt.Errorf("job: type %s is not known here, %s are", quote(name), strings.Join(slices.Sorted(maps.Keys(o.Types)), ", "))
	case o.Implementation != "" && o.Implementation != name:
		return fmt.Errorf("job: implementation %s of a job of type %s: a job of a type has its name", quote(o.Implementation), quote(name))
	}
	o.work, o.isTyped, o.Implementation = t, true, name
	return nil
}

// handlerFor returns what does the work under a configuration, and whether it streams. A type
// that panics refuses the configuration.
func (o *Options) handlerFor(c Config) (h Handler, isStream bool, faults []*FieldError) {
	err := Guarded(func() (err error) {
		if h, err = o.work.Handler(c); err == nil && IsNil(h) {
			return errors.New("the type returned no handler")
		}
		isStream = err == nil && streams(h)
		return err
	})
	return h, isStream, faultsOf(err, jobconf.KeyProps)
}

// Guarded calls a function of the program's. A panic becomes its error.
func Guarded(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return do()
}

// faultsOf returns what an error says is wrong with fields. An error that names none is about
// the given field.
func faultsOf(err error, field string) []*FieldError {
	switch e := err.(type) {
	case nil:
		return nil
	case *ConfigError:
		return e.Faults
	case *FieldError:
		return []*FieldError{e}
	}
	if several, ok := errors.AsType[*ConfigError](err); ok {
		return several.Faults
	}
	if one, ok := errors.AsType[*FieldError](err); ok {
		return []*FieldError{one}
	}
	return []*FieldError{{Field: field, Err: err}}
}

// checkImplementation refuses to do the work of a job that the registry gives to another
// implementation: by the value of the job's node or, if that is empty, as elastic-job 2.1
// leaves it, by jobType in the configuration. SCRIPT is a type there. SIMPLE and DATAFLOW are
// classes, so any handler may take their place, but no type.
func (o *Options) checkImplementation(node string, document []byte) error {
	there := node
	if there == "" {
		switch oldType := jobconf.OldType(document); {
		case oldType == "SCRIPT", o.isTyped && (oldType == "SIMPLE" || oldType == "DATAFLOW"):
			there = oldType
		}
	}
	if there != "" && there != o.Implementation {
		return fmt.Errorf("%w: the registry has %s, this is %s", ErrImplementationConflict, quote(there), quote(o.Implementation))
	}
	return nil
}
