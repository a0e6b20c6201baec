package setup

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// streams reports whether executions of a handler may go on over their next ticks.
func streams(h jobtype.Handler) bool {
	s, ok := h.(jobtype.Streamer)
	return ok && s.Streams()
}

// OfType is the handler of a job whose work is done by a type of that name.
type OfType struct {
	Name string
	Type jobtype.Type
}

// Execute is never called: a start puts the type's handler in its place.
func (t OfType) Execute(context.Context, jobtype.ShardingContext) error {
	return fmt.Errorf("job: a handler of type %s needs a scheduler", brief.Quote(t.Name))
}

// Check reports what is wrong with the name, or that there is no type.
func (t OfType) Check() error {
	if err := jobconf.CheckText(t.Name, jobconf.MaxText); err != nil {
		return fmt.Errorf("type %s: name: %w", brief.Quote(t.Name), err)
	}
	if IsNil(t.Type) {
		return fmt.Errorf("type %s is nil", brief.Quote(t.Name))
	}
	return nil
}

// maxDescribed bounds a text about a property in bytes.
const maxDescribed = 200

// Described returns the properties of what has a name, if that is a type that describes them.
func Described(name string, h jobtype.Handler) (properties []jobconf.Property) {
	var of any = h
	if typed, ok := h.(OfType); ok {
		of = typed.Type
	}
	d, ok := of.(jobtype.Describer)
	if !ok || IsNil(d) {
		return nil
	}
	for _, p := range d.Describe() {
		p.Type, p.Default, p.Allowed, p.Meaning = name, brief.Cut(p.Default, maxDescribed), brief.Cut(p.Allowed, maxDescribed), brief.Cut(p.Meaning, maxDescribed)
		properties = append(properties, jobconf.Property(p))
	}
	return properties
}

// workOf sets what does the work of a job, and the name of its implementation.
func (o *Options) workOf(c jobtype.Config, h jobtype.Handler) error {
	if typed, ok := h.(OfType); ok {
		return o.workOfType(typed)
	}
	if o.Implementation == "" {
		o.Implementation = c.Name
	}
	if t, ok := h.(jobtype.Type); ok {
		o.work = t
		return nil
	}
	o.work = jobtype.TypeFunc(func(jobtype.Config) (jobtype.Handler, error) { return h, nil })
	return nil
}

func (o *Options) workOfType(t OfType) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	if o.Implementation != "" && o.Implementation != t.Name {
		return fmt.Errorf("job: implementation %s of a job of type %s: a job of a type has its name", brief.Quote(o.Implementation), brief.Quote(t.Name))
	}
	o.work, o.isTyped, o.Implementation = t.Type, true, t.Name
	return nil
}

// handlerFor returns what does the work under a configuration, and whether it streams. A type
// that panics refuses the configuration.
func (o *Options) handlerFor(c jobtype.Config) (h jobtype.Handler, isStream bool, faults []*jobtype.FieldError) {
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
			err = &jobtype.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return do()
}

// faultsOf returns what an error says is wrong with fields. An error that names none is about
// the given field.
func faultsOf(err error, field string) []*jobtype.FieldError {
	switch e := err.(type) {
	case nil:
		return nil
	case *jobtype.ConfigError:
		return e.Faults
	case *jobtype.FieldError:
		return []*jobtype.FieldError{e}
	}
	if several, ok := errors.AsType[*jobtype.ConfigError](err); ok {
		return several.Faults
	}
	if one, ok := errors.AsType[*jobtype.FieldError](err); ok {
		return []*jobtype.FieldError{one}
	}
	return []*jobtype.FieldError{{Field: field, Err: err}}
}

// CheckImplementation refuses to do the work of a job that the registry gives to another
// implementation: by the value of the job's node or, if that is empty, as elastic-job 2.1
// leaves it, by jobType in the configuration. SCRIPT is a type there. SIMPLE and DATAFLOW are
// classes, so any handler may take their place, but no type.
func (o *Options) CheckImplementation(node string, document []byte) error {
	there := node
	if there == "" {
		switch oldType := jobconf.OldType(document); {
		case oldType == "SCRIPT", o.isTyped && (oldType == "SIMPLE" || oldType == "DATAFLOW"):
			there = oldType
		}
	}
	if there != "" && there != o.Implementation {
		return fmt.Errorf("%w: the registry has %s, this is %s", jobtype.ErrImplementationConflict, brief.Quote(there), brief.Quote(o.Implementation))
	}
	return nil
}
