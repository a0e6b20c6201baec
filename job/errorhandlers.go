package job

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"

	"go.uber.org/zap"
)

// errorHandlersFor returns what is told of failures under a configuration, by the list of
// names in it. If the list has neither LOG nor IGNORE, LOG comes first.
func (o *options) errorHandlersFor(c Config) (*errorHandlers, []*FieldError) {
	names, err := c.ErrorHandlerNames()
	if err != nil {
		return nil, faultsOf(err, jobconf.KeyErrorHandler)
	}
	if !slices.Contains(names, ErrorHandlerLog) && !slices.Contains(names, ErrorHandlerIgnore) {
		names = slices.Insert(names, 0, ErrorHandlerLog)
	}
	several := &errorHandlers{log: o.logger, names: c.ErrorHandler, props: c.Props}
	var faults []*FieldError
	for _, name := range names {
		h, err := o.newErrorHandler(name, c)
		if err != nil {
			faults = append(faults, faultsOf(err, jobconf.KeyErrorHandler)...)
			continue
		}
		several.list = append(several.list, namedErrorHandler{name, h})
	}
	return several, faults
}

// newErrorHandler returns the error handler of a name for a configuration.
func (o *options) newErrorHandler(name string, c Config) (ErrorHandler, error) {
	t := o.errorHandlerType(name)
	if t == nil {
		known := slices.AppendSeq([]string{ErrorHandlerLog, ErrorHandlerIgnore, ErrorHandlerThrow}, maps.Keys(o.errorHandlers))
		slices.Sort(known)
		return nil, fmt.Errorf("%s is not known here, %s are; WithErrorHandler and WithErrorHandlerType make names known, and package alert has such types", quote(name), strings.Join(slices.Compact(known), ", "))
	}
	var h ErrorHandler
	err := guarded(func() (err error) {
		if h, err = t.ErrorHandler(c, o.slog); err == nil && isNil(h) {
			return fmt.Errorf("the type %s returned no error handler", quote(name))
		}
		return err
	})
	return h, err
}

// errorHandlerType returns the type of error handlers of a name; nil if there is none.
func (o *options) errorHandlerType(name string) ErrorHandlerType {
	if t := o.errorHandlers[name]; t != nil {
		return t
	}
	switch name {
	case ErrorHandlerLog:
		return sameErrorHandler{logErrors(o.logger)}
	case ErrorHandlerIgnore:
		return sameErrorHandler{ignoreErrors()}
	case ErrorHandlerThrow:
		return sameErrorHandler{o.thrown}
	}
	return nil
}

// errorHandlers are those of a job under one configuration. They are told one after the other,
// even if one panics.
type errorHandlers struct {
	log  *zap.Logger
	list []namedErrorHandler
	// By what they were made.
	names string
	props map[string]string
}

type namedErrorHandler struct {
	name string
	ErrorHandler
}

// isFor reports whether a configuration asks for the same error handlers.
func (e *errorHandlers) isFor(c Config) bool {
	return e.names == c.ErrorHandler && maps.Equal(e.props, c.Props)
}

// HandleError tells each of them of a failure.
func (e *errorHandlers) HandleError(ctx context.Context, sc ShardingContext, err error) {
	e.tell(e.list, sc, err, func(h ErrorHandler) { h.HandleError(ctx, sc, err) })
}

// HandleSuccess tells those that want to know.
func (e *errorHandlers) HandleSuccess(ctx context.Context, sc ShardingContext) {
	e.tell(e.list, sc, nil, func(h ErrorHandler) {
		if s, ok := h.(SuccessHandler); ok {
			s.HandleSuccess(ctx, sc)
		}
	})
}

func (e *errorHandlers) tell(list []namedErrorHandler, sc ShardingContext, err error, tell func(ErrorHandler)) {
	if len(list) == 0 {
		return
	}
	first := list[0]
	// The call of the others is deferred, because the first may panic, or end the goroutine.
	defer e.tell(list[1:], sc, err, tell)
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("error handler panicked", append(sc.fields(), zap.String("handler", first.name), zap.Any("panic", v), zap.Error(err))...)
		}
	}()
	tell(first.ErrorHandler)
}
