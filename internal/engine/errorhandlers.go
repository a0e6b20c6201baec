package engine

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// errorHandlersFor returns what is told of failures under a configuration, by the list of
// names in it. If the list has neither LOG nor IGNORE, LOG comes first.
func (o *Options) errorHandlersFor(c Config) (*exec.ErrorHandlers, []*FieldError) {
	names, err := c.ErrorHandlerNames()
	if err != nil {
		return nil, faultsOf(err, jobconf.KeyErrorHandler)
	}
	if !slices.Contains(names, ErrorHandlerLog) && !slices.Contains(names, ErrorHandlerIgnore) {
		names = slices.Insert(names, 0, ErrorHandlerLog)
	}
	several := exec.NewErrorHandlers(o.Logger, c)
	var faults []*FieldError
	for _, name := range names {
		h, err := o.newErrorHandler(name, c)
		if err != nil {
			faults = append(faults, faultsOf(err, jobconf.KeyErrorHandler)...)
			continue
		}
		several.Add(name, h)
	}
	return several, faults
}

// newErrorHandler returns the error handler of a name for a configuration.
func (o *Options) newErrorHandler(name string, c Config) (ErrorHandler, error) {
	t := o.errorHandlerType(name)
	if t == nil {
		known := slices.AppendSeq([]string{ErrorHandlerLog, ErrorHandlerIgnore, ErrorHandlerThrow}, maps.Keys(o.ErrorHandlers))
		slices.Sort(known)
		return nil, fmt.Errorf("%s is not known here, %s are; WithErrorHandler and WithErrorHandlerType make names known, and package alert has such types", quote(name), strings.Join(slices.Compact(known), ", "))
	}
	var h ErrorHandler
	err := Guarded(func() (err error) {
		if h, err = t.ErrorHandler(c, o.Slog); err == nil && IsNil(h) {
			return fmt.Errorf("the type %s returned no error handler", quote(name))
		}
		return err
	})
	return h, err
}

// errorHandlerType returns the type of error handlers of a name; nil if there is none.
func (o *Options) errorHandlerType(name string) ErrorHandlerType {
	if t := o.ErrorHandlers[name]; t != nil {
		return t
	}
	switch name {
	case ErrorHandlerLog:
		return SameErrorHandler{exec.LogErrors(o.Logger)}
	case ErrorHandlerIgnore:
		return SameErrorHandler{exec.IgnoreErrors()}
	case ErrorHandlerThrow:
		return SameErrorHandler{o.thrown}
	}
	return nil
}

// SameErrorHandler is the type of an error handler that is the same for all configurations, and
// maybe for several jobs. So it is never flushed: it belongs to the program.
type SameErrorHandler struct{ Handler ErrorHandler }

func (s SameErrorHandler) ErrorHandler(Config, *slog.Logger) (ErrorHandler, error) {
	return unflushed{s.Handler}, nil
}

// unflushed hides whatever else an error handler can do but to be told.
type unflushed struct{ ErrorHandler }

// HandleSuccess is that of the error handler, if it wants to know.
func (u unflushed) HandleSuccess(ctx context.Context, sc ShardingContext) {
	if s, ok := u.ErrorHandler.(SuccessHandler); ok {
		s.HandleSuccess(ctx, sc)
	}
}
