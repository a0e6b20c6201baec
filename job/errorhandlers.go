package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// errorHandlerNames returns the names in Config.ErrorHandler.
func errorHandlerNames(list string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		switch {
		case names[i] == "":
			return nil, errors.New("a name is empty; names with commas between them are allowed")
		case slices.Contains(names[:i], names[i]):
			return nil, fmt.Errorf("%s is there twice; once is allowed", quote(names[i]))
		}
	}
	if slices.Contains(names, ErrorHandlerLog) && slices.Contains(names, ErrorHandlerIgnore) {
		return nil, fmt.Errorf("%s and %s contradict each other; one of them is allowed", ErrorHandlerLog, ErrorHandlerIgnore)
	}
	return names, nil
}

// errorHandlersFor returns what is told of failures under a configuration, by the list of
// names in it. If the list has neither LOG nor IGNORE, LOG comes first.
func (o *options) errorHandlersFor(c Config) (errorHandlers, []*FieldError) {
	wrong := func(err error) (errorHandlers, []*FieldError) {
		return errorHandlers{}, faultsOf(err, keyErrorHandler)
	}
	names, err := errorHandlerNames(c.ErrorHandler)
	if err != nil {
		return wrong(err)
	}
	if !slices.Contains(names, ErrorHandlerLog) && !slices.Contains(names, ErrorHandlerIgnore) {
		names = slices.Insert(names, 0, ErrorHandlerLog)
	}
	several := errorHandlers{log: o.logger}
	for _, name := range names {
		t := o.errorHandlerType(name)
		if t == nil {
			known := slices.AppendSeq([]string{ErrorHandlerLog, ErrorHandlerIgnore}, maps.Keys(o.errorHandlers))
			slices.Sort(known)
			return wrong(fmt.Errorf("%s is not known here, %s are", quote(name), strings.Join(slices.Compact(known), ", ")))
		}
		h, err := t.ErrorHandler(c, o.slog)
		if err == nil && isNil(h) {
			err = fmt.Errorf("the type %s returned no error handler", quote(name))
		}
		if err != nil {
			return wrong(err)
		}
		several.list = append(several.list, namedErrorHandler{name, h})
	}
	return several, nil
}

// errorHandlerType returns the type of error handlers of a name; nil if there is none.
func (o *options) errorHandlerType(name string) ErrorHandlerType {
	if t := o.errorHandlers[name]; t != nil {
		return t
	}
	switch name {
	case ErrorHandlerLog:
		return sameErrorHandler(logErrors(o.logger))
	case ErrorHandlerIgnore:
		return sameErrorHandler(ignoreErrors())
	}
	return nil
}

// errorHandlers are told one after the other, even if one panics.
type errorHandlers struct {
	log  *zap.Logger
	list []namedErrorHandler
}

type namedErrorHandler struct {
	name string
	ErrorHandler
}

// HandleError calls each of them.
func (e errorHandlers) HandleError(ctx context.Context, sc ShardingContext, err error) {
	if len(e.list) == 0 {
		return
	}
	first := e.list[0]
	// The call of the others is deferred, because the first may panic, or end the goroutine.
	defer errorHandlers{e.log, e.list[1:]}.HandleError(ctx, sc, err)
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("error handler panicked", append(sc.fields(), zap.String("handler", first.name), zap.Any("panic", v), zap.Error(err))...)
		}
	}()
	first.HandleError(ctx, sc, err)
}
